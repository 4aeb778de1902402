// SPDX-License-Identifier: Apache-2.0
// Private to the room: what was measured on this machine, kept from run to run.
#pragma once

#include <string>

#include "sonde/engine/options/value.h"
#include "sonde/instruments/separate/network/config.h"

namespace sonde::separate {

/// What is kept in a section under a key; null where there is nothing of this machine.
[[nodiscard]] Value measured_before(const std::string& section, const std::string& key);
/// Keeps it. Where the cache cannot be written, nothing is kept.
void keep_measured(const std::string& section, const std::string& key, const Value& value);

/// What decides how long the layers of a network take, but for the machine, the threads and the algorithms: its shapes,
/// this program and its library.
[[nodiscard]] std::string network_text(const Config& config);
/// A key of what such a text says.
[[nodiscard]] std::string key_of(const std::string& text);

}  // namespace sonde::separate
