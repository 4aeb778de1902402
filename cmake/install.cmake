# SPDX-License-Identifier: Apache-2.0
# What `cmake --install` puts in place: the libraries, their headers, the program, and the package description with one
# component per library, so that a consumer of one instrument needs nothing of another. `product` builds all of it.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/sonde)
get_property(libraries GLOBAL PROPERTY sonde_libraries)

add_custom_target(product)
install(TARGETS sonde RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT program)
add_dependencies(product sonde)

# Modules: below the libraries for the program and for consumers, whose linker writes that folder into what it makes; the
# Python package has its own beside it and can be moved. Each component that opens them installs them.
get_property(modules GLOBAL PROPERTY sonde_modules)
list(TRANSFORM modules PREPEND sonde_module_)
set(module_dir ${CMAKE_INSTALL_LIBDIR}/sonde)
if(modules)
  add_dependencies(product ${modules})
  foreach(component program engine)
    install(TARGETS ${modules} LIBRARY DESTINATION ${module_dir} COMPONENT ${component})
  endforeach()
  if(SONDE_WITH_PYTHON)
    install(TARGETS ${modules} LIBRARY DESTINATION ${SONDE_PYTHON_DIR}/sonde COMPONENT python)
  endif()
endif()
# Files that instruments use while they run are beside the modules, in a folder of their own: found like these.
sonde_has_instruments(separates separate)
if(separates)
  file(GLOB assets CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/assets/*)
  foreach(asset IN LISTS assets)
    cmake_path(GET asset FILENAME name)
    configure_file(${asset} ${SONDE_MODULE_DIR}/assets/${name} COPYONLY)
  endforeach()
  foreach(component program engine)
    install(FILES ${assets} DESTINATION ${module_dir}/assets COMPONENT ${component})
  endforeach()
  if(SONDE_WITH_PYTHON)
    install(FILES ${assets} DESTINATION ${SONDE_PYTHON_DIR}/sonde/assets COMPONENT python)
  endif()
endif()
file(RELATIVE_PATH from_program ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR}/sonde)
set_target_properties(sonde PROPERTIES INSTALL_RPATH "$ORIGIN/${from_program}")
target_link_options(sonde_lib_engine INTERFACE "$<INSTALL_INTERFACE:LINKER:-rpath,$<INSTALL_PREFIX>/${module_dir}>")
if(SONDE_WITH_PYTHON)
  add_dependencies(product sonde_python)
endif()

foreach(library IN LISTS libraries)
  add_dependencies(product sonde_lib_${library})
  install(TARGETS sonde_lib_${library} EXPORT sonde_${library}
          ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT ${library})
  install(EXPORT sonde_${library} NAMESPACE sonde:: FILE sonde-${library}-targets.cmake
          DESTINATION ${package_dir} COMPONENT ${library})

  # What a consumer must find before it can link this library: its packages, and the libraries it stands on.
  get_target_property(links sonde_lib_${library} LINK_LIBRARIES)
  set(dependencies)
  set(below)
  foreach(link IN LISTS links)
    if(link MATCHES "^sonde_lib_(.*)$")
      string(APPEND below " ${CMAKE_MATCH_1}")
      continue()
    endif()
    get_property(find GLOBAL PROPERTY "sonde_find_${link}")
    if(NOT find)
      message(FATAL_ERROR "sonde::${library} links ${link}, which no sonde_package() names")
    endif()
    string(APPEND dependencies "${find}")
  endforeach()
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/package/sonde-${library}-dependencies.cmake @ONLY
       CONTENT "# Written by CMake: what sonde::@library@ needs.\nset(sonde_@library@_below@below@)\n@dependencies@")
  install(FILES ${CMAKE_BINARY_DIR}/package/sonde-${library}-dependencies.cmake
          DESTINATION ${package_dir} COMPONENT ${library})
endforeach()

get_property(headers GLOBAL PROPERTY sonde_headers)
foreach(header IN LISTS headers)
  cmake_path(RELATIVE_PATH header BASE_DIRECTORY ${CMAKE_SOURCE_DIR}/src OUTPUT_VARIABLE name)
  cmake_path(GET name PARENT_PATH folder)
  install(FILES ${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/${folder} COMPONENT headers)
endforeach()

configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/sondeConfig.cmake.in ${CMAKE_BINARY_DIR}/package/sondeConfig.cmake
                              INSTALL_DESTINATION ${package_dir} NO_CHECK_REQUIRED_COMPONENTS_MACRO)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/package/sondeConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/package/sondeConfig.cmake ${CMAKE_BINARY_DIR}/package/sondeConfigVersion.cmake
        DESTINATION ${package_dir} COMPONENT package)
# What `sonde bench` compares with: it finds them beside itself (engine/bench/case.h).
file(GLOB sonde_peers CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/bench/peers/*.py)
install(FILES ${sonde_peers} DESTINATION ${CMAKE_INSTALL_DATADIR}/sonde/peers COMPONENT program)
install(FILES ${CMAKE_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT package)

add_custom_target(uninstall
  COMMAND ${CMAKE_COMMAND} -DMANIFEST=${CMAKE_BINARY_DIR}/install_manifest.txt -P ${CMAKE_CURRENT_LIST_DIR}/uninstall.cmake
  COMMENT "Removing what install_manifest.txt lists" VERBATIM)
