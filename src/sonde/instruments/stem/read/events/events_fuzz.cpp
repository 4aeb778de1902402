// SPDX-License-Identifier: Apache-2.0
// Any bytes are a file of electrons of this program or of stempy whose lists and frames agree, or an Error.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <string>
#include <vector>

#include "sonde/engine/base/error.h"
#include "sonde/instruments/stem/read/events/event_source.h"

namespace {

using namespace sonde;
using namespace sonde::stem;

void read_lists(Source& source) {
  const Acquisition& acquisition = source.acquisition();
  const Index pixels = acquisition.rows * acquisition.cols;
  RawBatch batch;
  DecodeScratch scratch;
  std::vector<std::byte> frame;
  for (Index first = 0; first < std::min<Index>(acquisition.frames, 200); first += 7) {
    const Index last = std::min(first + 7, acquisition.frames);
    source.read(first, last, batch);
    for (Index f = first; f < last; ++f) {
      const auto list = source.events(batch, f);
      if (list.size() > 0 && !source.has_frame(f)) std::abort();
      if (pixels > 1 << 20) continue;
      frame.resize(static_cast<std::size_t>(pixels) * size_bytes(acquisition.stored));
      source.decode(batch, f, scratch, frame);
      if (acquisition.stored != DType::u8) continue;
      const auto sum = std::accumulate(frame.begin(), frame.end(), std::size_t{0},
                                       [](std::size_t a, std::byte b) { return a + std::to_integer<std::size_t>(b); });
      if (sum != list.size()) std::abort();
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  static const int memory = memfd_create("events_fuzz", MFD_CLOEXEC);
  static const std::string path = "/proc/self/fd/" + std::to_string(memory);
  if (ftruncate(memory, static_cast<off_t>(size)) != 0 || pwrite(memory, bytes, size, 0) != static_cast<ssize_t>(size))
    std::abort();
  try {
    const Hdf5File file = Hdf5File::open(path);
    if (holds_events(file)) read_lists(*open_events(open_stored_events(file), {}));
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::internal) std::abort();
  }
  return 0;
}
