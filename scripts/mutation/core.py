"""The check of the whole core: the changed rtl/ as liblpu_rtl_tiny.so, in lockstep with the golden card on the tiny
model, greedy (through a block's border and into a second session) and sampled, then the tests of the rtl card and of
programs forced into the core: other models, biases, 12-bit keys, resets inside tokens, faults that must be told.

Relies on the targets of a build folder that targets() names, and on examples/tiny_model."""

import os
import re
import shlex

import ninja
from mutations import ROOT

MODEL = ROOT / "examples" / "tiny_model" / "openlpu-tiny.gguf"
CONTEXT = 34                       # one position more than a block and a border
RUNS = (["--tokens", "38"], ["--tokens", "5", "--temperature", "0.8", "--seed", "20261130"])
# The short ones first.
TESTS = (("test_card_rtl", "RtlCard.*:RtlLockstep.*-*Waveform*:*OtherModels*:*ThroughThePort*"),
         ("test_cosim_core", "RtlErrors.*-*AnyBit*"),
         ("test_card_rtl", "*OtherModels*:*ThroughThePort*"),
         ("test_cosim_core", "RtlHazard.EveryDelayACycleShorter*"))
MODEL_TARGET = "rtl-tiny"
LIBRARY = "liblpu_rtl_tiny.so"


def targets():
    return ["lpu", MODEL_TARGET, *sorted({program for program, _ in TESTS})]


def bundle(folders, place):
    """The tiny model compiled, once for all mutations."""
    path = place / "tiny.bundle"
    ninja.must([ninja.Build(folders, "lpu").output, "compile", MODEL, "--hardware", "tiny", "--context",
                str(CONTEXT), "--quiet", "-o", path], place)
    return path


def library(folders, place):
    """The core made from place/rtl."""
    build = ninja.Build(folders, MODEL_TARGET, is_built=False)  # only its commands and Verilator's library are wanted
    folder = build.verilate(MODEL_TARGET, place)
    model = build.compile_model(folder)
    words = shlex.split(build.command_with("-c ", "rtl_model/lpu_rtl_model.cpp"))
    output = folder / "interface.o"
    for option in ("-MD", "-MT", "-MF"):
        at = words.index(option)
        del words[at:at + (1 if option == "-MD" else 2)]
    words = [str(folder) if word.endswith("/rtl-tiny") else word for word in words]
    words[words.index("-o") + 1] = str(output)
    ninja.must(words, build.folder)
    (place / "core").mkdir()
    return build.link(LIBRARY, place / "core" / LIBRARY,
                      {"/heap_0.cpp.o": model, "/heap_": None, "/lpu_rtl_model.cpp.o": output})


def check(folders, place, tiny_bundle):
    """What found a difference, or None."""
    where = library(folders, place).parent
    environment = {**os.environ, "OPENLPU_RTL_PATH": str(where)}
    lpu = ninja.Build(folders, "lpu").output
    for options in RUNS:
        status, output = ninja.run([lpu, "cosim", tiny_bundle, "--quiet", *options], place, environment)
        if status != 0:
            found = re.search(r"first mismatch: (.*?)(?:, token|\n)", output) or re.search(r"lpu: ([^:;,.(]*)", output)
            return "lpu cosim" + (" --temperature" if len(options) > 2 else "") + (
                f": {found.group(1)}" if found else " (hangs)" if status is None else " (stops)")
    for program, tests in TESTS:
        failed = ninja.failed_test(ninja.Build(folders, program).output, tests, place,
                                   {"OPENLPU_TESTED_RTL": str(where)})
        if failed:
            return failed
    return None
