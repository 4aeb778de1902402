// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/results/provenance.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <xxhash.h>

#include <algorithm>
#include <cstddef>
#include <ctime>
#include <filesystem>
#include <vector>

#include "sonde/engine/base/version.h"
#include "sonde/engine/io/file.h"

namespace sonde::ptycho {
namespace {

std::string utc(std::time_t time) { return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(time)); }

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
  value["started"] = utc(std::time(nullptr));
  value["seed"] = seed;
  std::error_code failed;
  if (!std::filesystem::is_regular_file(input, failed)) {  // a folder, or an array in memory
    value["input"]["path"] = input;
    return value;
  }
  const File file(input);
  value["input"]["path"] = std::filesystem::absolute(input).string();
  value["input"]["bytes"] = file.size();
  struct stat status {};
  if (fstat(file.descriptor(), &status) == 0) value["input"]["changed"] = utc(status.st_mtime);
  value["input"]["hash_of_first_and_last_mib"] = hash_of_ends(file);
  return value;
}

}  // namespace sonde::ptycho
