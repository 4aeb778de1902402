// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mutex>
#include <string>

#include "sonde/engine/base/error.h"
#include "sonde/engine/report/progress.h"

namespace sonde::cli {

/// Standard error as people see it: lines of text, and below them one progress bar when it is a terminal. Thread-safe.
class Terminal {
 public:
  Terminal();
  /// Writes a line (and redraws the bar below it).
  void print(const std::string& text);
  /// Draws or updates the bar; does nothing when standard error is no terminal.
  void show(const Progress& progress);

 private:
  void write(const std::string& text) const;

  std::mutex mutex_;
  bool draws_ = false;
  std::string bar_;  // as drawn now; empty when there is none
};

[[nodiscard]] Terminal& terminal();

/// One line: "loading [######----]  60 %  6000/10000 frames  1.2e+03/s  3.3 s left".
[[nodiscard]] std::string progress_line(const Progress& progress, std::size_t columns);

/// Notes and warnings go to the terminal, progress becomes a bar; `quiet` leaves only warnings.
void attach_terminal(bool quiet);

/// The reader of standard output has gone (`sonde help | head`): no fault, so nothing is said. The program ends with
/// `status`, as one that SIGPIPE ends does for a shell.
struct OutputClosed {
  static constexpr int status = 141;
};

/// Writes to standard output, with control characters made visible. Throws OutputClosed when its reader has gone,
/// Error(io) when it cannot be written for another reason (disk full).
void print_output(const std::string& text);

/// With what the program ends on this error: exit_status() of its kind, and 129 where SIGHUP ended the work.
[[nodiscard]] int status_of(const Error& error);

/// SIGINT, SIGTERM and SIGHUP ask the work to stop, a second one ends the program at once (listen_for_interrupts);
/// limits of file size are errors of the write, a closed pipe is OutputClosed.
void install_signal_handlers();

}  // namespace sonde::cli
