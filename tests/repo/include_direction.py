"""Rule: a folder includes only what lies below it. docs draw the same picture:

    cli -> server -> runtime -> card -> bundle -> contract;  cli -> bench -> runtime;  cli -> cosim -> {card, golden}
    compiler -> {model, bundle, contract};  card -> golden -> engine -> contract;  reference -> model
    all of host/ -> base;  nothing in hls/ knows host/

A folder may include what the folders below it may include. CMake's link lists say the same; this reads the text, so
that a header that happens to be on the path doesn't slip in."""

import os
import re

from sources import lines_of, project_files, report

BELOW = {
    "hls/contract": [],
    "hls/engine": ["hls/contract"],
    "hls/kernels": ["hls/engine"],
    "hls/golden": ["hls/engine"],
    "host/base": [],
    "host/model": ["host/base"],
    "host/reference": ["host/model"],
    "host/bundle": ["host/base", "hls/contract"],
    "host/compiler": ["host/model", "host/bundle"],
    "host/card": ["host/bundle", "hls/golden"],
    "host/cosim": ["host/card", "hls/golden"],
    "host/runtime": ["host/card", "host/model"],
    "host/bench": ["host/runtime"],
    "host/server": ["host/runtime"],
    "host/cli": ["host/server", "host/bench", "host/compiler", "host/cosim", "host/reference"],
}
INCLUDE = re.compile(r'^\s*#\s*include\s*["<]((?:hls|host|tests)/[^">]*)[">]')
RELATIVE = re.compile(r'^\s*#\s*include\s*"(?!hls/|host/|tests/)([^"]*)"')


def allowed(folder):
    result = {folder}
    for below in BELOW[folder]:
        result |= allowed(below)
    return result


offences = []
for path in project_files():
    folder = "/".join(path.split("/")[:2])
    if not path.endswith((".hpp", ".cpp", ".h")) or not path.startswith(("hls/", "host/")):
        continue
    if folder not in BELOW:
        offences.append(f"{path}: {folder} isn't in tests/repo/include_direction.py; say what it may include")
        continue
    for number, line in enumerate(lines_of(path), 1):
        target = INCLUDE.match(line)
        if target and "/".join(target.group(1).split("/")[:2]) not in allowed(folder):
            offences.append(f"{path}:{number}: {folder} must not include {target.group(1)}")
        relative = RELATIVE.match(line)
        if relative:
            offences.append(f"{path}:{number}: write \"{relative.group(1)}\" from the project's root")
report("include direction", offences)
