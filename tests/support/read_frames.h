// SPDX-License-Identifier: Apache-2.0
// Elements of a source, by the slow and simple way.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <span>
#include <vector>

#include "sonde/instruments/stem/read/source.h"

namespace sonde::testing {

/// The elements of all frames, unsigned types only, read in batches of `batch_frames`.
inline std::vector<std::uint64_t> frames_of(stem::Source& source, Index batch_frames = 7) {
  const stem::Acquisition& a = source.acquisition();
  const std::size_t element = size_bytes(a.stored);
  std::vector<std::byte> frame(static_cast<std::size_t>(a.rows * a.cols) * element);
  std::vector<std::uint64_t> all;
  stem::RawBatch batch;
  stem::DecodeScratch scratch;
  for (Index first = 0; first < a.frames; first += batch_frames) {
    const Index last = std::min(first + batch_frames, a.frames);
    source.read(first, last, batch);
    for (Index n = first; n < last; ++n) {
      source.decode(batch, n, scratch, frame);
      for (std::size_t i = 0; i < frame.size(); i += element) {
        std::uint64_t value = 0;
        std::memcpy(&value, frame.data() + i, element);
        all.push_back(value);
      }
    }
  }
  return all;
}

/// The elements of one stored frame in their own type.
template <class T>
std::vector<T> frame_of(stem::Source& source, Index frame) {
  const stem::Acquisition& scan = source.acquisition();
  EXPECT_EQ(scan.stored, dtype_of<T>);
  std::vector<T> elements(static_cast<std::size_t>(scan.rows * scan.cols));
  stem::RawBatch batch;
  stem::DecodeScratch scratch;
  source.read(frame, frame + 1, batch);
  source.decode(batch, frame, scratch, std::as_writable_bytes(std::span(elements)));
  return elements;
}

/// The sum of each frame.
template <class T>
std::vector<double> frame_sums(stem::Source& source) {
  std::vector<double> sums;
  for (Index frame = 0; frame < source.acquisition().frames; ++frame) {
    const std::vector<T> elements = frame_of<T>(source, frame);
    sums.push_back(std::accumulate(elements.begin(), elements.end(), 0.0));
  }
  return sums;
}

}  // namespace sonde::testing
