// SPDX-License-Identifier: Apache-2.0
#include "sonde/app/cli/commands.h"

namespace sonde::cli {

const std::vector<Command>& commands() {
  static const std::vector<Command> all = {
      stem_info_command(),
      stem_validate_command(),
      stem_load_command(),
      stem_image_command(),
      stem_convert_command(),
      stem_simulate_command(),
      devices_command(),
      report_show_command(),
      report_compare_command(),
      help_command(),
  };
  return all;
}

}  // namespace sonde::cli
