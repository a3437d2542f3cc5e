# `cmake --install`: libraries, headers and the package file that makes find_package(OpenLPU) work elsewhere, where
# OpenLPU::model, OpenLPU::runtime and so on are then there to link. Included last by the top CMakeLists.txt.
# Relies on lpu_library() (OpenLpuTargets.cmake), which puts every library of hls/ and host/ into the export set.
include(CMakePackageConfigHelpers)

set(config_dir ${CMAKE_INSTALL_LIBDIR}/cmake/OpenLPU)
configure_package_config_file(
  ${CMAKE_CURRENT_LIST_DIR}/OpenLPUConfig.cmake.in ${PROJECT_BINARY_DIR}/OpenLPUConfig.cmake
  INSTALL_DESTINATION ${config_dir})
# Before 1.0 a minor version may change an interface.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/OpenLPUConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/OpenLPUConfig.cmake ${PROJECT_BINARY_DIR}/OpenLPUConfigVersion.cmake
  DESTINATION ${config_dir})
install(EXPORT OpenLPUTargets NAMESPACE OpenLPU:: DESTINATION ${config_dir})
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
if(TARGET lpu)
  install(TARGETS lpu RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
