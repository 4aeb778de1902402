// SPDX-License-Identifier: Apache-2.0
// Any file is a measurement whose patterns can be read, or an Error: CXI, PtyD, scans of this program and plain HDF5.
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "sonde/engine/base/error.h"
#include "sonde/instruments/ptycho/read/source.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  static const int memory = memfd_create("source_fuzz", MFD_CLOEXEC);
  static const std::string path = "/proc/self/fd/" + std::to_string(memory);
  if (ftruncate(memory, static_cast<off_t>(size)) != 0 || pwrite(memory, bytes, size, 0) != static_cast<ssize_t>(size))
    std::abort();
  try {
    sonde::ptycho::DataSettings settings;
    settings.file = path;
    const sonde::ptycho::Source source = sonde::ptycho::open_source(settings);
    if (source.shape.rank() != 3) std::abort();
    // More than a file of this size holds is nothing but fill values: the plan of memory is for those.
    if (source.shape.count() > (sonde::Index{1} << 24)) return 0;
    if (source.shape[0] > 0 && !(source.read_frames(0, 1).shape() == sonde::Shape{1, source.shape[1], source.shape[2]}))
      std::abort();
  } catch (const sonde::Error&) {
  }
  return 0;
}
