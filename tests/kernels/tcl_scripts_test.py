"""Runs scripts/hls/*.tcl in a plain Tcl shell with the vendor tool's commands replaced by ones that write down their calls:
every kernel at every size is opened once, with files and tops that exist. Exit code 77 without a Tcl shell."""

import os
import re
import shutil
import subprocess
import sys

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
COMMANDS = ("open_project set_top add_files open_solution set_part create_clock csim_design csynth_design "
            "close_project").split()
KERNELS = ("matvec", "softmax", "residual", "swiglu")
SIZES = ("tiny", "u55c")


def calls_of(script, **environment):
    stubs = "".join(f'proc {name} {{args}} {{puts "{name} $args"}}\n' for name in COMMANDS)
    path = os.path.join(ROOT, "scripts", "hls", script)
    run = subprocess.run(["tclsh"], input=f"{stubs}source {{{path}}}\n", capture_output=True, text=True, check=False,
                         env={**os.environ, **environment})
    return run.stdout.splitlines(), run.stderr


def main():
    if shutil.which("tclsh") is None:
        print("skipped: no tclsh")
        return 77
    with open(os.path.join(ROOT, "hls", "kernels", "tops.hpp"), encoding="utf-8") as file:
        declared = set(re.findall(r"lpu_kernel_\w+", file.read()))
    wanted = {f"lpu_kernel_{kernel}_{size}" for kernel in KERNELS for size in SIZES}
    faults = [] if declared == wanted else [f"tops.hpp declares {sorted(declared)}"]
    for script, step in (("csim.tcl", "csim_design"), ("csynth.tcl", "csynth_design")):
        calls, errors = calls_of(script)
        tops = [line.split()[1] for line in calls if line.startswith("set_top")]
        if errors or sorted(tops) != sorted(wanted):
            faults.append(f"{script}: {errors} opens {tops}")
        if sum(line.startswith(step) for line in calls) != len(wanted):
            faults.append(f"{script}: doesn't run {step} once for every kernel and size")
        for line in calls:
            files = [word for word in line.split()[1:] if word.endswith(".cpp")] if line.startswith("add_files") else []
            faults += [f"{script}: no file {name}" for name in files if not os.path.isfile(name)]
        # A top must be defined in one of the files given for it.
        text, top = "", None
        for line in calls + ["set_top end"]:
            if line.startswith("set_top"):
                if top is not None and f"{top}(" not in text:
                    faults.append(f"{script}: {top} isn't in its files")
                text, top = "", line.split()[1]
            elif line.startswith("add_files") and "-tb" not in line:
                with open(line.split()[1], encoding="utf-8") as file:
                    text += file.read()
    calls, errors = calls_of("csynth.tcl", OPENLPU_KERNEL="softmax", OPENLPU_SIZE="tiny")
    if errors or [line for line in calls if line.startswith("set_top")] != ["set_top lpu_kernel_softmax_tiny"]:
        faults.append(f"csynth.tcl doesn't do the one kernel that is asked for: {calls} {errors}")
    calls, errors = calls_of("csynth.tcl", OPENLPU_KERNEL="softmex")
    if calls or "known: matvec softmax residual swiglu" not in errors:
        faults.append(f"csynth.tcl takes an unknown kernel: {calls} {errors}")
    print("\n".join(faults) or "every kernel is opened at every size")
    return 1 if faults else 0


sys.exit(main())
