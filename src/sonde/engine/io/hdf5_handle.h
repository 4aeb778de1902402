// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <utility>

namespace sonde {

/// Owns one identifier of the HDF5 library (file, group, data set, type, ...): its last use closes it. The number is
/// the library's hid_t, kept here as a plain integer so that hdf5.h stays out of headers. Movable.
class Hdf5Handle {
 public:
  Hdf5Handle() = default;
  explicit Hdf5Handle(std::int64_t id) : id_(id) {}
  Hdf5Handle(Hdf5Handle&& other) noexcept : id_(std::exchange(other.id_, -1)) {}
  Hdf5Handle& operator=(Hdf5Handle&& other) noexcept {
    if (this != &other) {
      close();
      id_ = std::exchange(other.id_, -1);
    }
    return *this;
  }
  ~Hdf5Handle() { close(); }

  [[nodiscard]] std::int64_t id() const { return id_; }
  [[nodiscard]] bool valid() const { return id_ >= 0; }
  void close() noexcept;

 private:
  std::int64_t id_ = -1;
};

}  // namespace sonde
