#!/usr/bin/env python3
"""Makes little stories out of the words and plots in words.py: the text that the tiny model learns.

Why: a text that is ours, of any length, the same for a seed on every machine. Relies on Python's random.Random, whose
numbers for a seed are the same in every version since 3.2 for the calls used here."""

import argparse
import random
import re

import words

ALTERNATIVES = re.compile(r"\[([^\[\]]*)\]")
PRONOUNS = {"he": ("he", "him", "his"), "she": ("she", "her", "her")}


def pick(rng, items):
    return items[int(rng.random() * len(items))]


def slots_of(rng):
    """What stays the same in one story: the hero, the friend, and a choice for each kind of word."""
    slots = {name: pick(rng, items) for name, items in words.SLOTS.items()}
    hero, other = pick(rng, ["he", "she"]), pick(rng, ["he", "she"])
    slots["name"] = pick(rng, words.NAMES[hero])
    slots["friend"] = pick(rng, [name for name in words.NAMES[other] if name != slots["name"]])
    slots["animal"] = pick(rng, words.ANIMALS)
    others = [animal for animal in words.ANIMALS if animal != slots["animal"]]
    slots["kind"] = words.CHILDREN[hero] if rng.random() < 0.6 else pick(rng, others)
    slots["he"], slots["him"], slots["his"] = PRONOUNS[hero]
    slots["she"], slots["her"] = PRONOUNS[other][:2]
    slots["other_hiding"] = pick(rng, [place for place in words.SLOTS["hiding"] if place != slots["hiding"]])
    slots["him_or_her"] = "him" if slots["elder"] in ("father", "grandfather") else "her"
    return slots


def expand(rng, sentence, slots):
    while ALTERNATIVES.search(sentence):
        sentence = ALTERNATIVES.sub(lambda match: pick(rng, match.group(1).split("|")), sentence, count=1)
    return sentence.format(**slots)


def polish(text):
    """Spaces, articles before vowels, capitals at the start of sentences and speeches. After a question or a cry the
    sentence goes on: "Who is there?" he asked."""
    text = re.sub(r" +", " ", text).strip()
    text = re.sub(r" ([.,!?])", r"\1", text)
    text = re.sub(r"\b([Aa]) (?=[aeiou])", r"\1n ", text)
    return re.sub(r"(^|[.!?] |[.]\" |(?:^| )\")([a-z])", lambda m: m.group(1) + m.group(2).upper(), text)


def story(rng):
    slots = slots_of(rng)
    plot = pick(rng, list(words.PLOTS))
    slots["lesson"] = pick(rng, words.LESSONS[plot])
    sentences = pick(rng, words.OPENINGS) + [pick(rng, words.HABITS)] + words.PLOTS[plot] + [pick(rng, words.ENDINGS)]
    return polish(" ".join(expand(rng, sentence, slots) for sentence in sentences))


def stories(seed, count):
    rng = random.Random(seed)
    return [story(rng) for _ in range(count)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1, help="(default: %(default)s)")
    parser.add_argument("--count", type=int, default=3, help="stories to print (default: %(default)s)")
    options = parser.parse_args()
    print("\n\n".join(stories(options.seed, options.count)))


if __name__ == "__main__":
    main()
