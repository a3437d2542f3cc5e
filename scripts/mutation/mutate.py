"""Puts single faults into copies of rtl/ and shows which test catches each (docs/mutation.md).

Each mutation's own check runs first, and if that passes, the whole core's. It fails on a mutation that survives without
a reason in the list, on a reason that is no longer true, on a check that doesn't catch what the list says, and on a
list that doesn't fit the tree. Relies on mutations.py, ninja.py, core.py and table.py beside it."""

import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import resource
import shutil
import sys
import tempfile
import threading
import time

import core
import mutations
import ninja
import table


def say(text):
    print(f"mutate_rtl.sh: {text}", file=sys.stderr, flush=True)


class Checks:
    """The list's checks and the core's. Before a check is believed, it must pass without a fault: or it would catch
    everything."""

    def __init__(self, listed, folders, work):
        self.listed, self.folders, self.work = listed, folders, work
        self.locks = {name: threading.Lock() for name in [*listed, mutations.CORE]}
        self.alone = {}     # what each check says without a fault
        self.tiny_bundle = None

    def run(self, name, place):
        """What the check says of the folder with a changed rtl/: the test that failed, or None."""
        with self.locks[name]:
            if name not in self.alone:
                self.alone[name] = in_a_copy(self.work, f"control_{name}", lambda _: None,
                                             lambda copy: self.once(name, copy))
        if self.alone[name]:
            raise ninja.DoesNotBuild(f"the check {name} fails without any fault: {self.alone[name]}")
        return self.once(name, place)

    def once(self, name, place):
        if name != mutations.CORE:
            return ninja.unit_check(self.listed[name], self.folders, place)
        self.tiny_bundle = self.tiny_bundle or core.bundle(self.folders, self.work)
        return core.check(self.folders, place, self.tiny_bundle)


def in_a_copy(work, name, change, examine_it):
    """What `examine_it` says of a folder that holds rtl/ with the change."""
    place = work / name
    shutil.copytree(work / "rtl", place / "rtl")
    change(place)
    result = examine_it(place)
    shutil.rmtree(place)
    return result


def examine(mutation, checks, work):
    """The mutation's row of the table."""
    started = time.monotonic()
    row = {"name": mutation["name"], "unit": mutations.unit_of(mutation), "file": mutation["file"],
           "kind": mutation["kind"], "caught_by": None, "test": None, "reason": mutation.get("survives"),
           "builds": True}

    def change(place):
        path = place / mutation["file"]
        path.write_text(mutations.mutated(mutation, path.read_text(encoding="utf-8")), encoding="utf-8")

    def both(place):
        for name in dict.fromkeys((mutation["check"], mutations.CORE)):
            found = checks.run(name, place)
            if found:
                return name, found
        return None, None

    try:
        row["caught_by"], row["test"] = in_a_copy(work, mutation["name"], change, both)
        row["fault"] = fault_of(row, mutation)
    except ninja.DoesNotBuild as error:
        row["builds"], row["fault"] = False, f"doesn't build: {error}"
    row["seconds"] = round(time.monotonic() - started, 1)
    return row


def fault_of(row, mutation):
    """Why the row makes the run fail, or None."""
    if row["caught_by"] and row["reason"]:
        return "the list says that nothing can catch it"
    if not row["caught_by"] and not row["reason"]:
        return "nothing caught it, and the list gives no reason"
    if row["caught_by"] not in (None, mutation["check"]):
        return f"the list says that {mutation['check']} catches it"
    return None


def targets(chosen, listed):
    """Of the build: those that must be up to date."""
    return list(dict.fromkeys(core.targets() + [listed[mutation["check"]]["program"] for mutation in chosen
                                                if mutation["check"] != mutations.CORE]))


def taking_turns(chosen):
    """One of each check, then the next of each: while a check proves itself, the others go on."""
    turns = collections.defaultdict(int)

    def turn(mutation):
        turns[mutation["check"]] += 1
        return turns[mutation["check"]]

    return [mutation for _, _, mutation in sorted((turn(mutation), at, mutation) for at, mutation in enumerate(chosen))]


def run_all(chosen, listed, folders, jobs, work):
    shutil.copytree(mutations.ROOT / "rtl", work / "rtl")   # what is edited meanwhile doesn't matter
    for target in targets(chosen, listed):
        ninja.Build(folders, target, is_built=target != core.MODEL_TARGET)   # or ends, before anything has begun
    checks = Checks(listed, folders, work)
    rows = []
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        pending = [pool.submit(examine, mutation, checks, work) for mutation in taking_turns(chosen)]
        try:
            for done in concurrent.futures.as_completed(pending):
                row = done.result()
                rows.append(row)
                say(f"{len(rows)} of {len(chosen)}: {row['name']}: {table.outcome(row)}, {row['seconds']} s"
                    + (f" - {row['fault'].splitlines()[0]}" if row["fault"] else ""))
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    order = [mutation["name"] for mutation in chosen]
    return sorted(rows, key=lambda row: order.index(row["name"]))


def parsed():
    parser = argparse.ArgumentParser(prog="scripts/mutate_rtl.sh", description=__doc__.splitlines()[0])
    parser.add_argument("--list", action="store_true", help="print the mutations' names")
    parser.add_argument("--check", action="store_true", help="only see whether every mutation can be applied")
    parser.add_argument("--targets", action="store_true", help="print the targets that must have been built")
    parser.add_argument("--only", action="append", metavar="NAME", help="this mutation, or all of this check")
    parser.add_argument("--json", action="store_true", help="print JSON instead of the table")
    parser.add_argument("--write", action="store_true", help="write the table into docs/mutation.md")
    parser.add_argument("--build", action="append", metavar="FOLDER", help="build folders to take tests from")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 2, help="mutations at a time")
    return parser, parser.parse_args()


def main():
    parser, options = parsed()
    checks, chosen = mutations.load()
    wrong = mutations.offences(checks, chosen) + (table.offences(chosen) if options.check else [])
    if wrong:
        print("\n".join(wrong))
        print(f"mutations: {len(wrong)} offences")
        return 1
    if options.only:
        unknown = set(options.only) - {m["name"] for m in chosen} - {m["check"] for m in chosen}
        if unknown:
            parser.error(f"no mutation or check of these names: {', '.join(sorted(unknown))}")
        chosen = [m for m in chosen if m["name"] in options.only or m["check"] in options.only]
    if options.write and options.only:
        parser.error("--write needs all mutations")
    if options.check:
        print(f"mutations: {len(chosen)} can be applied")
        return 0
    if options.list:
        print("\n".join(f"{m['name']}  {m['file']}  {m['kind']}  {m['check']}" for m in chosen))
        return 0
    if options.targets:
        print("\n".join(targets(chosen, checks)))
        return 0
    missing = ninja.is_there()
    if missing:
        say(f"skipped: no {missing}")
        return 77
    folders = [pathlib.Path(folder).resolve() for folder in options.build or [mutations.ROOT / "build" / "release"]]
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="openlpu-mutation-") as work:
        rows = run_all(chosen, checks, folders, options.jobs, pathlib.Path(work))
    seconds = round(time.monotonic() - started)
    if options.json:
        print(json.dumps({"seconds": seconds, "mutations": rows}, indent=2))
    else:
        print("\n".join(table.lines(rows)))
    if options.write:
        table.write(rows)
    faults = [row for row in rows if row["fault"]]
    for row in faults:
        say(f"{row['name']} ({row['file']}): {row['fault']}")
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    say(f"{table.summary(rows)} in {seconds} s ({used.ru_utime + used.ru_stime:.0f} s of processor time)")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
