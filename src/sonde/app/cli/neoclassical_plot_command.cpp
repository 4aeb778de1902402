// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>

#include "sonde/app/cli/commands.h"
#include "sonde/engine/base/error.h"
#include "sonde/engine/io/atomic_file.h"
#include "sonde/instruments/neoclassical/results/charts.h"
#include "sonde/instruments/neoclassical/results/result_file.h"

namespace sonde::cli {
namespace {

namespace nc = neoclassical;
namespace fs = std::filesystem;

struct PlotOptions {
  std::string input, output;
  Index radius = 0;
  void describe(Fields& fields) {
    fields.positional("input", input,
                      {.help = "a result of run or scan, or a database", .metavar = "RESULT.nc|.h5|.npz"});
    fields.add("output", output,
               {.help = "the picture; charts come as PNG and PDF", .metavar = "FILE.png|.pdf", .letter = 'o'});
    fields.add("radius", radius, {.help = "which radius of a scan or database, from 0", .min = 0});
  }
};

nc::CoefficientTables tables_of(const nc::ResultFile& file) {
  const bool database = file.has("Er_tilde");
  nc::CoefficientTables tables{.field_name = database ? "Er_tilde" : file.text("field_name"),
                               .rho = file.numbers("rho"),
                               .nu_v = file.numbers("nu_v"),
                               .fields = file.numbers(database ? "Er_tilde" : "field"),
                               .D11 = file.numbers("D11"),
                               .D31 = file.numbers("D31"),
                               .D13 = file.numbers("D13"),
                               .D33 = file.numbers("D33")};
  if (file.has("onsager_residual")) {
    tables.onsager_residual = file.numbers("onsager_residual");
  } else {
    for (std::size_t i = 0; i < std::min(tables.D13.size(), tables.D31.size()); ++i)
      tables.onsager_residual.push_back(std::abs(tables.D13[i] + tables.D31[i]) / std::abs(tables.D31[i]));
  }
  return tables;
}

/// |B| as a run stores it.
nc::Series field_of(const nc::ResultFile& file) {
  const std::vector<double>&m = file.numbers("modes_m"), &n = file.numbers("modes_n");
  nc::Series b;
  for (std::size_t i = 0; i < std::min(m.size(), n.size()); ++i)
    b.modes.push_back({static_cast<int>(m[i]), static_cast<int>(n[i])});
  b.cosine = file.numbers("modes_b_cos");
  if (file.has("modes_b_sin")) b.sine = file.numbers("modes_b_sin");
  if (m.size() != n.size() || b.cosine.size() != m.size() || (!b.sine.empty() && b.sine.size() != m.size()))
    throw Error(ErrorKind::bad_file, fmt::format("{}: modes_m, modes_n and modes_b_cos differ in length", file.path()));
  return b;
}

void run_plot(const PlotOptions& options, Context& context) {
  const std::string suffix = fs::path(options.output).extension().string();
  if (suffix != ".png" && suffix != ".pdf")
    throw Error(ErrorKind::usage,
                fmt::format("--output \"{}\": expected a name that ends in .png or .pdf", options.output));
  require_place(options.output);
  const nc::ResultFile file(options.input);
  std::vector<std::string> pictures;
  if (file.has("nu_v")) {
    pictures = during("drawing " + options.input, [&] {
      return write_chart(options.output, coefficient_chart(curves_at(tables_of(file), options.radius))).pictures;
    });
  } else {
    if (suffix != ".png")
      throw Error(ErrorKind::usage, "the result of one solve is drawn as an image").hint("-o FILE.png");
    nc::write_field_map(options.output, field_of(file), static_cast<int>(file.number("nfp")));
    pictures = {options.output};
  }
  for (const std::string& picture : pictures) {
    context.results()["files"].push_back(picture);
    context.say("wrote     " + picture);
  }
}

}  // namespace

Command neoclassical_plot_command() {
  return {.name = "neoclassical plot",
          .summary = "Draw a result: coefficients over collisionality, or |B| on the surface",
          .details =
              "Scans and databases become charts of D11, |D31|, nu D33 and Onsager symmetry over nu/v, one curve "
              "per electric field; points where D11 is not positive are left out of its logarithmic axis. The "
              "result of one solve becomes a map of |B|.",
          .examples = {{"sonde neoclassical plot scan.nc -o scan.png", "A scan of one surface"},
                       {"sonde neoclassical plot Dij.h5 --radius 3 -o rho3.pdf", "The fourth radius of a database"},
                       {"sonde neoclassical plot run.nc -o b.png", "|B| on the surface of a single solve"}},
          .invoke = invocation<PlotOptions, run_plot>};
}

}  // namespace sonde::cli
