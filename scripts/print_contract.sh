#!/usr/bin/env bash
# Prints the contract (hls/contract/) anew into rtl/lpu_pkg.sv and the tables of docs/isa.md; with --check only compares.
# usage: scripts/print_contract.sh [--check] PRINTER      (PRINTER: the built lpu_print_contract)
set -euo pipefail
cd "$(dirname "$0")/.."
check=false
if [ "${1:-}" = --check ]; then check=true; shift; fi
printer=${1:?usage: scripts/print_contract.sh [--check] path/to/lpu_print_contract}
mark='<!-- from here on printed by scripts/print_contract.sh -->'
new=$(mktemp -d)
trap 'rm -rf "$new"' EXIT
"$printer" --package > "$new/lpu_pkg.sv"
awk -v mark="$mark" '{ print } $0 == mark { exit }' docs/isa.md > "$new/isa.md"
"$printer" --isa >> "$new/isa.md"
stale=0
for pair in lpu_pkg.sv:rtl/lpu_pkg.sv isa.md:docs/isa.md; do
  from=$new/${pair%%:*} to=${pair##*:}
  cmp -s "$from" "$to" && continue
  stale=1
  if $check; then echo "$to is stale: run scripts/print_contract.sh $printer" >&2; else cp "$from" "$to"; echo "wrote $to"; fi
done
if $check; then exit $stale; fi
