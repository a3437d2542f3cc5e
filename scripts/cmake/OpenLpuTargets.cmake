# What every target of the project has in common. Relies on OPENLPU_SANITIZE from the top CMakeLists.txt.
include(GNUInstallDirs)

# Binary32 must mean the same everywhere: no fused multiply-add, no reassociation (docs/numbers.md, "Vector unit").
add_library(lpu_flags INTERFACE)
target_compile_options(lpu_flags INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Werror
  -ffp-contract=off -fno-fast-math)
target_include_directories(lpu_flags INTERFACE ${PROJECT_SOURCE_DIR})
# g++ 12 sees overlaps and overflows in std::string and std::vector that aren't there (GCC bugs 105329, 105705).
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(lpu_flags INTERFACE -Wno-restrict -Wno-stringop-overflow)
endif()
if(OPENLPU_SANITIZE)
  target_compile_options(lpu_flags INTERFACE -fsanitize=${OPENLPU_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  # GCC's own manual: sanitizers raise false positives of this warning (here: the standard library's <regex>). Clang, which
  # builds the fuzz targets, doesn't know it.
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(lpu_flags INTERFACE -Wno-maybe-uninitialized)
  endif()
  target_link_options(lpu_flags INTERFACE -fsanitize=${OPENLPU_SANITIZE})
endif()

# lpu_library(NAME [PUBLIC libs...] [PRIVATE libs...]): the .cpp files of this folder as the static library lpu_NAME.
# A folder without .cpp files becomes a header-only library. Those of hls/ and host/ are installed with their headers as
# OpenLPU::NAME (OpenLpuInstall.cmake).
function(lpu_library name)
  cmake_parse_arguments(arg "" "" "PUBLIC;PRIVATE" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  if(sources)
    set(scope PUBLIC)
    add_library(lpu_${name} STATIC ${sources})
    target_link_libraries(lpu_${name} PUBLIC ${arg_PUBLIC} PRIVATE $<BUILD_INTERFACE:lpu_flags> ${arg_PRIVATE})
  else()
    set(scope INTERFACE)
    add_library(lpu_${name} INTERFACE)
    target_link_libraries(lpu_${name} INTERFACE ${arg_PUBLIC})
    # The arithmetic is in headers: whoever compiles them compiles them without fused multiply-add.
    target_compile_options(lpu_${name} INTERFACE -ffp-contract=off)
  endif()
  target_include_directories(lpu_${name} ${scope} $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/openlpu>)
  target_compile_features(lpu_${name} ${scope} cxx_std_20)
  add_library(OpenLPU::${name} ALIAS lpu_${name})

  file(RELATIVE_PATH folder ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
  if(PROJECT_IS_TOP_LEVEL AND folder MATCHES "^(hls|host)/")
    set_target_properties(lpu_${name} PROPERTIES EXPORT_NAME ${name})
    install(TARGETS lpu_${name} EXPORT OpenLPUTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
    install(DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/openlpu/${folder}
      FILES_MATCHING PATTERN "*.hpp" PATTERN "*.h")
  endif()
endfunction()

# lpu_test(NAME [LIBS libs...] [LABELS label] [SOURCES files...]): the .cpp files of this folder as one GoogleTest program,
# each TEST a CTest test of its own. Only some of the files, or others: SOURCES.
function(lpu_test name)
  cmake_parse_arguments(arg "" "LABELS" "LIBS;SOURCES" ${ARGN})
  if(arg_UNPARSED_ARGUMENTS)
    message(WARNING "lpu_test(${name}): ignored ${arg_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT arg_SOURCES)
    file(GLOB arg_SOURCES CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  endif()
  if(NOT arg_SOURCES)
    message(WARNING "tests/${name}: no sources")
    return()
  endif()
  add_executable(test_${name} ${arg_SOURCES})
  target_link_libraries(test_${name} PRIVATE lpu_flags lpu_test_support ${arg_LIBS} GTest::gtest GTest::gmock GTest::gtest_main)
  # An empty value would vanish from the list and make the next property's name the label.
  set(properties SKIP_REGULAR_EXPRESSION "\\[  SKIPPED \\]")
  if(arg_LABELS)
    list(APPEND properties LABELS "${arg_LABELS}")
  endif()
  gtest_discover_tests(test_${name} TEST_PREFIX "${name}." DISCOVERY_MODE PRE_TEST PROPERTIES ${properties})
endfunction()
