// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace sonde {

using complex64 = std::complex<float>;
using complex128 = std::complex<double>;

/// The element types that arrays hold and files name.
enum class DType : std::uint8_t { u8, u16, u32, u64, i8, i16, i32, i64, f32, f64, c64, c128 };

[[nodiscard]] std::size_t size_bytes(DType dtype);
/// "u8", "f32", ...
[[nodiscard]] std::string_view name(DType dtype);
/// Reads "u8" or NumPy's "uint8"; throws Error(usage) naming the known ones.
[[nodiscard]] DType parse_dtype(std::string_view text);
[[nodiscard]] bool is_unsigned(DType dtype);
[[nodiscard]] bool is_float(DType dtype);
/// Largest value of an unsigned type.
[[nodiscard]] std::uint64_t max_value(DType dtype);
/// The smallest of u8, u16, u32, u64 that holds `value`.
[[nodiscard]] DType narrowest_unsigned(std::uint64_t value);

template <class T>
struct DTypeOf;
template <>
struct DTypeOf<std::uint8_t> {
  static constexpr DType value = DType::u8;
};
template <>
struct DTypeOf<std::uint16_t> {
  static constexpr DType value = DType::u16;
};
template <>
struct DTypeOf<std::uint32_t> {
  static constexpr DType value = DType::u32;
};
template <>
struct DTypeOf<std::uint64_t> {
  static constexpr DType value = DType::u64;
};
template <>
struct DTypeOf<std::int8_t> {
  static constexpr DType value = DType::i8;
};
template <>
struct DTypeOf<std::int16_t> {
  static constexpr DType value = DType::i16;
};
template <>
struct DTypeOf<std::int32_t> {
  static constexpr DType value = DType::i32;
};
template <>
struct DTypeOf<std::int64_t> {
  static constexpr DType value = DType::i64;
};
template <>
struct DTypeOf<float> {
  static constexpr DType value = DType::f32;
};
template <>
struct DTypeOf<double> {
  static constexpr DType value = DType::f64;
};
template <>
struct DTypeOf<complex64> {
  static constexpr DType value = DType::c64;
};
template <>
struct DTypeOf<complex128> {
  static constexpr DType value = DType::c128;
};
template <class T>
struct DTypeOf<const T> : DTypeOf<T> {};

template <class T>
inline constexpr DType dtype_of = DTypeOf<T>::value;

}  // namespace sonde
