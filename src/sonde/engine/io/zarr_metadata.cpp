// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/text.h"
#include "sonde/engine/io/npy.h"
#include "sonde/engine/io/zarr.h"

namespace sonde {
namespace {

using nlohmann::json;

/// The parsed `.zarray` with its name, so that every message says which key of which file is wrong.
class Keys {
 public:
  Keys(std::string_view text, const std::string& name) : name_(name) {
    try {
      root_ = json::parse(text);
    } catch (const json::exception& failure) {
      throw Error(ErrorKind::bad_file, fmt::format("{}: is not JSON: {}", name, failure.what()));
    }
    if (!root_.is_object()) throw Error(ErrorKind::bad_file, name + ": not a JSON object");
  }

  [[nodiscard]] const json* find(const char* key) const {
    const auto at = root_.find(key);
    return at == root_.end() ? nullptr : &*at;
  }
  [[nodiscard]] const json& need(const char* key) const {
    const json* value = find(key);
    if (value == nullptr) throw Error(ErrorKind::bad_file, fmt::format("{}: has no key \"{}\"", name_, key));
    return *value;
  }
  [[nodiscard]] Error wrong(const char* key, std::string_view expected) const {
    return Error(ErrorKind::bad_file, fmt::format("{}: key \"{}\": expected {}", name_, key, expected));
  }
  [[nodiscard]] Error unsupported(std::string_view what) const {
    return Error(ErrorKind::not_supported, fmt::format("{}: {}", name_, what));
  }
  [[nodiscard]] const std::string& name() const { return name_; }

 private:
  const std::string& name_;
  json root_;
};

Shape extents(const Keys& keys, const char* key, Index smallest) {
  const json& list = keys.need(key);
  const auto expected = fmt::format("1 to {} integers of at least {}", Shape::max_rank, smallest);
  if (!list.is_array() || list.empty() || list.size() > Shape::max_rank) throw keys.wrong(key, expected);
  Shape shape;
  for (const json& extent : list) {
    if (!extent.is_number_integer()) throw keys.wrong(key, expected);
    const bool fits = !extent.is_number_unsigned() ||
                      extent.get<std::uint64_t>() <= static_cast<std::uint64_t>(std::numeric_limits<Index>::max());
    if (!fits || extent.get<Index>() < smallest) throw keys.wrong(key, expected);
    shape.append(extent.get<Index>());
  }
  return shape;
}

ZarrCodec codec(const Keys& keys) {
  const json& compressor = keys.need("compressor");
  if (compressor.is_null()) return ZarrCodec::none;
  const auto id = compressor.is_object() ? compressor.find("id") : compressor.end();
  if (!compressor.is_object() || id == compressor.end() || !id->is_string())
    throw keys.wrong("compressor", "null or an object with a text \"id\"");
  const auto& text = id->get_ref<const std::string&>();
  if (text == "zlib" || text == "gzip") return ZarrCodec::zlib;
  if (text == "lz4") return ZarrCodec::lz4;
  if (text == "zstd") return ZarrCodec::zstd;
  if (text == "blosc") return ZarrCodec::blosc;
  throw keys.unsupported(fmt::format("chunks are compressed with \"{}\"", text))
      .hint("store the array with zlib, lz4, zstd, blosc or without compression");
}

/// One number of the fill value in the type T, exactly.
template <class T>
T number(const Keys& keys, const json& value) {
  if constexpr (std::is_floating_point_v<T>) {
    if (value.is_number()) return static_cast<T>(value.get<double>());
    if (value == "NaN") return std::numeric_limits<T>::quiet_NaN();
    if (value == "Infinity") return std::numeric_limits<T>::infinity();
    if (value == "-Infinity") return -std::numeric_limits<T>::infinity();
  } else {
    if (value.is_boolean()) return static_cast<T>(value.get<bool>());
    if (value.is_number_unsigned() && std::in_range<T>(value.get<std::uint64_t>()))
      return static_cast<T>(value.get<std::uint64_t>());
    if (value.is_number_integer() && !value.is_number_unsigned() && std::in_range<T>(value.get<std::int64_t>()))
      return static_cast<T>(value.get<std::int64_t>());
    // Integers are written as 0.0 by some programs.
    if (value.is_number_float() && value.get<double>() == 0) return 0;
  }
  throw keys.wrong("fill_value", "null or a value of the element type");
}

template <class T>
void put(const Keys& keys, const json& value, std::byte* to) {
  const T element = number<T>(keys, value);
  std::memcpy(to, &element, sizeof element);
}

void put_fill(const Keys& keys, DType dtype, std::byte* to) {
  const json& value = keys.need("fill_value");
  if (value.is_null()) return;  // undefined by the format; zero here
  const bool complex = dtype == DType::c64 || dtype == DType::c128;
  if (complex && (!value.is_array() || value.size() != 2)) throw keys.wrong("fill_value", "null or two numbers");
  switch (dtype) {
    case DType::u8:
      return put<std::uint8_t>(keys, value, to);
    case DType::u16:
      return put<std::uint16_t>(keys, value, to);
    case DType::u32:
      return put<std::uint32_t>(keys, value, to);
    case DType::u64:
      return put<std::uint64_t>(keys, value, to);
    case DType::i8:
      return put<std::int8_t>(keys, value, to);
    case DType::i16:
      return put<std::int16_t>(keys, value, to);
    case DType::i32:
      return put<std::int32_t>(keys, value, to);
    case DType::i64:
      return put<std::int64_t>(keys, value, to);
    case DType::f32:
      return put<float>(keys, value, to);
    case DType::f64:
      return put<double>(keys, value, to);
    case DType::c64:
      put<float>(keys, value[0], to);
      return put<float>(keys, value[1], to + sizeof(float));
    case DType::c128:
      put<double>(keys, value[0], to);
      return put<double>(keys, value[1], to + sizeof(double));
  }
}

void check_chunk_size(const Keys& keys, const ZarrMetadata& metadata) {
  // The codecs count in 31 bits, and no writer makes chunks anywhere near.
  constexpr double most_bytes = std::numeric_limits<std::int32_t>::max();
  double bytes = static_cast<double>(size_bytes(metadata.dtype));
  for (int i = 0; i < metadata.chunks.rank(); ++i) bytes *= static_cast<double>(metadata.chunks[i]);
  if (bytes > most_bytes)
    throw keys
        .unsupported(fmt::format("chunks of {}, at most {} are read", format_bytes(bytes), format_bytes(most_bytes)))
        .hint("store the array with smaller chunks");
}

}  // namespace

std::size_t ZarrMetadata::chunk_bytes() const { return static_cast<std::size_t>(chunks.count()) * size_bytes(dtype); }

ZarrMetadata parse_zarr_metadata(std::string_view text, const std::string& name) {
  const Keys keys(text, name);
  if (keys.need("zarr_format") != 2)
    throw keys.unsupported("is not Zarr version 2").hint("store it with zarr_format=2");
  ZarrMetadata metadata;
  metadata.shape = extents(keys, "shape", 0);
  metadata.chunks = extents(keys, "chunks", 1);
  if (metadata.shape.rank() != metadata.chunks.rank())
    throw keys.wrong("chunks", fmt::format("{} integers like \"shape\"", metadata.shape.rank()));
  (void)during("reading " + name, [&] { return metadata.shape.count(); });

  const json& dtype = keys.need("dtype");
  if (dtype.is_array()) throw keys.unsupported("structured elements are not read");
  if (!dtype.is_string()) throw keys.wrong("dtype", "a text such as \"<u2\"");
  const NumpyType type = parse_numpy_type(dtype.get_ref<const std::string&>(), name);
  metadata.dtype = type.dtype;
  metadata.big_endian = type.big_endian;

  const json& order = keys.need("order");
  if (order == "F" && metadata.shape.rank() > 1)
    throw keys.unsupported("the chunks are stored in Fortran order").hint("store the array with order=\"C\"");
  if (order != "C" && order != "F") throw keys.wrong("order", "\"C\"");
  const json* filters = keys.find("filters");
  if (filters != nullptr && !filters->is_null() && !filters->empty())
    throw keys.unsupported("filters are not read").hint("store the array with filters=None");
  metadata.codec = codec(keys);
  put_fill(keys, metadata.dtype, metadata.fill.data());
  if (const json* separator = keys.find("dimension_separator")) {
    if (*separator != "." && *separator != "/") throw keys.wrong("dimension_separator", "\".\" or \"/\"");
    metadata.separator = separator->get_ref<const std::string&>()[0];
  }
  check_chunk_size(keys, metadata);
  return metadata;
}

std::map<std::string, std::string> parse_zarr_attributes(std::string_view text, const std::string& name) {
  const json root = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!root.is_object()) throw Error(ErrorKind::bad_file, name + ": not a JSON object");
  std::map<std::string, std::string> attributes;
  for (const auto& [key, value] : root.items())
    if (value.is_primitive()) attributes[key] = value.is_string() ? value.get<std::string>() : value.dump();
  return attributes;
}

}  // namespace sonde
