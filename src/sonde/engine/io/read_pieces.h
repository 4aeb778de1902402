// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sonde/engine/io/file.h"

namespace sonde {

/// Bytes wanted from a file.
struct FilePiece {
  std::uint64_t offset = 0;
  std::span<std::byte> into;
};

/// Reads all pieces, sorting them by offset. Pieces less than 64 KiB apart are fetched by one system call (the bytes
/// between them are read and thrown away: cheaper than another request). Throws like File::read_at.
void read_pieces(const File& file, std::vector<FilePiece>& pieces);

}  // namespace sonde
