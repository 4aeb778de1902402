// SPDX-License-Identifier: Apache-2.0
// One function per command file; commands.cpp puts them in order.
#pragma once

#include "sonde/app/cli/command.h"

namespace sonde::cli {

Command bench_command();
Command demo_command();
Command devices_command();
Command help_command();
Command machine_command();
Command neoclassical_boozer_command();
Command neoclassical_convergence_command();
Command neoclassical_convert_command();
Command neoclassical_database_command();
Command neoclassical_plot_command();
Command neoclassical_profile_command();
Command neoclassical_run_command();
Command neoclassical_scan_command();
Command ptycho_compare_command();
Command ptycho_diagnose_command();
Command ptycho_direct_command();
Command ptycho_export_command();
Command ptycho_init_command();
Command ptycho_orient_command();
Command ptycho_report_command();
Command ptycho_resume_command();
Command ptycho_run_command();
Command ptycho_simulate_command();
Command ptycho_sweep_command();
Command report_compare_command();
Command report_show_command();
Command stem_convert_command();
Command stem_image_command();
Command stem_info_command();
Command stem_load_command();
Command stem_simulate_command();
Command stem_validate_command();
Command view_command();

}  // namespace sonde::cli
