// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/io/netcdf_classic.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "sonde/engine/base/error.h"
#include "sonde/engine/io/byte_order.h"

namespace sonde::netcdf {
namespace {

/// The bytes at hand end within the header.
struct Short {};

struct Dimension {
  std::string name;
  Index size = 0;
};

/// Reads a header from front to back; numbers are big endian, names and values padded to four bytes.
class HeaderReader {
 public:
  HeaderReader(std::span<const std::byte> bytes, std::uint64_t file_bytes, const std::string& name)
      : bytes_(bytes), file_bytes_(file_bytes), name_(name) {}

  Header read() {
    take(3);  // "CDF", seen by is_classic()
    version_ = static_cast<int>(take(1)[0]);
    const std::uint64_t records = count();
    read_dimensions();
    header_.attributes = read_attributes();
    const std::uint64_t variables = list(Tag::variable, "variables");
    for (std::uint64_t i = 0; i < variables; ++i) read_variable();
    finish_records(records);
    return std::move(header_);
  }

 private:
  [[noreturn]] void damaged(const std::string& what) const {
    throw Error(ErrorKind::bad_file, fmt::format("{}: damaged NetCDF header: {}", name_, what));
  }

  std::span<const std::byte> take(std::uint64_t size) {
    if (size > bytes_.size() - at_) throw Short();
    const auto taken = bytes_.subspan(at_, size);
    at_ += size;
    return taken;
  }
  std::uint32_t word() { return load_big<std::uint32_t>(take(4).data()); }
  std::uint64_t long_word() { return load_big<std::uint64_t>(take(8).data()); }
  /// Counts and lengths: 64 bits in CDF-5.
  std::uint64_t count() { return version_ == 5 ? long_word() : word(); }
  std::uint64_t offset() { return version_ == 1 ? word() : long_word(); }

  /// The number of items of a list.
  std::uint64_t list(Tag expected, const char* what) {
    const std::uint32_t tag = word();
    const std::uint64_t items = count();
    if (tag == static_cast<std::uint32_t>(Tag::absent) && items == 0) return 0;
    if (tag != static_cast<std::uint32_t>(expected)) damaged(fmt::format("no list of {} at byte {}", what, at_));
    return items;
  }

  std::string text() {
    const std::uint64_t size = count();
    const auto characters = take(size);
    take(padded(size) - size);
    return {reinterpret_cast<const char*>(characters.data()), characters.size()};
  }

  Type type() {
    const std::uint32_t number = word();
    if (number < 1 || number > static_cast<std::uint32_t>(Type::u64))
      damaged(fmt::format("element type {} at byte {}", number, at_ - 4));
    return static_cast<Type>(number);
  }

  void read_dimensions() {
    const std::uint64_t dimensions = list(Tag::dimension, "dimensions");
    for (std::uint64_t i = 0; i < dimensions; ++i) {
      Dimension dimension;
      dimension.name = text();
      const std::uint64_t size = count();
      if (size > static_cast<std::uint64_t>(INT64_MAX))
        damaged(fmt::format("dimension {} of length {}", dimension.name, size));
      dimension.size = static_cast<Index>(size);
      dimensions_.push_back(std::move(dimension));
    }
  }

  std::map<std::string, Hdf5Value> read_attributes() {
    std::map<std::string, Hdf5Value> attributes;
    const std::uint64_t items = list(Tag::attribute, "attributes");
    for (std::uint64_t i = 0; i < items; ++i) {
      std::string name = text();
      attributes.insert_or_assign(std::move(name), read_value());
    }
    return attributes;
  }

  Hdf5Value read_value() {
    const std::optional<DType> dtype = dtype_of(type());
    if (!dtype) return {{}, {text()}};
    const std::uint64_t items = count(), item_bytes = size_bytes(*dtype);
    if (items > bytes_.size()) throw Short();  // before the product could wrap
    const auto stored = take(items * item_bytes);
    take(padded(stored.size()) - stored.size());
    Hdf5Value value;
    value.shape = {static_cast<Index>(items)};
    for (std::size_t at = 0; at < stored.size(); at += item_bytes)
      value.elements.push_back(scalar(&stored[at], *dtype));
    return value;
  }

  static Hdf5Value::Scalar scalar(const std::byte* stored, DType dtype) {
    std::byte native[8];
    const std::size_t size = size_bytes(dtype);
    std::reverse_copy(stored, stored + size, native);
    const auto as = [&]<class T>(T value) {
      std::memcpy(&value, native, sizeof value);
      return value;
    };
    switch (dtype) {
      case DType::i8:
        return std::int64_t{as(std::int8_t{})};
      case DType::i16:
        return std::int64_t{as(std::int16_t{})};
      case DType::i32:
        return std::int64_t{as(std::int32_t{})};
      case DType::i64:
        return as(std::int64_t{});
      case DType::u8:
        return std::uint64_t{as(std::uint8_t{})};
      case DType::u16:
        return std::uint64_t{as(std::uint16_t{})};
      case DType::u32:
        return std::uint64_t{as(std::uint32_t{})};
      case DType::u64:
        return as(std::uint64_t{});
      case DType::f32:
        return double{as(float{})};
      default:
        return as(double{});
    }
  }

  void read_variable() {
    const std::string name = text();
    Variable variable;
    const std::uint64_t rank = count();
    if (rank > static_cast<std::uint64_t>(Shape::max_rank))
      damaged(fmt::format("variable {} of {} dimensions", name, rank));
    std::uint64_t elements = 1;
    for (std::uint64_t i = 0; i < rank; ++i) {
      const std::uint64_t id = count();
      if (id >= dimensions_.size()) damaged(fmt::format("variable {} of a dimension {}", name, id));
      const Index size = dimensions_[id].size;
      variable.shape.append(size);
      variable.dimensions.push_back(dimensions_[id].name);
      if (i == 0 && size == 0)
        variable.record = true;
      else if (__builtin_mul_overflow(elements, static_cast<std::uint64_t>(size), &elements))
        damaged(fmt::format("variable {} of more than 2^64 elements", name));
    }
    variable.attributes = read_attributes();
    variable.dtype = dtype_of(type());
    count();  // its bytes, which writers cap or leave out: they follow from the shape
    variable.begin = offset();
    if (__builtin_mul_overflow(elements, variable.element_bytes(), &variable.slab_bytes) ||
        variable.slab_bytes > std::uint64_t{1} << 60)
      damaged(fmt::format("variable {} of more than 2^60 bytes", name));
    header_.variables.insert_or_assign(name, std::move(variable));
  }

  /// The records of all variables along the unlimited dimension follow each other, each padded; a single variable's are
  /// not.
  void finish_records(std::uint64_t records) {
    std::uint64_t variables = 0, bytes = 0, begin = UINT64_MAX;
    for (const auto& [name, variable] : header_.variables)
      if (variable.record) {
        ++variables;
        bytes += padded(variable.slab_bytes);
        begin = std::min(begin, variable.begin);
        header_.record_bytes = variable.slab_bytes;
      }
    if (variables > 1) header_.record_bytes = bytes;
    if (bytes > std::uint64_t{1} << 60) damaged("records of more than 2^60 bytes");
    const bool streaming = records == (version_ == 5 ? UINT64_MAX : UINT32_MAX);  // the writer could not go back
    if (streaming)
      records = header_.record_bytes == 0 || begin > file_bytes_ ? 0 : (file_bytes_ - begin) / header_.record_bytes;
    if (records > static_cast<std::uint64_t>(INT64_MAX)) damaged(fmt::format("{} records", records));
    for (auto& [name, variable] : header_.variables) {
      if (!variable.record) continue;
      Shape shape{static_cast<Index>(records)};
      for (int i = 1; i < variable.shape.rank(); ++i) shape.append(variable.shape[i]);
      variable.shape = shape;
    }
    for (const Dimension& dimension : dimensions_)
      header_.dimensions[dimension.name] = dimension.size == 0 ? static_cast<Index>(records) : dimension.size;
  }

  std::span<const std::byte> bytes_;
  std::uint64_t file_bytes_;
  const std::string& name_;
  std::size_t at_ = 0;
  int version_ = 1;
  std::vector<Dimension> dimensions_;
  Header header_;
};

}  // namespace

std::optional<DType> dtype_of(Type type) {
  switch (type) {
    case Type::byte:
      return DType::i8;
    case Type::character:
      return std::nullopt;
    case Type::i16:
      return DType::i16;
    case Type::i32:
      return DType::i32;
    case Type::f32:
      return DType::f32;
    case Type::f64:
      return DType::f64;
    case Type::u8:
      return DType::u8;
    case Type::u16:
      return DType::u16;
    case Type::u32:
      return DType::u32;
    case Type::i64:
      return DType::i64;
    case Type::u64:
      return DType::u64;
  }
  return std::nullopt;
}

Type type_of(DType dtype) {
  for (const Type type :
       {Type::byte, Type::i16, Type::i32, Type::f32, Type::f64, Type::u8, Type::u16, Type::u32, Type::i64, Type::u64})
    if (dtype_of(type) == dtype) return type;
  throw Error(ErrorKind::not_supported, fmt::format("NetCDF has no elements of type {}", name(dtype)));
}

bool is_classic(std::span<const std::byte> bytes) {
  if (bytes.size() < 4 || std::memcmp(bytes.data(), "CDF", 3) != 0) return false;
  const auto version = static_cast<int>(bytes[3]);
  return version == 1 || version == 2 || version == 5;
}

std::optional<Header> parse_header(std::span<const std::byte> bytes, std::uint64_t file_bytes,
                                   const std::string& name) {
  try {
    return HeaderReader(bytes, file_bytes, name).read();
  } catch (const Short&) {
    return std::nullopt;
  }
}

Array read_elements(const File& file, const Header& header, const std::string& name, const Variable& variable) {
  const auto records = static_cast<std::uint64_t>(variable.record ? variable.shape[0] : 1);
  std::uint64_t end = 0;
  const bool beyond = records > 0 && (__builtin_mul_overflow(records - 1, header.record_bytes, &end) ||
                                      __builtin_add_overflow(end, variable.begin, &end) ||
                                      __builtin_add_overflow(end, variable.slab_bytes, &end) || end > file.size());
  if (beyond && variable.slab_bytes > 0)  // before memory is asked for
    throw Error(ErrorKind::bad_file,
                fmt::format("{}: variable {} {}: the file is cut off or damaged", file.path(), name,
                            end > file.size() ? fmt::format("ends at byte {} of {}", end, file.size())
                                              : "is larger than any file"))
        .hint("copy the file again");
  Array elements(Device::cpu(), variable.shape, variable.dtype.value_or(DType::u8));
  const std::span<std::byte> bytes(static_cast<std::byte*>(elements.data()), records * variable.slab_bytes);
  if (variable.slab_bytes > 0)
    for (std::uint64_t record = 0; record < records; ++record)
      file.read_at(variable.begin + record * header.record_bytes,
                   bytes.subspan(record * variable.slab_bytes, variable.slab_bytes));
  swap_bytes(bytes, variable.element_bytes());
  return elements;
}

}  // namespace sonde::netcdf
