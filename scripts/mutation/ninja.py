"""The commands of a build folder, and what is made with them from other Verilog: Verilator, compiler, linker.

Relies on a build folder of Ninja in which the targets are up to date: their other objects and libraries are used."""

import os
import pathlib
import re
import shlex
import shutil
import subprocess

import mutations

COMPILER = (["ccache"] if shutil.which("ccache") else []) + ["g++"]
LIMIT_S = 600  # of any one command


class DoesNotBuild(Exception):
    """The changed files are no Verilog, or no module that fits its test."""


def run(command, folder, environment=None):
    """(exit status, output); the status is None when the time was over."""
    try:
        done = subprocess.run(command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=LIMIT_S, check=False)
        return done.returncode, done.stdout.decode(errors="replace")
    except subprocess.TimeoutExpired as late:
        return None, (late.stdout or b"").decode(errors="replace")


def must(command, folder):
    status, output = run(command, folder)
    if status != 0:
        raise DoesNotBuild(f"{shlex.join(map(str, command))[:300]} …\n{output[-3000:]}")


class Build:
    """One target's commands, found in the first of the folders that has it."""

    def __init__(self, folders, target, is_built=True):
        for folder in folders:
            status, output = run(["ninja", "-t", "commands", target], folder)
            if status != 0 or not output.strip():
                continue
            self.folder = pathlib.Path(folder)
            self.commands = output.splitlines()
            made = re.findall(r" -o (\S+)", self.commands[-1])
            self.output = self.folder / made[-1] if made else None
            if not is_built or (made and self.output.is_file()):
                return
        raise SystemExit(f"mutate_rtl: no {target} in {', '.join(map(str, folders))}; scripts/build.sh makes it")

    def command_with(self, *texts):
        for command in self.commands:
            if all(text in command for text in texts):
                return command
        raise SystemExit(f"mutate_rtl: {self.folder}: no command has {texts}")

    def verilate(self, mdir_name, place):
        """Verilates into place/mdir_name what the build Verilates into …/mdir_name, from the files in place/rtl."""
        command = self.command_with("verilator", f"/{mdir_name} ", "--Mdir")
        words = shlex.split(re.search(r"(\S*verilator --cc .*?)(?: &&|$)", command).group(1))
        words = [re.sub(r"^.*/(rtl/\S+\.sv)$", r"\1", word) for word in words]
        words[words.index("--Mdir") + 1] = mdir_name
        must(words, place)
        return place / mdir_name

    def compile_model(self, folder):
        """All that Verilator wrote, as one object."""
        sources = sorted(path.name for path in folder.glob("V*.cpp"))
        (folder / "model.cpp").write_text("".join(f'#include "{name}"\n' for name in sources))
        includes = re.findall(r"-isystem (/\S*verilator/include\S*)",
                              self.command_with("-c ", "verilated.cpp"))
        must([*COMPILER, "-std=c++20", "-O1", "-w", "-fPIC", "-fvisibility=hidden", "-I."] +
             [word for path in includes for word in ("-isystem", path)] + ["-c", "model.cpp", "-o", "model.o"], folder)
        return folder / "model.o"

    def link(self, output_name, output, replaced):
        """Links as the build does, to another file. A word that contains a key of `replaced` becomes the value of the
        first such key, or goes where that is None."""
        words, seen = [], set()
        for word in shlex.split(self.command_with(f"-o {output_name} ")):
            key = next((key for key in replaced if key in word), None)
            seen.add(key)
            word = replaced[key] if key is not None else word
            if word not in (None, ":", "&&"):
                words.append(word)
        if not seen >= replaced.keys():
            raise SystemExit(f"mutate_rtl: the command that links {output_name} has no {replaced.keys() - seen}")
        words[words.index("-o") + 1] = output
        must(words, self.folder)
        return output


def unit_check(check, folders, place):
    """(test that failed or None): the check's program with its models made from place/rtl."""
    build = Build(folders, check["program"])
    replaced = {}
    for model in check["models"]:
        folder = build.verilate(model, place)
        replaced[f"/lib{model}.a"] = build.compile_model(folder)
    command = build.command_with(f"/{check['program']} ", "libgtest")
    output_name = re.search(r" -o (\S+)", command).group(1)
    program = build.link(output_name, place / check["program"], replaced)
    return failed_test(program, check["filter"], place)


def failed_test(program, tests, place, environment=None):
    """The first of the program's tests that fails; None when all pass."""
    status, output = run([program, f"--gtest_filter={tests}", "--gtest_fail_fast", "--gtest_brief=0"], place,
                         {**os.environ, **(environment or {})})
    if "Running 0 tests" in output or (status == 0 and "[  SKIPPED ]" in output):
        raise DoesNotBuild(f"{program.name}: no test {tests}, or it was skipped\n{output[-1000:]}")
    if status == 0:
        return None
    failed = re.search(r"\[  FAILED  \] (\S+\.\S+?),? ", output)
    if failed:
        return failed.group(1)
    started = re.findall(r"\[ RUN      \] (\S+)", output)
    return (started[-1] if started else program.name) + (" (hangs)" if status is None else " (stops)")


def is_there():
    """What is missing on this machine, or None."""
    for tool in ("verilator", "ninja", "g++"):
        if not shutil.which(tool):
            return tool
    return None if mutations.LIST.is_file() else str(mutations.LIST)
