# SPDX-License-Identifier: Apache-2.0
# cmake -DMANIFEST=install_manifest.txt -P uninstall.cmake: removes the installed files, then the project's own folders
# that became empty.
if(NOT EXISTS ${MANIFEST})
  message(FATAL_ERROR "${MANIFEST} is not there: nothing was installed from this build folder")
endif()
file(STRINGS ${MANIFEST} files)
set(folders)
foreach(file IN LISTS files)
  file(REMOVE "$ENV{DESTDIR}${file}")
  cmake_path(GET file PARENT_PATH folder)
  while(folder MATCHES "/sonde(/|$)")
    list(APPEND folders "$ENV{DESTDIR}${folder}")
    cmake_path(GET folder PARENT_PATH folder)
  endwhile()
endforeach()
list(REMOVE_DUPLICATES folders)
list(SORT folders ORDER DESCENDING) # a folder comes after what it holds
foreach(folder IN LISTS folders)
  file(REMOVE_RECURSE "${folder}/__pycache__") # the interpreter's own
  file(GLOB content LIST_DIRECTORIES true "${folder}/*" "${folder}/.*")
  if(IS_DIRECTORY "${folder}" AND NOT content)
    file(REMOVE_RECURSE "${folder}")
  endif()
endforeach()
file(REMOVE ${MANIFEST})
