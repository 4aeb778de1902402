// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/text.h"
#include "sonde/engine/io/atomic_file.h"
#include "sonde/engine/io/output_ending.h"
#include "sonde/engine/run/write_charts.h"
#include "sonde/instruments/neoclassical/database/database_file.h"
#include "sonde/instruments/neoclassical/results/field_chart.h"
#include "sonde/instruments/neoclassical/results/study_result.h"
#include "sonde/instruments/neoclassical/results/transport_result.h"
#include "sonde/instruments/neoclassical/verbs/solve_settings.h"
#include "sonde/instruments/neoclassical/verbs/verbs.h"

namespace sonde::neoclassical {
namespace {

namespace fs = std::filesystem;

struct PlotOptions {
  std::string input, output, quantity;
  Index radius = 0;
  void describe(Fields& fields) {
    fields.positional(
        "input", input,
        {.help = "a result of run, scan, convergence or profile, or a database", .metavar = "RESULT.nc|.h5|.npz"});
    fields.add("output", output,
               {.help = "the picture; unset: FILE.png and FILE.pdf beside the input",
                .metavar = "FILE.png|.pdf|.svg",
                .letter = 'o'});
    fields.add("quantity", quantity,
               {.help = "what is drawn: D11, D31, D33, onsager of a scan or a database; b of a run; convergence of a "
                        "study; fluxes, ambipolar, bootstrap of profiles; empty: all there is",
                .metavar = "LIST"});
    fields.add("radius", radius, {.help = "which radius of a scan or database, from 0", .min = 0});
  }
};

/// What can be drawn of a file.
struct Drawable {
  const char* what;
  std::vector<std::string> quantities;
};
const Drawable a_scan{"coefficients over collisionality", {"D11", "D31", "D33", "onsager"}};
const Drawable a_run{"the result of one solve", {"b"}};
const Drawable a_study{"a convergence study", {"convergence"}};
const Drawable profiles{"profiles of transport", {"fluxes", "ambipolar", "bootstrap"}};

/// The quantities asked for; all when none are. Throws Error(usage) for one that the file does not have.
std::vector<std::string> chosen(const PlotOptions& options, const Drawable& file) {
  std::vector<std::string> words;
  for (const std::string& word : split(options.quantity, ','))
    if (const std::string name(trim(word)); !name.empty()) words.push_back(name);
  for (const std::string& word : words)
    if (std::find(file.quantities.begin(), file.quantities.end(), word) == file.quantities.end())
      throw Error(ErrorKind::usage, fmt::format("{}: {} holds {}, of which {} can be drawn", setting("quantity", word),
                                                options.input, file.what, join_words(file.quantities, ", ")));
  return words.empty() ? file.quantities : words;
}

/// Whether a quantity is among the chosen ones.
auto among(const PlotOptions& options, const Drawable& file) {
  return [words = chosen(options, file)](const char* name) {
    return std::find(words.begin(), words.end(), name) != words.end();
  };
}

Chart coefficients(const PlotOptions& options, const CoefficientTables& tables) {
  const auto wanted = among(options, a_scan);
  return coefficient_chart(curves_at(tables, options.radius),
                           {wanted("D11"), wanted("D31"), wanted("D33"), wanted("onsager")});
}

Chart transport(const PlotOptions& options, const StoredTransport& stored) {
  const auto wanted = among(options, profiles);
  Chart chart =
      transport_chart(stored.results, stored.species, {wanted("fluxes"), wanted("ambipolar"), wanted("bootstrap")});
  if (chart.facets.empty())
    throw Error(ErrorKind::bad_input, options.input + ": no radius has a field, so there is nothing to draw");
  return chart;
}

Chart chart_of(const PlotOptions& options) {
  const ResultFile file(options.input);
  if (file.has("Er_tilde")) return coefficients(options, tables_of(read_database(options.input).database));
  if (file.has("nu_v")) return coefficients(options, tables_of(file));
  if (file.has("species_names")) return transport(options, read_transport(file));
  if (file.has("refined")) {
    (void)chosen(options, a_study);
    return study_chart(read_study(file));
  }
  if (!file.has("modes_m"))
    throw Error(ErrorKind::bad_file, options.input + ": holds nothing that can be drawn")
        .hint("give what `sonde neoclassical run`, `scan`, `convergence`, `database` or `profile` wrote");
  (void)chosen(options, a_run);
  return field_chart(surface_field(file));
}

void run_plot(const PlotOptions& options, Run& run) {
  const std::string output = chart_place(options.output, options.input, run);
  auto reading = run.report().phase("read");
  run.require_room_for(options.input);
  const Chart chart = chart_of(options);
  reading.end();
  during("drawing " + options.input, [&] { draw(chart, output, run); });
}

}  // namespace

Verb plot_verb() {
  return {
      .name = "neoclassical plot",
      .summary = "Draw a result: coefficients over collisionality, |B| on the surface, a study, profiles of transport",
      .details =
          "Scans and databases become charts of D11*, D31* and D33* of the benchmark over nu* = R0 nu / (|iota| v), "
          "one curve per electric field, with Onsager symmetry beside them. Where R0, iota and the minor radius are "
          "not known (built-in surfaces, DKES), D11 and D31 are in their units over nu/v. No point is left out: "
          "open marks are below zero, red crosses are doubtful (D11 or D33 not above 0, for D31 also an Onsager "
          "residual above 1 %), black crosses at the lower edge have no answer. The result of one solve becomes a map "
          "of |B| "
          "with a field line; a stored convergence study its chart; profiles of transport those of the command that "
          "made them. Beside the picture are FILE.chart.json, the "
          "numbers, and FILE.gp, which draws it again.",
      .examples = {{"sonde neoclassical plot scan.nc -o scan.png", "A scan of one surface"},
                   {"sonde neoclassical plot Dij.h5 --radius 3 --quantity D11,D31 -o rho3.pdf",
                    "Two coefficients of the fourth radius of a database"},
                   {"sonde neoclassical plot run.nc -o b.svg", "|B| on the surface of a single solve"},
                   {"sonde neoclassical plot study.nc -o study.png", "What `convergence -o study.nc` stored"},
                   {"sonde neoclassical plot profiles.h5 --quantity ambipolar,bootstrap -o current.png",
                    "Electric field and current of what `profile` wrote"}},
      .invoke = invocation<PlotOptions, run_plot>};
}

}  // namespace sonde::neoclassical
