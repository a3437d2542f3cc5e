#!/usr/bin/env python3
"""Measures the golden card and llama.cpp on one model file and prints both side by side, with the bars of README.md.

Why: "how exact" and "how fast" mean something only next to a program that people know. Started by
scripts/compare_llama_cpp.sh, which finds or installs what this relies on: lpu, and llama.cpp's llama-quantize,
llama-perplexity and llama-bench.

Quality. The yardstick is fp32 on both sides, each by its own program: lpu's reference decoder, and llama.cpp on the
same file with every tensor written out as F32, its cache in fp32 too. Both score the positions 256 to 510 of the same
windows. That they are the same is checked: as many windows, and fp32 perplexities that agree to 0.1 %.

Speed. Generating 64 tokens from an empty cache, one user; the two programs run in turn and medians are compared, so
that a machine that slows down for a while slows down both.
"""
import argparse
import json
import math
import os
import pathlib
import re
import statistics
import struct
import subprocess
import sys

WINDOW_TOKENS = 512
GENERATED_TOKENS = 64
KL_BARS = {8: 0.5, 12: 0.25}  # our mean KL ÷ llama.cpp's, by bits of the keys
SPEED_BAR = 1.0               # our decode tokens/s ÷ llama.cpp's
FP32_AGREEMENT = 0.001        # the two fp32 perplexities, as a logarithm of their ratio


def say(text):
    print(f"compare_llama_cpp: {text}", file=sys.stderr, flush=True)


def run(command, environment=None):
    result = subprocess.run([str(word) for word in command], capture_output=True, text=True, env=environment,
                            stdin=subprocess.DEVNULL)
    if result.returncode != 0:
        sys.stderr.write(result.stdout[-4000:] + result.stderr[-4000:])
        sys.exit(f"compare_llama_cpp: {pathlib.Path(command[0]).name} failed with exit code {result.returncode} "
                 "(its output is above)")
    return result


class LlamaCpp:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.environment = dict(os.environ)
        paths = [str(self.folder)] + [path for path in [os.environ.get("LD_LIBRARY_PATH")] if path]
        self.environment["LD_LIBRARY_PATH"] = ":".join(paths)

    def run(self, program, *arguments):
        return run([self.folder / program, *arguments], self.environment)

    def fp32_file(self, model, work):
        path = work / f"{model.stem}.F32.gguf"
        if not path.exists() or path.stat().st_mtime < model.stat().st_mtime:
            say(f"writing {path.name}")
            part = path.with_suffix(".part")
            self.run("llama-quantize", "--allow-requantize", model, part, "F32")
            part.rename(path)
        return path

    def fp32_logits(self, model, text, work):
        """A file of llama-perplexity's: "_logits_", window length, vocabulary, windows, token ids, then the logits."""
        source = self.fp32_file(model, work)
        path = work / "llama_cpp_fp32.logits"
        if not path.exists() or path.stat().st_mtime < max(source.stat().st_mtime, text.stat().st_mtime):
            say("llama.cpp in fp32")
            part = path.with_suffix(".part")
            self.run("llama-perplexity", "-m", source, "-f", text, "-c", WINDOW_TOKENS, "-t", os.cpu_count(),
                     "-ctk", "f32", "-ctv", "f32", "-fa", "off", "--kl-divergence-base", part)
            part.rename(path)
        return path

    def divergence(self, model, text, work):
        logits = self.fp32_logits(model, text, work)
        with open(logits, "rb") as file:
            magic, window_tokens, _, windows = struct.unpack("<8s3i", file.read(20))
        if magic != b"_logits_" or window_tokens != WINDOW_TOKENS:
            sys.exit(f"compare_llama_cpp: {logits} isn't a file of logits as build 11434 of llama.cpp writes it")
        say("llama.cpp on the model file")
        result = self.run("llama-perplexity", "-m", model, "-c", WINDOW_TOKENS, "-t", os.cpu_count(),
                          "--kl-divergence-base", logits, "--kl-divergence")
        output = result.stdout + result.stderr

        def number(label):
            match = re.search(rf"^{re.escape(label)}\s*:\s*(-?[0-9.]+)", output, re.MULTILINE)
            if not match:
                sys.exit(f"compare_llama_cpp: llama-perplexity's output has no line \"{label}\"")
            return float(match[1])

        return {"windows": windows, "fp32_perplexity": number("Mean PPL(base)"), "perplexity": number("Mean PPL(Q)"),
                "kl_mean": number("Mean    KLD"), "kl_median": number("Median  KLD"), "kl_p99": number("99.0%   KLD"),
                "same_top": number("Same top p") / 100}

    def decode_tokens_per_s(self, model, threads):
        result = self.run("llama-bench", "-m", model, "-p", 0, "-n", GENERATED_TOKENS, "-t", threads, "-r", 3,
                          "-o", "json")
        return statistics.median(json.loads(result.stdout)[0]["samples_ts"])


class Lpu:
    def __init__(self, program, model, work):
        self.program, self.model, self.work = program, model, work

    def compile(self, context_tokens, kv_bits):
        bundle = self.work / f"context-{context_tokens}-kv-{kv_bits}"
        run([self.program, "compile", self.model, "--hardware", "virtual", "--context", context_tokens, "--kv-bits",
             kv_bits, "-o", bundle, "--json"])
        return bundle

    def divergence(self, text, kv_bits):
        bundle = self.compile(WINDOW_TOKENS, kv_bits)
        say(f"the golden card with {kv_bits}-bit keys, beside the fp32 reference")
        result = json.loads(run([self.program, "evaluate", bundle, "--text", text, "--reference", self.model,
                                 "--window", WINDOW_TOKENS, "--json"]).stdout)
        keys = ("windows", "positions", "text_tokens", "perplexity", "kl_mean", "kl_median", "kl_p99", "same_top")
        return {"fp32_perplexity": result["reference_perplexity"], **{key: result[key] for key in keys}}

    def decode_tokens_per_s(self, bundle, threads):
        result = run([self.program, "run", bundle, "--card", "golden", "--threads", threads, "--prompt",
                      "Once upon a time", "--max-tokens", GENERATED_TOKENS + 1, "--ignore-end", "--json"])
        return json.loads(result.stdout)["wall"]["decode_tokens_per_s"]


def compare_quality(llama_cpp, lpu, text):
    theirs = llama_cpp.divergence(lpu.model, text, lpu.work)
    ours = {bits: lpu.divergence(text, bits) for bits in KL_BARS}
    for result in ours.values():
        if result["windows"] != theirs["windows"]:
            sys.exit(f"compare_llama_cpp: lpu has {result['windows']} windows and llama.cpp {theirs['windows']}: "
                     "the tokenizers differ, nothing can be compared")
        if not abs(math.log(result["fp32_perplexity"] / theirs["fp32_perplexity"])) <= FP32_AGREEMENT:
            sys.exit(f"compare_llama_cpp: in fp32 lpu's perplexity is {result['fp32_perplexity']:.4f} and llama.cpp's "
                     f"{theirs['fp32_perplexity']:.4f}: not the same positions, or one of them isn't fp32")
    bars = [{"figure": f"mean KL / llama.cpp's, {bits}-bit keys", "value": result["kl_mean"] / theirs["kl_mean"],
             "at_most": KL_BARS[bits], "met": result["kl_mean"] / theirs["kl_mean"] <= KL_BARS[bits]}
            for bits, result in ours.items()]
    return {"llama_cpp": theirs, "kv_bits_8": ours[8], "kv_bits_12": ours[12], "bars": bars}


def compare_speed(llama_cpp, lpu, rounds):
    load = os.getloadavg()[0]
    bundle = lpu.compile(256, 8)
    threads = sorted({1, min(2, os.cpu_count())})
    samples = {count: ([], []) for count in threads}
    for turn in range(rounds):
        say(f"decoding, round {turn + 1} of {rounds}")
        for count in threads:
            samples[count][0].append(llama_cpp.decode_tokens_per_s(lpu.model, count))
            samples[count][1].append(lpu.decode_tokens_per_s(bundle, count))
    rows, bars = [], []
    for count, (theirs, ours) in samples.items():
        ratio = statistics.median(ours) / statistics.median(theirs)
        rows.append({"threads": count, "llama_cpp": statistics.median(theirs), "golden": statistics.median(ours),
                     "ratio": ratio, "llama_cpp_samples": theirs, "golden_samples": ours})
        bars.append({"figure": f"decode tokens/s / llama.cpp's, {counted(count, 'thread')}", "value": ratio,
                     "at_least": SPEED_BAR, "met": ratio >= SPEED_BAR})
    return {"rounds": rounds, "load_average_before": load, "threads": rows, "bars": bars}


def counted(count, thing):
    return f"{count} {thing}{'' if count == 1 else 's'}"


def print_table(rows):
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        cells = [row[0].ljust(widths[0])] + [cell.rjust(width) for cell, width in zip(row[1:], widths[1:])]
        print("  ".join(cells).rstrip())
    print()


def print_report(report):
    if "quality" in report:
        quality = report["quality"]
        columns = [quality["llama_cpp"], quality["kv_bits_8"], quality["kv_bits_12"]]
        count = quality["kv_bits_8"]
        rows = [[f"{count['windows']} windows of {WINDOW_TOKENS} tokens, {count['positions']:,} positions", "llama.cpp",
                 "8-bit keys", "12-bit keys"]]
        for title, key, form in [("perplexity in fp32", "fp32_perplexity", "{:.4f}"),
                                 ("perplexity", "perplexity", "{:.4f}"),
                                 ("KL to fp32, nats: mean", "kl_mean", "{:.6f}"), ("  median", "kl_median", "{:.6f}"),
                                 ("  p99", "kl_p99", "{:.6f}"), ("same top token as fp32", "same_top", "{:.2%}")]:
            rows.append([title] + [form.format(column[key]) for column in columns])
        print_table(rows)
    if "speed" in report:
        speed = report["speed"]
        rows = [[f"decode tokens/s, median (fastest) of {speed['rounds']}", "llama.cpp", "golden card", "ratio"]]
        for row in speed["threads"]:
            cells = [f"{row[name]:.1f} ({max(row[name + '_samples']):.1f})" for name in ("llama_cpp", "golden")]
            rows.append([counted(row["threads"], "thread"), *cells, f"{row['ratio']:.2f}"])
        if speed["load_average_before"] > 1:
            cores = counted(os.cpu_count(), "core")
            rows.append([f"not a quiet machine: load {speed['load_average_before']:.1f} on {cores}", "", "", ""])
        print_table(rows)
    rows = [["figure", "measured", "bar", ""]]
    for bar in report["bars"]:
        limit = f"<= {bar['at_most']}" if "at_most" in bar else f">= {bar['at_least']}"
        rows.append([bar["figure"], f"{bar['value']:.3f}", limit, "met" if bar["met"] else "missed"])
    print_table(rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("--lpu", "--programs", "--model", "--text", "--work"):
        parser.add_argument(name, type=pathlib.Path, required=True)
    parser.add_argument("--quality", action="store_true")
    parser.add_argument("--speed", action="store_true")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    llama_cpp = LlamaCpp(options.programs)
    lpu = Lpu(options.lpu, options.model, options.work)
    both = options.quality == options.speed
    report = {"model": options.model.name, "bars": []}
    if both or options.speed:
        report["speed"] = compare_speed(llama_cpp, lpu, options.rounds)
        report["bars"] += report["speed"].pop("bars")
    if both or options.quality:
        report["quality"] = compare_quality(llama_cpp, lpu, options.text)
        report["bars"] += report["quality"].pop("bars")
    if options.json:
        print(json.dumps(report, indent=2))
    else:
        print_report(report)
    return 0 if all(bar["met"] for bar in report["bars"]) else 1


if __name__ == "__main__":
    sys.exit(main())
