#!/usr/bin/env bash
# Builds everything, or the targets named, in build/release: the program is build/release/lpu.
# Installs missing Debian packages first. A second run does nothing.
#   scripts/build.sh [--target NAME]...
set -euo pipefail
# shellcheck source=scripts/lib.sh
source "$(dirname "$0")/lib.sh"

targets=()
while [ $# -gt 0 ]; do
  case $1 in
    --target)
      [ $# -ge 2 ] || die "--target needs a name"
      targets+=("$2")
      shift 2
      ;;
    -h | --help)
      sed -n '2,4s/^# //p' "$0"
      exit 0
      ;;
    *) die "unknown option $1; usage: scripts/build.sh [--target NAME]..." ;;
  esac
done

install_packages required
build_preset release "${targets[@]}"
