"""Rule: every source file opens with a comment that says what it is. Build lists of a few lines speak for themselves."""

import re

from sources import code_files, lines_of, report

COMMENT = re.compile(r'^\s*(//|#|/\*|""")\s*\S*\s*\w')
# What may stand before it: an interpreter's line, an encoding, a licence tag.
BEFORE = re.compile(r"^(#!|# -\*-|// SPDX|# SPDX|\s*$)")


SHORT_BUILD_LIST_LINES = 6


def opens_with_comment(path):
    lines = lines_of(path)
    if path.endswith("CMakeLists.txt") and len(lines) <= SHORT_BUILD_LIST_LINES:
        return True
    for line in lines:
        if BEFORE.match(line):
            continue
        return bool(COMMENT.match(line)) and not re.match(r"#\s*(include|pragma|ifndef|define)\b", line)
    return False


report("opening comment", [f"{path}:1: doesn't open with a comment saying what it is"
                           for path in code_files() if not opens_with_comment(path)])
