"""Measures units with Yosys and keeps the counts in docs/fit_counts.json: `scripts/fit.sh --measure [WORD ...]`.

Without words all that is missing; with words the measurements whose key has one of them ("," is in every key). Each
count is written as soon as it is there, so that a long run may be stopped. Relies on yosys in the path and on units.py
for the list."""

import hashlib
import json
import pathlib
import re
import subprocess
import tempfile
import time

import units

ROOT = pathlib.Path(__file__).resolve().parents[2]
COUNTS = ROOT / "docs" / "fit_counts.json"

# Cells by what they take. Distributed RAM and shift registers are LUTs of the kind that can hold data (SLICEM).
LUT_CELLS = {f"LUT{n}": 1 for n in range(1, 7)}
MEMORY_LUT_CELLS = {"SRL16E": 1, "SRLC32E": 1, "SRLC16E": 1, "RAM32X1S": 1, "RAM64X1S": 1, "RAM32X1D": 2,
                    "RAM64X1D": 2, "RAM128X1D": 4, "RAM256X1S": 4, "RAM128X1S": 2, "RAM32M": 4, "RAM64M": 4,
                    "RAM32M16": 8, "RAM64M8": 8}
XILINX = {"lut": LUT_CELLS | MEMORY_LUT_CELLS, "memory_lut": MEMORY_LUT_CELLS,
          "ff": {"FDRE": 1, "FDSE": 1, "FDCE": 1, "FDPE": 1}, "dsp": {"DSP48E1": 1, "DSP48E2": 1},
          "bram": {"RAMB36E1": 1, "RAMB36E2": 1, "RAMB18E1": 0.5, "RAMB18E2": 0.5}}
# A carry cell sits in two LUT4s; 16 x 4 bits of distributed RAM take four LUT4s and two more for the write port.
ECP5 = {"lut": {"LUT4": 1, "CCU2C": 2, "TRELLIS_DPR16X4": 6}, "memory_lut": {"TRELLIS_DPR16X4": 6},
        "ff": {"TRELLIS_FF": 1}, "dsp": {"MULT18X18D": 1}, "bram": {"DP16KD": 1}}
FREE = {"MUXF7", "MUXF8", "MUXF9", "CARRY4", "CARRY8", "BUFG", "INV", "PFUMX", "L6MUX21"}


def sources():
    """The RTL in an order in which packages come first."""
    files = sorted(ROOT.glob("rtl/**/*.sv"))
    packages = [f for f in files if f.name.endswith("_pkg.sv")]
    return packages + [f for f in files if f not in packages and f.name != "lpu_hazard_monitor.sv"]


def digest():
    """Of all sources that are measured: a count of other sources is stale."""
    total = hashlib.sha256()
    for file in sources():
        if file.name != "lpu_pkg.sv":   # changes with every depth of every configuration
            total.update(file.read_bytes())
    return total.hexdigest()[:16]


def count(text, family):
    """Cell counts of the last `stat` in Yosys' output by resource. Unknown cells that aren't modules are an error."""
    table = ECP5 if family == "ecp5" else XILINX
    cells = {}
    for line in text[text.rindex("Number of cells:"):].splitlines()[1:]:
        found = re.match(r"\s+(\S+)\s+(\d+)$", line)
        if not found:
            break
        cells[found[1]] = int(found[2])
    known = set().union(*table.values()) | FREE
    strangers = [c for c in cells if c not in known and not re.search(r"lpu_", c)]
    if strangers:
        raise RuntimeError(f"fit: cells that have no place in scripts/fit/measure.py: {strangers}")
    return {name: sum(weight * cells.get(cell, 0) for cell, weight in weights.items())
            for name, weights in table.items()}


def run(unit, parameters):
    """One measurement: counts and seconds."""
    # Wide multiplexers are left out: they would be chosen for their speed where they take four times the LUTs.
    synth = "synth_ecp5" if unit.family == "ecp5" else (
        f"synth_xilinx -family {unit.family} -flatten -noiopad -noclkbuf -nowidelut")
    # Only the top is read at once: the others wait for their parameters. (A module without any can't wait, and a top
    # that waits is made twice: both make Yosys 0.23 stop.)
    at_once = re.compile(rf"^module (\w+ \(|{unit.module}\b)|^package", re.MULTILINE)
    reads = "\n".join(f"read_verilog -sv -DSYNTHESIS {'' if at_once.search(f.read_text()) else '-defer '}{f}"
                      for f in sources())
    chosen = " ".join(f"-set {name} {value}" for name, value in parameters.items())
    chosen = f"chparam {chosen} {unit.module}\n" if chosen else ""
    boxes = "\n".join(f"blackbox *{name}*" for name in unit.without)
    text = f"{reads}\n{chosen}hierarchy -top {unit.module}\n{boxes}\n{synth}\nstat\n"
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "unit.ys"
        path.write_text(text)
        started = time.monotonic()
        done = subprocess.run(["nice", "-n", "15", "yosys", "-s", str(path)], capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"fit: Yosys failed on {unit.module}: " + (done.stderr or done.stdout)[-2000:])
        return count(done.stdout, unit.family) | {"seconds": round(time.monotonic() - started)}


def load():
    return json.loads(COUNTS.read_text()) if COUNTS.exists() else {}


def main(words):
    counts = load()
    made_of = digest()
    wanted = units.jobs()
    failed = False
    for name, unit, parameters in wanted:
        if words and not any(word in name for word in words):
            continue
        if not words and name in counts:
            continue
        try:
            got = run(unit, parameters) | {"sources": made_of}
        except RuntimeError as error:
            print(error, flush=True)
            failed = True
            continue
        counts = load()
        counts[name] = got
        for gone in set(counts) - {job[0] for job in wanted}:
            del counts[gone]
        COUNTS.write_text(json.dumps(counts, indent=1, sort_keys=True) + "\n")
        print(name, got, flush=True)
    return 1 if failed else 0
