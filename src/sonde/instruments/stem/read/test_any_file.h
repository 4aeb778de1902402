// SPDX-License-Identifier: Apache-2.0
// What all fuzzers of file formats do with the bytes they are given.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sonde/engine/base/error.h"
#include "sonde/instruments/stem/read/source.h"

namespace sonde::stem::testing {

/// Any file is a scan whose frames decode, or an Error. `open` is the reader of the format.
template <class Open>
void read_any_file(const std::uint8_t* bytes, std::size_t size, Open&& open) {
  static const int memory = memfd_create("any_file", MFD_CLOEXEC);
  static const std::string path = "/proc/self/fd/" + std::to_string(memory);
  if (ftruncate(memory, static_cast<off_t>(size)) != 0 || pwrite(memory, bytes, size, 0) != static_cast<ssize_t>(size))
    std::abort();
  try {
    ReadOptions options;
    options.allow_incomplete = true;
    options.scan_rows = 1;
    const std::unique_ptr<Source> source = open(path, options);
    const Acquisition& scan = source->acquisition();
    if (scan.frames < 1 || scan.rows < 1 || scan.cols < 1) std::abort();
    // Compressed frames may be much larger than the file; a few MiB are enough to find what is wrong with them.
    constexpr std::size_t most_bytes = std::size_t{4} << 20;
    const std::size_t frame_bytes = static_cast<std::size_t>(scan.rows * scan.cols) * size_bytes(scan.stored);
    if (frame_bytes > most_bytes) return;
    const Index frames = std::min<Index>(scan.frames, static_cast<Index>(most_bytes / frame_bytes));
    RawBatch batch;
    DecodeScratch scratch;
    std::vector<std::byte> elements(frame_bytes);
    for (const auto& [first, last] : {std::pair(Index{0}, frames), std::pair(frames - 1, frames)}) {
      source->read(first, last, batch);
      for (Index frame = first; frame < last; ++frame) source->decode(batch, frame, scratch, elements);
    }
  } catch (const Error&) {
  }
}

}  // namespace sonde::stem::testing
