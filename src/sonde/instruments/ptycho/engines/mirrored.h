// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

#include "sonde/engine/array/array.h"
#include "sonde/engine/device/stream.h"

namespace sonde::ptycho {

/// Elements that an engine remembers from one iteration to the next: on the host, where checkpoints find them, and in a
/// copy on the device whose kernels work on them. One side counts at a time, that which was asked for last.
class Mirrored {
 public:
  Mirrored() = default;
  explicit Mirrored(Array host) : host_(std::move(host)) {}

  [[nodiscard]] bool empty() const { return host_.empty(); }
  [[nodiscard]] const Shape& shape() const { return host_.shape(); }
  [[nodiscard]] Index count() const { return host_.count(); }
  /// To be read and changed here. Waits for the device when its copy is newer.
  [[nodiscard]] Array& host() {
    if (stream_ != nullptr) {
      stream_->copy(host_.data(), there_.data(), host_.allocated_bytes());
      stream_->synchronise();
      stream_ = nullptr;
    }
    return host_;
  }
  /// To be read and changed by kernels of this stream, which must outlive this: at one address for all time. Waits
  /// while the copy is brought up to date, so it is no part of recorded work.
  [[nodiscard]] Array& there(Stream& stream) {
    if (stream_ != nullptr) return there_;
    if (there_.empty()) there_ = Array(stream.device(), host_.shape(), host_.dtype());
    stream.copy(there_.data(), host_.data(), host_.allocated_bytes());
    stream.synchronise();
    stream_ = &stream;
    return there_;
  }

 private:
  Array host_, there_;
  Stream* stream_ = nullptr;  // while the device's copy counts
};

}  // namespace sonde::ptycho
