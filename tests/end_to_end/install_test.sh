#!/usr/bin/env bash
# Installs the built tree into a temporary folder, builds the example against it with find_package(OpenLPU) alone, and
# runs it. Exit code 77 (skipped) without the model file.
#   install_test.sh BUILD_FOLDER EXAMPLE_FOLDER MODEL
set -euo pipefail
build=$1 example=$2 model=$3
if [ ! -f "$model" ]; then
  echo "skipped: no $model; scripts/get_model.sh smollm2-135m gets it"
  exit 77
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cmake --install "$build" --prefix "$work/prefix" >"$work/install.log" || { cat "$work/install.log"; exit 1; }

# The example must see the installed headers only, so it is built from a copy far from the source tree.
cp -r "$example" "$work/example"
cmake -S "$work/example" -B "$work/build" -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH="$work/prefix"
cmake --build "$work/build"

output=$("$work/build/example" "$model" "$work/bundle")
echo "$output"
grep -q "30 layers of width 576" <<<"$output"
grep -q "Paris" <<<"$output"
