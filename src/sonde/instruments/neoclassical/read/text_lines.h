// SPDX-License-Identifier: Apache-2.0
// Private to the room: numbers in text files of Fortran programs.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/index.h"

namespace sonde::neoclassical {

/// A number as Fortran writes it: "-.94228E-01", "1.5D-3", "+2". Nothing for other texts and for what is not finite.
[[nodiscard]] std::optional<double> fortran_number(std::string_view text);
/// A whole number of at most `most` in size.
[[nodiscard]] std::optional<int> fortran_integer(std::string_view text, int most);

/// Walks over the lines of a text, counting them for messages.
class TextLines {
 public:
  /// `name` stands for the file and must outlive this.
  TextLines(std::string_view text, const std::string& name) : rest_(text), name_(&name) {}

  /// The next line without its end; nothing after the last.
  [[nodiscard]] std::optional<std::string_view> next();
  /// Lines given so far.
  [[nodiscard]] Index number() const { return number_; }
  /// Error(bad_file) "name, line 5: what".
  [[nodiscard]] Error error(const std::string& what) const;

 private:
  std::string_view rest_;
  const std::string* name_;
  Index number_ = 0;
};

/// The words of a line, separated by blanks, tabs and commas.
void split_words(std::string_view line, std::vector<std::string_view>& words);

}  // namespace sonde::neoclassical
