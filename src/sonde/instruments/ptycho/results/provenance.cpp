// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/results/provenance.h"

#include <sys/stat.h>
#include <xxhash.h>

#include <algorithm>
#include <cstddef>
#include <vector>

#include "sonde/engine/base/moment.h"
#include "sonde/engine/base/paths.h"
#include "sonde/engine/io/file.h"
#include "sonde/engine/report/provenance.h"

namespace sonde::ptycho {
namespace {

/// Enough to tell files apart without reading all of a large one.
std::string hash_of_ends(const File& file) {
  constexpr std::uint64_t mib = std::uint64_t{1} << 20;
  const std::uint64_t end = std::min(mib, file.size());
  std::vector<std::byte> bytes(static_cast<std::size_t>(file.size() > end ? 2 * end : end));
  file.read_at(0, std::span(bytes).first(static_cast<std::size_t>(end)));
  if (file.size() > end) file.read_at(file.size() - end, std::span(bytes).last(static_cast<std::size_t>(end)));
  return hash_text(XXH3_64bits(bytes.data(), bytes.size()));
}

}  // namespace

Value provenance(const std::string& input, const std::string& device, std::uint64_t seed) {
  Value value = made_by();
  value["device"] = device;
  value["seed"] = seed;
  value["input"] = Value::object();
  Value run = moment_of_run(input);
  run["started"] = utc_now();
  if (is_plain_file(input)) {
    const File file(input);
    value["input"]["bytes"] = file.size();
    value["input"]["hash_of_first_and_last_mib"] = hash_of_ends(file);
    struct stat status {};
    if (fstat(file.descriptor(), &status) == 0) run["input_changed"] = utc_text(status.st_mtime);
  }
  value["run"] = std::move(run);
  return value;
}

}  // namespace sonde::ptycho
