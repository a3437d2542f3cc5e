#!/usr/bin/env bash
# Everything that can be checked on this machine: the tests in a release build, the unit tests again under the address
# and undefined-behaviour sanitizers, and every fuzz target for a minute.
#   scripts/test.sh [--all] [--quick] [--junit FILE]
#   --all    also the tests labelled slow, and clang-tidy
#   --quick  only the release build's tests
#   --junit  writes the release build's results as JUnit XML
# A stage that fails doesn't keep the next ones from running; the last lines name those that failed.
set -uo pipefail
# shellcheck source=scripts/lib.sh
source "$(dirname "$0")/lib.sh"

all=no quick=no junit=
while [ $# -gt 0 ]; do
  case $1 in
    --all) all=yes ;;
    --quick) quick=yes ;;
    --junit)
      [ $# -ge 2 ] || die "--junit needs a file"
      junit=$(realpath -m "$2")
      shift
      ;;
    -h | --help)
      sed -n '2,8s/^# //p' "$0"
      exit 0
      ;;
    *) die "unknown option $1; usage: scripts/test.sh [--all] [--quick] [--junit FILE]" ;;
  esac
  shift
done

failed=()
# stage TITLE COMMAND...: runs it, notes a failure, says how long it took.
stage() {
  local title=$1 start=$SECONDS
  shift
  say "== $title"
  "$@" </dev/null || failed+=("$title")
  say "== $title: $((SECONDS - start)) s"
}

run_release_tests() {
  rm -f "$root_dir/build/release/ctest.log"
  build_preset release || return 1
  local -a options=(--test-dir "$root_dir/build/release" --output-on-failure -j "$cores" --no-tests=error)
  if [ "$all" = no ]; then options+=(-LE '^slow$'); fi
  if [ -n "$junit" ]; then options+=(--output-junit "$junit"); fi
  ctest "${options[@]}" | tee "$root_dir/build/release/ctest.log"
}

# Tests that only do much arithmetic find nothing more when they do it ten times slower.
run_sanitized_tests() {
  build_preset "$1" &&
    UBSAN_OPTIONS=print_stacktrace=1 ctest --test-dir "$root_dir/build/$1" --output-on-failure -j "$cores" \
      -LE '^(slow|heavy|repo)$' --no-tests=error
}

fuzz_seconds=60  # of each target; they run side by side, one a core
run_fuzz_targets() {
  if ! command -v clang++-14 >/dev/null || ! ls /usr/lib/llvm-14/lib/clang/*/lib/linux/libclang_rt.fuzzer-*.a >/dev/null 2>&1; then
    say "skipped: fuzzing needs clang-14 and libclang-rt-14-dev"
    return 0
  fi
  build_preset fuzz help || return 1
  local -a names
  mapfile -t names < <(cmake --build "$root_dir/build/fuzz" --target help | sed -n 's/^\(fuzz_[a-z0-9_]*\): phony$/\1/p' | sort -u)
  if [ "${#names[@]}" -eq 0 ]; then
    say "skipped: there are no fuzz targets"
    return 0
  fi
  build_preset fuzz "${names[@]}" || return 1
  say "fuzzing ${names[*]}, $fuzz_seconds s each"
  export -f fuzz_one
  export root_dir fuzz_seconds
  printf '%s\n' "${names[@]}" | xargs -P "$cores" -I NAME bash -c 'fuzz_one NAME'
}

# Seeds lie in tests/fuzz/corpus/NAME; what libFuzzer finds of interest stays in the build folder.
fuzz_one() {
  local program found
  program=$(find "$root_dir/build/fuzz" -name "$1" -type f -perm -u+x | head -n 1)
  found=$root_dir/build/fuzz/found/$1
  mkdir -p "$found"
  local -a seeds=()
  if [ -d "$root_dir/tests/fuzz/corpus/$1" ]; then seeds=("$root_dir/tests/fuzz/corpus/$1"); fi
  cd "$found" || return 1
  if "$program" -max_total_time="$fuzz_seconds" -timeout=10 -rss_limit_mb=2048 -verbosity=0 -print_final_stats=1 \
    "$found" "${seeds[@]}" >"$found.log" 2>&1; then
    echo "$1: no crash in $fuzz_seconds s, $(sed -n 's/^stat::number_of_executed_units: *//p' "$found.log") inputs"
  else
    tail -n 60 "$found.log"
    echo "$1: FAILED; the input is in $found"
    return 1
  fi
}

install_packages optional
stage "getting the model" "$root_dir/scripts/get_model.sh" smollm2-135m
"$root_dir/scripts/get_model.sh" tokenizer-vocabularies >/dev/null ||
  say "skipped: the tests on vocabularies that aren't ours to commit (the reason is above)"
stage "tests" run_release_tests
if [ "$quick" = no ]; then
  stage "address sanitizer" run_sanitized_tests asan
  stage "undefined behaviour sanitizer" run_sanitized_tests ubsan
  stage "fuzzing" run_fuzz_targets
fi
if [ "$all" = yes ]; then stage "clang-tidy" "$root_dir/scripts/tidy.sh"; fi

if [ "${#failed[@]}" -gt 0 ]; then
  printf -v list '%s, ' "${failed[@]}"
  die "failed: ${list%, }"
fi
say "all stages passed in $SECONDS s"
