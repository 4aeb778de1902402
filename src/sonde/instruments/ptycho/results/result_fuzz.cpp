// SPDX-License-Identifier: Apache-2.0
// Any file is a result or an Error.
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "sonde/engine/base/error.h"
#include "sonde/instruments/ptycho/results/result.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  static const int memory = memfd_create("result_fuzz", MFD_CLOEXEC);
  static const std::string path = "/proc/self/fd/" + std::to_string(memory);
  if (ftruncate(memory, static_cast<off_t>(size)) != 0 || pwrite(memory, bytes, size, 0) != static_cast<ssize_t>(size))
    std::abort();
  try {
    const sonde::ptycho::Result result = sonde::ptycho::read_result(path);
    if (result.object.shape().rank() != 3 || result.probe.shape().rank() != 3) std::abort();
    (void)result.field_of_view();
  } catch (const sonde::Error&) {
  }
  return 0;
}
