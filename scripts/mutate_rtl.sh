#!/usr/bin/env bash
# Do the tests notice single faults in rtl/? Each fault of tests/cosim/mutations.json is put into a copy of rtl/, and
# the tests that should catch it run on what is made of the copy; a fault that nothing catches and that has no reason
# in the list is a failure (docs/mutation.md). Thin: scripts/mutation/mutate.py does the work.
#   scripts/mutate_rtl.sh [--list] [--check] [--only NAME]... [--json] [--write] [--build FOLDER] [--jobs N]
# Without --build, build/release is brought up to date first. Relies on verilator, ninja, a C++ compiler.
set -euo pipefail
# shellcheck source=scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

build=yes
for argument in "$@"; do
  case $argument in --build | --build=* | --list | --check | --help | -h) build=no ;; esac
done
if [ "$build" = yes ]; then
  mapfile -t targets < <(python3 -B "$root_dir/scripts/mutation/mutate.py" --targets "$@")
  build_preset release "${targets[@]}"
fi
exec python3 -B "$root_dir/scripts/mutation/mutate.py" "$@"
