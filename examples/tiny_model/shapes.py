#!/usr/bin/env python3
"""Compares shapes of a tiny model with `lpu estimate` before anything is trained.

Why: on a small array a shape decides how busy it is. Relies on model_file.py and a built `lpu`, which reads only the
header of the files made here (their weights are zero)."""

import argparse
import json
import os
import subprocess
import tempfile

import numpy as np

import model_file
from model_file import Shape

# width, layers, heads, K/V heads, head size, FFN width: from many narrow layers to one wide one
CANDIDATES = [(64, 5, 2, 1, 32, 192), (64, 4, 2, 1, 32, 256), (96, 3, 3, 1, 32, 192), (96, 2, 3, 1, 32, 288),
              (128, 2, 4, 1, 32, 192), (128, 2, 2, 1, 64, 192), (128, 1, 4, 1, 32, 384), (160, 1, 5, 1, 32, 384)]
VOCABULARY = 512


def kinds_of(shape, layer_kind, embedding_kind):
    return {name: embedding_kind if name == "token_embd.weight" else layer_kind for name in shape.matrices()}


def estimate(program, path, hardware, context_tokens):
    """The estimate's JSON, or the sentence that says why there is none."""
    command = [program, "estimate", path, "--hardware", hardware, "--context", str(context_tokens), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return json.loads(done.stdout) if done.stdout else {"error": done.stderr.strip()}


def row(shape, layer_kind, embedding_kind, answer):
    cells = [shape.width, shape.layers, shape.heads, shape.kv_heads, shape.head_size, shape.ffn_width,
             f"{shape.parameters():,}", layer_kind, embedding_kind]
    if "error" in answer:
        cells += [answer["error"], "", ""]
    else:
        memories = answer["memory"]
        full = [name for name, memory in memories.items() if memory["used_depth"] > memory["capacity_depth"]]
        words = f"{memories['lane']['used_depth']:,}"
        if "lane" in full:
            words += ": too many"
        elif full:
            words += f"; {', '.join(full)} memory too small"
        cells += [f"{answer['cycles_per_token']:,}", words, f"{100 * answer['mac_utilisation']:.1f} %"]
    return "| " + " | ".join(str(cell) for cell in cells) + " |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lpu", default="build/release/lpu", help="the program (default: %(default)s)")
    parser.add_argument("--hardware", default="ulx3s", help="the machine (default: %(default)s)")
    parser.add_argument("--context", type=int, default=256, help="tokens (default: %(default)s)")
    options = parser.parse_args()
    print("| width | layers | heads | K/V heads | head | FFN | parameters | layers' type | embedding's | "
          "cycles, last token | lane words | busy |")
    print("|" + "---|" * 12)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "shape.gguf")
        for candidate in CANDIDATES:
            shape = Shape(VOCABULARY, *candidate, context_tokens=options.context)
            values = {name: np.zeros(extents, np.float32)
                      for name, extents in {**shape.matrices(), **shape.vectors()}.items()}
            tokens = [f"t{i}" for i in range(VOCABULARY)]
            for layer_kind, embedding_kind in (("Q4_0", "Q4_0"), ("Q4_0", "Q8_0"), ("Q8_0", "Q8_0")):
                model_file.write(path, shape, kinds_of(shape, layer_kind, embedding_kind), values, tokens, 1, [])
                answer = estimate(options.lpu, path, options.hardware, options.context)
                print(row(shape, layer_kind, embedding_kind, answer), flush=True)


if __name__ == "__main__":
    main()
