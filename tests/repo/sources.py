"""The project's own text files, for the rules in this folder: what git would hold, found without git.

Relies on the names of the folders that are never committed (.gitignore)."""

import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
NEVER_COMMITTED = {".git", "build", "models", "bundles", "__pycache__"}
CODE_ENDINGS = (".hpp", ".cpp", ".h", ".sv", ".svh", ".py", ".sh", ".cmake", ".tcl", ".lpf", ".xdc", ".cfg", ".mk")
CODE_NAMES = {"CMakeLists.txt", "Makefile", "run"}


def project_files():
    """Paths relative to the root, sorted; binary files left out."""
    found = []
    for folder, folders, names in os.walk(ROOT):
        if folder == ROOT:
            folders[:] = [name for name in folders if name not in NEVER_COMMITTED]
        folders[:] = [name for name in folders if name not in {".git", "__pycache__"}]
        for name in names:
            path = os.path.join(folder, name)
            if os.path.islink(path):
                continue
            with open(path, "rb") as file:
                if b"\0" not in file.read(4096):
                    found.append(os.path.relpath(path, ROOT))
    return sorted(found)


def code_files():
    """Those of project_files() that are source code of any language."""
    return [path for path in project_files()
            if path.endswith(CODE_ENDINGS) or os.path.basename(path) in CODE_NAMES]


def lines_of(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read().splitlines()


def report(rule, offences):
    """Ends the program: 0 when there is no offence, 1 after listing them."""
    for offence in offences:
        print(offence)
    print(f"{rule}: {len(offences)} offences")
    sys.exit(1 if offences else 0)
