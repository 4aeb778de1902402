// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "sonde/engine/array/dtype.h"
#include "sonde/engine/io/hdf5/bytes.h"

namespace sonde::hdf5 {

/// A stored type (section IV.A.2.d).
struct Datatype {
  enum class Kind : unsigned {
    integer = 0,
    floating = 1,
    time = 2,
    text = 3,
    bitfield = 4,
    opaque = 5,
    record = 6,
    reference = 7,
    enumeration = 8,
    variable_length = 9,
    array = 10,
  };
  enum class Padding { zero_terminated, zeros, blanks };
  struct Member;

  Kind kind = Kind::integer;
  std::uint32_t bytes = 0;
  bool big_endian = false, has_sign = false;
  unsigned bit_offset = 0, precision = 0;  ///< integers, bit fields, floats
  unsigned sign_at = 0, exponent_at = 0, exponent_bits = 0, mantissa_at = 0, mantissa_bits = 0;
  bool leading_one = true;  ///< the first bit of the mantissa is not stored
  std::uint32_t bias = 0;
  Padding padding = Padding::zero_terminated;
  bool variable_text = false;             ///< variable_length: a text
  std::vector<Member> members;            ///< record: its fields; enumeration, variable_length, array: the base type
  std::vector<std::uint32_t> dimensions;  ///< array

  [[nodiscard]] const Datatype& base() const;
  /// Integers and floats of the machine, up to the order of their bytes.
  [[nodiscard]] bool is_native() const;
  /// The array type that elements are read as: integers (also bit fields and enumerations) of up to 8 bytes, floats of
  /// 2, 4 and 8 bytes, records of two equal floats.
  [[nodiscard]] std::optional<DType> dtype() const;
  /// For people: "u16", "u32 big endian", "text", "record of 2 fields".
  [[nodiscard]] std::string text() const;
};

struct Datatype::Member {
  std::string name;
  std::uint32_t offset = 0;
  Datatype type;
};

[[nodiscard]] Datatype read_datatype(ByteSpan message);

}  // namespace sonde::hdf5
