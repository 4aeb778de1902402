// SPDX-License-Identifier: Apache-2.0
// Any text is the configuration of a network that can be built, or an Error: through yaml-cpp too.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "sonde/engine/base/error.h"
#include "sonde/instruments/separate/network/layers.h"
#include "sonde/instruments/separate/weights/config_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace sonde::separate;
  try {
    const Config config = parse_config({reinterpret_cast<const char*>(bytes), size}, "config.yaml");
    if (config.stems().empty() || config.frames() < 1 || config.band() < 1) std::abort();
    if (parameters(config, layer_list(config)).empty()) std::abort();
  } catch (const sonde::Error&) {
  }
  return 0;
}
