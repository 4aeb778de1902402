// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/run/common_options.h"

namespace sonde {

void CommonOptions::describe(Fields& fields, bool watched) {
  fields.heading("");
  if (watched)
    fields.add("live", live,
               {.help = "show the work in the browser while it runs, on this port of this machine; 0 takes a free one. "
                        "It can be paused there between two steps, and stopped",
                .min = 0,
                .max = 65535,
                .metavar = "PORT"});
  fields.heading("Settings of every command");
  compute.describe(fields);
  fields.add("threads", threads,
             {.help = "threads that compute; 0 takes every core this process may use", .min = 0, .max = 4096});
  fields.add("report", report,
             {.help = "write what was done as JSON (sonde.report/1)", .metavar = "FILE", .flag_only = true});
  fields.add("config", config,
             {.help = "read settings from a TOML file; flags count more", .metavar = "FILE", .flag_only = true});
  fields.add("json", json, {.help = "print the result as JSON on standard output", .flag_only = true});
  fields.add("dry_run", dry_run,
             {.help = "print the resolved settings and the choices, do nothing", .flag_only = true});
  fields.add("quiet", quiet, {.help = "say nothing but warnings and errors", .flag_only = true});
  fields.heading("");
}

}  // namespace sonde
