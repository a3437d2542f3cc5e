#!/usr/bin/env bash
# From a bare machine to a model that answers: installs, builds, gets SmolLM2-135M, compiles it for three U55C cards,
# and runs it on golden ones. What was done before isn't done again.
#   scripts/demo.sh [PROMPT]
set -euo pipefail
# shellcheck source=scripts/lib.sh
source "$(dirname "$0")/lib.sh"

prompt=${1:-"What is the capital of France?"}
lpu=$root_dir/build/release/lpu
bundle=$root_dir/bundles/smollm2-135m-3xu55c-256
stamp=$bundle.stamp

install_packages required
build_preset release lpu
model=$("$root_dir/scripts/get_model.sh" smollm2-135m)

# The stamp says when the bundle was finished; a newer program or model makes it out of date.
if [ ! -e "$bundle" ] || [ ! "$stamp" -nt "$lpu" ] || [ ! "$stamp" -nt "$model" ]; then
  mkdir -p "$root_dir/bundles"
  rm -rf "$bundle" "$stamp"
  say "compiling $(basename "$model") into ${bundle#"$root_dir"/}"
  "$lpu" compile "$model" --hardware 3xu55c --link aurora-25g --context 256 -o "$bundle"
  touch "$stamp"
fi
exec "$lpu" run "$bundle" --card golden --chat --prompt "$prompt" --max-tokens 64
