#!/usr/bin/env python3
"""Two rules over rtl/: every file takes part in a card, and none names a vendor's cell.

A file takes part when lpu_core, or one of the units that stand beside it on a card, reaches what it declares, through
instances and through names of packages. Vendors' cells would bind the core to one device: memories and multipliers are
written so that every synthesiser finds its own.
Relies on one module or package to a file, named as the file. Prints what breaks a rule; exit code 1 then.
"""

import re
import sys
from pathlib import Path

RTL = Path(__file__).resolve().parents[3] / "rtl"
TOPS = ["lpu_core", "lpu_link_send", "lpu_link_receive"]
# Primitives of AMD, Lattice, Intel, and the prefixes that their libraries share.
CELLS = re.compile(
    r"\b(DSP48\w*|DSP58\w*|RAMB\w+|URAM\w+|RAM(32|64|128|256)[XM]\w*|FIFO(18|36)\w*|FD[RCSP]E|LDCE|LUT[1-6](_2|CY)?|"
    r"SRLC?(16|32)\w*|CARRY[48]|MUXF[789]|BUFG\w*|BUFR|IBUF\w*|OBUF\w*|MMCM\w*|PLLE\w*|XPM_\w+|"
    r"DP16KD|PDPW16KD|MULT(9X9|18X18)\w*|ALU54\w*|TRELLIS_\w+|CCU2C|EHXPLLL|PFUMX|SB_\w+|"
    r"altsyncram|lpm_\w+|M20K|cyclone\w*|stratix\w*)\b",
    re.IGNORECASE,
)


def code(text):
    """The text without comments and strings."""
    return re.sub(r'"(\\.|[^"\\])*"|//[^\n]*|/\*.*?\*/', " ", text, flags=re.DOTALL)


def main():
    sources = {path.stem: code(path.read_text()) for path in sorted(RTL.rglob("*.sv"))}
    faults = []
    for name, text in sources.items():
        if not re.search(rf"\b(module|package)\s+{name}\b", text):
            faults.append(f"{name}.sv declares no module or package of its name")
        for cell in CELLS.finditer(text):
            faults.append(f"{name}.sv names {cell.group(0)}, a vendor's cell")
    word = re.compile(r"\blpu_\w+")
    reached, waiting = set(), list(TOPS)
    while waiting:
        name = waiting.pop()
        if name in reached:
            continue
        reached.add(name)
        waiting += [other for other in word.findall(sources[name]) if other in sources and other not in reached]
    faults += [f"{name}.sv is no part of {', '.join(TOPS)}" for name in sources if name not in reached]
    for fault in faults:
        print(fault)
    print(f"{len(sources)} files, {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
