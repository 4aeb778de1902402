// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/results/output_path.h"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

#include "sonde/engine/base/error.h"

namespace sonde::stem {

namespace fs = std::filesystem;

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
