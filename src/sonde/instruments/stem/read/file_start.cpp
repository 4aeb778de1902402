// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/read/file_start.h"

#include <algorithm>
#include <filesystem>

#include "sonde/engine/base/text.h"
#include "sonde/engine/io/byte_order.h"

namespace sonde::stem {

FileStart::FileStart(const File& file)
    : bytes_(std::min<std::uint64_t>(file.size(), 4096)),
      extension_(to_lower(std::filesystem::path(file.path()).extension().string())) {
  file.read_at(0, bytes_);
}

std::uint32_t FileStart::big(std::size_t offset) const {
  return offset + 4 <= bytes_.size() ? load_big<std::uint32_t>(&bytes_[offset]) : ~0u;
}

std::uint32_t FileStart::little(std::size_t offset) const {
  return offset + 4 <= bytes_.size() ? load_little<std::uint32_t>(&bytes_[offset]) : ~0u;
}

}  // namespace sonde::stem
