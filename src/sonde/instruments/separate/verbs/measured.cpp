// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/separate/verbs/measured.h"

#include <fmt/format.h>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/sha256.h"
#include "sonde/engine/base/version.h"
#include "sonde/engine/bench/machine.h"
#include "sonde/engine/io/cache_file.h"
#include "sonde/engine/math/dense/blas.h"
#include "sonde/engine/report/json.h"
#include "sonde/instruments/separate/network/layers.h"

namespace sonde::separate {
namespace {

constexpr const char* measured_schema = "sonde.separate.measured/1";

std::string place() { return cache_path("separate.json"); }

/// All sections; an empty object where there is nothing that can be used.
Value all_kept() {
  const auto text = place().empty() ? std::nullopt : read_cache(place());
  if (!text) return Value::object();
  try {
    const Value found = parse_json(*text, place());
    const Value *is = found.find("schema"), *machine = found.find("machine"), *sections = found.find("sections");
    const bool ours =
        is != nullptr && *is == Value(measured_schema) && machine != nullptr && *machine == machine_identity();
    return ours && sections != nullptr && sections->is_object() ? *sections : Value::object();
  } catch (const Error&) {
    return Value::object();  // measured anew
  }
}

}  // namespace

Value measured_before(const std::string& section, const std::string& key) {
  const Value all = all_kept();
  const Value* const of = all.find(section);
  const Value* const found = of != nullptr && of->is_object() ? of->find(key) : nullptr;
  return found != nullptr ? *found : Value();
}

void keep_measured(const std::string& section, const std::string& key, const Value& value) {
  Value file;
  file["schema"] = measured_schema;
  file["machine"] = machine_identity();
  file["sections"] = all_kept();
  file["sections"][section][key] = value;
  try {
    write_cache(place(), to_json(file) + "\n");
  } catch (const Error&) {  // measured anew the next time
  }
}

std::string network_text(const Config& config) {
  std::string text =
      fmt::format("{} {} {} {}\n", build_info().version, build_info().revision, dense::library_version(), config.chunk);
  for (const Parameter& each : parameters(config, layer_list(config))) {
    text += fmt::format("{} {}\n", each.name, each.shape.text());
  }
  return text + norm_name(config) + activation_name(config);
}

std::string key_of(const std::string& text) { return hexadecimal(sha256(text)).substr(0, 16); }

}  // namespace sonde::separate
