// SPDX-License-Identifier: Apache-2.0
// The one place that knows all formats.
#include <fmt/format.h>

#include <array>
#include <cstring>

#include "sonde/engine/base/error.h"
#include "sonde/engine/io/file.h"
#include "sonde/instruments/stem/read/hdf5_source.h"
#include "sonde/instruments/stem/read/source.h"

namespace sonde::stem {
namespace {

/// At byte 0, or behind a user block of 512, 1024, 2048, ... bytes.
bool is_hdf5(const File& file) {
  constexpr char signature[] = "\x89HDF\r\n\x1a\n";
  std::array<std::byte, 8> bytes{};
  for (std::uint64_t at = 0; at + bytes.size() <= file.size(); at = at == 0 ? 512 : 2 * at) {
    file.read_at(at, bytes);
    if (std::memcmp(bytes.data(), signature, bytes.size()) == 0) return true;
  }
  return false;
}

}  // namespace

std::unique_ptr<Source> open_source(const std::string& path, const ReadOptions& options) {
  if (is_hdf5(File(path))) return open_hdf5(path, options);
  throw Error(ErrorKind::bad_file, fmt::format("{}: the format is not recognised", path));
}

}  // namespace sonde::stem
