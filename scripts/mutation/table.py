"""The result of a mutation run as a table, and its place in docs/mutation.md."""

from mutations import ROOT

PAGE = ROOT / "docs" / "mutation.md"
MARK = "<!-- scripts/mutate_rtl.sh --write writes what follows -->"


def outcome(row):
    if row["caught_by"]:
        return f"{row['caught_by']}: {row['test']}"
    return "SURVIVED" if row["builds"] else "DOESN'T BUILD"


def summary(rows):
    caught = sum(row["caught_by"] is not None for row in rows)
    by_core = sum(row["caught_by"] == "core" for row in rows)
    broken = sum(not row["builds"] for row in rows)
    return (f"{len(rows)} faults in {len({row['file'] for row in rows})} files: {caught - by_core} caught by a unit's "
            f"test, {by_core} by the whole core's, {len(rows) - caught - broken} survived"
            + (f", {broken} that don't build" if broken else ""))


def lines(rows):
    """Markdown: the summary, a row a fault, the survivors' reasons."""
    made = [summary(rows) + ".", "", "| fault | file | kind | caught by |", "|---|---|---|---|"]
    made += [f"| {row['name'].replace('_', ' ')} | {row['file'].removeprefix('rtl/')} | {row['kind']} | {outcome(row)} |"
             for row in rows]
    survivors = [row for row in rows if not row["caught_by"]]
    if survivors:
        made += ["", "Survivors:", ""]
        made += [f"- {row['name'].replace('_', ' ')}: {row['reason'] or 'NO REASON'}" for row in survivors]
    return made


def offences(mutations):
    """Where the page's rows aren't those of the list."""
    text = PAGE.read_text(encoding="utf-8").split(MARK)[-1]
    rows = [line.split(" | ")[0].removeprefix("| ") for line in text.splitlines() if line.startswith("| ")][1:]
    names = [mutation["name"].replace("_", " ") for mutation in mutations]
    return [] if rows == names else [
        f"docs/mutation.md is stale (scripts/mutate_rtl.sh --write): {sorted(set(rows) ^ set(names)) or 'other order'}"]


def write(rows):
    above = PAGE.read_text(encoding="utf-8").split(MARK)[0]
    PAGE.write_text(above + MARK + "\n\n" + "\n".join(lines(rows)) + "\n", encoding="utf-8")
