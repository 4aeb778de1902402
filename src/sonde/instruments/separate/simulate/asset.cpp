// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/separate/simulate/asset.h"

#include <fmt/format.h>

#include <filesystem>
#include <vector>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/module.h"
#include "sonde/engine/base/paths.h"

namespace sonde::separate {

std::string asset(const std::string& name) {
  const std::vector<std::string> folders = module_folders();
  for (const std::string& folder : folders)
    if (const auto path = std::filesystem::path(folder) / "assets" / name; is_plain_file(path)) return path.string();
  throw Error(ErrorKind::not_supported, fmt::format("{}: not found in {}/assets", name, folders.front()))
      .hint("it is part of sonde: install sonde again");
}

}  // namespace sonde::separate
