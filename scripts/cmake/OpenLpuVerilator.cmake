# SystemVerilog modules as C++ libraries, by Verilator, and the lint and synthesis checks of a module as CTest tests.
# Relies on nothing that must be installed: VERILATOR_FOUND and YOSYS_FOUND say what there is, and a check whose tool is
# absent becomes a test that reports "skipped".
find_program(VERILATOR_EXECUTABLE verilator)
find_program(YOSYS_EXECUTABLE yosys)
set(VERILATOR_FOUND OFF)
if(VERILATOR_EXECUTABLE)
  execute_process(COMMAND ${VERILATOR_EXECUTABLE} --getenv VERILATOR_ROOT OUTPUT_VARIABLE VERILATOR_ROOT
    OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(EXISTS ${VERILATOR_ROOT}/include/verilated.cpp)
    set(VERILATOR_FOUND ON)
  endif()
endif()
set(YOSYS_FOUND OFF)
if(YOSYS_EXECUTABLE)
  set(YOSYS_FOUND ON)
endif()

# Models that count which lines run: see scripts/coverage_rtl.sh. Counting toggles takes a core thirty times as long, so
# that it has a model of its own, too.
option(OPENLPU_RTL_COVERAGE "Verilated models count lines and branches; rtl-tiny-toggles, too, is built" OFF)
set(OPENLPU_COVERAGE_OPTIONS)
set(OPENLPU_COVERAGE_SOURCES)
if(OPENLPU_RTL_COVERAGE)
  set(OPENLPU_COVERAGE_OPTIONS --coverage-line)
  set(OPENLPU_COVERAGE_SOURCES ${VERILATOR_ROOT}/include/verilated_cov.cpp
    ${PROJECT_SOURCE_DIR}/scripts/coverage/rtl_coverage.cpp)
endif()
# The step after Verilator's in such a build, as a part of add_custom_command().
function(lpu_keep_counts result folder)
  set(${result} "" PARENT_SCOPE)
  if(OPENLPU_RTL_COVERAGE)
    set(${result} COMMAND sh ${PROJECT_SOURCE_DIR}/scripts/coverage/keep_counts.sh ${folder} PARENT_SCOPE)
  endif()
endfunction()

# lpu_skipped_test(NAME reason): a test that is never passed, only skipped, and says why.
function(lpu_skipped_test name reason)
  add_test(NAME ${name} COMMAND sh -c "echo 'skipped: ${reason}'; exit 77")
  set_tests_properties(${name} PROPERTIES SKIP_RETURN_CODE 77)
endfunction()

# Absolute paths of the packages and then the given files; every file is named from the source tree's root.
function(lpu_rtl_files result)
  set(files ${PROJECT_SOURCE_DIR}/rtl/lpu_pkg.sv)
  foreach(file ${ARGN})
    list(APPEND files ${PROJECT_SOURCE_DIR}/${file})
  endforeach()
  set(${result} ${files} PARENT_SCOPE)
endfunction()

# The library that every Verilated model needs, compiled once.
function(lpu_verilated_runtime)
  if(NOT TARGET lpu_verilated)
    find_package(Threads REQUIRED)
    add_library(lpu_verilated STATIC ${VERILATOR_ROOT}/include/verilated.cpp
      ${VERILATOR_ROOT}/include/verilated_threads.cpp ${OPENLPU_COVERAGE_SOURCES})
    target_include_directories(lpu_verilated SYSTEM PUBLIC ${VERILATOR_ROOT}/include ${VERILATOR_ROOT}/include/vltstd)
    target_compile_options(lpu_verilated PRIVATE -w)
    target_link_libraries(lpu_verilated PUBLIC Threads::Threads)
  endif()
endfunction()

# lpu_verilate(TARGET TOP module SOURCES files... [PARAMETERS Name=value...]): the module as static library TARGET; its
# class is V<TARGET> in V<TARGET>.h. SOURCES from the root of the source tree, packages first; lpu_pkg.sv comes along.
function(lpu_verilate target)
  cmake_parse_arguments(arg "" "TOP" "SOURCES;PARAMETERS" ${ARGN})
  lpu_verilated_runtime()
  lpu_rtl_files(files ${arg_SOURCES})
  list(TRANSFORM arg_PARAMETERS PREPEND -G OUTPUT_VARIABLE parameters)
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${target})
  lpu_keep_counts(keep_counts ${folder})
  # One source that includes all that Verilator wrote: the files' names aren't known beforehand.
  add_custom_command(OUTPUT ${folder}/model.cpp ${folder}/V${target}.h
    COMMAND ${CMAKE_COMMAND} -E rm -rf ${folder}
    COMMAND ${VERILATOR_EXECUTABLE} --cc --assert -O3 --unroll-count 8 --x-assign fast --x-initial fast
      -Wno-fatal -Wno-lint -Wno-style ${OPENLPU_COVERAGE_OPTIONS} --top-module ${arg_TOP} --prefix V${target}
      --Mdir ${folder} ${parameters} ${files}
    ${keep_counts}
    COMMAND sh -c "cd ${folder} && ls V*.cpp | sed 's/.*/#include \"&\"/' > model.cpp"
    DEPENDS ${files} VERBATIM COMMENT "Verilating ${arg_TOP} as ${target}")
  add_library(${target} STATIC ${folder}/model.cpp)
  target_include_directories(${target} SYSTEM PUBLIC ${folder})
  target_compile_options(${target} PRIVATE -w -O1)  # the models are small: quick to compile counts
  target_link_libraries(${target} PUBLIC lpu_verilated)
endfunction()

# lpu_lint_check(NAME TOP module SOURCES files... [PARAMETERS Name=value...]): test NAME.lint, in which every warning of
# Verilator is an error; waivers in rtl/lint.vlt. SOURCES as in lpu_verilate.
function(lpu_lint_check name)
  cmake_parse_arguments(arg "" "TOP" "SOURCES;PARAMETERS" ${ARGN})
  lpu_rtl_files(files ${arg_SOURCES})
  if(NOT VERILATOR_FOUND)
    lpu_skipped_test(${name}.lint "no verilator")
    return()
  endif()
  list(TRANSFORM arg_PARAMETERS PREPEND -G OUTPUT_VARIABLE parameters)
  add_test(NAME ${name}.lint COMMAND ${VERILATOR_EXECUTABLE} --lint-only -Wall --top-module ${arg_TOP} ${parameters}
    ${PROJECT_SOURCE_DIR}/rtl/lint.vlt ${files})
endfunction()

# lpu_yosys_check(...): test NAME.yosys: Yosys reads, elaborates and checks the module. As lpu_lint_check; PASSES: what
# comes before the check.
function(lpu_yosys_check name)
  cmake_parse_arguments(arg "" "TOP" "SOURCES;PARAMETERS;PASSES" ${ARGN})
  if(NOT YOSYS_FOUND)
    lpu_skipped_test(${name}.yosys "no yosys")
    return()
  endif()
  if(NOT arg_PASSES)
    set(arg_PASSES proc opt)
  endif()
  lpu_rtl_files(files ${arg_SOURCES})
  string(JOIN " " read ${files})
  string(JOIN "; " passes ${arg_PASSES})
  set(chparam "")
  foreach(parameter ${arg_PARAMETERS})
    string(REPLACE "=" " " parameter ${parameter})
    string(APPEND chparam "chparam -set ${parameter} ${arg_TOP}; ")
  endforeach()
  add_test(NAME ${name}.yosys COMMAND ${YOSYS_EXECUTABLE} -q -p
    "read_verilog -sv ${read}; ${chparam}hierarchy -check -top ${arg_TOP}; ${passes}; check -assert")
endfunction()

# lpu_rtl_checks(...): both.
function(lpu_rtl_checks name)
  lpu_lint_check(${name} ${ARGN})
  lpu_yosys_check(${name} ${ARGN})
endfunction()
