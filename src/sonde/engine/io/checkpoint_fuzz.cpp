// SPDX-License-Identifier: Apache-2.0
// Any file is a checkpoint whose arrays and texts can be read, or an Error.
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "sonde/engine/base/error.h"
#include "sonde/engine/io/checkpoint.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  static const int memory = memfd_create("checkpoint_fuzz", MFD_CLOEXEC);
  static const std::string path = "/proc/self/fd/" + std::to_string(memory);
  if (ftruncate(memory, static_cast<off_t>(size)) != 0 || pwrite(memory, bytes, size, 0) != static_cast<ssize_t>(size))
    std::abort();
  try {
    const sonde::CheckpointReader checkpoint(path, {.name = "fuzz", .schema = 1});
    (void)checkpoint.options();
    for (const sonde::Hdf5Link& link : checkpoint.file().list("/state")) {
      if (!checkpoint.has(link.name)) continue;
      const sonde::Hdf5Dataset dataset = checkpoint.file().dataset("/state/" + link.name);
      if (dataset.info().dtype && dataset.info().shape.count() < (sonde::Index{1} << 20))
        (void)checkpoint.array(link.name);
      else if (!dataset.info().dtype)
        (void)checkpoint.text(link.name);
    }
    (void)checkpoint.random("random");
  } catch (const sonde::Error&) {
  }
  return 0;
}
