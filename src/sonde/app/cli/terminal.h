// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mutex>
#include <string>

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

/// Writes to standard output. Throws Error(io) when nobody takes it (disk full, closed pipe).
void print_output(const std::string& text);

/// SIGINT and SIGTERM ask the work to stop; a second SIGINT ends the program at once.
void install_signal_handlers();

}  // namespace sonde::cli
