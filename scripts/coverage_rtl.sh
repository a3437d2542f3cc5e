#!/usr/bin/env bash
# How much of rtl/ the tests run: lines, branches and toggles, per file and in all. Builds build/coverage, whose
# Verilated models count, runs the cosimulations of the units, the tests of the core and of the rtl card, and
# `lpu cosim` (this on a core that counts toggles, too), then compares what has not run with docs/coverage_rtl.json.
# Exit code 1: lines below 97 %, or a gap without a reason.
#   scripts/coverage_rtl.sh [--markdown] [--report]
#   --markdown  the table of docs/coverage_rtl.md
#   --report    only reads the counts of the last run again
# Relies on verilator; takes about half an hour on two cores.
set -euo pipefail
# shellcheck source=scripts/lib.sh
source "$(dirname "$0")/lib.sh"

build=${OPENLPU_COVERAGE_BUILD:-$root_dir/build/coverage}
counts=$build/counts
report=no
options=()
for option in "$@"; do
  case $option in
    --markdown) options+=(--markdown) ;;
    --report) report=yes ;;
    -h | --help)
      sed -n '2,9s/^# //p' "$0"
      exit 0
      ;;
    *) die "unknown option $option; usage: scripts/coverage_rtl.sh [--markdown] [--report]" ;;
  esac
done

# counted TITLE COMMAND...: a program that leaves its counts; its output only when it fails.
counted() {
  local start=$SECONDS
  run_quiet "$@" || die "a test fails: mend that first"
  say "$1: $((SECONDS - start)) s"
}

if [ "$report" = no ]; then
  command -v verilator_coverage >/dev/null || die "verilator isn't installed (scripts/packages.txt)"
  if [ ! -f "$build/build.ninja" ]; then
    launcher=()
    if command -v ccache >/dev/null; then launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache); fi
    run_quiet "configuring $build" cmake -S "$root_dir" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release \
      -DOPENLPU_RTL_COVERAGE=ON "${launcher[@]}"
  fi
  # The netlist's programs run what Yosys made, which isn't counted.
  mapfile -t programs < <(cmake --build "$build" --target help |
    sed -n 's/^\(test_cosim[a-z0-9_]*\): phony$/\1/p' | grep -v netlist | sort -u)
  say "building $build: lpu, cores, test_card_rtl and ${#programs[@]} programs"
  run_counted "the build in $build" cmake --build "$build" -j "$cores" --target lpu rtl-tiny-toggles test_card_rtl \
    "${programs[@]}"

  rm -rf "$counts"
  mkdir -p "$counts"
  export OPENLPU_COVERAGE_DIR=$counts OPENLPU_RTL_PATH=$build/toggles
  for name in "${programs[@]}" test_card_rtl; do
    counted "$name" "$(find "$build/tests" -name "$name" -type f -perm -u+x | head -n 1)"
  done
  # A trained model past its first block of positions: greedy and sampled, both widths of K.
  bundles=$(mktemp -d)
  trap 'rm -rf "$bundles"' EXIT
  for bits in 8 12; do
    counted "compiling for K of $bits bits" "$build/lpu" compile "$root_dir/examples/tiny_model/openlpu-tiny.gguf" \
      -o "$bundles/$bits" --hardware tiny --context 64 --kv-bits "$bits"
    counted "lpu cosim, K of $bits bits" "$build/lpu" cosim "$bundles/$bits" --tokens 40 --prompt "Once" --quiet
  done
  counted "lpu cosim, sampled" "$build/lpu" cosim "$bundles/8" --tokens 6 --prompt "Once" --temperature 0.8 --seed 7 \
    --one-by-one --quiet
  run_quiet "merging the counts" verilator_coverage --write "$build/counts.dat" "$counts"/*.dat
fi
python3 -B "$root_dir/scripts/coverage/coverage_rtl.py" "$build/counts.dat" \
  "$root_dir/docs/coverage_rtl.json" "${options[@]}"
