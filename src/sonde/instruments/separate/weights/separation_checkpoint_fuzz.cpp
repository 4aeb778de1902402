// SPDX-License-Identifier: Apache-2.0
// Any bytes are a checkpoint, all of whose tensors can be read, or an Error: ZIP archives of PyTorch, its format before
// 1.6, safetensors.
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "sonde/engine/base/error.h"
#include "sonde/instruments/separate/weights/checkpoint.h"
#include "sonde/instruments/separate/weights/structure.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace sonde::separate;
  static const int memory = memfd_create("separation_checkpoint_fuzz", MFD_CLOEXEC);
  static const std::string path = "/proc/self/fd/" + std::to_string(memory);
  if (ftruncate(memory, static_cast<off_t>(size)) != 0 || pwrite(memory, bytes, size, 0) != static_cast<ssize_t>(size))
    std::abort();
  try {
    const Checkpoint checkpoint = read_checkpoint(path);
    for (const auto& [key, tensor] : checkpoint.tensors) {
      if (tensor.shape.count() > static_cast<sonde::Index>(size)) std::abort();
      static_cast<void>(values_of(checkpoint, tensor));
    }
    require_tfc_tdf(checkpoint);
    for (const KnownConfig& known : known_configs()) static_cast<void>(contradictions(known.config, checkpoint));
  } catch (const sonde::Error&) {
  }
  return 0;
}
