#!/usr/bin/env bash
# Rule: the contract and the engine compile as C++14, which is what HLS compilers take.
# One translation unit that includes every header of the two folders.
set -euo pipefail
cd "$(dirname "$0")/../.."
for folder in hls/contract hls/engine; do
  [ -d "$folder" ] && find "$folder" -name '*.hpp' -o -name '*.h' | sort
done | sed 's/.*/#include "&"/' |
  "${CXX:-g++}" -std=c++14 -Wall -Wextra -Werror -fsyntax-only -I . -x c++ -
