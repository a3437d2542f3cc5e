"""What a board's configuration takes of its device (docs/fit.md). Relies on table.py and measure.py beside it."""

import argparse
import sys

import boards
import measure
import table


def main():
    parser = argparse.ArgumentParser(prog="scripts/fit.sh", description=__doc__)
    parser.add_argument("board", nargs="?", help="print this board's part and whether it fits: exit code 1 if not")
    parser.add_argument("--table", action="store_true", help="print what docs/fit.md holds below its mark")
    parser.add_argument("--write", action="store_true", help="write that part of docs/fit.md anew")
    parser.add_argument("--measure", nargs="*", metavar="WORD",
                        help="count units with Yosys: those missing, or those whose name has one of the words")
    options = parser.parse_args()
    if options.measure is not None:
        return measure.main(options.measure)
    if options.table:
        print("\n".join(table.everything()))
        return 0
    if options.write:
        page = measure.ROOT / "docs" / "fit.md"
        above = page.read_text().split(table.MARK)[0]
        page.write_text(above + table.MARK + "\n\n" + "\n".join(table.everything()) + "\n")
        return 0
    if not options.board:
        parser.error("name a board, or give --table, --write or --measure")
    board = boards.board_named(options.board)
    counts = measure.load()
    print("\n".join(table.page(board, counts)))
    _, parts, sums = table.board_takes(board, counts)
    said = table.verdict(board, parts, sums).replace("*", "")
    print(f"\n{board.name}: {said} (at most {table.LIMIT_PERCENT} % of what is left)")
    return 0 if said == "fits" else 1


if __name__ == "__main__":
    sys.exit(main())
