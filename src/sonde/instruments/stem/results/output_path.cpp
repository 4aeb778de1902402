// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/results/output_path.h"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

#include "sonde/engine/base/error.h"

namespace sonde::stem {

namespace fs = std::filesystem;

void require_folder(const std::string& path) {
  const fs::path folder = fs::path(path).parent_path();
  std::error_code failed;
  if (folder.empty() || fs::is_directory(folder, failed)) return;
  if (fs::exists(folder, failed))
    throw Error(ErrorKind::io, fmt::format("{}: {} is not a folder", path, folder.string())).hint("give another name");
  throw Error(ErrorKind::io, fmt::format("{}: there is no folder {}", path, folder.string()))
      .hint(fmt::format("mkdir -p {}", folder.string()));
}

void require_not_input(const std::string& path, const Acquisition& acquisition) {
  const auto refuse_if = [&](const std::string& input) {
    std::error_code failed;
    if (fs::equivalent(path, input, failed) && !failed)
      throw Error(ErrorKind::bad_input, fmt::format("{}: would replace a file of the scan itself", path))
          .hint("give the result another name");
  };
  refuse_if(acquisition.path);
  for (const std::string& file : acquisition.files) refuse_if(file);
}

}  // namespace sonde::stem
