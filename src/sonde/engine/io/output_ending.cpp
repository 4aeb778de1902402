// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/io/output_ending.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/setting.h"
#include "sonde/engine/base/text.h"

namespace sonde {

std::string output_ending(const std::string& path) {
  const std::string ending = to_lower(std::filesystem::path(path).extension().string());
  if (ending == ".hdf5") return ".h5";
  return ending == ".tiff" ? ".tif" : ending;
}

std::string require_ending(const std::string& path, const std::string& what, const std::vector<std::string>& endings) {
  std::string ending = output_ending(path);
  if (std::find(endings.begin(), endings.end(), ending) == endings.end())
    throw Error(ErrorKind::usage, fmt::format("{}: {} are written as {}", path.empty() ? setting("output") : path, what,
                                              join_words(endings, " or ")));
  return ending;
}

}  // namespace sonde
