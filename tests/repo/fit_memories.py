"""Rule: scripts/fit counts memories as counted here by hand, and its features as they were measured.

Relies on scripts/fit being plain Python; needs no Yosys."""

import os
import sys

from sources import ROOT, report

sys.path.insert(0, os.path.join(ROOT, "scripts", "fit"))
import boards  # noqa: E402
import memories  # noqa: E402
import table  # noqa: E402
import units  # noqa: E402
from memories import Memory  # noqa: E402

offences = []


def expect(what, got, wanted):
    if got != wanted:
        offences.append(f"{what}: {got}, counted by hand {wanted}")


# ---- one memory at a time
expect("512 x 72, one reader, is one BRAM36", memories.block_ram(Memory("m", 72, 512)), 1)
expect("512 x 73 needs half a BRAM36 more, so a second", memories.block_ram(Memory("m", 73, 512)), 2)
expect("512 x 36 is half of one, and takes one", memories.block_ram(Memory("m", 36, 512)), 1)
expect("513 x 72: 1,024 x 18 four times is as good", memories.block_ram(Memory("m", 72, 513)), 2)
expect("512 x 144 with two readers: 1,024 x 18 eight times", memories.block_ram(Memory("m", 144, 512, "1r1rw")), 4)
expect("512 x 144 with one reader", memories.block_ram(Memory("m", 144, 512)), 2)
expect("2,048 x 512 with two readers: 2,048 x 9 57 times", memories.block_ram(Memory("m", 512, 2048, "1r1rw")), 29)
expect("accumulators of 64 lanes: 5,632 bits / 36, halved", memories.block_ram(Memory("m", 5632, 512)), 79)
expect("copies of a lone half aren't paired", memories.block_ram(Memory("m", 18, 1024, copies=3)), 3)
expect("64 x 7 in eight LUTs", memories.distributed_ram(Memory("m", 7, 64)), 8)
expect("64 x 8 in sixteen", memories.distributed_ram(Memory("m", 8, 64)), 16)
expect("32 x 14 in eight", memories.distributed_ram(Memory("m", 14, 32)), 8)
expect("128 x 7: two banks and seven multiplexers", memories.distributed_ram(Memory("m", 7, 128)), 23)
expect("512 x 7: eight banks, three LUTs a bit", memories.distributed_ram(Memory("m", 7, 512)), 85)
expect("accumulators of 64 lanes, 64 deep: 805 times eight", memories.distributed_ram(Memory("m", 5632, 64)), 6440)
lane = Memory("m", 144, 4608, "1r1rw", 4)
expect("4,608 words: four lanes, cut", memories.ultra_ram_and_rest(lane, True), (8, 8))
expect("4,608 words: four lanes, not cut", memories.ultra_ram_and_rest(lane, False), (8, 16))
expect("4,096 words need no block RAM", memories.ultra_ram_and_rest(Memory("m", 144, 4096, "1r1rw"), False), (2, 0))
expect("5,120 words uncut and cut are equal", memories.ultra_ram_and_rest(Memory("m", 144, 5120, "1r1rw"), False),
       memories.ultra_ram_and_rest(Memory("m", 144, 5120, "1r1rw"), True))
expect("2,048 lane words of ECP5: 2,048 x 9 sixteen times", memories.ebr(Memory("m", 144, 2048, "1r1rw")), 16)
expect("16 x 4 of ECP5", memories.ecp5_distributed_ram(Memory("m", 4, 16)), 6)
expect("32 x 4 of ECP5: twice, and four LUT4 that join", memories.ecp5_distributed_ram(Memory("m", 4, 32)), 16)
try:
    memories.distributed_ram(Memory("m", 8, 64, "1r1rw"))
    offences.append("distributed RAM with two readers isn't refused")
except ValueError:
    pass

# ---- a whole configuration of two lanes a vector slice, counted by hand
numbers = memories.package()
small = {"Lanes": 4, "ColumnGroups": 2, "VectorLanes": 2, "HasMinimum": 1, "LaneWords": 4096, "MinimumWords": 4096,
         "AccumulatorEntries": 64, "ActivationBlocks": 512, "ResidualValues": 1024, "ExponentWords": 1024,
         "ConstantValues": 1024, "RopePairs": 512, "ProgramInstructions": 512, "DelayEntries": 1024}
placed = table.place(boards.Board("small", "", {}, {}, ""), small, numbers)
taken = {name: sum(row[2].get(name, 0) for row in placed) for name in ("URAM", "BRAM")}
expect("a small machine's UltraRAM: 8 lanes by 2, minimums 1 a group", taken["URAM"], 8 * 2 + 2)
# Activation banks 2 x 5, exponents 2 x 1, constants 512 x 64 with two readers 2, rope 512 x 64 1, residual 2 banks of
# 256 x 64 1 each, program 568 bits 8, loops 129 bits 2, delays 1,024 x 32 1, noise queue 512 x 64 1.
expect("a small machine's BRAM36", taken["BRAM"], 10 + 2 + 2 + 1 + 2 + 8 + 2 + 1 + 1)
expect("ids whose noise is made in a cycle", units.NOISE_LANES, numbers["NoiseLanes"])
expect("segments with accumulators", units.MAX_SEGMENTS, numbers["MaxSegments"])

# ---- lines through measurements
expect("a line through (4, 30) and (8, 50)", table.solve([[1, 4], [1, 8]], [30, 50]), [10.0, 5.0])
for unit in units.UNITS + units.OTHER_SUMS + units.ECP5_UNITS:
    equations = [[units.FEATURES[name](at) for name in unit.features] for at in unit.sizes]
    expect(f"{unit.name}: a feature a size", len(unit.features), len(unit.sizes))
    table.solve(equations, [0] * len(equations))
report("fit memories", offences)
