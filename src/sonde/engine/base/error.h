// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sonde/engine/base/setting.h"

namespace sonde {

/// What kind of thing went wrong. The kind decides the exit status of the program, the same for every instrument.
enum class ErrorKind {
  usage,          ///< unknown command, flag or key; exit status 2
  bad_input,      ///< a value or an array that makes no sense; 3
  bad_file,       ///< a file that is missing, foreign, short or inconsistent; 3
  budget,         ///< the work does not fit into the memory it may use; 4
  io,             ///< reading or writing failed (disk full, permission, device error); 5
  device,         ///< no such device, or it failed; 6
  not_converged,  ///< the answer is not within tolerance; 7
  not_supported,  ///< recognised, but not built or not implemented for this combination; 8
  internal,       ///< a broken promise inside the program; 70
  interrupted,    ///< SIGINT; 130
  terminated,     ///< SIGTERM; 143
};

/// The exit status of the program for an error of this kind.
[[nodiscard]] int exit_status(ErrorKind kind);
/// "bad_file" and so on: the word for it in other languages and on the network.
[[nodiscard]] std::string_view name(ErrorKind kind);

/// The one exception type. `what()` is the whole text as a person should see it:
///   error: <message>
///   while: <activity>     (one line per activity, innermost first)
///   hint: <remedy>
/// Settings in its texts (setting()) are written as keys, until a door asks for its own spelling.
class Error : public std::exception {
 public:
  Error(ErrorKind kind, std::string message);

  /// One error for several independent problems: the summary line, then every problem with its hint. Its kind is that
  /// of the problem with the smallest exit status. `problems` must not be empty.
  static Error several(std::string summary, std::vector<Error> problems);

  /// Adds something the reader can do now. Returns the error, so that it can be thrown in one expression.
  Error& hint(std::string remedy) &;
  Error&& hint(std::string remedy) &&;
  /// Adds what was being done, from the inside out.
  void add_activity(std::string activity);

  /// The same error with its settings as a door writes them.
  [[nodiscard]] Error spelled(Spelling spelling) const;
  /// The same error with `change` made to each of its texts, in which settings are still marked.
  [[nodiscard]] Error changed(const std::function<std::string(const std::string& text)>& change) const;

  [[nodiscard]] ErrorKind kind() const { return kind_; }
  [[nodiscard]] const std::string& message() const { return message_; }
  [[nodiscard]] const std::string& hint() const { return hint_; }
  [[nodiscard]] const std::vector<std::string>& activities() const { return activities_; }
  /// Message and hint with their settings still marked: for what is put into another error, or sent to another process.
  [[nodiscard]] const std::string& marked_message() const { return marked_message_; }
  [[nodiscard]] const std::string& marked_hint() const { return marked_hint_; }
  [[nodiscard]] const std::vector<Error>& problems() const { return problems_; }
  [[nodiscard]] const char* what() const noexcept override { return text_.c_str(); }

 private:
  void compose();

  ErrorKind kind_;
  Spelling spelling_ = Spelling::keys;
  std::string marked_message_, marked_hint_;
  std::string message_;
  std::string hint_;
  std::vector<std::string> activities_;
  std::vector<Error> problems_;
  std::string text_;
};

/// Runs `body` and adds "while: <activity>" to an Error that passes through.
template <class Body>
auto during(const std::string& activity, Body&& body) -> decltype(body()) {
  try {
    return std::forward<Body>(body)();
  } catch (Error& error) {
    error.add_activity(activity);
    throw;
  }
}

/// Collects independent problems so that all of them reach the user in one report.
class Problems {
 public:
  void add(Error error) { errors_.push_back(std::move(error)); }
  /// Runs `body`; an Error it throws is collected, and false is returned.
  template <class Body>
  bool collect(Body&& body) {
    try {
      std::forward<Body>(body)();
      return true;
    } catch (Error& error) {
      add(std::move(error));
      return false;
    }
  }
  [[nodiscard]] bool empty() const { return errors_.empty(); }
  [[nodiscard]] const std::vector<Error>& errors() const { return errors_; }
  /// Throws nothing when empty, the problem itself when there is one, `Error::several(summary, ...)` otherwise.
  void throw_if_any(const std::string& summary) const;

 private:
  std::vector<Error> errors_;
};

}  // namespace sonde
