#!/bin/sh
# Deals the C++ files that Verilator wrote into FOLDER out to COUNT sources, heap_0.cpp …, largest first and each to the
# heap with the least bytes, so that the build can name them beforehand and its cores have equally much to do.
#   deal_heaps.sh FOLDER COUNT
set -eu
cd "$1"
i=0
while [ "$i" -lt "$2" ]; do
  : >"heap_$i.cpp"
  i=$((i + 1))
done
# shellcheck disable=SC2012 # Verilator's names have no blanks
ls -l V*.cpp | awk '{ print $5, $NF }' | sort -k1,1nr -k2 | awk -v count="$2" '
  {
    least = 0
    for (i = 1; i < count; i++) if (bytes[i] < bytes[least]) least = i
    bytes[least] += $1
    print "#include \"" $2 "\"" >>("heap_" least ".cpp")
  }'
