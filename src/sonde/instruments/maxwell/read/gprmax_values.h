// SPDX-License-Identifier: Apache-2.0
// Private to the room: the values of a command of gprMax, each checked as it is read.
#pragma once

#include <string>
#include <string_view>

#include "sonde/instruments/maxwell/read/gprmax_input.h"

namespace sonde::maxwell {

class GprmaxValues {
 public:
  /// The command must outlive this.
  explicit GprmaxValues(const GprmaxCommand& command) : command_(&command) {}

  [[nodiscard]] const GprmaxCommand& command() const { return *command_; }
  [[nodiscard]] std::size_t count() const { return command_->words.size(); }
  [[nodiscard]] const std::string& word(std::size_t i) const { return command_->words[i]; }

  /// Error(bad_file) "model.in, line 5: #box: what".
  [[nodiscard]] Error error(const std::string& what) const;
  /// Error(not_supported) "model.in, line 5: what is not supported yet".
  [[nodiscard]] Error unsupported(const std::string& what) const;

  /// Finite numbers; `what` is the value's name in messages.
  [[nodiscard]] double number(std::size_t i, std::string_view what) const;
  [[nodiscard]] double above_zero(std::size_t i, std::string_view what) const;
  [[nodiscard]] double at_least(double least, std::size_t i, std::string_view what) const;
  [[nodiscard]] Index whole(Index least, std::size_t i, std::string_view what) const;
  /// Three numbers from `i` on.
  [[nodiscard]] Xyz xyz(std::size_t i) const;
  [[nodiscard]] GprmaxTime time(std::size_t i, std::string_view what) const;
  /// x, y or z in either case.
  [[nodiscard]] std::size_t axis(std::size_t i, std::string_view what) const;
  /// y or n in either case.
  [[nodiscard]] bool yes(std::size_t i, std::string_view what) const;

 private:
  const GprmaxCommand* command_;
};

}  // namespace sonde::maxwell
