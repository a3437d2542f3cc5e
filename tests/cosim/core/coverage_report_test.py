#!/usr/bin/env python3
"""scripts/coverage/coverage_rtl.py on counts made here: what has run passes; a gap needs a reason; the bar holds."""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
SOURCE = "rtl/lpu_tally.sv"
TEXT = (ROOT / SOURCE).read_text().splitlines()


def point(line, count, kind="v_line", what="block", lines=None):
    fields = {"f": f"/somewhere/{SOURCE}", "l": line, "n": 3, "page": f"{kind}/lpu_tally", "o": what,
              "S": lines or line}
    return "C '" + "".join(f"\001{key}\002{value}" for key, value in fields.items()) + f"' {count}\n"


def report(points, gaps):
    with tempfile.TemporaryDirectory() as place:
        counts, reasons = Path(place) / "counts.dat", Path(place) / "gaps.json"
        counts.write_text("# SystemC::Coverage-3\n" + "".join(points))
        reasons.write_text(json.dumps({"gaps": gaps}))
        run = subprocess.run([sys.executable, "-B", ROOT / "scripts/coverage/coverage_rtl.py", counts, reasons],
                             capture_output=True, text=True, check=False)
    return run.returncode, run.stdout + run.stderr


def main():
    ran = [point(1, 4, lines="1-40"), point(2, 1, "v_branch", "if"), point(3, 0, "v_toggle", "a[0]")]
    missed = point(41, 0)
    gap = {"file": SOURCE, "line": TEXT[40].strip(), "reason": "because"}
    cases = [
        ("all has run", ran, [], 0, " 40/40 "),
        ("a gap with its reason", ran + [missed], [gap], 0, "because"),
        ("a gap without one", ran + [missed], [], 1, "gives no reason"),
        ("an empty reason", ran + [missed], [gap | {"reason": " "}], 1, "has no reason"),
        ("one model is enough", ran + [missed, point(41, 1)], [], 0, " 41/41 "),
        ("a branch of a line that hasn't run", ran + [point(5, 0, "v_branch", "else")], [], 1, "not run: else"),
        ("below the bar", ran + [point(41, 0, lines="41-44")],
         [gap | {"line": TEXT[line].strip()} for line in range(40, 44)], 1, "the bar is"),
        ("bits that stay", ran + [point(4, count, "v_toggle", name) for name, count in (
            ("a[1]", 0), ("b[0]", 0), ("b[1]", 1), ("b[2]", 0), ("b[3]", 0), ("c", 0), ("d", 1))],
         [], 0, "3 of signals of which none has, 2 above the highest of their signal that has, 1 others"),
        ("no counts", [], [], 1, "no counts"),
    ]
    faults = 0
    for name, points, gaps, code, words in cases:
        got, text = report(points, gaps)
        if got != code or words not in text:
            faults += 1
            print(f"{name}: exit code {got}, wanted {code} and \"{words}\" in:\n{text}")
    print(f"{len(cases)} cases, {faults} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
