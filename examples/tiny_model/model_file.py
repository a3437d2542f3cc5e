"""Writes a Llama-shape model as a GGUF file: keys, tokenizer, and tensors as Q8_0, Q4_0 or F32.

Why: the trainer and the comparison of shapes need a file that `lpu` reads, without a package for it.
Relies on numpy; the layout is GGUF version 3, little-endian, tensors at multiples of 32 bytes."""

import struct
from dataclasses import dataclass

import numpy as np

ALIGNMENT_BYTES = 32
BLOCK = 32  # values that share a scale
U32, I32, F32, BOOL, STRING, ARRAY = 4, 5, 6, 7, 8, 9  # GGUF's value types
TENSOR_TYPES = {"F32": 0, "Q4_0": 2, "Q8_0": 8}
TOKEN_NORMAL, TOKEN_CONTROL = 1, 3


@dataclass(frozen=True)
class Shape:
    """The shape of a Llama; all widths are multiples of 32."""
    vocabulary: int = 512
    width: int = 128
    layers: int = 2
    heads: int = 4
    kv_heads: int = 1
    head_size: int = 32
    ffn_width: int = 256
    context_tokens: int = 128
    rope_base: float = 10000.0
    norm_epsilon: float = 1e-5

    def matrices(self):
        """Name → (rows, columns), in the file's order; the head is the embedding."""
        query, key = self.heads * self.head_size, self.kv_heads * self.head_size
        result = {"token_embd.weight": (self.vocabulary, self.width)}
        for layer in range(self.layers):
            for role, rows, columns in (("attn_q", query, self.width), ("attn_k", key, self.width),
                                        ("attn_v", key, self.width), ("attn_output", self.width, query),
                                        ("ffn_gate", self.ffn_width, self.width),
                                        ("ffn_up", self.ffn_width, self.width),
                                        ("ffn_down", self.width, self.ffn_width)):
                result[f"blk.{layer}.{role}.weight"] = (rows, columns)
        return result

    def vectors(self):
        """Name → length of the norm gains."""
        names = ["output_norm.weight"]
        for layer in range(self.layers):
            names += [f"blk.{layer}.attn_norm.weight", f"blk.{layer}.ffn_norm.weight"]
        return {name: self.width for name in names}

    def parameters(self):
        return sum(rows * columns for rows, columns in self.matrices().values()) + sum(self.vectors().values())


def scales_and_numbers(values, kind):
    """Blocks [n][32] of floats → (binary16 scales [n], integers [n][32]); Q4_0's are −8…7, Q8_0's −127…127."""
    blocks = np.asarray(values, np.float32).reshape(-1, BLOCK)
    largest = np.take_along_axis(blocks, np.abs(blocks).argmax(axis=1)[:, None], axis=1)[:, 0]
    scales = (largest / -8 if kind == "Q4_0" else np.abs(largest) / 127).astype(np.float16)
    divisors = scales.astype(np.float32)[:, None]
    numbers = np.divide(blocks, divisors, out=np.zeros_like(blocks), where=divisors != 0)
    low, high = (-8, 7) if kind == "Q4_0" else (-127, 127)
    return scales, np.clip(np.rint(numbers), low, high).astype(np.int8)


def tensor_bytes(values, kind):
    if kind == "F32":
        return np.asarray(values, "<f4").tobytes()
    scales, numbers = scales_and_numbers(values, kind)
    if kind == "Q8_0":
        packed = numbers.view(np.uint8)  # [n][32]
    else:
        nibbles = (numbers + 8).astype(np.uint8)
        packed = nibbles[:, :16] | nibbles[:, 16:] << 4  # [n][16]: value j low, value j + 16 high
    return np.concatenate([scales.astype("<f2").view(np.uint8).reshape(-1, 2), packed], axis=1).tobytes()


def text(value):
    data = value.encode("utf-8")
    return struct.pack("<Q", len(data)) + data


def key(name, kind, value):
    def number(form):
        return lambda item: struct.pack(form, item)

    one = {U32: number("<I"), I32: number("<i"), F32: number("<f"), BOOL: number("<B"), STRING: text}
    if isinstance(value, list):
        body = struct.pack("<IIQ", ARRAY, kind, len(value)) + b"".join(one[kind](item) for item in value)
    else:
        body = struct.pack("<I", kind) + one[kind](value)
    return text(name) + body


def padding(size):
    return bytes(-size % ALIGNMENT_BYTES)


def keys_of(shape, name, tokens, controls, merges, licence):
    """`tokens` are the texts in the byte alphabet, the first `controls` of them control tokens; 0 starts and ends."""
    llama = {"context_length": shape.context_tokens, "embedding_length": shape.width, "block_count": shape.layers,
             "feed_forward_length": shape.ffn_width, "vocab_size": shape.vocabulary,
             "attention.head_count": shape.heads, "attention.head_count_kv": shape.kv_heads,
             "attention.key_length": shape.head_size, "attention.value_length": shape.head_size,
             "rope.dimension_count": shape.head_size}
    kinds = [TOKEN_CONTROL] * controls + [TOKEN_NORMAL] * (len(tokens) - controls)
    return [key("general.architecture", STRING, "llama"), key("general.name", STRING, name),
            key("general.license", STRING, licence), *(key(f"llama.{k}", U32, v) for k, v in llama.items()),
            key("llama.attention.layer_norm_rms_epsilon", F32, shape.norm_epsilon),
            key("llama.rope.freq_base", F32, shape.rope_base),
            key("tokenizer.ggml.model", STRING, "gpt2"), key("tokenizer.ggml.pre", STRING, "gpt-2"),
            key("tokenizer.ggml.tokens", STRING, tokens), key("tokenizer.ggml.token_type", I32, kinds),
            key("tokenizer.ggml.merges", STRING, merges), key("tokenizer.ggml.bos_token_id", U32, 0),
            key("tokenizer.ggml.eos_token_id", U32, 0), key("tokenizer.ggml.add_bos_token", BOOL, True)]


def write(path, shape, kinds, values, tokens, controls, merges, name="tiny", licence="Apache-2.0"):
    """`values`: name → array; `kinds`: name of a matrix → its tensor type. Returns the file's size in bytes."""
    keys = keys_of(shape, name, tokens, controls, merges, licence)
    infos, data = b"", b""
    dimensions = {**{n: (columns, rows) for n, (rows, columns) in shape.matrices().items()},
                  **{n: (length,) for n, length in shape.vectors().items()}}
    for tensor, extents in dimensions.items():
        kind = kinds[tensor] if tensor in kinds else "F32"
        infos += text(tensor) + struct.pack("<I", len(extents)) + struct.pack(f"<{len(extents)}Q", *extents)
        infos += struct.pack("<IQ", TENSOR_TYPES[kind], len(data))
        body = tensor_bytes(values[tensor], kind)
        data += body + padding(len(body))
    head = b"GGUF" + struct.pack("<IQQ", 3, len(dimensions), len(keys)) + b"".join(keys) + infos
    with open(path, "wb") as file:
        return file.write(head + padding(len(head)) + data)
