#!/usr/bin/env bash
# Does a board's configuration fit its device? scripts/fit.sh BOARD, or --table, --write, --measure (docs/fit.md).
# Thin: scripts/fit/fit.py does the work. Relies on python3; only --measure needs yosys.
set -euo pipefail
cd "$(dirname "$0")/.."
exec python3 -B scripts/fit/fit.py "$@"
