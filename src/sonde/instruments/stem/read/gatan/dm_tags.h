// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>

#include "sonde/engine/io/file.h"

namespace sonde::stem {

/// Where a large array of a DigitalMicrograph file lies.
struct DmArray {
  std::uint64_t offset = 0, count = 0;
  std::size_t element_bytes = 0;
};

using DmValue = std::variant<std::int64_t, std::uint64_t, double, std::string, DmArray>;

/// The tree of tags of a DM3 or DM4 file, by path: "ImageList/1/ImageData/Dimensions/0". Tags without a name are
/// numbered within their group. Numbers and texts are kept, arrays by their place; groups of numbers (structs) are
/// checked and left out.
struct DmTags {
  int version = 3;
  bool big_endian = false;  ///< of the values; the structure is big endian always
  std::map<std::string, DmValue> values;

  [[nodiscard]] std::optional<double> number(const std::string& path) const;
  [[nodiscard]] std::optional<std::int64_t> integer(const std::string& path) const;
  [[nodiscard]] std::string text(const std::string& path) const;  ///< empty when there is none
  [[nodiscard]] std::optional<DmArray> array(const std::string& path) const;
};

/// Throws Error(bad_file) "FILE: damaged: ..." for anything that is no complete tree.
[[nodiscard]] DmTags read_dm_tags(const File& file);

}  // namespace sonde::stem
