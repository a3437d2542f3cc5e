#!/usr/bin/env python3
"""Trains the tiny model on the stories of stories.py and writes it as a GGUF file.

Why: a real model that a small board holds. In the second part of the training the layers' weights are rounded to the
file's 4 bits in every step (gradients pass through unchanged), so that little is lost in the file.
Relies on torch and numpy, and on stories.py, tokenizer.py and model_file.py beside it. One thread; ten minutes."""

import argparse
import hashlib
import math
import time

import numpy as np
import torch
from torch.nn import functional

import model_file
import stories
import tokenizer

SHAPE = model_file.Shape(vocabulary=512, width=128, layers=2, heads=4, kv_heads=1, head_size=32, ffn_width=192,
                         context_tokens=256)
KINDS = {name: "Q8_0" if name == "token_embd.weight" else "Q4_0" for name in SHAPE.matrices()}
VALIDATION_SEED_OFFSET = 1000003  # far from any seed that a person gives


class RoundToFile(torch.autograd.Function):
    """A matrix as the file will hold it; the gradient passes as if nothing had been rounded."""

    @staticmethod
    def forward(_, weights, kind):
        scales, numbers = model_file.scales_and_numbers(weights.detach().numpy(), kind)
        rounded = scales.astype(np.float32)[:, None] * numbers
        return torch.from_numpy(rounded.reshape(weights.shape))

    @staticmethod
    def backward(_, gradient):
        return gradient, None


def initial(generator):
    parameters = {}
    for name, (rows, columns) in SHAPE.matrices().items():
        spread = 0.5 / math.sqrt(columns)
        if name.endswith(("attn_output.weight", "ffn_down.weight")):
            spread /= math.sqrt(2 * SHAPE.layers)
        parameters[name] = torch.randn(rows, columns, generator=generator) * spread
    parameters.update({name: torch.ones(length) for name, length in SHAPE.vectors().items()})
    for values in parameters.values():
        values.requires_grad_(True)
    return parameters


def rope_tables():
    frequencies = SHAPE.rope_base ** (-torch.arange(0, SHAPE.head_size, 2) / SHAPE.head_size)
    angles = torch.arange(SHAPE.context_tokens)[:, None] * frequencies  # [position][pair]
    return angles.cos(), angles.sin()


def rotate(x, cosines, sines):
    """x [batch][head][position][head_size]: pairs of neighbours (2i, 2i+1), as architecture llama has them in GGUF."""
    even, odd = x[..., 0::2], x[..., 1::2]
    return torch.stack((even * cosines - odd * sines, even * sines + odd * cosines), dim=-1).flatten(-2)


def norm(x, gain):
    return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + SHAPE.norm_epsilon) * gain


def logits_of(parameters, ids, tables):
    """ids [batch][position] → logits [batch][position][vocabulary]."""
    batch, length = ids.shape
    cosines, sines = (table[:length] for table in tables)
    x = parameters["token_embd.weight"][ids]
    for layer in range(SHAPE.layers):
        def weight(role, prefix=f"blk.{layer}."):
            return parameters[f"{prefix}{role}.weight"]

        def heads(values, count):
            return values.view(batch, length, count, SHAPE.head_size).transpose(1, 2)

        h = norm(x, weight("attn_norm"))
        query = rotate(heads(h @ weight("attn_q").T, SHAPE.heads), cosines, sines)
        key = rotate(heads(h @ weight("attn_k").T, SHAPE.kv_heads), cosines, sines)
        value = heads(h @ weight("attn_v").T, SHAPE.kv_heads)
        group = SHAPE.heads // SHAPE.kv_heads
        key, value = key.repeat_interleave(group, 1), value.repeat_interleave(group, 1)
        mixed = functional.scaled_dot_product_attention(query, key, value, is_causal=True)
        x = x + mixed.transpose(1, 2).reshape(batch, length, -1) @ weight("attn_output").T
        h = norm(x, weight("ffn_norm"))
        x = x + (functional.silu(h @ weight("ffn_gate").T) * (h @ weight("ffn_up").T)) @ weight("ffn_down").T
    return norm(x, parameters["output_norm.weight"]) @ parameters["token_embd.weight"].T


def as_in_file(parameters):
    return {name: RoundToFile.apply(values, KINDS[name]) if name in KINDS else values
            for name, values in parameters.items()}


def loss_of(parameters, rows, tables):
    """Mean over all tokens of −log of what the model gave the token that came, in nats."""
    logits = logits_of(parameters, rows[:, :-1], tables)
    return functional.cross_entropy(logits.flatten(0, 1), rows[:, 1:].flatten())


class Rows:
    """Windows of a context and one token, each from the start of a story into the next ones."""

    def __init__(self, texts, encoder):
        ids, self.starts = [], []
        for text in texts:
            self.starts.append(len(ids))
            ids += [0] + encoder.encode(text)
        length = SHAPE.context_tokens + 1
        self.ids = torch.tensor(ids + ids[:length], dtype=torch.long)
        self.window = torch.arange(length)

    def take(self, numbers):
        starts = torch.tensor([self.starts[number] for number in numbers])
        return self.ids[starts[:, None] + self.window]


def validation_loss(parameters, rows, tables, batch):
    with torch.no_grad():
        parts = [loss_of(parameters, rows.take(range(first, first + batch)), tables).item()
                 for first in range(0, len(rows.starts) - batch + 1, batch)]
    return sum(parts) / len(parts)


def train(options, rows, validation, export):
    generator = torch.Generator().manual_seed(options.seed)
    parameters, tables = initial(generator), rope_tables()
    matrices = [values for name, values in parameters.items() if name in KINDS]
    vectors = [values for name, values in parameters.items() if name not in KINDS]
    optimizer = torch.optim.AdamW([{"params": matrices, "weight_decay": 0.1}, {"params": vectors, "weight_decay": 0}],
                                  lr=options.rate, betas=(0.9, 0.95))
    warm_up, begin = min(100, options.steps // 10), time.time()
    rounded_from = int(options.steps * 0.4)
    order, mean = [], None
    for step in range(options.steps):
        progress = step / options.steps
        rate = options.rate * min(1, (step + 1) / warm_up) * (0.02 + 0.98 * 0.5 * (1 + math.cos(math.pi * progress)))
        for group in optimizer.param_groups:
            group["lr"] = rate
        if len(order) < options.batch:
            order += torch.randperm(len(rows.starts), generator=generator).tolist()
        numbers, order = order[:options.batch], order[options.batch:]
        loss = loss_of(as_in_file(parameters) if step >= rounded_from else parameters, rows.take(numbers), tables)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(parameters.values(), 1.0)
        optimizer.step()
        mean = loss.item() if mean is None else 0.98 * mean + 0.02 * loss.item()
        if (step + 1) % options.report_every == 0 or step + 1 == options.steps:
            checked = validation_loss(as_in_file(parameters), validation, tables, options.batch)
            print(f"step {step + 1}: training loss {mean:.4f}, validation loss of the file's weights {checked:.4f} "
                  f"({time.time() - begin:.0f} s)", flush=True)
            export(parameters)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", default="openlpu-tiny.gguf", help="the file (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="of text and weights (default: %(default)s)")
    parser.add_argument("--steps", type=int, default=1400, help="(default: %(default)s)")
    parser.add_argument("--batch", type=int, default=16, help="windows a step (default: %(default)s)")
    parser.add_argument("--stories", type=int, default=60000, help="stories to learn from (default: %(default)s)")
    parser.add_argument("--rate", type=float, default=6e-3, help="learning rate at its highest (default: %(default)s)")
    parser.add_argument("--report-every", type=int, default=200, help="steps (default: %(default)s)")
    options = parser.parse_args()
    torch.set_num_threads(1)

    texts = stories.stories(options.seed, options.stories)
    seen = set(texts)
    unseen = [text for text in stories.stories(options.seed + VALIDATION_SEED_OFFSET, 1000) if text not in seen][:480]
    encoder = tokenizer.Tokenizer.learn(texts[:4000], SHAPE.vocabulary)
    rows, validation = Rows(texts, encoder), Rows(unseen, encoder)
    print(f"{SHAPE.parameters()} parameters, {len(rows.ids)} tokens of text, {len(unseen)} stories of validation",
          flush=True)

    def export(parameters):
        values = {name: tensor.detach().numpy() for name, tensor in parameters.items()}
        model_file.write(options.output, SHAPE, KINDS, values, encoder.file_tokens(), 1, encoder.file_merges(),
                         name="OpenLPU tiny stories")

    train(options, rows, validation, export)
    with open(options.output, "rb") as file:
        data = file.read()
    print(f"{options.output}: {len(data)} bytes, SHA-256 {hashlib.sha256(data).hexdigest()}")


if __name__ == "__main__":
    main()
