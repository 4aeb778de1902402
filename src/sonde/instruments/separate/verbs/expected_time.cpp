// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/separate/verbs/expected_time.h"

#include <fmt/format.h>

#include "sonde/engine/base/error.h"
#include "sonde/engine/device/parallel.h"
#include "sonde/instruments/separate/network/estimate.h"
#include "sonde/instruments/separate/verbs/measured.h"

namespace sonde::separate {

std::string time_key(const Config& config, const std::vector<ConvolutionMethod>& methods) {
  std::string text = network_text(config) + fmt::format(" {} threads", worker_limit());
  for (const ConvolutionMethod each : methods) text += fmt::format(" {}", static_cast<int>(each));
  return key_of(text);
}

void keep_chunk_seconds(const std::string& key, double seconds) { keep_measured("chunk_s", key, seconds); }

std::optional<Choice<double>> expected_chunk_seconds(const Config& config,
                                                     const std::vector<ConvolutionMethod>& methods, Run& run) {
  const std::string key = time_key(config, methods);
  const Value found = measured_before("chunk_s", key);
  if (found.is_number() && found.as_real() > 0) return {{found.as_real(), "measured before"}};
  try {
    const Reservation room = run.host_budget().reserve(probe_bytes(config, methods), "a short measurement", "");
    const double seconds = probe_seconds(config, methods);
    keep_chunk_seconds(key, seconds);
    return {{seconds, "from a short measurement"}};
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::budget) throw;
    return std::nullopt;
  }
}

}  // namespace sonde::separate
