// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <limits>

#include "sonde/engine/io/hdf5.h"

namespace sonde {
namespace {

std::string print(const Hdf5Value::Scalar& scalar) {
  return std::visit([](const auto& value) { return fmt::format("{}", value); }, scalar);
}

}  // namespace

std::optional<double> Hdf5Value::number() const {
  if (elements.size() != 1) return std::nullopt;
  if (const auto* value = std::get_if<std::int64_t>(&elements[0])) return static_cast<double>(*value);
  if (const auto* value = std::get_if<std::uint64_t>(&elements[0])) return static_cast<double>(*value);
  if (const auto* value = std::get_if<double>(&elements[0])) return *value;
  return std::nullopt;
}

std::optional<std::int64_t> Hdf5Value::integer() const {
  if (elements.size() != 1) return std::nullopt;
  if (const auto* value = std::get_if<std::int64_t>(&elements[0])) return *value;
  if (const auto* value = std::get_if<std::uint64_t>(&elements[0]))
    return *value <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())
               ? std::optional(static_cast<std::int64_t>(*value))
               : std::nullopt;
  if (const auto* value = std::get_if<double>(&elements[0])) {
    constexpr double exact = 9007199254740992.0;  // 2^53: beyond it a double may stand for several integers
    if (!(*value >= -exact && *value <= exact)) return std::nullopt;
    const auto whole = static_cast<std::int64_t>(*value);
    if (static_cast<double>(whole) == *value) return whole;
  }
  return std::nullopt;
}

std::optional<std::string> Hdf5Value::text() const {
  if (elements.size() != 1) return std::nullopt;
  if (const auto* value = std::get_if<std::string>(&elements[0])) return *value;
  return std::nullopt;
}

std::string Hdf5Value::printed() const {
  if (elements.size() == 1) return print(elements[0]);  // many programs store scalars as arrays of one
  std::string all = "[";
  for (const Scalar& element : elements) all += (all.size() > 1 ? ", " : "") + print(element);
  return all + "]";
}

}  // namespace sonde
