#!/usr/bin/env bash
# Synthesises lpu_core in configuration `tiny` with Yosys (docs/netlist.md): writes FOLDER/lpu_core_netlist.v,
# and beside it yosys.log with the cells counted. Fails on a warning of Yosys that isn't known to be harmless.
#   scripts/netlist.sh words|gates FOLDER
#   words    cells of whole words after Yosys' elaboration and optimisation: +, ==, multiplexers …
#   gates    AND, OR, XOR, NOT and multiplexers of one bit
# and prints what it made: cells in the whole design (each module as often as it is there), Yosys' time and memory.
#   scripts/netlist.sh --self-check    shows that such a warning is found
# shellcheck disable=SC2016 # names of Yosys' cells begin with a dollar
set -euo pipefail
# shellcheck source=scripts/lib.sh
source "$(dirname "$0")/lib.sh"

yosys=${YOSYS:-yosys}

# refuse_warnings LOG: what Yosys says of small arrays in always blocks is meant so; anything else, above all "Resizing
# cell port", is a place where it may understand the source otherwise than a simulator does.
refuse_warnings() {
  local found
  found=$(grep -E '^(\[[0-9.]+\] )?Warning: ' "$1" |
    grep -vE 'Warning: Replacing memory .* with list of registers' || true)
  if [ -n "$found" ]; then
    printf '%s\n' "$found" >&2
    return 1
  fi
}

# print_sizes LOG: the last count in the log, of the whole hierarchy, by kind.
print_sizes() {
  awk '
    /=== design hierarchy ===/ { counting = 1; words = bits = flops = products = memories = 0 }
    /^End of script/ { counting = 0; sub(/^.*CPU: /, ""); cost = $0 }
    counting && NF == 2 && $1 ~ /^\$/ && $1 !~ /^\$paramod/ && $2 ~ /^[0-9]+$/ {
      if ($1 ~ /^\$_/) bits += $2
      else if ($1 ~ /^\$s?dff/) flops += $2
      else if ($1 == "$mul") products += $2
      else if ($1 == "$mem_v2") memories += $2
      else words += $2
    }
    END {
      printf "%d cells of words, %d gates of one bit, %d words of flip-flops, %d multipliers, %d memories\n",
        words, bits, flops, products, memories
      print "Yosys: " cost
    }' "$1"
}

# refuse_signed_casts FILE...: Yosys 0.23 reads -N'(x) as a cast to -N bits, of a constant even without a word; it must
# be written -(N'(x)).
refuse_signed_casts() {
  if grep -nE "[]<>=?:(,{|&^+*/-] *[-~!][A-Za-z0-9_:]+'\\(" "$@" >&2; then return 1; fi
}

self_check() {
  local folder
  folder=$(mktemp -d)
  trap 'rm -rf "$folder"' RETURN
  printf '%s\n' 'module inner(input logic [7:0] a_i, output logic [7:0] b_o); assign b_o = a_i; endmodule' \
    'module outer(input logic [15:0] a_i, output logic [7:0] b_o); inner u_inner(.a_i(a_i), .b_o); endmodule' \
    >"$folder/outer.sv"
  "$yosys" -q -l "$folder/yosys.log" -p "read_verilog -sv $folder/outer.sv; hierarchy -top outer" >/dev/null 2>&1
  if refuse_warnings "$folder/yosys.log" 2>/dev/null; then die "a port of the wrong width raised no warning"; fi
  printf '%s\n' "  assign a = b < -11'(Bits);" >"$folder/cast.sv"
  if refuse_signed_casts "$folder/cast.sv" 2>/dev/null; then die "a sign before a cast wasn't seen"; fi
}

case ${1:-} in
  --self-check)
    self_check
    exit 0
    ;;
  words | gates) level=$1 ;;
  *) die "usage: scripts/netlist.sh words|gates FOLDER | --self-check" ;;
esac
[ $# -eq 2 ] || die "usage: scripts/netlist.sh words|gates FOLDER | --self-check"

mkdir -p "$2"
folder=$(cd "$2" && pwd)
cd "$root_dir"
mapfile -t packages < <(find rtl -name '*_pkg.sv' | sort)
mapfile -t files < <(find rtl -name '*.sv' ! -name '*_pkg.sv' | sort)

refuse_signed_casts "${packages[@]}" "${files[@]}" || die "a sign before a cast (above): write -(N'(x))"

# Memories, multipliers and flip-flops stay what a device has as cells of their own: arrays, products of words, words
# of flip-flops with enable and reset. Modules stay too, so that each is mapped once. A write's enables, one a bit, are
# made one net again. Nets are split where single bits are driven: a simulator would take a ripple of carries in a
# vector for a loop. What techmap makes of a selection isn't part of it: hence the second time.
macros='t:$mul t:$dff t:$dffe t:$sdff t:$sdffe t:$sdffce t:$mem_v2'
case $level in
  words)
    map='memory -nomap -nosat
select -set enables t:$mem_v2 %m t:$mux %i
simplemap @enables
opt_expr'
    ;;
  gates)
    map="alumacc t:* t:\$mul %d
memory -nomap -nosat
opt_clean
techmap -map scripts/netlist_map.v -map +/techmap.v t:* $macros %u %u %u %u %u %u %d
techmap -map scripts/netlist_map.v -map +/techmap.v t:* $macros %u %u %u %u %u %u %d
opt_expr
opt_merge"
    ;;
esac
cat >"$folder/netlist.ys" <<END
read_verilog -sv -DSYNTHESIS ${packages[*]} ${files[*]}
hierarchy -check -top lpu_core
proc -noopt
opt_expr
opt_merge
opt_muxtree
opt_dff
opt_clean
wreduce
opt_expr
opt_clean
check -assert
$map
opt_clean
splitnets -driver
opt_clean -purge
stat
write_verilog -noattr $folder/lpu_core_netlist.part
END
"$yosys" -q -l "$folder/yosys.log" -s "$folder/netlist.ys" >/dev/null 2>"$folder/errors.log" || {
  grep -v 'Replacing memory' "$folder/errors.log" >&2 || true
  die "Yosys failed; its log is $folder/yosys.log"
}
refuse_warnings "$folder/yosys.log" || die "Yosys warned (above): see docs/netlist.md"
mv "$folder/lpu_core_netlist.part" "$folder/lpu_core_netlist.v"
print_sizes "$folder/yosys.log"
