# The whole core, Verilated, as shared libraries that `lpu --card rtl` and `lpu cosim` load at run time: one for each
# named configuration, with and without waveforms. Relies on rtl/lpu_core.sv, on the configurations printed in
# rtl/lpu_pkg.sv (their one home is hls/contract/hardware_config.hpp) and on OpenLpuVerilator.cmake for the tools' places.
include(OpenLpuVerilator)

# Depths of "virtual" that no simulation could hold: a model that needs more is refused when it is loaded.
set(OPENLPU_RTL_MOST_LANE_WORDS 32768)
set(OPENLPU_RTL_MOST_MINIMUM_WORDS 32768)
set(OPENLPU_RTL_MOST_EXPONENT_WORDS 16384)
set(OPENLPU_RTL_MOST_CONSTANT_VALUES 262144)
set(OPENLPU_RTL_MOST_ROPE_PAIRS 1048576)
# Verilator writes many files whose names nobody knows beforehand: they are compiled in so many heaps.
set(OPENLPU_RTL_HEAPS 8)

set(OPENLPU_RTL_PARAMETERS Lanes ColumnGroups VectorLanes SoftmaxLanes HasMinimum LaneWords MinimumWords
  AccumulatorEntries ActivationBlocks ResidualValues ExponentWords ConstantValues RopePairs ProgramInstructions
  DelayEntries)

# Every SystemVerilog file of the core, packages first.
function(lpu_rtl_sources result)
  file(GLOB_RECURSE packages CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/rtl/*_pkg.sv)
  file(GLOB_RECURSE files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/rtl/*.sv)
  list(REMOVE_ITEM files ${packages})
  list(SORT packages)
  list(SORT files)
  set(${result} ${packages} ${files} PARENT_SCOPE)
endfunction()

# Names of the configurations, as rtl/lpu_pkg.sv introduces them ("  // tiny: for tests …").
function(lpu_rtl_configurations result)
  file(STRINGS ${PROJECT_SOURCE_DIR}/rtl/lpu_pkg.sv lines REGEX "^  localparam int [A-Za-z0-9]+ClockMhz = ")
  set(names)
  foreach(line ${lines})
    string(REGEX REPLACE "^  localparam int ([A-Za-z0-9]+)ClockMhz.*" "\\1" name "${line}")
    string(TOLOWER ${name} name)
    list(APPEND names ${name})
  endforeach()
  set(${result} ${names} PARENT_SCOPE)
endfunction()

# "Lanes=4;ColumnGroups=2;…" of a configuration, depths as simulated.
function(lpu_rtl_parameters name result)
  string(SUBSTRING ${name} 0 1 initial)
  string(SUBSTRING ${name} 1 -1 rest)
  string(TOUPPER ${initial} initial)
  set(values)
  foreach(field ${OPENLPU_RTL_PARAMETERS})
    file(STRINGS ${PROJECT_SOURCE_DIR}/rtl/lpu_pkg.sv line REGEX "^  localparam int ${initial}${rest}${field} = ")
    if(NOT line MATCHES "= ([0-9]+)")
      message(FATAL_ERROR "rtl/lpu_pkg.sv has no ${initial}${rest}${field}; run scripts/print_contract.sh")
    endif()
    set(value ${CMAKE_MATCH_1})
    string(REGEX REPLACE "([a-z])([A-Z])" "\\1_\\2" most ${field})
    string(TOUPPER OPENLPU_RTL_MOST_${most} most)
    if(DEFINED ${most})
      math(EXPR beyond "${value} - ${${most}}")
      if(beyond GREATER 0)
        set(value ${${most}})
      endif()
    endif()
    list(APPEND values ${field}=${value})
  endforeach()
  set(${result} ${values} PARENT_SCOPE)
endfunction()

# Verilator's own library, once for all models (lpu_rtl_runtime) and once with waveforms (lpu_rtl_runtime_trace). What it
# would print or stop with goes to rtl_model/lpu_rtl_model.cpp.
function(lpu_rtl_runtime target)
  cmake_parse_arguments(arg "WAVEFORM" "" "" ${ARGN})
  if(TARGET ${target})
    return()
  endif()
  find_package(Threads REQUIRED)
  set(files ${VERILATOR_ROOT}/include/verilated.cpp ${VERILATOR_ROOT}/include/verilated_threads.cpp
    ${OPENLPU_COVERAGE_SOURCES})
  if(arg_WAVEFORM)
    list(APPEND files ${VERILATOR_ROOT}/include/verilated_fst_c.cpp)
  endif()
  add_library(${target} STATIC EXCLUDE_FROM_ALL ${files})
  target_include_directories(${target} SYSTEM PUBLIC ${VERILATOR_ROOT}/include ${VERILATOR_ROOT}/include/vltstd)
  target_compile_definitions(${target} PRIVATE VL_USER_STOP VL_USER_FINISH VL_USER_FATAL VL_PRINTF=lpu_rtl_print)
  target_compile_options(${target} PRIVATE -w
    -include ${PROJECT_SOURCE_DIR}/host/card/rtl_model/print.hpp)
  target_compile_options(${target} PUBLIC -fno-gnu-unique)
  set_target_properties(${target} PROPERTIES CXX_VISIBILITY_PRESET hidden)
  target_link_libraries(${target} PUBLIC Threads::Threads)
  if(arg_WAVEFORM)
    find_package(ZLIB REQUIRED)
    target_link_libraries(${target} PUBLIC ZLIB::ZLIB)
  endif()
endfunction()

# lpu_rtl_library(TARGET CONFIGURATION RUNTIME FOLDER HEAPS [ALL] OUTPUT NAME PLACE FOLDER OPTIMISE OPTION): a Verilated
# core, whose sources in FOLDER are dealt into HEAPS, as a shared library with the C interface of rtl_model/api.hpp.
function(lpu_rtl_library target configuration runtime folder heaps)
  cmake_parse_arguments(arg "ALL" "OUTPUT;PLACE;OPTIMISE" "" ${ARGN})
  file(STRINGS ${PROJECT_SOURCE_DIR}/rtl/lpu_pkg.sv hash REGEX "ContractHash = 64'h")
  string(REGEX REPLACE ".*64'h([0-9a-f]+).*" "0x\\1ull" hash "${hash}")
  lpu_rtl_parameters(${configuration} parameters)
  list(TRANSFORM parameters PREPEND LPU_RTL_ OUTPUT_VARIABLE definitions)
  set(exclude EXCLUDE_FROM_ALL)
  if(arg_ALL)
    set(exclude)
  endif()
  add_library(${target} SHARED ${exclude} ${heaps} ${PROJECT_SOURCE_DIR}/host/card/rtl_model/lpu_rtl_model.cpp)
  target_include_directories(${target} SYSTEM PRIVATE ${folder})
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR})
  target_compile_definitions(${target} PRIVATE ${definitions} LPU_RTL_NAME="${configuration}"
    LPU_RTL_CONTRACT_HASH=${hash})
  target_compile_options(${target} PRIVATE -w ${arg_OPTIMISE})
  # Several libraries may be in one process: each keeps to its own copy of Verilator's functions.
  target_link_options(${target} PRIVATE -Wl,--exclude-libs,ALL -Wl,-Bsymbolic)
  target_link_libraries(${target} PRIVATE ${runtime})
  set_target_properties(${target} PROPERTIES OUTPUT_NAME ${arg_OUTPUT} CXX_VISIBILITY_PRESET hidden
    LIBRARY_OUTPUT_DIRECTORY ${arg_PLACE})
endfunction()

# Names of the files that a Verilated core in FOLDER is dealt into.
function(lpu_rtl_heaps folder count result)
  set(heaps)
  math(EXPR last "${count} - 1")
  foreach(heap RANGE ${last})
    list(APPEND heaps ${folder}/heap_${heap}.cpp)
  endforeach()
  set(${result} ${heaps} PARENT_SCOPE)
endfunction()

# lpu_rtl_model(NAME [WAVEFORM | TOGGLES]): target rtl-NAME or rtl-NAME-trace, the file liblpu_rtl_NAME.so or
# liblpu_rtl_NAME_trace.so beside the program; or target rtl-NAME-toggles, in the folder toggles.
function(lpu_rtl_model name)
  cmake_parse_arguments(arg "WAVEFORM;TOGGLES" "" "" ${ARGN})
  set(target rtl-${name})
  set(output lpu_rtl_${name})
  set(runtime lpu_rtl_runtime)
  set(options)
  if(arg_WAVEFORM)
    string(APPEND target -trace)
    string(APPEND output _trace)
    string(APPEND runtime _trace)
    set(options --trace-fst --trace-structs)
    lpu_rtl_runtime(${runtime} WAVEFORM)
  else()
    lpu_rtl_runtime(${runtime})
  endif()
  set(optimise -O2)
  set(place ${PROJECT_BINARY_DIR})
  if(arg_TOGGLES)
    # Signals wider than a number are data on their way through a pipeline; their bits would be most of the counts.
    list(APPEND options --coverage-toggle --coverage-max-width 64)
    string(APPEND target -toggles)
    set(optimise -O1)
    set(place ${PROJECT_BINARY_DIR}/toggles)
  endif()
  lpu_rtl_sources(files)
  lpu_rtl_parameters(${name} parameters)
  list(TRANSFORM parameters PREPEND -G OUTPUT_VARIABLE arguments)

  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${target})
  lpu_rtl_heaps(${folder} ${OPENLPU_RTL_HEAPS} heaps)
  lpu_keep_counts(keep_counts ${folder})
  add_custom_command(OUTPUT ${heaps} ${folder}/Vlpu_core.h
    COMMAND ${CMAKE_COMMAND} -E rm -rf ${folder}
    COMMAND ${VERILATOR_EXECUTABLE} --cc --assert -O3 --unroll-count 8 --output-split 20000 --x-assign fast
      --x-initial fast -Wno-fatal -Wno-lint -Wno-style ${options} ${OPENLPU_COVERAGE_OPTIONS} --top-module lpu_core
      --prefix Vlpu_core --Mdir ${folder} ${arguments} ${files}
    ${keep_counts}
    COMMAND sh ${PROJECT_SOURCE_DIR}/scripts/cmake/deal_heaps.sh ${folder} ${OPENLPU_RTL_HEAPS}
    DEPENDS ${files} ${PROJECT_SOURCE_DIR}/scripts/cmake/deal_heaps.sh VERBATIM
    COMMENT "Verilating lpu_core as ${target}")
  set(all)
  if(target STREQUAL "rtl-tiny")
    set(all ALL)
  endif()
  lpu_rtl_library(${target} ${name} ${runtime} ${folder} "${heaps}" ${all} OUTPUT ${output} PLACE ${place}
    OPTIMISE ${optimise})
  if(arg_WAVEFORM)
    target_compile_definitions(${target} PRIVATE LPU_RTL_WAVEFORM)
  endif()
  if(OPENLPU_RTL_COVERAGE)
    target_link_options(${target} PRIVATE -Wl,-z,nodelete)  # counts of a core that is loaded again and again add up
  endif()
  # Where the installed program looks for it; only what has been built.
  if(NOT OPENLPU_RTL_COVERAGE)
    install(FILES $<TARGET_FILE:${target}> DESTINATION lib OPTIONAL)
  endif()
endfunction()

# All of them; without Verilator or without the core there are none.
function(lpu_rtl_models)
  if(NOT VERILATOR_FOUND OR NOT EXISTS ${PROJECT_SOURCE_DIR}/rtl/lpu_core.sv)
    return()
  endif()
  lpu_rtl_configurations(names)
  foreach(name ${names})
    lpu_rtl_model(${name})
    lpu_rtl_model(${name} WAVEFORM)
  endforeach()
  if(OPENLPU_RTL_COVERAGE)
    lpu_rtl_model(tiny TOGGLES)
  endif()
endfunction()
