// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace sonde {

/// A part of sonde that needs a large library: the shared object sonde_<name>.so, linked to that library and opened
/// when the library is first used. What does not use it neither waits for it nor has it in its address space.
struct Module {
  const char* name;     ///< "blas": the file sonde_blas.so
  const char* library;  ///< "OpenBLAS": its name in messages
  const char* package;  ///< "libopenblas0 and liblapacke": the Debian packages that it needs
};

/// What such a file exports, as the symbol sonde_module: a struct of pointers to functions, which both sides include.
struct ModuleTable {
  const char* version;  ///< of sonde, as configured: modules of another version are refused
  std::size_t bytes;    ///< of the struct
  const void* functions;
};

/// Opens the module (RTLD_NOW | RTLD_LOCAL) and returns its functions. It stays open to the end of the process; a
/// caller keeps the address, because every call searches again. Looked for in module_folders(). Throws
/// Error(not_supported) that names the package when the file or its library is not installed or of another version,
/// Error(budget) when the address space or the memory does not suffice.
[[nodiscard]] const void* open_module(const Module& module, std::size_t bytes);

template <class Functions>
[[nodiscard]] const Functions& functions_of(const Module& module) {
  return *static_cast<const Functions*>(open_module(module, sizeof(Functions)));
}

/// Where modules may be, in this order: beside the program or library that holds this code, then the folders that are
/// written in it or given by LD_LIBRARY_PATH (an installed program and a consumer of the installed libraries name those
/// of the prefix, a program in a build tree those of the build).
[[nodiscard]] std::vector<std::string> module_folders();

}  // namespace sonde

/// In the module: `SONDE_MODULE(functions);` with a constant struct.
#define SONDE_MODULE(functions)                                                      \
  extern "C" [[gnu::visibility("default")]] const ::sonde::ModuleTable sonde_module; \
  const ::sonde::ModuleTable sonde_module { SONDE_MODULE_VERSION, sizeof(functions), &(functions) }
