// SPDX-License-Identifier: Apache-2.0
// Any bytes are a pickle, all of whose nodes can be looked at, or an Error.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "sonde/engine/base/error.h"
#include "sonde/instruments/separate/weights/state_dict.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace sonde::separate;
  const auto survive = [](auto&& body) {
    try {
      body();
    } catch (const sonde::Error&) {
    }
  };
  survive([&] {
    const Pickle pickle = Pickle::read(std::as_bytes(std::span(bytes, size)), "data.pkl");
    if (pickle.bytes() > size || pickle.describe(pickle.root()).empty()) std::abort();
    const std::byte elements[64] = {};
    Checkpoint checkpoint{.path = "model.ckpt"};
    survive([&] {
      read_state_dict(checkpoint, pickle, "", [&](const StorageId& storage) {
        if (static_cast<std::size_t>(storage.count) > sizeof elements / size_bytes(storage.type))
          throw sonde::Error(sonde::ErrorKind::bad_file, "a storage beyond the file");
        return std::span<const std::byte>(elements);
      });
    });
    for (const auto& [key, tensor] : checkpoint.tensors) {
      if (tensor.shape.count() > 64) std::abort();
      static_cast<void>(values_of(checkpoint, tensor));
    }
  });
  return 0;
}
