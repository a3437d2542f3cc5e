#!/usr/bin/env python3
"""Makes small random models as GGUF files, for tests and demonstrations: no download, no package, the same bytes
from the same options on every machine.

The weights are random but sane: matrices have a standard deviation of about 1/sqrt(columns), so that activations keep
their size from layer to layer; quantised blocks are drawn directly (random integers, fitting scales), so that every
bit of a format is exercised. Norm gains are 1 +- 0.2. The text such a model writes has no meaning.

The file carries a small, valid tokenizer: byte-level BPE with the 256 byte tokens, a few merges, the control tokens
<|endoftext|>, <|im_start|> and <|im_end|>, filler tokens up to the vocabulary, and a ChatML template.
Relies on Python's standard library only.
"""

import argparse
import array
import pathlib
import random
import struct
import sys

# ---------------------------------------------------------------------------------------------------------------------
# Blocks of each tensor type. Each function returns the bytes of one block whose values have about deviation `std`.


def half(value):
    return struct.pack("<e", value)


def around(rng, value):
    """The value, up to 20 % off: so that scales differ from block to block."""
    return value * rng.uniform(0.8, 1.2)


def sign(rng):
    return rng.choice((-1.0, 1.0))


NIBBLE_STD = 4.61  # of a uniform 4-bit integer; 5 bits: 9.23, 6 bits: 18.5, 8 bits: 73.9


def block_q8_0(rng, std):
    return half(around(rng, std / 73.9)) + rng.randbytes(32)


def block_q4_0(rng, std):
    return half(sign(rng) * around(rng, std / NIBBLE_STD)) + rng.randbytes(16)


def block_q4_1(rng, std):
    scale = around(rng, std / NIBBLE_STD)
    return half(scale) + half(around(rng, -7.5 * scale)) + rng.randbytes(16)


def block_q5_0(rng, std):
    return half(sign(rng) * around(rng, std / 9.23)) + rng.randbytes(4 + 16)


def block_q5_1(rng, std):
    scale = around(rng, std / 9.23)
    return half(scale) + half(around(rng, -15.5 * scale)) + rng.randbytes(4 + 16)


def packed_sub_scales(rng):
    """The 12 bytes of a K-quant's eight 6-bit scales and minimums; a minimum is near its scale."""
    scales = [rng.randrange(24, 64) for _ in range(8)]
    minimums = [max(0, min(63, scale + rng.randrange(-3, 4))) for scale in scales]
    packed = bytearray(12)
    for j in range(4):
        packed[j] = scales[j] | scales[j + 4] >> 4 << 6
        packed[j + 4] = minimums[j] | minimums[j + 4] >> 4 << 6
        packed[j + 8] = scales[j + 4] & 15 | (minimums[j + 4] & 15) << 4
    return bytes(packed)


def block_q4_k(rng, std):
    scale = around(rng, std / (NIBBLE_STD * 44))
    return half(scale) + half(7.5 * scale) + packed_sub_scales(rng) + rng.randbytes(128)


def block_q5_k(rng, std):
    scale = around(rng, std / (9.23 * 44))
    return half(scale) + half(15.5 * scale) + packed_sub_scales(rng) + rng.randbytes(32 + 128)


def block_q6_k(rng, std):
    scales = [int(sign(rng)) * rng.randrange(32, 128) for _ in range(16)]
    return rng.randbytes(128 + 64) + struct.pack("<16b", *scales) + half(around(rng, std / (18.5 * 80)))


def uniform(rng, std, count):
    """`count` binary32 numbers, uniform within +-sqrt(3) deviations, as bytes."""
    reach = 3.0**0.5 * std
    values = array.array("f", (rng.uniform(-reach, reach) for _ in range(count)))
    if sys.byteorder == "big":
        values.byteswap()
    return values.tobytes()


def values_f32(rng, std, count):
    return uniform(rng, std, count)


def values_bf16(rng, std, count):
    whole = uniform(rng, std, count)
    return b"".join(whole[i + 2 : i + 4] for i in range(0, len(whole), 4))


def values_f16(rng, std, count):
    return struct.pack(f"<{count}e", *struct.unpack(f"<{count}f", uniform(rng, std, count)))


def blocks(function, block_values):
    return lambda rng, std, count: b"".join(function(rng, std) for _ in range(count // block_values))


# type -> (ggml's number, values of a block, maker of `count` values)
TYPES = {
    "F32": (0, 1, values_f32),
    "F16": (1, 1, values_f16),
    "Q4_0": (2, 32, blocks(block_q4_0, 32)),
    "Q4_1": (3, 32, blocks(block_q4_1, 32)),
    "Q5_0": (6, 32, blocks(block_q5_0, 32)),
    "Q5_1": (7, 32, blocks(block_q5_1, 32)),
    "Q8_0": (8, 32, blocks(block_q8_0, 32)),
    "Q4_K": (12, 256, blocks(block_q4_k, 256)),
    "Q5_K": (13, 256, blocks(block_q5_k, 256)),
    "Q6_K": (14, 256, blocks(block_q6_k, 256)),
    "BF16": (30, 1, values_bf16),
}
FILE_TYPES = {"F32": 0, "F16": 1, "Q4_0": 2, "Q4_1": 3, "Q8_0": 7, "Q5_0": 8, "Q5_1": 9, "Q4_K": 15, "Q5_K": 17,
              "Q6_K": 18, "BF16": 32}

# ---------------------------------------------------------------------------------------------------------------------
# The tokenizer.

CONTROL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
MERGES = ["\u0120 t", "h e", "\u0120t he", "i n", "\u0120 a", "e r", "o n", "r e", "\u0120 s", "a t", "n d",
          "\u0120a nd", "l l", "o u", "in g", "\u0120 w", "\u0120 \u0120", "e s", "o r", "\u0120 b"]
LEAST_VOCABULARY = 288
CHAT_TEMPLATE = (
    "{% for message in messages %}"
    "{{'<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n'}}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)


def byte_letters():
    """GPT-2's spelling of the 256 bytes: printable ones stand for themselves, the others for U+0100 and up."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in printable]
    letter = {byte: chr(byte) for byte in printable} | {byte: chr(0x100 + i) for i, byte in enumerate(others)}
    return [letter[byte] for byte in range(256)]


def tokens_of(vocabulary):
    tokens = CONTROL + byte_letters() + [merge.replace(" ", "") for merge in MERGES]
    return tokens + [f"filler{i}" for i in range(len(tokens), vocabulary)]


# ---------------------------------------------------------------------------------------------------------------------
# The container.

VALUE_TYPES = {"u32": (4, "<I"), "i32": (5, "<i"), "f32": (6, "<f"), "bool": (7, "<?")}
ALIGNMENT = 32


def text(value):
    data = value.encode()
    return struct.pack("<Q", len(data)) + data


def key(name, kind, value):
    """One key: kind is a name in VALUE_TYPES, "string", or either in a list for an array."""
    if isinstance(kind, list):
        (item,) = kind
        number = 8 if item == "string" else VALUE_TYPES[item][0]
        data = struct.pack("<IQ", number, len(value))
        data += b"".join(text(x) if item == "string" else struct.pack(VALUE_TYPES[item][1], x) for x in value)
        return text(name) + struct.pack("<I", 9) + data
    if kind == "string":
        return text(name) + struct.pack("<I", 8) + text(value)
    number, layout = VALUE_TYPES[kind]
    return text(name) + struct.pack("<I", number) + struct.pack(layout, value)


def padding(size):
    return bytes(-size % ALIGNMENT)


def container(keys, tensors):
    """keys: bytes of each; tensors: (name, shape, type's number, data) with the contiguous extent first."""
    table, data = b"", bytearray()
    for name, shape, number, payload in tensors:
        table += text(name) + struct.pack(f"<I{len(shape)}Q", len(shape), *shape)
        table += struct.pack("<IQ", number, len(data))
        data += payload + padding(len(payload))
    front = struct.pack("<4sIQQ", b"GGUF", 3, len(tensors), len(keys)) + b"".join(keys) + table
    return front + padding(len(front)) + bytes(data)


# ---------------------------------------------------------------------------------------------------------------------
# The model.


def keys_of(options):
    arch = options.architecture
    tokens = tokens_of(options.vocabulary)
    keys = [
        key("general.architecture", "string", arch),
        key("general.name", "string", f"Random {arch} {options.type}"),
        key("general.file_type", "u32", FILE_TYPES[options.type]),
        key(f"{arch}.context_length", "u32", options.context),
        key(f"{arch}.embedding_length", "u32", options.width),
        key(f"{arch}.block_count", "u32", options.layers),
        key(f"{arch}.feed_forward_length", "u32", options.ffn),
        key(f"{arch}.attention.head_count", "u32", options.heads),
        key(f"{arch}.attention.head_count_kv", "u32", options.kv_heads),
        key(f"{arch}.attention.key_length", "u32", options.head_size),
        key(f"{arch}.attention.value_length", "u32", options.head_size),
        key(f"{arch}.attention.layer_norm_rms_epsilon", "f32", 1e-5),
        key(f"{arch}.rope.dimension_count", "u32", options.head_size),
        key(f"{arch}.rope.freq_base", "f32", 10000.0),
        key(f"{arch}.vocab_size", "u32", options.vocabulary),
    ]
    if options.rope_scale != 1.0:
        keys += [key(f"{arch}.rope.scaling.type", "string", "linear"),
                 key(f"{arch}.rope.scaling.factor", "f32", options.rope_scale)]
    return keys + [
        key("tokenizer.ggml.model", "string", "gpt2"),
        key("tokenizer.ggml.pre", "string", "qwen2" if arch == "qwen2" else "smollm"),
        key("tokenizer.ggml.tokens", ["string"], tokens),
        key("tokenizer.ggml.token_type", ["i32"], [3 if token in CONTROL else 1 for token in tokens]),
        key("tokenizer.ggml.merges", ["string"], MERGES),
        key("tokenizer.ggml.bos_token_id", "u32", 1),
        key("tokenizer.ggml.eos_token_id", "u32", 2),
        key("tokenizer.ggml.padding_token_id", "u32", 2),
        key("tokenizer.ggml.add_bos_token", "bool", False),
        key("tokenizer.ggml.add_space_prefix", "bool", False),
        key("tokenizer.chat_template", "string", CHAT_TEMPLATE),
    ]


def tensors_of(options):
    rng = random.Random(options.seed)

    def matrix(name, columns, rows, std=None):
        number, _, make = TYPES[options.type]
        return name, (columns, rows), number, make(rng, std or columns**-0.5, columns * rows)

    def vector(name, low, high, count):
        return name, (count,), 0, struct.pack(f"<{count}f", *(rng.uniform(low, high) for _ in range(count)))

    width, query, keys = options.width, options.heads * options.head_size, options.kv_heads * options.head_size
    # A tied head multiplies by the embedding: its logits' deviation is sqrt(width) times the embedding's.
    tensors = [matrix("token_embd.weight", width, options.vocabulary, 4 * width**-0.5 if options.tied else 1.0)]
    if options.rope_factors:
        tensors.append(vector("rope_freqs.weight", 1.0, 8.0, options.head_size // 2))
    for i in range(options.layers):
        blk = f"blk.{i}."
        tensors += [
            vector(blk + "attn_norm.weight", 0.8, 1.2, width),
            matrix(blk + "attn_q.weight", width, query),
            matrix(blk + "attn_k.weight", width, keys),
            matrix(blk + "attn_v.weight", width, keys),
            matrix(blk + "attn_output.weight", query, width),
            vector(blk + "ffn_norm.weight", 0.8, 1.2, width),
            matrix(blk + "ffn_gate.weight", width, options.ffn),
            matrix(blk + "ffn_up.weight", width, options.ffn),
            matrix(blk + "ffn_down.weight", options.ffn, width),
        ]
        if options.architecture == "qwen2":
            tensors += [vector(f"{blk}attn_{role}.bias", -0.5, 0.5, query if role == "q" else keys) for role in "qkv"]
    tensors.append(vector("output_norm.weight", 0.8, 1.2, width))
    if not options.tied:
        tensors.append(matrix("output.weight", width, options.vocabulary, 2 * width**-0.5))
    return tensors


# The models that the tests use. A name here is what lpu::test::model() in tests/support takes.
K_QUANT = "--width 256 --heads 4 --kv-heads 2 --head-size 64 --ffn 256 --layers 1"
NAMED = {
    "f32": "--type F32",
    "f16": "--type F16",
    "bf16": "--type BF16",
    "q4_0": "--type Q4_0",
    "q4_1": "--type Q4_1",
    "q5_0": "--type Q5_0",
    "q5_1": "--type Q5_1",
    "q8_0": "--type Q8_0",
    "q4_k": f"--type Q4_K {K_QUANT}",
    "q5_k": f"--type Q5_K {K_QUANT}",
    "q6_k": f"--type Q6_K {K_QUANT}",
    "tied_q4_1": "--type Q4_1 --tied",
    "tied_q8_0": "--type Q8_0 --tied",
    "qwen2_q8_0": "--architecture qwen2 --type Q8_0",
    "qwen2_tied_q4_1": "--architecture qwen2 --type Q4_1 --tied --layers 3",
    "qwen2_q4_k": f"--architecture qwen2 --type Q4_K {K_QUANT}",
    "odd_shape": "--type Q4_1 --width 96 --heads 3 --kv-heads 1 --ffn 224 --vocabulary 301 --layers 3",
    "odd_shape_f32": "--type F32 --width 96 --heads 3 --kv-heads 3 --ffn 224 --vocabulary 333",
    "one_kv_head": "--type Q8_0 --width 128 --heads 4 --kv-heads 1 --ffn 160",
    "all_kv_heads": "--type Q4_0 --width 128 --heads 4 --kv-heads 4 --ffn 192",
    "head_64": "--type Q4_1 --width 192 --heads 3 --kv-heads 1 --head-size 64 --ffn 256 --tied",
    "head_128": "--type Q4_0 --width 128 --heads 2 --kv-heads 1 --head-size 128 --ffn 96",
    "wide_heads": "--type Q8_0 --width 64 --heads 4 --kv-heads 2 --head-size 64 --ffn 96",
    "one_layer": "--type Q4_1 --layers 1 --context 64",
    "five_layers": "--type Q4_1 --layers 5",
    "many_tokens": "--type Q4_0 --tied --layers 1 --context 64 --vocabulary 50001",
    "rope_factors": "--type Q8_0 --rope-factors",
    "rope_linear": "--type Q8_0 --rope-scale 4",
}


def parser():
    result = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    result.add_argument("--architecture", choices=["llama", "qwen2"], default="llama")
    result.add_argument("--type", choices=list(TYPES), default="Q4_1", help="of all matrices; norms and biases are F32")
    tie = result.add_mutually_exclusive_group()
    tie.add_argument("--tied", action="store_true", help="the head is the embedding")
    tie.add_argument("--untied", dest="tied", action="store_false", help="the head has its own matrix (default)")
    result.add_argument("--layers", type=int, default=2)
    result.add_argument("--width", type=int, default=64)
    result.add_argument("--heads", type=int, default=2)
    result.add_argument("--kv-heads", type=int, default=1)
    result.add_argument("--head-size", type=int, help="default: width / heads")
    result.add_argument("--ffn", type=int, default=128)
    result.add_argument("--vocabulary", type=int, default=320, help=f"at least {LEAST_VOCABULARY}")
    result.add_argument("--context", type=int, default=256, help="the model's limit, in tokens")
    result.add_argument("--rope-factors", action="store_true", help="with a rope_freqs.weight tensor (Llama 3.1)")
    result.add_argument("--rope-scale", type=float, default=1.0, help="linear RoPE scaling")
    result.add_argument("--seed", type=int, default=1)
    result.add_argument("-o", "--output", metavar="FILE", type=pathlib.Path)
    result.add_argument("--name", choices=list(NAMED), help="the options of this entry of --list (overrides the rest)")
    result.add_argument("--list", action="store_true", help="print the models that the tests use, and their options")
    result.add_argument("--all", metavar="DIR", type=pathlib.Path, help="make all of --list as DIR/NAME.gguf")
    return result


def make(options, path):
    options.head_size = options.head_size or options.width // options.heads
    block = TYPES[options.type][1]
    for name, value, multiple in [("--width", options.width, max(block, 32)), ("--ffn", options.ffn, max(block, 32)),
                                  ("heads x --head-size", options.heads * options.head_size, max(block, 32)),
                                  ("--heads", options.heads, options.kv_heads)]:
        if value % multiple:
            sys.exit(f"make_test_model.py: {name} is {value}, but must be a multiple of {multiple} here")
    if options.vocabulary < LEAST_VOCABULARY:
        sys.exit(f"make_test_model.py: --vocabulary is {options.vocabulary}, but must be at least {LEAST_VOCABULARY}")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(container(keys_of(options), tensors_of(options)))


def main():
    options = parser().parse_args()
    if options.list:
        for name, arguments in NAMED.items():
            print(f"{name:16} {arguments}")
    elif options.all:
        for name, arguments in NAMED.items():
            make(parser().parse_args(arguments.split()), options.all / f"{name}.gguf")
    elif options.output is None:
        sys.exit("make_test_model.py: give -o FILE, --list or --all DIR (see --help)")
    elif options.name:
        make(parser().parse_args(NAMED[options.name].split()), options.output)
    else:
        make(options, options.output)


if __name__ == "__main__":
    main()
