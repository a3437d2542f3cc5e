"""Rule: nothing names a folder of one particular machine; scripts and tests make temporary folders of their own."""

import re

from sources import code_files, lines_of, project_files, report

ANYWHERE = re.compile(r"(?<![\w.}$~*)-])/(home|root|Users|work|mnt)/\w")
IN_CODE = re.compile(r"(?<![\w.}$~*)-])/(tmp|var/tmp)/\w")

code = set(code_files())
offences = []
for path in project_files():
    for number, line in enumerate(lines_of(path), 1):
        if ANYWHERE.search(line) or (path in code and IN_CODE.search(line)):
            offences.append(f"{path}:{number}: a path of one machine: {line.strip()}")
report("machine paths", offences)
