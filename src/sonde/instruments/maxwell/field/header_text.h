// SPDX-License-Identifier: Apache-2.0
// Private to the room: headers of lines `KEY = value`.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "sonde/engine/base/error.h"
#include "sonde/instruments/maxwell/field/field_line.h"

namespace sonde::maxwell {

/// ASCII letters only.
[[nodiscard]] std::string in_capitals(std::string_view text);

class HeaderText {
 public:
  /// Of lines without the separator nothing is kept; of a key that comes twice the first. `name` begins messages.
  HeaderText(std::string_view text, char separator, std::string name);

  /// Nothing for a key that is absent or has no value. Keys are in upper case.
  [[nodiscard]] std::optional<std::string> text(const std::string& key) const;
  /// Throws Error(bad_file) for what is no finite number.
  [[nodiscard]] std::optional<double> number(const std::string& key) const;
  /// Error(bad_file) also where it is absent.
  [[nodiscard]] double above_zero(const std::string& key) const;
  /// A whole number from 1 to 2^31.
  [[nodiscard]] Index count(const std::string& key) const;
  /// Nothing where it is absent, or 0: a header that was not completed.
  [[nodiscard]] std::optional<Index> later_count(const std::string& key) const;

  [[nodiscard]] Error bad(const std::string& what) const;

 private:
  std::string name_;
  std::map<std::string, std::string> values_;
};

/// Lines of our own that the programs of the makers pass over: what their headers have no place for.
[[nodiscard]] std::string own_lines(const FieldLine& line, double unit_of_count, std::string_view separator);
/// What those say, where there are any; multiplies samples by the value of a count.
void take_own_lines(const HeaderText& header, FieldLine& line);

}  // namespace sonde::maxwell
