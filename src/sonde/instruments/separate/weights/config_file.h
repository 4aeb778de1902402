// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "sonde/instruments/separate/network/config.h"

namespace sonde::separate {

/// The configuration in the YAML file of a TFC-TDF v3 network, as Music-Source-Separation-Training and Ultimate Vocal
/// Remover write it; sections and keys that are not needed are ignored. `audio.chunk_size` counts, unless
/// `inference.chunk_size` is there; without both the chunk is that of `dim_t` frames. Throws Error(bad_file) with all
/// fields that are missing or no numbers, and what check() finds; Error(not_supported) for the configuration of another
/// kind of network (BS-RoFormer, Mel-Band RoFormer, Demucs and others), by its name.
[[nodiscard]] Config read_config(const std::string& path);
/// The same from a text; `name` begins messages.
[[nodiscard]] Config parse_config(std::string_view text, const std::string& name);

}  // namespace sonde::separate
