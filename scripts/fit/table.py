"""Adds up what a board's configuration takes, and prints it: docs/fit.md is `scripts/fit.sh --table`.

Memories come from memories.py by calculation, units from the counts in docs/fit_counts.json by units.py's features.
Relies on both, and on boards.py for devices, shells and placement."""

import memories
import measure
import units
from boards import BOARDS, RESOURCES

LIMIT_PERCENT = 90
MARK = "<!-- from here on printed by scripts/fit.sh --write -->"
# DSP48E2 of a lane: half of the 32 products that a pair shares, and the scale (27 x 17 bits). The minimum takes LUTs.
# Yosys counts xc7's DSPs there, whose 25 x 18 bits need two for a scale.
DOT_DSP_OF_LANES = 17
# A sum of three operands is one carry chain of one LUT a bit there; Yosys makes two LUTs of each bit but four
# (measured: 72 instead of 38 for 38 bits). Adders by bits: of a pair of lanes in the dot product, of a lane and segment
# in the sums over groups.
DOT_TERNARY_BITS_OF_PAIR = [36] * 5 + [38] * 2
LOW_BITS, HIGH_BITS = 44, 44


def ternary_excess(unit, size):
    """LUTs that Yosys takes too many for sums of three."""
    if unit.module == "lpu_mvu_dot":
        return size["L"] // 2 * size["G"] * sum(bits - 4 for bits in DOT_TERNARY_BITS_OF_PAIR)
    if unit.module == "lpu_mvu_sum" and size["G"] >= 3:
        low_bits = LOW_BITS + size["G"].bit_length()
        return size["L"] * units.most_segments(size["G"]) * (low_bits - 4 + HIGH_BITS - 4)
    return 0


def place(board, c, numbers):
    """Rows of (what, where, resource, count) for every memory."""
    rows = []
    for memory in memories.memories_of(c, numbers):
        if board.family == "ecp5":
            home = board.homes.get(memory.name, "distributed" if memory.depth <= memories.SMALL_DEPTH else "block")
            rows.append((memory, "EBR", {"BRAM": memories.ebr(memory)}) if home == "block" else
                        (memory, "LUT", distributed(memory, memories.ecp5_distributed_ram)))
        elif memory.name in ("lane words", "minimums, four lanes"):
            here = board.lanes_in_block_ram if memory.name == "lane words" else board.minimums_in_block_ram
            rows += place_deep(memory, min(here, memory.copies), board.split)
        else:
            home = board.homes.get(memory.name, "distributed" if memory.depth <= memories.SMALL_DEPTH else "block")
            rows.append((memory, "BRAM", {"BRAM": memories.block_ram(memory)}) if home == "block" else
                        (memory, "LUT", distributed(memory, memories.distributed_ram)))
    return rows


def distributed(memory, luts):
    """Distributed RAM reads at once: the RTL's read register is one of the fabric's."""
    return {"LUT": luts(memory), "FF": memory.copies * memory.width}


def place_deep(memory, in_block_ram, split):
    """Lane words and minimums: most in UltraRAM, some wholly in block RAM."""
    rows = []
    deep = memories.Memory(memory.name, memory.width, memory.depth, memory.ports, memory.copies - in_block_ram)
    if deep.copies:
        uram, bram = memories.ultra_ram_and_rest(deep, split)
        # A LUT a bit chooses between the two.
        rows.append((deep, "URAM, the lowest words BRAM", {"URAM": uram, "BRAM": bram, "LUT": deep.copies * deep.width})
                    if bram else (deep, "URAM", {"URAM": uram}))
    if in_block_ram:
        flat = memories.Memory(memory.name, memory.width, memory.depth, memory.ports, in_block_ram)
        rows.append((flat, "BRAM", {"BRAM": memories.block_ram(flat)}))
    return rows


# ---- units

def solve(rows, values):
    """Weights of features: Gaussian elimination on as many equations as unknowns."""
    table = [list(map(float, row)) + [float(value)] for row, value in zip(rows, values)]
    for i in range(len(table)):
        pivot = max(range(i, len(table)), key=lambda r: abs(table[r][i]))
        if abs(table[pivot][i]) < 1e-9:
            raise SystemExit("fit: the sizes of a unit don't tell its features apart")
        table[i], table[pivot] = table[pivot], table[i]
        for r in range(len(table)):
            if r != i:
                factor = table[r][i] / table[i][i]
                table[r] = [a - factor * b for a, b in zip(table[r], table[i])]
    return [row[-1] / row[i] for i, row in enumerate(table)]


def unit_takes(counts, unit, c):
    """LUT, FF, DSP, BRAM of a unit at a board's size; nothing where it hasn't been measured."""
    size = {letter: c[name] for letter, name in units.LETTERS.items()}
    keys = [units.key(unit, units.parameters(unit, at)) for at in unit.sizes]
    if any(key not in counts for key in keys):
        return {}
    measured = [counts[key] for key in keys]
    equations = [[units.FEATURES[f](at) for f in unit.features] for at in unit.sizes]
    here = [units.FEATURES[f](size) for f in unit.features]
    taken = {}
    for resource, name in (("LUT", "lut"), ("FF", "ff"), ("DSP", "dsp"), ("BRAM", "bram")):
        weights = solve(equations, [m[name] for m in measured])
        taken[resource] = max(0, round(sum(w * h for w, h in zip(weights, here)) * unit.copies(size)))
    if unit.dsp:
        if [unit.dsp(at) for at in unit.sizes] != [m["dsp"] for m in measured]:
            raise SystemExit(f"fit: scripts/fit/units.py names other DSPs of {unit.name} than were measured")
        taken["DSP"] = unit.dsp(size)
    if unit.module == "lpu_mvu_dot":
        taken["DSP"] = DOT_DSP_OF_LANES * size["L"] * size["G"]
    taken["LUT"] -= ternary_excess(unit, size)
    return taken


def board_takes(board, counts, c=None, numbers=None):
    """(rows of memories, rows of units, sums by resource)."""
    numbers = numbers or memories.package()
    c = c or memories.configuration(board.name, numbers)
    placed = place(board, c, numbers)
    parts = [(unit, unit_takes(counts, unit, c))
             for unit in units.of_board(c["ColumnGroups"], board.family)]
    sums = dict.fromkeys(RESOURCES, 0)
    for taken in [row[2] for row in placed] + [part[1] for part in parts]:
        for resource, value in taken.items():
            sums[resource] += value
    return placed, parts, sums


def shares(board, sums):
    """Per cent of what is left, by resource; where there is none and none is needed, 0."""
    return {r: 100 * sums[r] / board.left[r] if board.left[r] else (0 if not sums[r] else 1000) for r in RESOURCES}


def verdict(board, parts, sums):
    """In words. Units that haven't been measured only add to what is there."""
    over = [name for name, percent in shares(board, sums).items() if percent > LIMIT_PERCENT]
    if over:
        return f"**doesn't fit**: {', '.join(over)}"
    return "fits" if all(taken for _, taken in parts) else "open: units aren't measured yet"


# ---- print

def line(cells):
    return "| " + " | ".join(str(cell) for cell in cells) + " |"


def number(value):
    return f"{value:,}" if value else ""


def at_least(resource, parts):
    """A sign before a sum that lacks units. These take no UltraRAM; block RAM they take for tables only."""
    return "≥ " if resource != "URAM" and not all(taken for _, taken in parts) else ""


def names_of(board):
    return [{"BRAM": "DP16KD", "DSP": "MULT18X18D", "LUT": "LUT4"}.get(r, r) if board.family == "ecp5" else
            {"BRAM": "BRAM36", "DSP": "DSP48E2"}.get(r, r) for r in RESOURCES]


def summary(counts):
    lines = [line(["board", "array", *("URAM", "BRAM", "DSP", "LUT", "FF"), f"each at most {LIMIT_PERCENT} %"]),
             "|---|---|" + "---:|" * len(RESOURCES) + "---|"]
    for board in BOARDS:
        c = memories.configuration(board.name)
        _, parts, sums = board_takes(board, counts, c)
        cells = [at_least(r, parts) + f"{percent:.1f} %" if board.totals[r] else ""
                 for r, percent in shares(board, sums).items()]
        lines.append(line([f"[{board.name}](#{board.name})", f"{c['Lanes']} × {c['ColumnGroups']}", *cells,
                           verdict(board, parts, sums)]))
    return lines


def page(board, counts):
    """Everything about one board."""
    c = memories.configuration(board.name)
    placed, parts, sums = board_takes(board, counts, c)
    percents = shares(board, sums)
    names = names_of(board)
    lines = [f"## {board.name}", "",
             f"{board.device}, {c['Lanes']} × {c['ColumnGroups']} lanes, {c['VectorLanes']} vector and "
             f"{c['SoftmaxLanes']} softmax lanes, {c['ClockMhz']} MHz. Shell: {board.shell}.", "",
             line(["", *names]), "|---|" + "---:|" * len(RESOURCES)]
    for title, values in (("device", board.totals), ("left by the shell", board.left), ("**taken**", sums)):
        lines.append(line([title, *(number(values[r]) for r in RESOURCES)]))
    lines.append(line(["**share of what is left**",
                       *(f"{at_least(r, parts)}{percents[r]:.1f} %" if board.totals[r] else "" for r in RESOURCES)]))
    lines += ["", line(["memory", "copies", "bits × words", "ports", "where", names[0], names[1], names[3]]),
              "|---|---:|---:|---|---|---:|---:|---:|"]
    for memory, where, taken in placed:
        lines.append(line([memory.name, memory.copies, f"{memory.width:,} × {memory.depth:,}", memory.ports, where,
                           *(number(taken.get(r, 0)) for r in ("URAM", "BRAM", "LUT"))]))
    lines += ["", line(["unit", *names[1:]]),
              "|---|---:|---:|---:|---:|"]
    for unit, taken in parts:
        lines.append(line([unit.name, *(number(taken[r]) for r in ("BRAM", "DSP", "LUT", "FF"))] if taken else
                          [unit.name, "", "not measured", "not measured", "not measured"]))
    return lines


def measurements(counts):
    """What Yosys counted, for the doc's last section."""
    lines = [line(["module, family: size", "LUT", "of these hold data", "FF", "DSP", "BRAM"]),
             "|---|---:|---:|---:|---:|---:|"]
    for key, unit, parameters in units.jobs():
        if key in counts:
            lines.append(line([key, *(number(counts[key][n]) for n in ("lut", "memory_lut", "ff", "dsp", "bram"))]))
    return lines


def everything():
    counts = measure.load()
    lines = summary(counts) + [""]
    for board in BOARDS:
        lines += page(board, counts) + [""]
    return lines + ["## What Yosys counted", ""] + measurements(counts)
