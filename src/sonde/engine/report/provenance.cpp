// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/report/provenance.h"

#include <fmt/format.h>

#include <filesystem>

#include "sonde/engine/base/moment.h"
#include "sonde/engine/base/paths.h"
#include "sonde/engine/base/version.h"

namespace sonde {

Value made_by() {
  Value made;
  made["program"] = "sonde";
  made["version"] = build_info().version;
  made["revision"] = build_info().revision;
  return made;
}

std::string made_by_text() { return fmt::format("sonde {} ({})", build_info().version, build_info().revision); }

Value moment_of_run(const std::string& input) {
  Value run;
  run["host"] = host_name();
  std::error_code failed;
  run["input"] = std::filesystem::exists(input, failed) ? absolute_path(input).string() : input;
  return run;
}

std::string input_path(const Value& record) {
  if (const Value* run = record.find("run")) return text_at(*run, "input");
  const Value* input = record.find("input");  // in results of before
  return input != nullptr ? text_at(*input, "path") : "";
}

std::string hash_text(std::uint64_t xxh3) { return fmt::format("xxh3:{:016x}", xxh3); }

}  // namespace sonde
