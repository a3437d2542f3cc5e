#!/usr/bin/env python3
"""Reads the counts that Verilated models left and says how much of rtl/ has run: lines, branches and toggles, per file.

    coverage_rtl.py COUNTS.dat GAPS.json [--markdown]

A line counts as run when every branch and block on it has run in some model; toggles are counted in the whole core.
GAPS.json lists the lines that haven't, each with its text and the reason; a gap without a reason is an error, and so is
a share of lines below the bar. --markdown prints the table of docs/coverage_rtl.md. Relies on the format that
verilator_coverage merges: a count for each point, whose fields stand between \\001 and \\002.
"""

import json
import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LEAST_LINES_PERCENT = 97.0


class File:
    """Counts of one source file, all models together."""

    def __init__(self):
        self.points = defaultdict(int)  # (line, column, what) → count, of lines and branches
        self.lines = defaultdict(set)  # line → points on it
        self.branches = set()  # those points that are branches
        self.toggles = defaultdict(int)  # (line, column, bit) → count


def lines_of(ranges):
    """The numbers of "3-5,9"."""
    for part in filter(None, ranges.split(",")):
        first, _, last = part.partition("-")
        yield from range(int(first), int(last or first) + 1)


def read(path):
    """Counts by file, named from the project's root."""
    files = defaultdict(File)
    for record in Path(path).read_text().splitlines():
        if not record.startswith("C '"):
            continue
        text, count = record[3:].rsplit("' ", 1)
        fields = dict(field.split("\002", 1) for field in text.split("\001") if field)
        name = fields["f"]
        if "/rtl/" not in name:
            continue
        file = files["rtl/" + name.split("/rtl/", 1)[1]]
        kind = fields["page"].split("/")[0]
        key = (int(fields["l"]), int(fields["n"]), fields["o"])
        if kind == "v_toggle":
            file.toggles[key] += int(count)
            continue
        file.points[key] += int(count)
        if kind == "v_branch":
            file.branches.add(key)
        for line in lines_of(fields.get("S", "")):
            file.lines[line].add(key)
    return files


def share(done, of):
    return f"{100 * done / of:6.1f} %" if of else "       -"


def row(file):
    missed = {line for line, points in file.lines.items() if not all(file.points[point] for point in points)}
    return {
        "lines": (len(file.lines) - len(missed), len(file.lines)),
        "branches": (sum(1 for point in file.branches if file.points[point]), len(file.branches)),
        "toggles": (sum(1 for count in file.toggles.values() if count), len(file.toggles)),
        "missed": sorted(missed),
    }


def still(files):
    """Bits that haven't changed: of signals of which none has; above the highest of theirs that has; others."""
    whole = above = between = 0
    for file in files:
        signals = defaultdict(dict)
        for (line, _, name), count in file.toggles.items():
            signal, _, bit = name.rpartition("[")
            signals[line, signal or name][int(bit[:-1]) if signal else 0] = count
        for bits in signals.values():
            highest = max((bit for bit, count in bits.items() if count), default=None)
            for bit in (bit for bit, count in bits.items() if not count):
                whole += highest is None
                above += highest is not None and bit > highest
                between += highest is not None and bit < highest
    return whole, above, between


def table(rows, markdown):
    kinds = ("lines", "branches", "toggles")
    sums = {kind: tuple(map(sum, zip(*(row[kind] for row in rows.values())))) for kind in kinds}
    begin, between, end = ("| ", " | ", " |") if markdown else ("", "  ", "")
    print(begin + between.join(["file".ljust(44)] + [kind.rjust(22) for kind in sums]) + end)
    if markdown:
        print("|---|" + "---:|" * len(sums))
    for name, values in list(rows.items()) + [("all", sums)]:
        cells = [f"{values[kind][0]:6}/{values[kind][1]:<6}{share(*values[kind])}".rjust(22) for kind in sums]
        print(begin + between.join([name.ljust(44)] + cells) + end)
    return sums


def main():
    arguments = [argument for argument in sys.argv[1:] if not argument.startswith("--")]
    if len(arguments) != 2:
        sys.exit(__doc__)
    files = read(arguments[0])
    rows = {name: row(files[name]) for name in sorted(files)}
    if not rows:
        sys.exit(f"{arguments[0]} has no counts of rtl/")
    sums = table(rows, "--markdown" in sys.argv)
    print("\nbits that haven't changed: {} of signals of which none has, {} above the highest of their signal that "
          "has, {} others\n".format(*still(files.values())))

    faults = []
    reasons = {}
    for gap in json.loads(Path(arguments[1]).read_text())["gaps"]:
        if not gap.get("reason", "").strip():
            faults.append(f"{gap['file']}: \"{gap['line']}\" has no reason")
        reasons[gap["file"], gap["line"]] = gap.get("reason", "")
    used = set()
    for name, values in rows.items():
        source = (ROOT / name).read_text().splitlines()
        for line in values["missed"]:
            text = source[line - 1].strip()
            missed = [point[2] for point in sorted(files[name].lines[line]) if not files[name].points[point]]
            reason = reasons.get((name, text))
            used.add((name, text))
            print(f"{name}:{line}: {text}\n    not run: {', '.join(missed)}; {reason or 'NO REASON IS GIVEN'}")
            if not reason:
                faults.append(f"{name}:{line} hasn't run and {arguments[1]} gives no reason: {text}")
    for name, text in reasons.keys() - used:
        print(f"{name}: \"{text}\" has run or isn't there: its reason can go")
    lines = 100 * sums["lines"][0] / sums["lines"][1]
    if lines < LEAST_LINES_PERCENT:
        faults.append(f"{lines:.1f} % of the lines have run, the bar is {LEAST_LINES_PERCENT} %")
    for fault in faults:
        print("fault:", fault)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
