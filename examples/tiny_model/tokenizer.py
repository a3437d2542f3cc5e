"""Byte-level byte-pair encoding: learns merges from a text, and encodes with them.

Why: the file must hold the tokens it was trained with; `lpu` reads them as the GGUF tokenizer `gpt2` with the words of
`gpt-2`. Only ASCII is learnt: 95 printable characters and the line end, so other bytes have no token and vanish."""

import collections
import functools
import re

# The words of "gpt-2", for ASCII text.
WORDS = re.compile(r"'s|'t|'re|'ve|'m|'ll|'d| ?[A-Za-z]+| ?[0-9]+| ?[^\sA-Za-z0-9]+|\s+(?!\S)|\s+")
SPELLING = {" ": "\u0120", "\n": "\u010a"}  # the byte alphabet of GPT-2 spells these two so
STORY = "<|story|>"  # the only control token: begins a story and ends it
CHARACTERS = ["\n"] + [chr(code) for code in range(0x20, 0x7F)]


def spelt(token):
    return "".join(SPELLING.get(character, character) for character in token)


class Tokenizer:
    """Token 0 is STORY, then come the characters, then one token a merge."""

    def __init__(self, merges):
        self.merges = merges
        self.texts = [""] + CHARACTERS + [left + right for left, right in merges]
        self._ids = {text: number for number, text in enumerate(self.texts) if text}
        self._ranks = {pair: rank for rank, pair in enumerate(merges)}
        self._word_ids = functools.lru_cache(maxsize=1 << 16)(self._encode_word)

    @classmethod
    def learn(cls, texts, vocabulary):
        """Merges the most frequent pair again and again; of equals the alphabetically first."""
        counts = collections.Counter(word for text in texts for word in WORDS.findall(text))
        splits = {word: list(word) for word in counts}
        merges = []
        while 1 + len(CHARACTERS) + len(merges) < vocabulary:
            pairs = collections.Counter()
            for word, parts in splits.items():
                for pair in zip(parts, parts[1:]):
                    pairs[pair] += counts[word]
            best = min(pairs, key=lambda pair: (-pairs[pair], pair))
            merges.append(best)
            for word in splits:
                splits[word] = merged(splits[word], best)
        return cls(merges)

    def encode(self, text):
        return [number for word in WORDS.findall(text) for number in self._word_ids(word)]

    def decode(self, ids):
        return "".join(self.texts[number] for number in ids)

    def file_tokens(self):
        return [STORY] + [spelt(text) for text in self.texts[1:]]

    def file_merges(self):
        return [f"{spelt(left)} {spelt(right)}" for left, right in self.merges]

    def _encode_word(self, word):
        parts = [character for character in word if character in self._ids]
        while len(parts) > 1:
            best = min(zip(parts, parts[1:]), key=lambda pair: self._ranks.get(pair, len(self.merges)))
            if best not in self._ranks:
                break
            parts = merged(parts, best)
        return [self._ids[part] for part in parts]


def merged(parts, pair):
    """The parts of a word with every such pair joined, from the left."""
    result, position = [], 0
    while position < len(parts):
        if tuple(parts[position:position + 2]) == pair:
            result.append(parts[position] + parts[position + 1])
            position += 2
        else:
            result.append(parts[position])
            position += 1
    return result
