"""Runs the programs named and fails unless each exits with 0 and all print the same."""

import subprocess
import sys

outputs = []
for program in sys.argv[1:]:
    run = subprocess.run([program], capture_output=True, text=True, check=False)
    print(f"{program}: exit {run.returncode}: {run.stdout.strip()}")
    if run.returncode != 0:
        sys.exit(1)
    outputs.append(run.stdout)
sys.exit(0 if len(outputs) > 1 and all(output == outputs[0] != "" for output in outputs) else 1)
