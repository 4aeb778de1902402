// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/results/provenance.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <xxhash.h>

#include <algorithm>
#include <cstddef>
#include <vector>

#include "sonde/engine/base/moment.h"
#include "sonde/engine/base/paths.h"
#include "sonde/engine/base/version.h"
#include "sonde/engine/io/file.h"

namespace sonde::ptycho {
namespace {

/// Enough to tell files apart without reading all of a large one.
std::string hash_of_ends(const File& file) {
  constexpr std::uint64_t mib = std::uint64_t{1} << 20;
  const std::uint64_t end = std::min(mib, file.size());
  std::vector<std::byte> bytes(static_cast<std::size_t>(file.size() > end ? 2 * end : end));
  file.read_at(0, std::span(bytes).first(static_cast<std::size_t>(end)));
  if (file.size() > end) file.read_at(file.size() - end, std::span(bytes).last(static_cast<std::size_t>(end)));
  return fmt::format("xxh3:{:016x}", XXH3_64bits(bytes.data(), bytes.size()));
}

}  // namespace

Value provenance(const std::string& input, const std::string& device, std::uint64_t seed) {
  const BuildInfo& build = build_info();
  Value value;
  value["program"] = "sonde";
  value["version"] = build.version;
  value["revision"] = build.revision;
  value["device"] = device;
  value["seed"] = seed;
  value["input"] = Value::object();
  Value run;
  run["started"] = utc_now();
  run["host"] = host_name();
  if (!is_plain_file(input)) {  // a folder, or an array in memory
    run["input"] = input;
  } else {
    const File file(input);
    value["input"]["bytes"] = file.size();
    value["input"]["hash_of_first_and_last_mib"] = hash_of_ends(file);
    run["input"] = absolute_path(input).string();
    struct stat status {};
    if (fstat(file.descriptor(), &status) == 0) run["input_changed"] = utc_text(status.st_mtime);
  }
  value["run"] = std::move(run);
  return value;
}

std::string input_path(const Value& provenance) {
  if (const Value* run = provenance.find("run")) return text_at(*run, "input");
  const Value* input = provenance.find("input");  // in results of before
  return input != nullptr ? text_at(*input, "path") : "";
}

}  // namespace sonde::ptycho
