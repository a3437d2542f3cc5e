#!/usr/bin/env python3
"""Makes tests/tokenizer/vectors/: lines of text and the token ids that llama.cpp's llama-tokenize gives for them.

Why: token ids are a fact of a model file, not of this project, so they're taken from another implementation. Run by
hand when lines are added; the tests need only the result. Relies on llama-tokenize and on the vocabulary files.

    make_tokenizer_vectors.py LLAMA_TOKENIZE smollm=FILE.gguf gpt-2=FILE.gguf llama-bpe=... qwen2=... llama-spm=...

All plain lines go through one run per vocabulary, joined by a control token of that vocabulary: text on both sides of
it is tokenized on its own. A sample of lines is also run one by one, and must agree. Lines with special tokens are run
one by one, once with and once without parsing them.
"""
import io
import json
import pathlib
import random
import subprocess
import sys
import tarfile
import tempfile

from tokenizer_samples import CONTROLS, SENTENCES, SPACES

OUTPUT = pathlib.Path(__file__).resolve().parents[2] / "tests" / "tokenizer" / "vectors"
LINES = 2400
SEPARATORS = {"smollm": ("<|endoftext|>", 0), "gpt-2": ("<|endoftext|>", 50256),
              "llama-bpe": ("<|end_of_text|>", 128001), "qwen2": ("<|endoftext|>", 151643), "llama-spm": ("</s>", 2)}
SPECIALS = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", "<|begin_of_text|>", "<|end_of_text|>", "<|eot_id|>",
            "<|start_header_id|>", "<s>", "</s>", "<unk>", "<repo_name>", "<empty_output>", "[PAD151646]",
            "<0x0A>", "<|reserved_special_token_1|>", "<|reserved_special_token_10|>"]
SPECIAL_LINES = [
    "<|im_start|>user\nHello!<|im_end|>\n<|im_start|>assistant\n", "{0}", "{0}{0}", "{0} {0}", " {0} ", "a{0}b",
    "a {0} b", "\n{0}\n", "1{0}2", "<{0}>", "<|{0}|>", "{0}\u3000{0}\t{0}", "Text before{0}, text 'after'{0}s",
]


def make_lines():
    """The same lines every time: all samples, then seeded mixtures of words, spaces, signs and characters."""
    rng = random.Random(20260)
    lines = list(SENTENCES) + SPACES + CONTROLS + [" " + s for s in SENTENCES] + [s + "\n" for s in SENTENCES]
    words = [word for sentence in SENTENCES for word in sentence.split(" ") if word]
    characters = sorted(set("".join(SENTENCES)))
    mutations = [
        lambda s: s.upper(), lambda s: s.lower(), lambda s: s.swapcase(), lambda s: s.title(),
        lambda s: s.replace(" ", rng.choice(SPACES)), lambda s: s[rng.randrange(len(s)):],
        lambda s: s[:rng.randrange(len(s)) + 1], lambda s: rng.choice(SPACES) + s + rng.choice(SPACES), lambda s: s[::-1],
    ]
    while len(lines) < LINES:
        kind = rng.randrange(8)
        if kind < 3:
            line = rng.choice(mutations)(rng.choice(SENTENCES))
        elif kind < 5:
            line = "".join(rng.choice(words) + rng.choice([" "] * 6 + SPACES) for _ in range(rng.randint(2, 9)))
        elif kind == 5:
            line = "".join(rng.choice(characters) for _ in range(rng.randint(1, 24)))
        elif kind == 6:
            pool = [str(rng.randrange(10 ** rng.randint(1, 9))), rng.choice(words), rng.choice(CONTROLS),
                    rng.choice(SPACES), rng.choice("!?.,;:'\"()[]{}<>@#$%^&*-_=+|\\/~`"), rng.choice(characters)]
            line = "".join(rng.choice(pool) for _ in range(rng.randint(2, 14)))
        else:
            line = "'".join(rng.choice(words + ["s", "T", "re", "LL", "d", "Ve", "m"]) for _ in range(rng.randint(2, 6)))
        lines.append(line)
    unique = list(dict.fromkeys(line for line in lines if line))
    return [line for line in unique if not any(special in line for special in SPECIALS[:13])]


def tokenize(program, vocabulary, text, parse_special):
    with tempfile.NamedTemporaryFile(suffix=".txt") as file:
        file.write(text.encode())
        file.flush()
        command = [program, "-m", vocabulary, "-f", file.name, "--no-escape", "--ids", "--log-disable", "--no-bos"]
        if not parse_special:
            command.append("--no-parse-special")
        return json.loads(subprocess.run(command, capture_output=True, check=True).stdout)


def vectors(program, name, vocabulary, lines):
    separator, separator_id = SEPARATORS[name]
    pieces = [[]]
    for token in tokenize(program, vocabulary, separator.join(lines), True):
        if token == separator_id:
            pieces.append([])
        else:
            pieces[-1].append(token)
    assert len(pieces) == len(lines), (name, len(pieces), len(lines))
    for index in random.Random(1).sample(range(len(lines)), 60):
        for parse_special in (True, False):
            assert tokenize(program, vocabulary, lines[index], parse_special) == pieces[index], (name, lines[index])
    special_lines = [SPECIAL_LINES[0]] + [form.replace("{0}", special) for special in SPECIALS
                                          for form in SPECIAL_LINES[1:]]
    special = [[line, tokenize(program, vocabulary, line, True), tokenize(program, vocabulary, line, False)]
               for line in special_lines]
    return {"ids": pieces, "special": special}


def write_tar(path, members):
    """Reproducible: no times, no owners."""
    with tarfile.open(path, "w:xz", preset=9) as tar:
        for name, content in members:
            info = tarfile.TarInfo(name)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    print(f"{path.name}: {path.stat().st_size} bytes")


def main():
    program, files = sys.argv[1], dict(argument.split("=", 1) for argument in sys.argv[2:])
    assert set(files) == set(SEPARATORS), f"give one file for each of {', '.join(SEPARATORS)}"
    OUTPUT.mkdir(parents=True, exist_ok=True)
    lines = make_lines()
    assert len(lines) >= 2000
    dump = lambda value: json.dumps(value, ensure_ascii=True, separators=(",", ":")).encode()
    members = [("lines.json", dump(lines))]
    for name, vocabulary in files.items():
        members.append((f"{name}.json", dump(vectors(program, name, vocabulary, lines))))
        if name == "gpt-2":  # the others aren't ours to commit: the tests read them from models/
            write_tar(OUTPUT / f"{name}.gguf.tar.xz", [(f"{name}.gguf", pathlib.Path(vocabulary).read_bytes())])
    write_tar(OUTPUT / "vectors.tar.xz", members)
    print(f"{len(lines)} lines")


if __name__ == "__main__":
    main()
