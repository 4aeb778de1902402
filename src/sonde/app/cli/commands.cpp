// SPDX-License-Identifier: Apache-2.0
#include "sonde/app/cli/commands.h"

namespace sonde::cli {

const std::vector<Command>& commands() {
  // One command per line, in the order of the overview.
  // clang-format off
  static const std::vector<Command> all = {
      stem_info_command(),
      stem_validate_command(),
      stem_load_command(),
      stem_image_command(),
      stem_convert_command(),
      stem_simulate_command(),
#ifdef SONDE_WITH_PTYCHO
      ptycho_run_command(),
      ptycho_resume_command(),
      ptycho_direct_command(),
      ptycho_init_command(),
      ptycho_report_command(),
      ptycho_sweep_command(),
      ptycho_export_command(),
      ptycho_compare_command(),
      ptycho_diagnose_command(),
      ptycho_orient_command(),
      ptycho_simulate_command(),
#endif
#ifdef SONDE_WITH_NEOCLASSICAL
      neoclassical_run_command(),
      neoclassical_scan_command(),
      neoclassical_database_command(),
      neoclassical_boozer_command(),
      neoclassical_convergence_command(),
      neoclassical_profile_command(),
      neoclassical_convert_command(),
      neoclassical_plot_command(),
#endif
      view_command(),
      demo_command(),
      devices_command(),
      machine_command(),
      bench_command(),
      report_show_command(),
      report_compare_command(),
      help_command(),
  };
  // clang-format on
  return all;
}

}  // namespace sonde::cli
