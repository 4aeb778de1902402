// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sonde/engine/io/hdf5/image.h"

namespace sonde::hdf5 {

/// Where a file begins (section II.A).
struct Superblock {
  Widths widths;
  std::uint64_t root = undefined_address;       ///< object header of the root group
  std::uint64_t extension = undefined_address;  ///< object header of file-wide settings
};

/// Whether one of the places where a superblock may be has the signature.
[[nodiscard]] bool is_hdf5(const Image& image);

/// Finds the superblock (behind a user block of 512, 1024, ... bytes, if there is one) and sets the image's base. A
/// Fault when there is none, when the file is shorter than it says, or when it is split over several files.
[[nodiscard]] Superblock read_superblock(Image& image);

}  // namespace sonde::hdf5
