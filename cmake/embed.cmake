# SPDX-License-Identifier: Apache-2.0
# Files compiled into the program.
#   sonde_embed(<target> FOLDER <folder> [WHY_NOT <words>] [DEPENDS <file or target>...])
# makes every file below <folder> part of <target> as the table of src/sonde/app/serve/assets.h. The folder is read while
# building, after DEPENDS, so its files need not exist at configure time; what changes them must change a file of DEPENDS.
# WHY_NOT says why these files are no viewer; empty when they are.
#
# How the client of web/ plugs in (src/sonde/app/serve/CMakeLists.txt reads it): its CMakeLists.txt, which comes before
# src/sonde, sets the global property sonde_web_dist to a folder with index.html and assets/, makes the file index.html
# in it by a custom command, and the target web_client depends on that file. While the property is unset the page in
# src/sonde/app/serve/no_viewer is embedded, and SONDE_VIEWER_NOTE (or SONDE_VIEWER=OFF) is the reason that is told.
#   - `index.html` is what `/` shows; every other file is found under its path in the folder, and nothing else is.
#   - File names with a hash before the extension, as Vite makes them (assets/index-DkX2b9aQ.js), are cached for ever.
#   - The known kinds of files are in embed_files.cmake; another kind is an error of the build. Source maps are left out.
set(SONDE_EMBED_SCRIPT ${CMAKE_CURRENT_LIST_DIR}/embed_files.cmake)

function(sonde_embed target)
  cmake_parse_arguments(EMBED "" "FOLDER;WHY_NOT" "DEPENDS" ${ARGN})
  set(output ${SONDE_GENERATED_DIR}/assets.cpp)
  add_custom_command(OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DFOLDER=${EMBED_FOLDER} -DOUTPUT=${output} "-DWHY_NOT=${EMBED_WHY_NOT}" -P ${SONDE_EMBED_SCRIPT}
    DEPENDS ${EMBED_DEPENDS} ${SONDE_EMBED_SCRIPT}
    COMMENT "Embedding ${EMBED_FOLDER}" VERBATIM)
  set_source_files_properties(${output} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON) # megabytes of numbers
  target_sources(${target} PRIVATE ${output})
endfunction()
