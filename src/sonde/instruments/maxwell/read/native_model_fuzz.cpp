// SPDX-License-Identifier: Apache-2.0
// Any file is a valid experiment, records, or an Error.
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "sonde/engine/base/error.h"
#include "sonde/instruments/maxwell/read/native_model.h"
#include "sonde/instruments/maxwell/read/observed_data.h"

namespace {

template <class Read>
void survive(Read read) {
  try {
    read();
  } catch (const sonde::Error&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace sonde::maxwell;
  static const int memory = memfd_create("native_model_fuzz", MFD_CLOEXEC);
  static const std::string path = "/proc/self/fd/" + std::to_string(memory);
  if (ftruncate(memory, static_cast<off_t>(size)) != 0 || pwrite(memory, bytes, size, 0) != static_cast<ssize_t>(size))
    std::abort();
  survive([&] {
    const Experiment read = read_native_model(path, std::size_t{1} << 26U);
    if (!(read.dt > 0) || read.steps < 1 || read.shots.empty()) std::abort();
    for (const double eps_r : read.model.eps_r)
      if (!(eps_r > 0)) std::abort();
  });
  survive([&] {
    const ObservedData read = read_observed_data(path);
    if (static_cast<sonde::Index>(read.samples.size()) !=
        read.steps * read.receivers() * static_cast<sonde::Index>(read.shots.size()))
      std::abort();
  });
  return 0;
}
