# lpu_core of configuration `tiny` as Yosys understands it (scripts/netlist.sh, docs/netlist.md), Verilated behind the
# same C interface as the RTL. lpu_netlist_model(LEVEL), LEVEL words or gates: target rtl-tiny-LEVEL, the
# file netlist_LEVEL/liblpu_rtl_tiny.so of the build. It has the RTL's file name in a folder of its own:
# OPENLPU_RTL_PATH chooses.
# Relies on OpenLpuRtlModels.cmake and on OpenLpuVerilator.cmake for the tools' places.
include(OpenLpuRtlModels)

set(OPENLPU_NETLIST_HEAPS 32)

# Without Verilator, Yosys or the core there is no such target. It's no part of the build of everything.
function(lpu_netlist_model level)
  set(target rtl-tiny-${level})
  if(NOT VERILATOR_FOUND OR NOT YOSYS_FOUND OR NOT EXISTS ${PROJECT_SOURCE_DIR}/rtl/lpu_core.sv)
    return()
  endif()
  lpu_rtl_runtime(lpu_rtl_runtime)
  lpu_rtl_sources(files)
  set(cells ${PROJECT_BINARY_DIR}/netlist_${level}/cells)
  set(folder ${PROJECT_BINARY_DIR}/netlist_${level}/verilated)
  lpu_rtl_heaps(${folder} ${OPENLPU_NETLIST_HEAPS} heaps)
  add_custom_command(OUTPUT ${cells}/lpu_core_netlist.v
    COMMAND ${CMAKE_COMMAND} -E env YOSYS=${YOSYS_EXECUTABLE} ${PROJECT_SOURCE_DIR}/scripts/netlist.sh
      ${level} ${cells}
    DEPENDS ${files} ${PROJECT_SOURCE_DIR}/scripts/netlist.sh ${PROJECT_SOURCE_DIR}/scripts/netlist_map.v VERBATIM
    COMMENT "Synthesising lpu_core to ${level}")
  add_custom_command(OUTPUT ${heaps} ${folder}/Vlpu_core.h
    COMMAND ${CMAKE_COMMAND} -E rm -rf ${folder}
    COMMAND ${VERILATOR_EXECUTABLE} --cc -O3 --output-split 20000 --x-assign fast --x-initial fast -Wno-fatal -Wno-lint
      -Wno-style --top-module lpu_core --prefix Vlpu_core --Mdir ${folder} ${cells}/lpu_core_netlist.v
    COMMAND sh ${PROJECT_SOURCE_DIR}/scripts/cmake/deal_heaps.sh ${folder} ${OPENLPU_NETLIST_HEAPS}
    DEPENDS ${cells}/lpu_core_netlist.v ${PROJECT_SOURCE_DIR}/scripts/cmake/deal_heaps.sh VERBATIM
    COMMENT "Verilating the ${level} of lpu_core")
  # Not optimised: so much code that its compiler's time outweighs the simulation's.
  lpu_rtl_library(${target} tiny lpu_rtl_runtime ${folder} "${heaps}" OUTPUT lpu_rtl_tiny
    PLACE ${PROJECT_BINARY_DIR}/netlist_${level} OPTIMISE -O0)
endfunction()
