// SPDX-License-Identifier: Apache-2.0
// Frames of a source, for the tests of the readers.
#pragma once

#include <gtest/gtest.h>

#include <numeric>
#include <span>
#include <vector>

#include "sonde/instruments/stem/read/source.h"

namespace sonde::stem {

/// The elements of one stored frame.
template <class T>
std::vector<T> frame_of(Source& source, Index frame) {
  const Acquisition& scan = source.acquisition();
  EXPECT_EQ(scan.stored, dtype_of<T>);
  std::vector<T> elements(static_cast<std::size_t>(scan.rows * scan.cols));
  RawBatch batch;
  DecodeScratch scratch;
  source.read(frame, frame + 1, batch);
  source.decode(batch, frame, scratch, std::as_writable_bytes(std::span(elements)));
  return elements;
}

/// The sum of each frame, read together in one batch.
template <class T>
std::vector<double> frame_sums(Source& source) {
  const Acquisition& scan = source.acquisition();
  EXPECT_EQ(scan.stored, dtype_of<T>);
  RawBatch batch;
  DecodeScratch scratch;
  source.read(0, scan.frames, batch);
  std::vector<double> sums;
  std::vector<T> elements(static_cast<std::size_t>(scan.rows * scan.cols));
  for (Index frame = 0; frame < scan.frames; ++frame) {
    source.decode(batch, frame, scratch, std::as_writable_bytes(std::span(elements)));
    sums.push_back(std::accumulate(elements.begin(), elements.end(), 0.0));
  }
  return sums;
}

}  // namespace sonde::stem
