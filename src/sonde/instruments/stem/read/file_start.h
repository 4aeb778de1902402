// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sonde/engine/io/file.h"

namespace sonde::stem {

/// The first bytes of a file, by which formats are recognised.
class FileStart {
 public:
  explicit FileStart(const File& file);

  [[nodiscard]] std::string_view text() const { return {reinterpret_cast<const char*>(bytes_.data()), bytes_.size()}; }
  [[nodiscard]] bool has(std::string_view magic, std::size_t offset = 0) const {
    return text().size() >= offset && text().substr(offset).starts_with(magic);
  }
  /// 32-bit numbers; all ones beyond the end.
  [[nodiscard]] std::uint32_t big(std::size_t offset) const;
  [[nodiscard]] std::uint32_t little(std::size_t offset) const;
  /// Of the file's name, in lower case, with its dot.
  [[nodiscard]] const std::string& extension() const { return extension_; }

 private:
  std::vector<std::byte> bytes_;
  std::string extension_;
};

}  // namespace sonde::stem
