"""The devices of boards/, what a shell takes of each, and which memory goes where: input of scripts/fit.sh.

Figures of devices are the vendors' data sheets'; each shell's figure says where it comes from. Relies on nothing."""

RESOURCES = ["URAM", "BRAM", "DSP", "LUT", "FF"]


class Board:
    """A device, and the placement of the memories on it."""

    def __init__(self, name, device, totals, left, shell, family="xcup", **placement):
        self.name = name
        self.device = device
        self.totals = totals            # by resource
        self.left = left                # of that, what a shell leaves
        self.shell = shell              # a sentence: what the shell is, and where its figure comes from
        self.family = family
        # How many lanes' words lie in block RAM altogether (the others' in UltraRAM).
        self.lanes_in_block_ram = placement.get("lanes_in_block_ram", 0)
        self.minimums_in_block_ram = placement.get("minimums_in_block_ram", 0)   # memories of four lanes
        # Words beyond a multiple of 4,096 are the lowest ones: weights, which the second port never touches.
        self.split = placement.get("split", True)
        # By a memory's name: "block" or "distributed" where it isn't what its depth says (up to 64 words: distributed).
        self.homes = placement.get("homes", {})


def resources(*values):
    return dict(zip(RESOURCES, values))


def share(totals, uram, bram, dsp, rest):
    """What is left of a device when a shell takes these shares, in per cent."""
    taken = resources(uram, bram, dsp, rest, rest)
    return {name: int(totals[name] * (100 - taken[name]) / 100) for name in RESOURCES}


U50 = resources(640, 1344, 5952, 871680, 1743360)
U55C = resources(960, 2016, 9024, 1303680, 2607360)
U250 = resources(1280, 2688, 12288, 1728000, 3456000)
V80 = resources(1925, 3741, 10848, 2574208, 5148416)
K26 = resources(64, 144, 1248, 117120, 234240)
ZU7EV = resources(96, 312, 1728, 230400, 460800)
ECP5 = resources(0, 208, 156, 83640, 83640)

NO_SHELL = "none: the processing system is beside the fabric; an AXI bridge and a DMA aren't counted"

BOARDS = [
    Board("u55c", "XCU55C", U55C,
          resources(960, 1487, share(U55C, 0, 0, 7.5, 0)["DSP"], 1069000, 2138000),
          "no figure of its own at hand: LUT, FF and BRAM as the larger shell of the U280 leaves them on the same "
          "fabric (FINN, src/finn/util/basic.py: 1,069,000 LUT, 1,487 BRAM36, 960 URAM); 7.5 % of the DSPs are taken "
          "off"),
    Board("u50", "XCU50", U50, resources(608, 1128, 5340, 731000, 1462000),
          "xilinx_u50_gen3x16_xdma_201920_3, as FINN counts it (src/finn/util/basic.py); FF are twice the LUTs",
          lanes_in_block_ram=16),
    Board("u250", "XCU250", U250, resources(1280, 2000, 11508, 1379740, 2814332),
          "xilinx_u250_xdma_201830_2, as ThunderGP counts it (automation/devices/, the sum over four dies)"),
    Board("v80", "XCV80 (Versal)", V80, share(V80, 0, 15, 10, 15),
          "estimate only, a stated share: 15 % of LUT, FF and BRAM, 10 % of DSP; units counted as on UltraScale+"),
    Board("kv260", "XCK26", K26, K26, NO_SHELL, lanes_in_block_ram=4, homes={"loops": "distributed"}),
    Board("zcu104", "XCZU7EV", ZU7EV, ZU7EV, NO_SHELL, lanes_in_block_ram=5),
    Board("ulx3s", "LFE5U-85F", ECP5, ECP5, "none", family="ecp5", homes={"loops": "distributed"}),
    Board("orangecrab", "LFE5U-85F", ECP5, ECP5, "none", family="ecp5", homes={"loops": "distributed"}),
]


def board_named(name):
    for board in BOARDS:
        if board.name == name:
            return board
    raise SystemExit(f"fit: no board named {name}; there are {', '.join(b.name for b in BOARDS)}")
