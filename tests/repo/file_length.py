"""Rule: no source file is longer than 450 lines, except those whose opening lines say why ("Long because ...")."""

from sources import code_files, lines_of, report

LIMIT_LINES = 450
REASON = "Long because"
REASON_WITHIN_LINES = 30
GENERATED = {"rtl/lpu_pkg.sv"}

offences = []
for path in code_files():
    lines = lines_of(path)
    excused = path in GENERATED or any(REASON in line for line in lines[:REASON_WITHIN_LINES])
    if len(lines) > LIMIT_LINES and not excused:
        offences.append(f'{path}: {len(lines)} lines; split it, or say "{REASON} ..." at its top')
report("file length", offences)
