// SPDX-License-Identifier: Apache-2.0
// Private to the room.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sonde/engine/base/index.h"
#include "sonde/engine/panel/page.h"

namespace sonde::stem {

/// The arguments of one command. Reading one that is absent or of another type, or outside its limits, throws
/// Error(bad_input) that names command and argument; null counts as absent.
class Arguments {
 public:
  /// Throws Error(bad_input) on names that the command does not know, with the nearest known one. `dataset` is known to
  /// all.
  Arguments(const panel::Command& command, const std::vector<std::string>& known);

  [[nodiscard]] bool has(std::string_view name) const { return find(name) != nullptr; }
  [[nodiscard]] Index whole(std::string_view name, Index least, Index most) const;
  [[nodiscard]] Index whole_or(std::string_view name, Index least, Index most, Index otherwise) const;
  [[nodiscard]] double real(std::string_view name) const;
  [[nodiscard]] bool truth_or(std::string_view name, bool otherwise) const;
  [[nodiscard]] const std::string& text(std::string_view name) const;
  /// One of the words.
  [[nodiscard]] std::string word(std::string_view name, const std::vector<std::string>& words) const;
  [[nodiscard]] std::vector<double> reals(std::string_view name) const;
  [[nodiscard]] const Value& value(std::string_view name) const;

  /// Error(bad_input) that begins with the command.
  [[noreturn]] void fail(const std::string& message, const std::string& hint = "") const;

 private:
  [[nodiscard]] const Value* find(std::string_view name) const;
  [[nodiscard]] const Value& need(std::string_view name, std::string_view what) const;

  const panel::Command& command_;
};

}  // namespace sonde::stem
