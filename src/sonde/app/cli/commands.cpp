// SPDX-License-Identifier: Apache-2.0
#include "sonde/app/cli/commands.h"

#include "sonde/engine/run/instrument.h"

namespace sonde::cli {

const std::vector<Verb>& verbs() {
  static const std::vector<Verb> all = [] {
    std::vector<Verb> made;
    for (const Instrument* instrument : instruments())
      for (Verb& verb : instrument->verbs()) made.push_back(std::move(verb));
    for (Verb (*command)() : {view_command, demo_command, devices_command, machine_command, bench_command,
                              report_show_command, report_compare_command, help_command})
      made.push_back(command());
    return made;
  }();
  return all;
}

}  // namespace sonde::cli
