#!/usr/bin/env bash
# Checks that every C++ file is formatted as .clang-format says, or makes it so. Exit code 77: no clang-format 14 here.
#   scripts/format.sh [--fix] [FILE]...
set -euo pipefail
# shellcheck source=scripts/lib.sh
source "$(dirname "$0")/lib.sh"

fix=no
if [ "${1:-}" = --fix ]; then
  fix=yes
  shift
fi

# Another version formats differently, so that only 14 (Debian 12's) may judge.
if ! command -v clang-format-14 >/dev/null; then
  say "skipped: clang-format-14 isn't installed"
  exit 77
fi
cd "$root_dir"
if [ $# -gt 0 ]; then
  files=("$@")
else
  mapfile -t files < <(find hls host tests -name '*.hpp' -o -name '*.cpp' -o -name '*.h' | sort)
fi
if [ "$fix" = yes ]; then
  clang-format-14 -i "${files[@]}"
  exit 0
fi
offenders=0
for file in "${files[@]}"; do
  if ! clang-format-14 --dry-run --Werror "$file" 2>/dev/null; then
    say "not formatted: $file"
    offenders=$((offenders + 1))
  fi
done
[ "$offenders" -eq 0 ] || die "$offenders files aren't formatted; to put it right: scripts/format.sh --fix"
