// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/io/hdf5/datatype.h"

namespace sonde::hdf5 {
namespace {

using Kind = Datatype::Kind;

/// Types nest; a file that nests them deeper than this was not made by a program for data.
constexpr int most_depth = 32;

Datatype take_datatype(Cursor& cursor, int depth);

/// Names and texts end in zero and are padded to eight bytes in old versions.
std::string take_name(Cursor& cursor, unsigned version) {
  const std::size_t before = cursor.taken();
  std::string name = cursor.text();
  if (version < 3) {
    const std::size_t taken = cursor.taken() - before;
    cursor.skip((8 - taken % 8) % 8);
  }
  return name;
}

void take_bits(Cursor& cursor, Datatype& type) {
  type.bit_offset = cursor.take<std::uint16_t>();
  type.precision = cursor.take<std::uint16_t>();
  if (type.precision == 0 || type.bit_offset + type.precision > 8 * std::uint64_t{type.bytes})
    damaged(fmt::format("a number of {} bits from bit {} in {} bytes", type.precision, type.bit_offset, type.bytes));
}

void take_float(Cursor& cursor, Datatype& type, std::uint32_t flags) {
  if ((flags & 0x41u) == 0x41u)
    unsupported("floats in the order of bytes of a VAX", "convert the file with h5repack on a machine that has them");
  type.sign_at = (flags >> 8) & 0xffu;
  type.leading_one = ((flags >> 4) & 3u) == 2;
  take_bits(cursor, type);
  type.exponent_at = cursor.byte();
  type.exponent_bits = cursor.byte();
  type.mantissa_at = cursor.byte();
  type.mantissa_bits = cursor.byte();
  type.bias = cursor.take<std::uint32_t>();
  const std::uint64_t bits = 8 * std::uint64_t{type.bytes};
  if (type.sign_at >= bits || type.exponent_at + type.exponent_bits > bits ||
      type.mantissa_at + type.mantissa_bits > bits)
    damaged("a float whose parts are outside of its bytes");
}

void take_record(Cursor& cursor, Datatype& type, unsigned version, unsigned members, int depth) {
  for (unsigned i = 0; i < members; ++i) {
    Datatype::Member member;
    member.name = take_name(cursor, version);
    member.offset = static_cast<std::uint32_t>(cursor.number(version >= 3 ? bytes_for(type.bytes) : 4));
    std::uint64_t count = 1;
    if (version == 1) {
      const unsigned dimensions = cursor.byte();
      if (dimensions > 4) damaged(fmt::format("a field of {} dimensions", dimensions));
      cursor.skip(3 + 4 + 4);  // reserved, permutation, reserved
      for (unsigned k = 0; k < 4; ++k)
        if (const auto extent = cursor.take<std::uint32_t>(); k < dimensions)
          count = product(count, extent, "the field of a record");
    }
    member.type = take_datatype(cursor, depth + 1);
    if (member.offset > type.bytes || product(count, member.type.bytes, "a field") > type.bytes - member.offset)
      damaged(fmt::format("a field that ends outside of its record of {} bytes", type.bytes));
    type.members.push_back(std::move(member));
  }
}

void take_enumeration(Cursor& cursor, Datatype& type, unsigned version, unsigned names, int depth) {
  type.members.push_back({"", 0, take_datatype(cursor, depth + 1)});
  if (type.base().kind != Kind::integer || type.base().bytes != type.bytes)
    damaged("an enumeration that does not count in integers of its size");
  for (unsigned i = 0; i < names; ++i) (void)take_name(cursor, version);
  cursor.skip(product(names, type.base().bytes, "an enumeration"));
}

void take_array(Cursor& cursor, Datatype& type, unsigned version, int depth) {
  const unsigned dimensions = cursor.byte();
  if (version < 3) cursor.skip(3);
  std::uint64_t bytes = 1;
  for (unsigned i = 0; i < dimensions; ++i) {
    type.dimensions.push_back(cursor.take<std::uint32_t>());
    bytes = product(bytes, type.dimensions.back(), "an array type");
  }
  if (version < 3) cursor.skip(4 * std::uint64_t{dimensions});  // permutations
  type.members.push_back({"", 0, take_datatype(cursor, depth + 1)});
  if (product(bytes, type.base().bytes, "an array type") != type.bytes)
    damaged(fmt::format("an array type of {} bytes in {} bytes", bytes * type.base().bytes, type.bytes));
}

Datatype take_datatype(Cursor& cursor, int depth) {
  if (depth > most_depth) damaged("types nest without an end");
  const unsigned head = cursor.byte(), version = head >> 4;
  const auto flags = static_cast<std::uint32_t>(cursor.number(3));
  Datatype type;
  if (version < 1 || version > 5 || (head & 15u) > 11)
    damaged(fmt::format("a type of class {}, version {}", head & 15u, version));
  if ((head & 15u) == 11)
    unsupported("complex numbers as HDF5 2.0 stores them", "store them as records of two floats, as h5py does");
  type.kind = static_cast<Kind>(head & 15u);
  type.bytes = cursor.take<std::uint32_t>();
  if (type.bytes == 0) damaged("a type of 0 bytes");
  type.big_endian = (flags & 1u) != 0;
  switch (type.kind) {
    case Kind::integer:
      type.has_sign = (flags & 8u) != 0;
      take_bits(cursor, type);
      break;
    case Kind::bitfield:
      take_bits(cursor, type);
      break;
    case Kind::floating:
      take_float(cursor, type, flags);
      break;
    case Kind::time:
      cursor.skip(2);
      break;
    case Kind::text:
      type.big_endian = false;
      type.padding = static_cast<Datatype::Padding>(std::min(flags & 15u, 2u));
      break;
    case Kind::opaque:
      type.big_endian = false;
      cursor.skip((flags & 0xffu) + (8 - (flags & 0xffu) % 8) % 8);
      break;
    case Kind::record:
      type.big_endian = false;
      take_record(cursor, type, version, flags & 0xffffu, depth);
      break;
    case Kind::reference:
      type.big_endian = false;
      break;
    case Kind::enumeration:
      take_enumeration(cursor, type, version, flags & 0xffffu, depth);
      type.big_endian = type.base().big_endian;
      break;
    case Kind::variable_length:
      type.big_endian = false;
      type.variable_text = (flags & 15u) == 1;
      type.padding = static_cast<Datatype::Padding>(std::min((flags >> 4) & 15u, 2u));
      type.members.push_back({"", 0, take_datatype(cursor, depth + 1)});
      break;
    case Kind::array:
      type.big_endian = false;
      take_array(cursor, type, version, depth);
      break;
  }
  return type;
}

bool is_ieee(const Datatype& type) {
  const auto parts = [&](unsigned bytes, unsigned exponent, unsigned mantissa) {
    return type.bytes == bytes && type.bit_offset == 0 && type.precision == 8 * bytes && type.leading_one &&
           type.sign_at == 8 * bytes - 1 && type.mantissa_at == 0 && type.mantissa_bits == mantissa &&
           type.exponent_at == mantissa && type.exponent_bits == exponent && type.bias == (1u << (exponent - 1)) - 1;
  };
  return parts(4, 8, 23) || parts(8, 11, 52);
}

std::optional<DType> integer_of(unsigned bytes, bool has_sign) {
  switch (bytes) {
    case 1:
      return has_sign ? DType::i8 : DType::u8;
    case 2:
      return has_sign ? DType::i16 : DType::u16;
    case 3:
    case 4:
      return has_sign ? DType::i32 : DType::u32;
    case 5:
    case 6:
    case 7:
    case 8:
      return has_sign ? DType::i64 : DType::u64;
    default:
      return std::nullopt;
  }
}

std::optional<DType> complex_of(const Datatype& type) {
  if (type.members.size() != 2) return std::nullopt;
  const Datatype &real = type.members[0].type, &imaginary = type.members[1].type;
  if (real.kind != Kind::floating || imaginary.kind != Kind::floating || !real.is_native() || !imaginary.is_native() ||
      real.bytes != imaginary.bytes || real.big_endian != imaginary.big_endian || type.bytes != 2 * real.bytes ||
      type.members[0].offset != 0 || type.members[1].offset != real.bytes)
    return std::nullopt;
  return real.bytes == 4 ? DType::c64 : DType::c128;
}

}  // namespace

const Datatype& Datatype::base() const { return members.front().type; }

bool Datatype::is_native() const {
  switch (kind) {
    case Kind::integer:
    case Kind::bitfield:
      return bit_offset == 0 && precision == 8 * bytes && (bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8);
    case Kind::floating:
      return is_ieee(*this);
    case Kind::enumeration:
      return base().is_native();
    case Kind::record:
      return complex_of(*this).has_value();
    default:
      return false;
  }
}

std::optional<DType> Datatype::dtype() const {
  switch (kind) {
    case Kind::enumeration:
      return base().dtype();
    case Kind::integer:
    case Kind::bitfield:
      return integer_of(bytes, has_sign);
    case Kind::floating:
      if (bytes > 8 || exponent_bits > 11 || mantissa_bits > 52 || exponent_bits == 0) return std::nullopt;
      return bytes <= 4 ? DType::f32 : DType::f64;
    case Kind::record:
      return complex_of(*this);
    default:
      return std::nullopt;
  }
}

std::string Datatype::text() const {
  const bool swapped = kind == Kind::record && !members.empty() ? members[0].type.big_endian : big_endian;
  if (const auto type = dtype(); type && is_native())
    return std::string(name(*type)) + (swapped && bytes > 1 ? " big endian" : "");
  switch (kind) {
    case Kind::text:
      return "text";
    case Kind::opaque:
      return fmt::format("opaque, {} bytes", bytes);
    case Kind::record:
      return fmt::format("record of {} fields", members.size());
    case Kind::integer:
    case Kind::bitfield:
      return fmt::format("integer of {} bits in {} bytes", precision, bytes);
    case Kind::enumeration:
      return "enumeration of " + base().text();
    case Kind::floating:
      return fmt::format("float of {} bytes", bytes);
    case Kind::reference:
      return "reference";
    case Kind::variable_length:
      return variable_text ? "text" : "rows of any length";
    case Kind::array:
      return "arrays of " + base().text();
    default:
      return fmt::format("another type, {} bytes", bytes);
  }
}

Datatype read_datatype(ByteSpan message) {
  Cursor cursor(message);
  return take_datatype(cursor, 0);
}

}  // namespace sonde::hdf5
