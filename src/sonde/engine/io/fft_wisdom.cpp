// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/io/fft_wisdom.h"

#include <fmt/format.h>

#include <optional>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/log.h"
#include "sonde/engine/device/device.h"
#include "sonde/engine/math/fft.h"

namespace sonde {
namespace {

std::string first_line() {
  return fmt::format("sonde Fourier plans 1: {} on {}\n", fft_library(), Device::cpu().info().name);
}

/// The wisdom in a file that is meant for this processor.
std::optional<std::string> kept_wisdom(const std::string& path) {
  const std::optional<std::string> text = read_cache(path);
  const std::string mine = first_line();
  if (!text || !text->starts_with(mine)) return std::nullopt;
  return text->substr(mine.size());
}

}  // namespace

bool load_fft_wisdom(const std::string& path) {
  const std::optional<std::string> wisdom = kept_wisdom(path);
  return wisdom && import_fft_wisdom(*wisdom);
}

void save_fft_wisdom(const std::string& path) {
  const std::string wisdom = fft_wisdom();
  if (path.empty() || wisdom.empty() || kept_wisdom(path) == wisdom) return;
  try {
    write_cache(path, first_line() + wisdom);
  } catch (const Error& error) {
    log_note(fmt::format("what Fourier plans have learnt is not kept, and the next run measures again: {}",
                         error.message()));
  }
}

}  // namespace sonde
