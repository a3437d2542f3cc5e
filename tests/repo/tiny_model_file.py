"""Rule: the tiny model is the file that its page describes (SHA-256, size, at most 400 KB), and its tokens are still
those that the committed scripts learn from the committed words."""

import hashlib
import os
import re
import struct
import sys

from sources import ROOT, report

FOLDER = os.path.join(ROOT, "examples", "tiny_model")
LIMIT_BYTES = 400_000
SEED, STORIES, VOCABULARY = 1, 4000, 512  # what train.py learns the tokens from

sys.path.insert(0, FOLDER)
import stories  # noqa: E402  (its folder was unknown above)
import tokenizer  # noqa: E402

with open(os.path.join(FOLDER, "openlpu-tiny.gguf"), "rb") as file:
    data = file.read()
with open(os.path.join(FOLDER, "README.md"), encoding="utf-8") as file:
    page = file.read()

offences = []
stated = re.findall(r"\b[0-9a-f]{64}\b", page)
if stated != [hashlib.sha256(data).hexdigest()]:
    offences.append(f"examples/tiny_model/README.md: states SHA-256 {stated}, the file's is "
                    f"{hashlib.sha256(data).hexdigest()}")
if f"{len(data):,} bytes" not in page:
    offences.append(f"examples/tiny_model/README.md: doesn't say that the file has {len(data):,} bytes")
if len(data) > LIMIT_BYTES:
    offences.append(f"examples/tiny_model/openlpu-tiny.gguf: {len(data):,} bytes; the limit is {LIMIT_BYTES:,}")
learnt = tokenizer.Tokenizer.learn(stories.stories(SEED, STORIES), VOCABULARY)
for texts, kind in ((learnt.file_tokens(), "tokens"), (learnt.file_merges(), "merges")):
    in_file = b"".join(struct.pack("<Q", len(text.encode("utf-8"))) + text.encode("utf-8") for text in texts)
    if in_file not in data:
        offences.append(f"examples/tiny_model: the file's {kind} aren't those that the scripts learn; train it again")
report("tiny model's file", offences)
