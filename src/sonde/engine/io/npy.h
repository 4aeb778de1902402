// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "sonde/engine/array/array.h"
#include "sonde/engine/io/file.h"

namespace sonde {

/// NumPy's NPY format, versions 1 to 3 (numpy.lib.format). Element types are those of DType in either byte order;
/// booleans are read as u8 (0 or 1). Structured and object types are refused; arrays in Fortran order are read whole by
/// read_npy() and parse_npy() and refused by read_npy_header(), whose callers read the data themselves.

/// What the header of an NPY file says.
struct NpyHeader {
  DType dtype = DType::u8;
  bool big_endian = false;
  Shape shape;                    ///< rank 0 is one element
  std::uint64_t data_offset = 0;  ///< of the first element in the file
  [[nodiscard]] std::uint64_t data_bytes() const;
};

/// Checks that the whole data lie inside the file. Throws Error(bad_file) naming the path, Error(not_supported) for
/// types that are valid but not read here.
[[nodiscard]] NpyHeader read_npy_header(const File& file);
/// The same of an NPY that is `bytes` long from `offset` on in another file (an archive); `name` stands in messages.
/// The header's data_offset is that in the file.
[[nodiscard]] NpyHeader read_npy_header(const File& file, std::uint64_t offset, std::uint64_t bytes,
                                        const std::string& name);

/// The array of a file, in host memory and native byte order. Throws like read_npy_header and File.
[[nodiscard]] Array read_npy(const std::string& path);
/// The same from the bytes of a file; `name` stands in messages.
[[nodiscard]] Array parse_npy(std::span<const std::byte> bytes, const std::string& name);

/// Element type as NPY and Zarr write it: "<u2", ">f4", "|u1".
struct NumpyType {
  DType dtype = DType::u8;
  bool big_endian = false;
};
/// Throws Error(not_supported) for types without a DType, Error(bad_file) for texts that are none; both begin with
/// `name`.
[[nodiscard]] NumpyType parse_numpy_type(std::string_view text, const std::string& name);
/// The little-endian text of a type.
[[nodiscard]] std::string numpy_type(DType dtype);

/// Version 1 header in front of little-endian C-order data, for writers that stream them; a multiple of 64 bytes long.
[[nodiscard]] std::string npy_header(DType dtype, const Shape& shape);

/// A whole NPY file that holds one text: what numpy.save writes of a str. `text` is UTF-8; what is not becomes U+FFFD.
[[nodiscard]] std::string npy_of_text(std::string_view text);
/// The text of such a file as UTF-8; nullopt for one that holds anything else. Throws Error(bad_file) beginning with
/// `name` when it is cut off or holds what is no character.
[[nodiscard]] std::optional<std::string> parse_npy_text(std::span<const std::byte> bytes, const std::string& name);

/// Writes atomically. Arrays elsewhere or with strides are copied to the host first. Throws Error(io).
void write_npy(const std::string& path, const Array& array);

}  // namespace sonde
