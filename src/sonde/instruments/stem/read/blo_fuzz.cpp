// SPDX-License-Identifier: Apache-2.0
// Any file is a scan whose patterns decode, or an Error.
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <vector>

#include "sonde/engine/base/error.h"
#include "sonde/instruments/stem/read/blo.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  static const int memory = memfd_create("blo_fuzz", MFD_CLOEXEC);
  static const std::string path = "/proc/self/fd/" + std::to_string(memory);
  if (ftruncate(memory, static_cast<off_t>(size)) != 0 || pwrite(memory, bytes, size, 0) != static_cast<ssize_t>(size))
    std::abort();
  try {
    sonde::stem::ReadOptions options;
    options.allow_incomplete = true;
    const auto source = sonde::stem::open_blo(path, options);
    const sonde::stem::Acquisition& scan = source->acquisition();
    if (scan.frames < 1 || scan.rows * scan.cols > static_cast<sonde::Index>(size)) std::abort();
    sonde::stem::RawBatch batch;
    sonde::stem::DecodeScratch scratch;
    std::vector<std::byte> elements(static_cast<std::size_t>(scan.rows * scan.cols));
    source->read(0, scan.frames, batch);
    for (sonde::Index frame = 0; frame < scan.frames; ++frame) source->decode(batch, frame, scratch, elements);
  } catch (const sonde::Error&) {
  }
  return 0;
}
