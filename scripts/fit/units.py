"""Which modules Yosys measures for scripts/fit.sh, at which sizes, and how a board's size is worked out from them.

The whole machine at 64 x 6 is too large for Yosys: it is measured in units, at small sizes, and each unit's LUTs,
registers and DSPs are a sum of features (a constant, lanes, lanes x groups, vector lanes ...) whose weights follow from
as many measurements as there are features. What a unit contains of another is cut out ("without"), as are the memories
that scripts/fit/memories.py counts. Relies on nothing; scripts/fit/measure.py runs the list."""

RAMS = ["lpu_ram_1r1w", "lpu_ram_1r1rw"]

# A size: L lanes, G column groups, V vector lanes, S softmax lanes.
LETTERS = {"L": "Lanes", "G": "ColumnGroups", "V": "VectorLanes", "S": "SoftmaxLanes"}

FEATURES = {
    "1": lambda s: 1,
    "L": lambda s: s["L"],
    "V": lambda s: s["V"],
    "S": lambda s: s["S"],
    "LG": lambda s: s["L"] * s["G"],
}


class Unit:
    """A module to be measured."""

    def __init__(self, name, module, letters, features, sizes, without=(), family="xcup", fixed=(), copies=None,
                 dsp=None):
        self.name = name
        self.module = module
        self.letters = letters          # which of L, G, V, S its module has as parameters
        self.features = features        # keys of FEATURES
        self.sizes = sizes              # as many as features: dicts of letters
        self.without = list(without) + RAMS
        self.family = family            # of synth_xilinx
        self.fixed = dict(fixed)        # further parameters
        self.copies = copies or (lambda size: 1)
        self.dsp = dsp                  # of a size, where DSPs grow otherwise than LUTs: must agree with what is measured


NOISE_LANES = 8         # lpu_pkg::NoiseLanes: ids whose noise is made in a cycle, if a slice has as many


def noise_lanes(size):
    return min(NOISE_LANES, size["V"])


MAX_SEGMENTS = 4        # lpu_pkg::MaxSegments


def groups_of(size):
    return size["G"]


def most_segments(groups):
    """Segments that have accumulators, as lpu_mvu_pkg::most_segments() says."""
    return max(count for count in range(1, MAX_SEGMENTS + 1) if groups % count == 0)


def segments_of(size):
    return most_segments(size["G"])


def size_of(lanes, groups=6):
    """A small machine of the U55C's proportions: half as many vector lanes as lanes, as many softmax lanes."""
    return {"L": lanes, "G": groups, "V": lanes // 2, "S": lanes}


SIZES = [size_of(4), size_of(8)]
# The vector unit's operators are measured once, a lane of each, and counted: 4 multiplications a vector lane in its
# front, the rotation and the logits, one in a pair of SwiGLU's two; 32 for K and V each; 3 in norm and scales.
ONE = [size_of(2)]
ONE_LANE = {"Lanes": 1}
OPERATORS = ["lpu_multiply", "lpu_add", "lpu_convert", "lpu_quantise", "lpu_sigmoid", "lpu_log2", "lpu_philox"]
ENTRIES = {"AccumulatorEntries": 64}


def sum_unit(groups):
    """The sums over groups: which groups may belong to which segment depends on the divisors of their number. All of it
    grows with the lanes, so that one size does."""
    return Unit(f"mvu: sums over {groups} groups", "lpu_mvu_sum", "LGVS", ["L"], [size_of(2, groups)],
                without=["lpu_mvu_accumulate"], fixed=ENTRIES)


# One size where what doesn't grow is small beside what does: the little is then counted as if it grew.
# The dot product in xc7 rather than xcup: Yosys packs registers and cascades into that family's DSPs only.
UNITS = [
    Unit("mvu: dot products", "lpu_mvu_dot", "L", ["1", "L"], [size_of(2), size_of(4)], family="xc7",
         copies=groups_of),
    Unit("mvu: residual aligned", "lpu_mvu_align", "L", ["L"], SIZES[:1]),
    sum_unit(6),
    Unit("mvu: accumulators' logic", "lpu_mvu_accumulate", "LVS", ["L"], SIZES[:1],
         fixed={"CarryBits": 3, "Entries": 64}, copies=segments_of),
    Unit("mvu: the rest", "lpu_mvu", "LGVS", ["LG"], SIZES[1:],
         without=["lpu_mvu_dot", "lpu_mvu_align", "lpu_mvu_sum"],
         fixed={"LaneWords": 8192, "MinimumWords": 8192, "ActivationBlocks": 512} | ENTRIES, dsp=lambda s: 7),
    Unit("vpu: multiplications", "lpu_multiply", "", ["1"], ONE, fixed=ONE_LANE, copies=lambda s: 5 * s["V"] + 67),
    Unit("vpu: additions", "lpu_add", "", ["1"], ONE, fixed=ONE_LANE, copies=lambda s: 2 * s["V"] + 1),
    Unit("vpu: sums to binary32", "lpu_convert", "", ["1"], ONE, fixed=ONE_LANE, copies=lambda s: s["V"] + 1),
    Unit("vpu: blocks quantised", "lpu_quantise", "", ["1"], ONE, copies=lambda s: 4),
    Unit("vpu: sigmoid", "lpu_sigmoid", "", ["1"], ONE, fixed=ONE_LANE, copies=lambda s: s["V"] // 2),
    Unit("vpu: logarithms of the noise", "lpu_log2", "", ["1"], ONE, fixed=ONE_LANE, copies=lambda s: 2 * noise_lanes(s)),
    Unit("vpu: random numbers", "lpu_philox", "", ["1"], ONE, copies=lambda s: (noise_lanes(s) + 3) // 4),
    Unit("vpu: the chains around them", "lpu_vector_unit", "V", ["1", "V"], SIZES, without=OPERATORS),
    # Its DSPs: eight for addresses, and a product by the scale in each vector lane.
    Unit("vpu: embedding", "lpu_embed_fetch", "LGV", ["LG"], SIZES[1:], dsp=lambda s: 8 + s["V"]),
    Unit("vpu: the rest", "lpu_vpu", "LGV", ["1", "V"], SIZES,
         without=["lpu_vector_unit", "lpu_embed_fetch", *OPERATORS], fixed={"ActivationBlocks": 512} | ENTRIES),
    Unit("smx", "lpu_smx", "LGS", ["1", "S"], SIZES, fixed=ENTRIES),
    Unit("K and V writer", "lpu_kv_writer", "LG", ["LG"], SIZES[1:], fixed={"LaneWords": 8192}),
    Unit("host port", "lpu_host_port", "LGV", ["LG"], SIZES[1:],
         fixed={"LaneWords": 8192, "MinimumWords": 8192, "ExponentWords": 2048, "ConstantValues": 32768,
                "RopePairs": 65536, "ProgramInstructions": 1024, "DelayEntries": 8192}),
    Unit("core: the rest, with sequencer and memories' logic", "lpu_core", "LGVS", ["1", "LG"], SIZES,
         without=["lpu_host_port", "lpu_mvu", "lpu_vpu", "lpu_kv_writer", "lpu_smx"]),
]
# Sums of other boards' groups.
OTHER_SUMS = [sum_unit(groups) for groups in (2, 3, 4, 8)]

# ECP5 has one array, 8 x 1 with 2 vector lanes: it is measured at that very size, so larger units do.
ECP5_DEPTHS = {"LaneWords": 2048, "AccumulatorEntries": 32, "ActivationBlocks": 64, "ResidualValues": 512,
               "ExponentWords": 512, "ConstantValues": 2048, "RopePairs": 4096, "ProgramInstructions": 512,
               "DelayEntries": 1024}
ECP5_ARRAY = [{"L": 8, "G": 1, "V": 2, "S": 2}]


def for_ecp5(unit):
    """One of UNITS' operators on ECP5."""
    return Unit(unit.name, unit.module, unit.letters, unit.features, unit.sizes, unit.without, "ecp5", unit.fixed,
                unit.copies)


ECP5_UNITS = [
    Unit("mvu", "lpu_mvu", "LGVS", ["1"], ECP5_ARRAY, family="ecp5",
         fixed={"HasMinimum": 0, "LaneWords": 2048, "AccumulatorEntries": 32, "ActivationBlocks": 64}),
    *[for_ecp5(unit) for unit in UNITS if unit.module in OPERATORS],
    Unit("vpu: the rest", "lpu_vpu", "LGV", ["1"], ECP5_ARRAY, without=OPERATORS, family="ecp5",
         fixed={"AccumulatorEntries": 32, "ActivationBlocks": 64}),
    Unit("smx", "lpu_smx", "LGS", ["1"], ECP5_ARRAY, family="ecp5", fixed={"AccumulatorEntries": 32}),
    Unit("core: all the rest", "lpu_core", "LGVS", ["1"], ECP5_ARRAY, family="ecp5",
         without=["lpu_mvu", "lpu_vpu", "lpu_smx"], fixed={"HasMinimum": 0, "MinimumWords": 0} | ECP5_DEPTHS),
]


def of_board(groups, family="xcup"):
    """The units of a board with so many groups: the sums are those of that number."""
    if family == "ecp5":
        return ECP5_UNITS
    own = [u for u in [*UNITS, *OTHER_SUMS] if u.name == f"mvu: sums over {groups} groups"]
    return [own[0] if u.module == "lpu_mvu_sum" else u for u in UNITS]


def parameters(unit, at):
    """A module's parameters at a size."""
    return {LETTERS[letter]: at[letter] for letter in unit.letters} | unit.fixed


def jobs():
    """Every measurement: (key, unit, parameters)."""
    made = [(unit, parameters(unit, at)) for unit in [*UNITS, *ECP5_UNITS, *OTHER_SUMS] for at in unit.sizes]
    return [(key(*job), *job) for job in made]


def key(unit, sizes):
    """Name of a measurement in the committed file."""
    written = ", ".join(f"{name} {value}" for name, value in sizes.items())
    return f"{unit.module}, {unit.family}" + (f": {written}" if written else "")
