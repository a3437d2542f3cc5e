"""Rule: docs/fit.md holds what scripts/fit.sh prints today, and the memories of the board that later work relies on fit.

Relies on docs/fit_counts.json for what Yosys counted; needs no Yosys."""

import os
import sys

from sources import ROOT, report

sys.path.insert(0, os.path.join(ROOT, "scripts", "fit"))
import boards  # noqa: E402
import measure  # noqa: E402
import table  # noqa: E402

offences = []
with open(os.path.join(ROOT, "docs", "fit.md"), encoding="utf-8") as file:
    held = file.read().split(table.MARK)
if len(held) != 2:
    offences.append(f"docs/fit.md: the line {table.MARK} must be there once")
elif held[1].strip() != "\n".join(table.everything()).strip():
    offences.append("docs/fit.md is stale: run scripts/fit.sh --write")

# Its memories have to: they follow from the contract's depths alone.
board = boards.board_named("u55c")
shares = table.shares(board, table.board_takes(board, measure.load())[2])
for resource in ("URAM", "BRAM"):
    if shares[resource] > table.LIMIT_PERCENT:
        offences.append(f"u55c: {shares[resource]:.1f} % of the {resource} that a shell leaves")
report("fit table", offences)
