#!/usr/bin/env python3
"""Writes tests/model/vectors/dequantise.bin: rows of every tensor type, and the values that the reference Python
package `gguf` decodes them to. Needs `pip install gguf numpy`; only for remaking the committed file.

Per case, little-endian: u32 ggml type, u32 bytes of the row, u32 values; the row; the values as binary32.
"""

import pathlib
import struct

import gguf
import numpy as np

ROWS = 2
BLOCKS = 2
# Byte offsets of a block's binary16 fields: random bytes there could be NaN, whose bits no format defines.
HALVES = {"F16": [0], "Q4_0": [0], "Q4_1": [0, 2], "Q5_0": [0], "Q5_1": [0, 2], "Q8_0": [0], "Q4_K": [0, 2],
          "Q5_K": [0, 2], "Q6_K": [208]}
# Scales worth naming: least subnormal, a large subnormal, zero, minus zero, largest, a negative one.
NAMED_HALVES = [0x0001, 0x03FF, 0x0000, 0x8000, 0x7BFF, 0xB123]


def rows_of(name, rng):
    kind = gguf.GGMLQuantizationType[name]
    block_values, block_bytes = gguf.GGML_QUANT_SIZES[kind]
    blocks = BLOCKS if block_values > 1 else 16
    for row in range(ROWS):
        if name in ("F32", "BF16"):
            values = rng.normal(size=blocks).astype(np.float32)
            values[:3] = [0.0, -0.0, 1e-40]
            data = values.view(np.uint8) if name == "F32" else values.view(np.uint16)[1::2].copy().view(np.uint8)
        else:
            data = rng.integers(0, 256, blocks * block_bytes, dtype=np.uint8)
            for block in range(blocks):
                for i, at in enumerate(HALVES[name]):
                    bits = NAMED_HALVES[(row * blocks + block + i) % len(NAMED_HALVES)]
                    if block % 2:
                        bits = int(np.float16(rng.normal() * 0.01).view(np.uint16))
                    data[block * block_bytes + at : block * block_bytes + at + 2] = [bits & 255, bits >> 8]
        yield kind, data, gguf.dequantize(data.reshape(1, -1), kind).reshape(-1).astype(np.float32)


def main():
    rng = np.random.default_rng(1)
    out = b""
    for name in ["F32", "F16", "BF16", "Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0", "Q4_K", "Q5_K", "Q6_K"]:
        for kind, data, values in rows_of(name, rng):
            out += struct.pack("<III", int(kind), data.size, values.size) + data.tobytes() + values.tobytes()
    path = pathlib.Path(__file__).resolve().parents[2] / "tests/model/vectors/dequantise.bin"
    path.write_bytes(out)


if __name__ == "__main__":
    main()
