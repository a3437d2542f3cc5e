#!/usr/bin/env python3
"""Checks every `#pragma HLS` of the files named (default: hls/) against the grammar that HLS compilers publish.

Why: a compiler only warns about a pragma that it doesn't know or that stands in the wrong place, and then ignores it, so
that a typing mistake silently costs the design its speed. Also checked: every loop of a kernel has a label.

usage: check_pragmas.py [--labels] [FILE or FOLDER]...     exit 0: clean, 1: findings
       --labels   require a label on every loop of every file named (always on for hls/kernels/)
"""

import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
NUMBER = re.compile(r"\d+$")
NAME = re.compile(r"[a-z_][a-z_0-9]*$")
# A variable, a member or an element of one; a factor may be a constant's name.
VARIABLE = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*$")
COUNT = re.compile(r"(\d+|[A-Za-z_]\w*)$")
FLAG = None
PARTITION = {"variable!": VARIABLE, "type": {"cyclic", "block", "complete"}, "factor": COUNT, "dim": NUMBER}
MODES = {"m_axi", "axis", "s_axilite", "ap_memory", "bram", "ap_fifo", "ap_none", "ap_vld", "ap_hs", "ap_ctrl_none",
         "ap_ctrl_chain", "ap_ctrl_hs"}
# Options by pragma: a pattern, the set of values, or FLAG for an option without a value. `!` marks what must be there.
GRAMMAR = {
    "pipeline": {"ii": COUNT, "rewind": FLAG, "off": FLAG, "style": {"stp", "flp", "frp"}},
    "unroll": {"factor": COUNT, "skip_exit_check": FLAG},
    "array_partition": PARTITION,
    "array_reshape": PARTITION,
    "interface": {"port!": VARIABLE, "mode": MODES, "bundle": NAME, "depth": COUNT,
                  "offset": {"off", "direct", "slave"}, "name": NAME, "latency": NUMBER,
                  "num_read_outstanding": NUMBER, "num_write_outstanding": NUMBER, "max_read_burst_length": NUMBER,
                  "max_write_burst_length": NUMBER, "storage_type": NAME, "storage_impl": NAME, "register": FLAG},
    "stream": {"variable!": VARIABLE, "depth": COUNT, "type": {"fifo", "pipo", "shared", "unsync"}},
    "bind_storage": {"variable!": VARIABLE,
                     "type!": {"fifo", "ram_1p", "ram_1wnr", "ram_2p", "ram_s2p", "ram_t2p", "rom_1p", "rom_2p",
                               "rom_np"},
                     "impl": {"auto", "bram", "bram_ecc", "lutram", "uram", "uram_ecc", "srl", "memory"},
                     "latency": NUMBER},
    "bind_op": {"variable!": VARIABLE, "op!": NAME, "impl": {"fabric", "dsp", "fulldsp", "meddsp", "maxdsp", "primitivedsp",
                                                           "auto"}, "latency": NUMBER},
    "dependence": {"variable": VARIABLE, "class": {"array", "pointer"}, "type": {"intra", "inter"},
                   "direction": {"raw", "war", "waw"}, "distance": COUNT, "dependent": {"true", "false"}},
    "dataflow": {},
    "inline": {"recursive": FLAG, "off": FLAG},
    "loop_tripcount": {"min": NUMBER, "max!": NUMBER, "avg": NUMBER},
    "loop_flatten": {"off": FLAG},
    "loop_merge": {"force": FLAG},
    "latency": {"min": NUMBER, "max": NUMBER},
    "allocation": {"function": FLAG, "operation": FLAG, "instances!": VARIABLE, "limit!": NUMBER},
    "aggregate": {"variable!": VARIABLE, "compact": {"none", "bit", "byte", "auto"}},
    "disaggregate": {"variable!": VARIABLE},
    "stable": {"variable!": VARIABLE},
    "reset": {"variable!": VARIABLE, "off": FLAG},
    "top": {"name": NAME},
    "protocol": {"mode": {"floating", "fixed"}},
    "expression_balance": {"off": FLAG},
    "function_instantiate": {"variable!": VARIABLE},
}
REFUSED = {"data_pack": "aggregate", "array_map": "array_reshape", "clock": "the tool's own command",
           "region": "latency or protocol", "resource": "bind_storage or bind_op"}
PRAGMA = re.compile(r"^\s*#\s*pragma\s+HLS\b(.*)$", re.IGNORECASE)
LOOP = re.compile(r"^\s*(?:(\w+)\s*:\s*)?(for|while|do)\b")
LABEL = re.compile(r"^\s*(\w+)\s*:\s*$")


def code_of(line):
    return line.split("//")[0].rstrip()


def check_grammar(text):
    """Findings in the words after `#pragma HLS`, and the pragma's name and options."""
    if text.rstrip().endswith("\\"):
        return ["continues on the next line; one pragma per line"], None, {}
    words = text.split()
    if not words:
        return ["has no name"], None, {}
    name, found, findings = words[0], {}, []
    if name != name.lower():
        findings.append(f"'{name}' must be lower case")
        name = name.lower()
    if name in REFUSED:
        return findings + [f"'{name}' is refused or deprecated; use {REFUSED[name]}"], name, {}
    if name not in GRAMMAR:
        return findings + [f"'{name}' isn't a pragma"], name, {}
    options = {key.rstrip("!"): pattern for key, pattern in GRAMMAR[name].items()}
    for word in words[1:]:
        key, equals, value = word.partition("=")
        if equals and (not key or not value):
            findings.append("'=' has a space beside it or misses a side; write key=value")
        elif key not in options:
            findings.append(f"{name} has no option '{key}'")
        elif key in found:
            findings.append(f"option '{key}' stands twice")
        elif options[key] is FLAG:
            if equals:
                findings.append(f"option '{key}' takes no value")
        elif not equals:
            findings.append(f"option '{key}' needs a value")
        elif isinstance(options[key], set):
            if value not in options[key]:
                findings.append(f"{key}={value}: not one of {', '.join(sorted(options[key]))}")
        elif not options[key].match(value):
            findings.append(f"{key}={value}: not a value of the right form")
        found[key] = value
    for key in GRAMMAR[name]:
        if key.endswith("!") and key.rstrip("!") not in found:
            findings.append(f"{name} misses its option '{key.rstrip('!')}'")
    if name in ("array_partition", "array_reshape"):
        kind = found.get("type", "complete")
        if kind != "complete" and "factor" not in found:
            findings.append(f"{name} type={kind} misses its option 'factor'")
        if kind == "complete" and "factor" in found:
            findings.append(f"{name} type=complete takes no factor")
    if name == "allocation" and ("function" in found) == ("operation" in found):
        findings.append("allocation needs either 'function' or 'operation'")
    return findings, name, found


def opener_of(lines, index):
    """The code that opens the body whose first statement would be at `index`, from its start to the brace; None when
    something else stands between. Other pragmas may."""
    while index > 0:
        index -= 1
        line = code_of(lines[index])
        if not line.strip() or PRAGMA.match(line):
            continue
        if not line.endswith("{"):
            return None
        start = index
        while start > 0 and not re.match(r"^(.*[;{}:]\s*$|\s*#.*|\s*)$", code_of(lines[start - 1])):
            start -= 1
        return " ".join(code_of(part).strip() for part in lines[start:index + 1])
    return None


def check_place(lines, index, name, options):
    opener = opener_of(lines, index)
    is_loop = opener is not None and LOOP.match(opener)
    is_function = opener is not None and "(" in opener and not is_loop
    findings = []
    if name == "unroll" and not is_loop:
        findings.append("unroll must be first in a loop's body")
    if name in ("loop_tripcount", "loop_flatten") and not is_loop:
        findings.append(f"{name} must be first in a loop's body")
    if name == "pipeline" and not (is_loop or is_function):
        findings.append("pipeline must be first in the body of a loop or function")
    if name in ("pipeline", "unroll") and index > 0 and PRAGMA.match(lines[index - 1]):
        before = PRAGMA.match(lines[index - 1]).group(1).split()[:1]
        if before not in (["pipeline"], ["unroll"]):
            findings.append(f"{name} must come before other pragmas")
    if name == "interface":
        if not is_function:
            findings.append("interface must be first in the top's body")
        elif options.get("port") != "return" and not re.search(rf"\b{re.escape(options.get('port', ''))}\b", opener):
            findings.append(f"port={options.get('port')}: the function has no such parameter")
        elif 'extern "C"' not in opener:
            findings.append('interface belongs into a top (extern "C")')
    return findings


def check_variable(lines, index, options):
    """The variable must have been declared before the pragma, in this file."""
    name = options.get("variable", "").split(".")[0]
    if name and not any(re.search(rf"\b{re.escape(name)}\b", code_of(line)) and not PRAGMA.match(line)
                        for line in lines[:index]):
        return [f"variable={name}: nothing of that name stands before the pragma"]
    return []


def check_labels(lines):
    findings, seen = [], {}
    for index, line in enumerate(lines):
        match = LOOP.match(code_of(line))
        if not match or match.group(2) == "do":
            continue
        before = LABEL.match(code_of(lines[index - 1])) if index > 0 else None
        label = match.group(1) or (before.group(1) if before else None)
        if label is None:
            findings.append((index, "a loop without a label"))
        elif label in seen:
            findings.append((index, f"label '{label}' stands twice (line {seen[label] + 1})"))
        else:
            seen[label] = index
    return findings


def check_file(path, labels):
    with open(path, encoding="utf-8") as file:
        lines = file.read().splitlines()
    findings = []
    for index, line in enumerate(lines):
        match = PRAGMA.match(line)
        if not match:
            continue
        if "#pragma HLS" not in line:
            findings.append((index, "write '#pragma HLS'"))
        problems, name, options = check_grammar(match.group(1))
        if not problems:
            problems = check_place(lines, index, name, options) + check_variable(lines, index, options)
        findings += [(index, problem) for problem in problems]
    return findings + (check_labels(lines) if labels else [])


def files_in(paths):
    for path in paths:
        if os.path.isfile(path):
            yield path
        for folder, folders, names in os.walk(path):
            folders[:] = [name for name in folders if name != "stand_in"]
            for name in sorted(names):
                if name.endswith((".hpp", ".cpp", ".h")):
                    yield os.path.join(folder, name)


def main(arguments):
    labels = "--labels" in arguments
    paths = [path for path in arguments if path != "--labels"] or [os.path.join(ROOT, "hls")]
    count, total = 0, 0
    for path in files_in(paths):
        count += 1
        in_kernels = os.path.join("hls", "kernels") in os.path.abspath(path) and not path.endswith("sizes.hpp")
        for index, finding in sorted(check_file(path, labels or in_kernels)):
            print(f"{path}:{index + 1}: {finding}")
            total += 1
    print(f"pragmas: {total} findings in {count} files")
    if count == 0:
        return 1
    return 1 if total else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
