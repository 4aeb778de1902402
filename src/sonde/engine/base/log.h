// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

namespace sonde {

enum class LogLevel { debug, note, warning };

/// Where messages go. Libraries never print: the application sets the sink (the program's writes to stderr; a test
/// collects). The sink may be called from several threads at once. Without a sink messages are dropped.
using LogSink = std::function<void(LogLevel, const std::string& message)>;

/// Replaces the sink and returns the one before. One of the few pieces of global state.
LogSink set_log_sink(LogSink sink);

void log(LogLevel level, const std::string& message);
inline void log_note(const std::string& message) { log(LogLevel::note, message); }
inline void log_warning(const std::string& message) { log(LogLevel::warning, message); }

}  // namespace sonde
