// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/array/dtype.h"

#include <fmt/format.h>

#include <array>
#include <string>
#include <vector>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/text.h"

namespace sonde {
namespace {

struct Entry {
  DType dtype;
  std::string_view name, numpy_name;
  std::size_t bytes;
};

constexpr std::array<Entry, 12> entries = {{
    {DType::u8, "u8", "uint8", 1},
    {DType::u16, "u16", "uint16", 2},
    {DType::u32, "u32", "uint32", 4},
    {DType::u64, "u64", "uint64", 8},
    {DType::i8, "i8", "int8", 1},
    {DType::i16, "i16", "int16", 2},
    {DType::i32, "i32", "int32", 4},
    {DType::i64, "i64", "int64", 8},
    {DType::f32, "f32", "float32", 4},
    {DType::f64, "f64", "float64", 8},
    {DType::c64, "c64", "complex64", 8},
    {DType::c128, "c128", "complex128", 16},
}};

const Entry& entry(DType dtype) { return entries[static_cast<std::size_t>(dtype)]; }

}  // namespace

std::size_t size_bytes(DType dtype) { return entry(dtype).bytes; }

std::string_view name(DType dtype) { return entry(dtype).name; }

DType parse_dtype(std::string_view text) {
  std::vector<std::string> known;
  for (const Entry& each : entries) {
    if (text == each.name || text == each.numpy_name) return each.dtype;
    known.emplace_back(each.name);
  }
  throw Error(ErrorKind::usage, fmt::format("unknown element type \"{}\"", text))
      .hint("give one of " + join_words(known));
}

bool is_unsigned(DType dtype) { return dtype <= DType::u64; }

bool is_float(DType dtype) { return dtype == DType::f32 || dtype == DType::f64; }

std::uint64_t max_value(DType dtype) {
  const std::size_t bits = 8 * size_bytes(dtype);
  return bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
}

DType narrowest_unsigned(std::uint64_t value) {
  for (const DType dtype : {DType::u8, DType::u16, DType::u32})
    if (value <= max_value(dtype)) return dtype;
  return DType::u64;
}

}  // namespace sonde
