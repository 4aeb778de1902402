// SPDX-License-Identifier: Apache-2.0
// Any bytes are an archive of arrays or an Error.
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "sonde/engine/base/error.h"
#include "sonde/engine/io/npz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  static const int memory = memfd_create("npz_fuzz", MFD_CLOEXEC);
  static const std::string path = "/proc/self/fd/" + std::to_string(memory);
  if (ftruncate(memory, static_cast<off_t>(size)) != 0 || pwrite(memory, bytes, size, 0) != static_cast<ssize_t>(size))
    std::abort();
  try {
    (void)sonde::read_npz(path);
  } catch (const sonde::Error&) {
  }
  return 0;
}
