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
  lpu_rtl_parameters(tiny parameters)
  file(STRINGS ${PROJECT_SOURCE_DIR}/rtl/lpu_pkg.sv hash REGEX "ContractHash = 64'h")
  string(REGEX REPLACE ".*64'h([0-9a-f]+).*" "0x\\1ull" hash "${hash}")
  list(TRANSFORM parameters PREPEND LPU_RTL_ OUTPUT_VARIABLE definitions)

  set(cells ${PROJECT_BINARY_DIR}/netlist_${level}/cells)
  set(folder ${PROJECT_BINARY_DIR}/netlist_${level}/verilated)
  set(heaps)
  math(EXPR last "${OPENLPU_NETLIST_HEAPS} - 1")
  foreach(heap RANGE ${last})
    list(APPEND heaps ${folder}/heap_${heap}.cpp)
  endforeach()
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
  add_library(${target} SHARED EXCLUDE_FROM_ALL ${heaps}
    ${PROJECT_SOURCE_DIR}/host/card/rtl_model/lpu_rtl_model.cpp)
  target_include_directories(${target} SYSTEM PRIVATE ${folder})
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR})
  target_compile_definitions(${target} PRIVATE ${definitions} LPU_RTL_NAME="tiny" LPU_RTL_CONTRACT_HASH=${hash})
  # So much code that its compiler's time outweighs the simulation's.
  target_compile_options(${target} PRIVATE -w -O0)
  target_link_options(${target} PRIVATE -Wl,--exclude-libs,ALL -Wl,-Bsymbolic)
  target_link_libraries(${target} PRIVATE lpu_rtl_runtime)
  set_target_properties(${target} PROPERTIES OUTPUT_NAME lpu_rtl_tiny CXX_VISIBILITY_PRESET hidden
    LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/netlist_${level})
endfunction()
