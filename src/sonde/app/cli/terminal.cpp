// SPDX-License-Identifier: Apache-2.0
#include "sonde/app/cli/terminal.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <string_view>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/interrupt.h"
#include "sonde/engine/base/log.h"
#include "sonde/engine/base/printable.h"
#include "sonde/engine/base/text.h"

namespace sonde::cli {
namespace {

constexpr std::size_t bar_cells = 24;

volatile std::sig_atomic_t hung_up = 0;  // set by the handler of SIGHUP

std::size_t terminal_columns() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

/// A message may have lines, and may hold names that have some too: those after the first are indented, so that none of
/// them looks like a message of its own.
std::string message_lines(const std::string& message) {
  std::string shown;
  for (std::size_t from = 0; from <= message.size();) {
    const std::size_t end = std::min(message.find('\n', from), message.size());
    shown += (from == 0 ? "" : "\n  ") + printable(std::string_view(message).substr(from, end - from));
    from = end + 1;
  }
  return shown;
}

}  // namespace

std::string progress_line(const Progress& progress, std::size_t columns) {
  std::string line = printable(progress.stage);
  if (progress.total > 0) {
    const double fraction =
        std::clamp(static_cast<double>(progress.done) / static_cast<double>(progress.total), 0.0, 1.0);
    const auto filled = static_cast<std::size_t>(fraction * static_cast<double>(bar_cells));
    line += fmt::format(" [{}{}] {:3.0f} %  {}/{} {}", std::string(filled, '#'), std::string(bar_cells - filled, '-'),
                        100 * fraction, progress.done, progress.total, progress.unit);
    if (progress.rate > 0 && progress.done < progress.total)
      line +=
          fmt::format("  {} left", format_seconds(static_cast<double>(progress.total - progress.done) / progress.rate));
  } else {
    line += fmt::format("  {} {}", progress.done, progress.unit);
  }
  if (progress.rate > 0) line += fmt::format("  {:.3g} {}/s", progress.rate, progress.unit);
  if (line.size() >= columns) line.resize(columns - 1);  // a wrapped bar could not be erased
  return line;
}

Terminal::Terminal() : draws_(isatty(STDERR_FILENO) == 1) {}

void Terminal::write(const std::string& text) const {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

void Terminal::print(const std::string& text) {
  const std::lock_guard lock(mutex_);
  const std::string shown = printable_lines(spelled(text, Spelling::flags)) + (text.ends_with('\n') ? "" : "\n");
  write(bar_.empty() ? shown : "\r\x1b[K" + shown + bar_);
}

void Terminal::show(const Progress& progress) {
  const std::lock_guard lock(mutex_);
  if (!draws_) return;
  bar_ = progress.finished ? "" : progress_line(progress, terminal_columns());
  write("\r\x1b[K" + bar_);
}

Terminal& terminal() {
  static Terminal the_terminal;
  return the_terminal;
}

void attach_terminal(bool quiet) {
  set_log_sink([quiet](LogLevel level, const std::string& marked) {
    const std::string message = spelled(marked, Spelling::flags);
    if (level == LogLevel::warning) terminal().print("warning: " + message_lines(message));
    if (level == LogLevel::note && !quiet) terminal().print("note: " + message_lines(message));
  });
  if (quiet)
    set_progress_sink({});
  else
    set_progress_sink([](const Progress& progress) { terminal().show(progress); });
}

void print_output(const std::string& text) {
  errno = 0;
  const std::string shown = printable_lines(spelled(text, Spelling::flags));
  if (std::fwrite(shown.data(), 1, shown.size(), stdout) == shown.size() && std::fflush(stdout) == 0) return;
  if (errno == EPIPE) throw OutputClosed();
  throw Error(ErrorKind::io, fmt::format("standard output: cannot be written: {}", std::strerror(errno)));
}

int status_of(const Error& error) {
  constexpr int shell_adds = 128;
  return error.kind() == ErrorKind::terminated && hung_up != 0 ? shell_adds + SIGHUP : exit_status(error.kind());
}

void install_signal_handlers() {
  listen_for_interrupts();
  // Under nohup it is ignored, and stays so.
  struct sigaction action {};
  if (sigaction(SIGHUP, nullptr, &action) == 0 && action.sa_handler != SIG_IGN) {
    action = {};
    action.sa_handler = [](int signal) {
      hung_up = 1;
      request_interrupt(signal);
    };
    sigemptyset(&action.sa_mask);
    sigaction(SIGHUP, &action, nullptr);
  }
  std::signal(SIGPIPE, SIG_IGN);  // a closed pipe is OutputClosed, after files and sockets were put in order
  std::signal(SIGXFSZ, SIG_IGN);  // so is a file that grows beyond the limit (ulimit -f)
}

}  // namespace sonde::cli
