# SPDX-License-Identifier: Apache-2.0
# SONDE_WITH_PYTHON: whether `import sonde` is built, for the interpreter Python_EXECUTABLE.
set(SONDE_WITH_PYTHON OFF)
set(SONDE_PYTHON_WHY "SONDE_PYTHON=OFF")
if(NOT SONDE_PYTHON STREQUAL "OFF")
  find_package(Python 3.11 QUIET COMPONENTS Interpreter Development.Module NumPy)
  if(Python_FOUND)
    find_package(pybind11 2.10 QUIET)
  endif()
  if(Python_FOUND AND pybind11_FOUND)
    set(SONDE_WITH_PYTHON ON)
  else()
    set(SONDE_PYTHON_WHY "pybind11-dev, python3-dev or python3-numpy is missing for ${Python_EXECUTABLE}")
    if(SONDE_PYTHON STREQUAL "ON")
      message(FATAL_ERROR "SONDE_PYTHON=ON, but ${SONDE_PYTHON_WHY} (`./dev build` installs them)")
    endif()
  endif()
endif()
# Where Debian's interpreter looks below /usr/local; below another prefix it is told by PYTHONPATH.
set(SONDE_PYTHON_DIR "lib/python${Python_VERSION_MAJOR}.${Python_VERSION_MINOR}/dist-packages"
    CACHE STRING "Where the Python package goes, below the prefix")
