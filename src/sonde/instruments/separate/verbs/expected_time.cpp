// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/separate/verbs/expected_time.h"

#include <fmt/format.h>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/sha256.h"
#include "sonde/engine/base/version.h"
#include "sonde/engine/bench/machine.h"
#include "sonde/engine/device/parallel.h"
#include "sonde/engine/io/cache_file.h"
#include "sonde/engine/report/json.h"
#include "sonde/instruments/separate/network/estimate.h"

namespace sonde::separate {
namespace {

constexpr const char* schema = "sonde.separate.times/1";

/// What was measured on this machine; an empty object where there is nothing that can be used.
Value kept_times() {
  const std::string path = cache_path("separate.json");
  const auto text = path.empty() ? std::nullopt : read_cache(path);
  if (!text) return Value::object();
  try {
    const Value kept = parse_json(*text, path);
    const Value *is = kept.find("schema"), *machine = kept.find("machine"), *times = kept.find("chunk_s");
    const bool ours = is != nullptr && *is == Value(schema) && machine != nullptr && *machine == machine_identity();
    return ours && times != nullptr && times->is_object() ? *times : Value::object();
  } catch (const Error&) {
    return Value::object();  // measured anew
  }
}

}  // namespace

std::string time_key(const Config& config, const std::vector<ConvolutionMethod>& methods) {
  std::string text =
      fmt::format("{} {} {} {}\n", build_info().version, build_info().revision, worker_limit(), config.chunk);
  for (const Parameter& each : parameters(config, layer_list(config))) {
    text += fmt::format("{} {}\n", each.name, each.shape.count());
  }
  text += norm_name(config) + activation_name(config);
  for (const ConvolutionMethod each : methods) text += fmt::format(" {}", static_cast<int>(each));
  return hexadecimal(sha256(text)).substr(0, 16);
}

void keep_chunk_seconds(const std::string& key, double seconds) {
  Value kept;
  kept["schema"] = schema;
  kept["machine"] = machine_identity();
  kept["chunk_s"] = kept_times();
  kept["chunk_s"][key] = seconds;
  try {
    write_cache(cache_path("separate.json"), to_json(kept) + "\n");
  } catch (const Error&) {  // measured anew the next time
  }
}

std::optional<Choice<double>> expected_chunk_seconds(const Config& config,
                                                     const std::vector<ConvolutionMethod>& methods, Run& run) {
  const std::string key = time_key(config, methods);
  const Value times = kept_times();
  const Value* const found = times.find(key);
  if (found != nullptr && found->is_number() && found->as_real() > 0) return {{found->as_real(), "measured before"}};
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
