// SPDX-License-Identifier: Apache-2.0
// Private to the room: memory of the host for the time of a call.
#pragma once

#include <cstddef>

#include "sonde/engine/base/index.h"
#include "sonde/engine/device/pool.h"

namespace sonde {

/// So many elements on a 64-byte boundary, contents unspecified: where transforms are fastest.
template <class T>
class Room {
 public:
  explicit Room(Index count)
      : bytes_(static_cast<std::size_t>(count) * sizeof(T)),
        data_(static_cast<T*>(Pool::of(Device::cpu()).allocate(bytes_))) {}
  Room(const Room&) = delete;
  Room& operator=(const Room&) = delete;
  ~Room() { Pool::of(Device::cpu()).deallocate(data_, bytes_); }
  [[nodiscard]] T* data() const { return data_; }

 private:
  std::size_t bytes_;
  T* data_;
};

}  // namespace sonde
