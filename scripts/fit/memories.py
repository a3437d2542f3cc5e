"""The RTL's memories of a configuration, and what each takes of a device: the arithmetic behind docs/fit.md.

Yosys can't place UltraRAM, and memories are what decides here, so they are counted, not synthesised. One list
(memories_of) says what the RTL has, one function for each technology says what a memory of that width, depth and
number of ports takes. Relies on the parameters in rtl/lpu_pkg.sv; which memory goes where stands in boards.py.

Ports: "1r1w" writes by one port and reads by another; "1r1rw" reads by two, one of which also writes."""

import pathlib
import re

import units

ROOT = pathlib.Path(__file__).resolve().parents[2]
URAM_DEPTH = 4096       # UltraRAM: 4,096 words of 72 bits; each of its two ports reads or writes
URAM_BITS = 72
LANE_WORD_BITS = 144
MINIMUM_BITS = 16
BLOCK_BITS = 337        # lpu_mvu_pkg::BlockBits
ACCUMULATOR_BITS = 88
SCALE_BITS = 16
QUEUE_ENTRIES = 32      # lpu_sequencer
LOOP_BITS = 129         # lpu_sequencer_pkg
MAX_LOOPS = 256
SMALL_DEPTH = 64        # up to here distributed RAM is the default


def up(value, by):
    """Divided, rounded up."""
    return -(-value // by)


def package():
    """The plain numbers of rtl/lpu_pkg.sv by name."""
    text = (ROOT / "rtl" / "lpu_pkg.sv").read_text()
    return {name: int(value) for name, value in re.findall(r"localparam int (\w+) = (-?\d+);", text)}


def configuration(board, numbers=None):
    """A named configuration's parameters, as lpu_core's are called."""
    prefix = board.capitalize()
    numbers = numbers or package()
    found = {name[len(prefix):]: value for name, value in numbers.items() if name.startswith(prefix)}
    if "Lanes" not in found:
        raise SystemExit(f"fit: rtl/lpu_pkg.sv has no configuration named {board}")
    return found


class Memory:
    """Equal memories: `copies` of them, each `width` bits by `depth` words."""

    def __init__(self, name, width, depth, ports="1r1w", copies=1):
        self.name = name
        self.width = width
        self.depth = depth
        self.ports = ports
        self.copies = copies


def memories_of(c, numbers):
    """All memories of rtl/ that are lpu_ram_1r1w or lpu_ram_1r1rw. Those of distributed RAM inside a unit (ring delays,
    FIFOs of the host port, round registers, codes of V) are measured with their unit."""
    lanes, groups, vector = c["Lanes"], c["ColumnGroups"], c["VectorLanes"]
    pairs = vector // 2
    entries = c["AccumulatorEntries"]
    first = numbers["CommonDelayByLengthLsb"] + numbers["CommonDelayByLengthWidth"]
    program_bits = numbers["VectorGridStrideLsb"] + numbers["VectorGridStrideWidth"]
    queue_bits = {"MVU": numbers["MatvecFinishLsb"] - first,
                  "VPU": program_bits - first + numbers["CommonOpcodeWidth"],
                  "SMX": numbers["SoftmaxGridStrideLsb"] + numbers["SoftmaxGridStrideWidth"] - first}
    found = [Memory("lane words", LANE_WORD_BITS, c["LaneWords"], "1r1rw", lanes * groups)]
    if c["HasMinimum"]:
        found.append(Memory("minimums, four lanes", min(lanes, 4) * MINIMUM_BITS, c["MinimumWords"], "1r1w",
                            up(lanes, 4) * groups))
    found += [
        Memory("accumulators: sums, and a copy for VPU and SMX each", lanes * ACCUMULATOR_BITS, entries,
               copies=3 * units.most_segments(groups)),
        Memory("V's scales", lanes * SCALE_BITS, entries, copies=units.most_segments(groups)),
        Memory("activation banks", BLOCK_BITS, c["ActivationBlocks"], copies=groups),
        Memory("exponents: two copies, four readers", lanes * 8, c["ExponentWords"], "1r1rw", 2),
        Memory("constants", vector * 32, up(c["ConstantValues"], vector), "1r1rw"),
        Memory("cosines and sines", pairs * 64, up(c["RopePairs"], pairs)),
        Memory("residual banks", vector * 32, up(c["ResidualValues"], lanes), copies=lanes // vector),
        Memory("program", program_bits, c["ProgramInstructions"]),
        Memory("loops", LOOP_BITS, MAX_LOOPS),
        Memory("delays", 32, c["DelayEntries"]),
        Memory("noise queue", vector * 32, numbers["NoiseQueueSlices"]),
    ]
    # 16 bits of iteration and 16 of program counter go with an instruction.
    found += [Memory(f"queue of the {unit}", bits + 32, QUEUE_ENTRIES) for unit, bits in queue_bits.items()]
    return found


# ---- UltraScale+

def halves_of_block_ram(width, depth, ports):
    """RAMB18 (half a BRAM36) for one memory: the best aspect. With a writer and a reader a half is 512 x 36 at its
    widest; where both ports read, 1,024 x 18."""
    aspects = [(1024, 18), (2048, 9), (4096, 4), (8192, 2), (16384, 1)]
    if ports == "1r1w":
        aspects.insert(0, (512, 36))
    return min(up(depth, deep) * up(width, wide) for deep, wide in aspects)


def block_ram(memory):
    """BRAM36: halves of one memory are paired, a lone half takes a whole."""
    return memory.copies * up(halves_of_block_ram(memory.width, memory.depth, memory.ports), 2)


def distributed_ram(memory):
    """LUTs: eight hold 32 x 14 or 64 x 7 bits (the eighth's address is the write port's); deeper ones are banks with a
    multiplexer of one LUT a bit for every three banks beyond the first. Only for one writer and one reader."""
    if memory.ports != "1r1w":
        raise ValueError(f"{memory.name}: distributed RAM has one reading port")
    if memory.depth <= 32:
        return memory.copies * 8 * up(memory.width, 14)
    banks = up(memory.depth, 64)
    return memory.copies * (8 * banks * up(memory.width, 7) + memory.width * up(banks - 1, 3))


def ultra_ram(memory):
    """URAM288 by depth and width, with nothing left over for block RAM."""
    return memory.copies * up(memory.depth, URAM_DEPTH) * up(memory.width, URAM_BITS)


def ultra_ram_and_rest(memory, split):
    """(URAM, BRAM36) of a memory whose words beyond a multiple of 4,096 lie in block RAM. `split`: these words are
    never touched by the second port while tokens run (weights, no K and V), so that block RAM needs one reader only."""
    full, rest = divmod(memory.depth, URAM_DEPTH)
    uram = memory.copies * full * up(memory.width, URAM_BITS)
    if not rest:
        return uram, 0
    return uram, block_ram(Memory(memory.name, memory.width, rest, "1r1w" if split else memory.ports, memory.copies))


# ---- ECP5

def ebr(memory):
    """DP16KD of an ECP5: 1,024 x 18 and narrower; with a writer and a reader also 512 x 36."""
    return memory.copies * halves_of_block_ram(memory.width, memory.depth, memory.ports)


def ecp5_distributed_ram(memory):
    """LUT4: 16 x 4 bits take four and two more for the write port; a LUT4 a bit joins each further 16 words."""
    if memory.ports != "1r1w":
        raise ValueError(f"{memory.name}: distributed RAM has one reading port")
    banks = up(memory.depth, 16)
    return memory.copies * (6 * banks * up(memory.width, 4) + memory.width * (banks - 1))
