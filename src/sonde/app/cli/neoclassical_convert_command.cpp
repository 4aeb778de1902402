// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <array>
#include <map>
#include <string>
#include <vector>

#include "sonde/app/cli/commands.h"
#include "sonde/engine/base/error.h"
#include "sonde/instruments/neoclassical/convert/stored_points.h"
#include "sonde/instruments/neoclassical/results/result_file.h"

namespace sonde::cli {
namespace {

namespace nc = neoclassical;

struct ConvertOptions {
  std::string input, output;
  nc::ConversionSettings conversion;
  void describe(Fields& fields) {
    fields.positional("input", input, {.help = "a result of run, or of this command", .metavar = "RESULT.nc|.h5|.npz"});
    fields.add("output", output, {.help = "the converted point", .metavar = "FILE.nc|.h5|.npz", .letter = 'o'});
    conversion.describe(fields);
  }
};

void run_convert(const ConvertOptions& options, Context& context) {
  nc::require_result_path(options.output);
  auto reading = context.report().phase("read");
  const nc::ResultFile file(options.input);
  reading.end();
  auto converting = context.report().phase("convert");
  const nc::StoredNumbers made =
      during("converting " + options.input, [&] { return nc::converted(file.numbers(), options.conversion); });
  converting.end();
  const std::array<std::string, 6> names = nc::stored_names(options.conversion.to),
                                   units = nc::stored_units(options.conversion.to);
  std::map<std::string, std::string> unit_of{{"B0", "T"}, {"G", "T m"}, {"I", "T m"}, {"psi_p", "T m"},
                                             {"r", "m"},  {"R0", "m"},  {"iota", "1"}};
  for (std::size_t k = 0; k < names.size(); ++k) unit_of[names[k]] = units[k];
  for (const std::string& name : names) {
    const std::vector<double>& values = made.at(name);
    Value& told = context.results()[name];
    if (values.size() == 1) {
      told = values.front();
      context.say(fmt::format("{:<9} {:.10g}", name, values.front()));
    } else {
      told = Value::list();
      for (const double value : values) told.push_back(value);
      context.say(fmt::format("{:<9} {} points", name, values.size()));
    }
  }
  const auto writing = context.report().phase("write");
  nc::write_numbers(options.output, made, unit_of, {{"normalisation", nc::name(options.conversion.to)}});
  context.results()["files"].push_back(options.output);
  context.say("wrote     " + options.output);
}

}  // namespace

Command neoclassical_convert_command() {
  return {
      .name = "neoclassical convert",
      .summary = "Coefficients in the normalisation of another program",
      .details =
          "NTX and MONKES (per toroidal flux / 2 pi), DKES (per metre), SFINCS (transport matrix of RHSMode 3 with "
          "nuPrime and EStar), and the dimensionless stars of the international benchmark. The geometry goes along, "
          "so that what was converted can be converted back.",
      .examples = {{"sonde neoclassical convert run.nc --to sfincs -o sfincs.nc", "What SFINCS would print"},
                   {"sonde neoclassical convert run.nc --to stars --radius 0.25 --major-radius 5.5 -o stars.nc",
                    "The benchmark's D11*, D31*, D33*, with lengths in place of those of the result"},
                   {"sonde neoclassical convert sfincs.nc --from sfincs --to dkes -o dkes.h5", "From one to another"}},
      .invoke = invocation<ConvertOptions, run_convert>};
}

}  // namespace sonde::cli
