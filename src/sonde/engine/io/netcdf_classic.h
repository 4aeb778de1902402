// SPDX-License-Identifier: Apache-2.0
// Private to the NetCDF sources: the header of classic files, as the "NetCDF Classic Format Specification" has it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sonde/engine/array/array.h"
#include "sonde/engine/io/file.h"
#include "sonde/engine/io/hdf5.h"

namespace sonde::netcdf {

/// The numbers by which files name element types.
enum class Type : std::uint32_t { byte = 1, character, i16, i32, f32, f64, u8, u16, u32, i64, u64 };
enum class Tag : std::uint32_t { absent = 0, dimension = 10, variable = 11, attribute = 12 };

/// Nothing for characters.
[[nodiscard]] std::optional<DType> dtype_of(Type type);
/// Throws Error(not_supported) for complex numbers.
[[nodiscard]] Type type_of(DType dtype);
[[nodiscard]] constexpr std::uint64_t padded(std::uint64_t bytes) { return (bytes + 3) / 4 * 4; }

struct Variable {
  Shape shape;
  std::vector<std::string> dimensions;  ///< their names
  std::optional<DType> dtype;           ///< nothing for characters
  std::map<std::string, Hdf5Value> attributes;
  std::uint64_t begin = 0;       ///< offset of the first element
  std::uint64_t slab_bytes = 0;  ///< of all elements, or of those of one record
  bool record = false;           ///< along the unlimited dimension: one slab per record

  [[nodiscard]] std::size_t element_bytes() const { return dtype ? size_bytes(*dtype) : 1; }
};

struct Header {
  std::map<std::string, Index> dimensions;
  std::map<std::string, Hdf5Value> attributes;
  std::map<std::string, Variable> variables;
  std::uint64_t record_bytes = 0;  ///< from one record to the next
};

/// Whether the file begins as a classic file does.
[[nodiscard]] bool is_classic(std::span<const std::byte> bytes);

/// The header of a file of `file_bytes`, of which `bytes` is the beginning; nothing when it does not end within
/// `bytes`. Throws Error(bad_file) beginning with `name` for what is no header.
[[nodiscard]] std::optional<Header> parse_header(std::span<const std::byte> bytes, std::uint64_t file_bytes,
                                                 const std::string& name);

/// The elements of a variable. Throws Error(bad_file) naming it when the file ends before.
[[nodiscard]] Array read_elements(const File& file, const Header& header, const std::string& name,
                                  const Variable& variable);

}  // namespace sonde::netcdf
