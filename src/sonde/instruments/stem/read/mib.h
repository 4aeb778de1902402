// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <string>

#include "sonde/instruments/stem/read/source.h"

namespace sonde::stem {

/// How the pixels of a Merlin (Medipix3) frame are stored.
enum class MibPacking {
  big_endian,  ///< U08, U16, U32: plain numbers
  bits,        ///< R64, counter depth 1: pixel k of 64 is bit k of a big-endian 64-bit word
  bytes,       ///< R64, depth 6: the bytes of every group of 8 are reversed
  half_words,  ///< R64, depth 12: the 16-bit numbers (big endian) of every group of 4 are reversed
};

/// What the ASCII header in front of every frame says.
struct MibHeader {
  std::size_t header_bytes = 0, payload_bytes = 0;
  Index rows = 0, cols = 0;  ///< of the picture
  DType dtype = DType::u8;
  MibPacking packing = MibPacking::big_endian;
  /// Raw frames of four chips hold them side by side in the order lower right, lower left, upper right, upper left, the
  /// lower two rotated by 180 degrees.
  bool four_chips_in_a_row = false;
};

/// Reads the header at the beginning of `start` (up to 4 KiB of the file). The counter depth of raw frames stands in
/// the header or, for older software, in the text file beside it: `sidecar` holds its lines. Throws Error(bad_file),
/// Error(not_supported); `name` stands in messages.
[[nodiscard]] MibHeader parse_mib_header(std::span<const std::byte> start,
                                         const std::map<std::string, std::string>& sidecar, const std::string& name);

/// Lines "key: <tab> value" of the text file (.hdr) that Merlin writes beside a scan; what is no such line is left out.
[[nodiscard]] std::map<std::string, std::string> parse_mib_sidecar(const std::string& text);

/// From the bytes behind a frame's header to its rows x cols elements, native byte order.
void decode_mib(const MibHeader& header, std::span<const std::byte> payload, std::span<std::byte> elements);

/// A scan of Merlin frames, with or without the .hdr file. Rows are in the order of the file, the first on top.
[[nodiscard]] std::unique_ptr<Source> open_mib(const std::string& path, const ReadOptions& options);

}  // namespace sonde::stem
