#!/usr/bin/env bash
# clang-tidy with .clang-tidy over the files named, or over every .cpp of host/ and hls/; needs scripts/build.sh before
# it (for the compile commands). Exit code 77: no clang-tidy 14 here.
#   scripts/tidy.sh [FILE]...
set -euo pipefail
# shellcheck source=scripts/lib.sh
source "$(dirname "$0")/lib.sh"

if ! command -v clang-tidy-14 >/dev/null; then
  say "skipped: clang-tidy-14 isn't installed"
  exit 77
fi
cd "$root_dir"
[ -f build/release/compile_commands.json ] || die "no compile commands; run scripts/build.sh first"
if [ $# -gt 0 ]; then
  files=("$@")
else
  mapfile -t files < <(find hls host -name '*.cpp' | sort)
fi
printf '%s\0' "${files[@]}" | xargs -0 -P "$cores" -n 1 clang-tidy-14 --quiet -p build/release ||
  die "clang-tidy found something (above)"
