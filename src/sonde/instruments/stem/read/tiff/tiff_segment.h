// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

#include "sonde/instruments/stem/read/tiff/tiff_pages.h"

namespace sonde::stem {

/// Writes the stored bytes of one strip or tile into exactly `to`, in native byte order; false when they are broken or
/// give fewer bytes. `row_elements` is the width of the segment. A pure function that never writes beyond `to`.
[[nodiscard]] bool decode_tiff_segment(const TiffFrame& frame, Index row_elements, std::span<const std::byte> stored,
                                       std::span<std::byte> to);

/// LZW of TIFF 6.0, section 13: codes of 9 to 12 bits, most significant bit first; returns the bytes written.
[[nodiscard]] std::size_t unpack_lzw(std::span<const std::byte> stored, std::span<std::byte> to);

/// PackBits of TIFF 6.0, section 9; returns the bytes written.
[[nodiscard]] std::size_t unpack_packbits(std::span<const std::byte> stored, std::span<std::byte> to);

}  // namespace sonde::stem
