// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/io/hdf5/convert.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "sonde/engine/io/byte_order.h"
#include "sonde/engine/io/hdf5/global_heap.h"

namespace sonde::hdf5 {
namespace {

using Kind = Datatype::Kind;

/// The bytes of a number of up to 8 bytes, the lowest first.
std::uint64_t bits_at(const Datatype& type, const std::byte* bytes) {
  std::uint64_t bits = 0;
  for (std::uint32_t i = 0; i < type.bytes; ++i)
    bits |= static_cast<std::uint64_t>(bytes[type.big_endian ? type.bytes - 1 - i : i]) << (8 * i);
  return bits;
}

std::uint64_t part(std::uint64_t bits, unsigned first, unsigned count) {
  if (count == 0) return 0;
  return first >= 64 ? 0 : (bits >> first) & (~std::uint64_t{0} >> (64 - count));
}

template <class T>
void put(std::byte* to, T value) {
  std::memcpy(to, &value, sizeof value);
}

void convert_integer(const Datatype& type, const std::byte* from, DType dtype, std::byte* to) {
  const std::uint64_t value = integer_at(type, from);  // little endian: the low bytes come first
  std::memcpy(to, &value, size_bytes(dtype));
}

void convert_float(const Datatype& type, const std::byte* from, DType dtype, std::byte* to) {
  const double value = float_at(type, from);
  if (dtype == DType::f32)
    put(to, static_cast<float>(value));
  else
    put(to, value);
}

std::string trimmed(ByteSpan bytes, Datatype::Padding padding) {
  std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  text.resize(std::min(text.find('\0'), text.size()));
  if (padding == Datatype::Padding::blanks) text.resize(text.find_last_not_of(' ') + 1);
  return text;
}

}  // namespace

std::uint64_t integer_at(const Datatype& type, const std::byte* bytes) {
  if (type.kind == Kind::enumeration) return integer_at(type.base(), bytes);
  const std::uint64_t bits = part(bits_at(type, bytes), type.bit_offset, type.precision);
  const bool negative = type.has_sign && (bits >> (type.precision - 1) & 1u) != 0;
  return negative && type.precision < 64 ? bits | (~std::uint64_t{0} << type.precision) : bits;
}

double float_at(const Datatype& type, const std::byte* bytes) {
  const std::uint64_t bits = bits_at(type, bytes);
  if (type.is_native())
    return type.bytes == 4 ? static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits)))
                           : std::bit_cast<double>(bits);
  const std::uint64_t exponent = part(bits, type.exponent_at, type.exponent_bits);
  const std::uint64_t mantissa = part(bits, type.mantissa_at, type.mantissa_bits);
  const std::uint64_t last = (std::uint64_t{1} << type.exponent_bits) - 1;
  const auto mantissa_bits = static_cast<int>(type.mantissa_bits);
  double value = 0;
  if (exponent == last && type.leading_one) {
    value = mantissa == 0 ? HUGE_VAL : std::nan("");
  } else {
    // Numbers too small for a leading one share the smallest exponent.
    const bool has_one = type.leading_one && exponent != 0;
    const double fraction = std::ldexp(static_cast<double>(mantissa), -mantissa_bits) + (has_one ? 1.0 : 0.0);
    const auto power = static_cast<std::int64_t>(type.leading_one && exponent == 0 ? 1 : exponent) -
                       static_cast<std::int64_t>(type.bias);
    value = std::ldexp(fraction, static_cast<int>(std::clamp<std::int64_t>(power, -4096, 4096)));
  }
  return part(bits, type.sign_at, 1) != 0 ? -value : value;
}

void to_native(const Datatype& type, ByteSpan from, std::span<std::byte> to) {
  const DType dtype = type.dtype().value();
  if (type.is_native()) {
    if (from.data() != to.data() && !to.empty()) std::memcpy(to.data(), from.data(), to.size());
    const bool swapped = type.kind == Kind::record ? type.members[0].type.big_endian : type.big_endian;
    if (swapped) swap_bytes(to, word_bytes(dtype));
    return;
  }
  const bool is_real = type.kind == Kind::floating;
  const std::size_t step = size_bytes(dtype), count = to.size() / step;
  for (std::size_t i = 0; i < count; ++i)
    (is_real ? convert_float : convert_integer)(type, from.data() + i * type.bytes, dtype, to.data() + i * step);
}

bool has_value(const Datatype& type, const Dataspace& space, Index most) {
  if (space.null || space.extents.size() > Shape::max_rank) return false;
  if (space.count() > static_cast<std::uint64_t>(most)) return false;
  switch (type.kind) {
    case Kind::text:
      return true;
    case Kind::variable_length:
      return type.variable_text;
    case Kind::record:
      return false;
    default:
      return type.dtype().has_value();
  }
}

std::optional<Hdf5Value> to_value(const Image& image, Widths widths, const Datatype& type, const Dataspace& space,
                                  ByteSpan bytes) {
  Hdf5Value value{space.shape(), {}};
  const std::uint64_t count = space.count();
  if (bytes.size() / type.bytes < count) damaged("a value ends early");
  value.elements.reserve(count);
  GlobalHeap heap(image, widths);
  for (std::uint64_t i = 0; i < count; ++i) {
    const ByteSpan element = bytes.subspan(i * type.bytes, type.bytes);
    if (type.kind == Kind::text) {
      image.charge(type.bytes);
      value.elements.emplace_back(trimmed(element, type.padding));
    } else if (type.kind == Kind::variable_length) {
      Cursor cursor(element, widths);
      const auto length = cursor.take<std::uint32_t>();
      const std::uint64_t address = cursor.address();
      const auto number = cursor.take<std::uint32_t>();
      if (length == 0 || address == 0 || address == undefined_address) {
        value.elements.emplace_back(std::string());
        continue;
      }
      const ByteSpan text = heap.object(address, number);
      value.elements.emplace_back(trimmed(text.first(std::min<std::size_t>(length, text.size())), type.padding));
    } else if (type.kind == Kind::floating) {
      value.elements.emplace_back(float_at(type, element.data()));
    } else {
      const Datatype& integers = type.kind == Kind::enumeration ? type.base() : type;
      const std::uint64_t bits = integer_at(integers, element.data());
      // Enumerations, so also truth values, count with a sign.
      if (integers.has_sign || type.kind == Kind::enumeration)
        value.elements.emplace_back(static_cast<std::int64_t>(bits));
      else
        value.elements.emplace_back(bits);
    }
  }
  return value;
}

bool has_record_lists(const Datatype& type) {
  if (type.kind != Kind::variable_length || type.variable_text || type.base().kind != Kind::record) return false;
  const auto& fields = type.base().members;
  return std::all_of(fields.begin(), fields.end(), [](const Datatype::Member& field) {
    return field.type.kind == Kind::floating || field.type.kind == Kind::integer;
  });
}

Hdf5RecordLists to_record_lists(const Image& image, Widths widths, const Datatype& type, const Shape& shape,
                                ByteSpan bytes) {
  const Datatype& record = type.base();
  Hdf5RecordLists lists;
  lists.shape = shape;
  for (const Datatype::Member& field : record.members) {
    if (field.offset > record.bytes || field.type.bytes > record.bytes - field.offset)
      damaged("a field is outside of its record");
    lists.fields.push_back(field.name);
  }
  lists.first.push_back(0);
  constexpr int most_collections = 1024;  // that the heap keeps, of 4 KiB as a rule
  std::optional<GlobalHeap> heap;
  std::uint64_t before = undefined_address;
  int collections = 0;
  for (Index i = 0; i < shape.count(); ++i) {
    Cursor cursor(bytes.subspan(static_cast<std::size_t>(i) * type.bytes, type.bytes), widths);
    const auto length = cursor.take<std::uint32_t>();
    const std::uint64_t address = cursor.address();
    const auto number = cursor.take<std::uint32_t>();
    const bool empty = length == 0 || address == 0 || address == undefined_address;
    lists.first.push_back(lists.first.back() + (empty ? 0 : length));
    if (empty) continue;
    if (address != before && collections++ % most_collections == 0) heap.emplace(image, widths);
    before = address;
    const ByteSpan stored = heap->object(address, number);
    if (record.bytes == 0 || stored.size() / record.bytes < length) damaged("a list of records ends early");
    for (std::uint32_t r = 0; r < length; ++r)
      for (const Datatype::Member& field : record.members) {
        const std::byte* at = stored.data() + std::size_t{r} * record.bytes + field.offset;
        const bool is_real = field.type.kind == Kind::floating;
        const std::uint64_t bits = is_real ? 0 : integer_at(field.type, at);
        lists.values.push_back(is_real               ? float_at(field.type, at)
                               : field.type.has_sign ? static_cast<double>(static_cast<std::int64_t>(bits))
                                                     : static_cast<double>(bits));
      }
  }
  return lists;
}

}  // namespace sonde::hdf5
