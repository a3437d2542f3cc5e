#!/usr/bin/env bash
# Builds everything, or the targets named, in build/release: the program is build/release/lpu.
# Installs missing Debian packages first. A second run does nothing. The Verilated core of a configuration, as `--card rtl`
# and `lpu cosim` load it: --target rtl-NAME (or rtl-NAME-trace, for waveforms); that of `tiny` is built with everything.
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
      sed -n '2,5s/^# //p' "$0"
      exit 0
      ;;
    *) die "unknown option $1; usage: scripts/build.sh [--target NAME]..." ;;
  esac
done

install_packages required
if [[ " ${targets[*]}" == *' rtl-'* ]] && ! command -v verilator >/dev/null; then
  say 'installing verilator'
  apt_install verilator || die 'a Verilated core needs verilator; as root: apt-get install verilator'
  rm -f "$root_dir/build/release/build.ninja" # what is there is looked for when the build is configured
fi
build_preset release "${targets[@]}"
