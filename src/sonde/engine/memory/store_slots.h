// SPDX-License-Identifier: Apache-2.0
// Private to the room: one class for each way slots are kept.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "sonde/engine/memory/store.h"

namespace sonde {

class Store::Slots {
 public:
  virtual ~Slots() = default;
  virtual void put(Index slot, const void* elements, Stream& stream) = 0;
  virtual void get(Index slot, void* elements, Stream& stream) = 0;
  virtual void will_read(std::span<const Index>) {}
  /// Where the raw elements lie on the device itself, or nullptr.
  virtual void* in_place(Index) { return nullptr; }
};

/// What a slot needs to know of its elements.
struct SlotFormat {
  Encoding encoding;
  DType dtype;
  Index elements;
  std::size_t stride_bytes;  ///< from one slot to the next

  void encode(Stream& stream, const void* from, void* to) const {
    sonde::encode(stream, encoding, dtype, elements, from, to);
  }
  void decode(Stream& stream, const void* from, void* to) const {
    sonde::decode(stream, encoding, dtype, elements, from, to);
  }
  [[nodiscard]] std::size_t bytes() const { return encoded_bytes(encoding, dtype, elements); }
};

/// In the memory of the device itself.
[[nodiscard]] std::unique_ptr<Store::Slots> slots_in_place(Device device, Index count, const SlotFormat& format);
/// In pinned memory of the host, for a GPU.
[[nodiscard]] std::unique_ptr<Store::Slots> slots_on_host(Device device, Index count, const SlotFormat& format);
/// In a file, for the CPU: any number of threads at a time.
[[nodiscard]] std::unique_ptr<Store::Slots> slots_in_file(Index count, const SlotFormat& format,
                                                          const std::string& folder);
/// In a file, for a GPU.
[[nodiscard]] std::unique_ptr<Store::Slots> slots_on_disk(Device device, Index count, const SlotFormat& format,
                                                          const std::string& folder);

}  // namespace sonde
