// SPDX-License-Identifier: Apache-2.0
// For tests: a scan whose stored frames lie in memory.
#pragma once

#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sonde/engine/base/error.h"
#include "sonde/instruments/stem/read/source.h"

namespace sonde::stem::testing {

/// Frames of T, (frame, row, col). A frame listed in `broken` fails to decode.
template <class T>
class MemorySource : public Source {
 public:
  MemorySource(Index scan_rows, Index scan_cols, Index rows, Index cols, std::vector<T> elements)
      : elements_(std::move(elements)) {
    acquisition_.path = "memory";
    acquisition_.format = "memory";
    acquisition_.rows = rows;
    acquisition_.cols = cols;
    acquisition_.frames = static_cast<Index>(elements_.size()) / (rows * cols);
    acquisition_.stored = dtype_of<T>;
    acquisition_.scan.rows = scan_rows;
    acquisition_.scan.cols = scan_cols;
    acquisition_.scan_because = "given by the test";
  }

  Acquisition& acquisition_to_change() { return acquisition_; }
  std::vector<Index> broken;

  [[nodiscard]] std::size_t stored_bytes(Index) const override {
    return static_cast<std::size_t>(acquisition_.rows * acquisition_.cols) * sizeof(T);
  }

  void read(Index first, Index last, RawBatch& batch) override {
    const std::size_t size = stored_bytes(0);
    batch.first = first;
    batch.pieces.clear();
    batch.bytes.resize(size * static_cast<std::size_t>(last - first));
    if (first < last)
      std::memcpy(batch.bytes.data(),
                  reinterpret_cast<const std::byte*>(elements_.data()) + size * static_cast<std::size_t>(first),
                  batch.bytes.size());
    for (Index frame = first; frame < last; ++frame)
      batch.pieces.push_back({size * static_cast<std::size_t>(frame - first), size, 0});
  }

  void decode(const RawBatch& batch, Index frame, DecodeScratch&, std::span<std::byte> elements) const override {
    for (const Index each : broken)
      if (each == frame) throw Error(ErrorKind::bad_file, "memory: frame " + std::to_string(frame) + " is broken");
    std::memcpy(elements.data(), batch.frame_bytes(frame).data(), elements.size());
  }

 private:
  std::vector<T> elements_;
};

}  // namespace sonde::stem::testing
