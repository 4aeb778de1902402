// SPDX-License-Identifier: Apache-2.0
// Patterns of a file block by block, so that loading holds no second copy of a large measurement.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "sonde/engine/io/hdf5.h"

namespace sonde::ptycho {

/// Frames [first, first + count) on the host, (count, rows, columns).
using ReadFrames = std::function<Array(Index first, Index count)>;

/// Of a data set (frames, rows, columns), or (scan rows, scan columns, rows, columns).
[[nodiscard]] ReadFrames frames_of(std::shared_ptr<const Hdf5Dataset> stack);
/// How many frames of such a data set lie in one chunk, or in the lines of the scan that a chunk touches: a chunk is
/// unpacked as a whole.
[[nodiscard]] Index frames_together(const Hdf5DatasetInfo& stack);

/// What is in an NPY file. Throws like read_npy().
struct NpyStack {
  Shape shape;
  DType dtype = DType::u8;
  ReadFrames read_frames;  ///< empty when the elements do not lie as this processor keeps them
};
[[nodiscard]] NpyStack npy_stack(const std::string& path);

}  // namespace sonde::ptycho
