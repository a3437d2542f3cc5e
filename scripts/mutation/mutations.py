"""The list of mutations (tests/cosim/mutations.json): read, checked, and put into a copy of rtl/.

A mutation has a name, the file, what kind of fault it is, the text that must stand in the file exactly once, what
replaces it, and the check that should catch it. "survives" gives the reason why nothing can catch it. A check has a
test program of tests/cosim, those of its models that are made anew from the changed files, and a filter for its tests;
the check "core" is scripts/mutation/core.py's."""

import json
import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[2]
LIST = ROOT / "tests" / "cosim" / "mutations.json"
CORE = "core"
FIELDS = {"name", "file", "kind", "original", "replacement", "check"}
UNITS = {"common": "operators", "mvu": "matrix-vector unit", "vpu": "vector and softmax units", "memory": "memories",
         "sequencer": "sequencer", "host": "host port", "link": "link", "": "core"}


def load():
    """(checks by name, mutations)"""
    held = json.loads(LIST.read_text(encoding="utf-8"))
    return held["checks"], held["mutations"]


def unit_of(mutation):
    folder = mutation["file"].split("/")[1:-1]
    return UNITS[folder[0] if folder else ""]


def mutated(mutation, text):
    """The file's text with the fault in it."""
    count = text.count(mutation["original"])
    if count != 1:
        raise ValueError(f"{mutation['name']}: the original text stands {count} times in {mutation['file']}, not once")
    return text.replace(mutation["original"], mutation["replacement"])


def offences(checks, mutations):
    """What is wrong with the list: each as a sentence."""
    found, names = [], set()
    for mutation in mutations:
        name = mutation.get("name", "(no name)")
        missing, unknown = FIELDS - mutation.keys(), mutation.keys() - FIELDS - {"survives"}
        if missing or unknown:
            found.append(f"{name}: fields missing: {sorted(missing)}, unknown: {sorted(unknown)}")
            continue
        if name in names:
            found.append(f"{name}: the name stands twice")
        names.add(name)
        if mutation["check"] != CORE and mutation["check"] not in checks:
            found.append(f"{name}: no check {mutation['check']}")
        if mutation["original"] == mutation["replacement"]:
            found.append(f"{name}: changes nothing")
        path = ROOT / mutation["file"]
        if not path.is_file():
            found.append(f"{name}: no file {mutation['file']}")
            continue
        try:
            mutated(mutation, path.read_text(encoding="utf-8"))
        except ValueError as error:
            found.append(str(error))
    used = {mutation.get("check") for mutation in mutations}
    found += [f"check {name}: no mutation wants it" for name in checks if name not in used]
    return found
