// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <array>
#include <string>
#include <vector>

#include "sonde/instruments/neoclassical/results/converted_result.h"
#include "sonde/instruments/neoclassical/verbs/verbs.h"

namespace sonde::neoclassical {
namespace {

struct ConvertOptions {
  std::string input, output;
  ConversionSettings conversion;
  void describe(Fields& fields) {
    fields.positional(
        "input", input,
        {.help = "a result of run or scan, a database, a sfincsOutput.h5 of RHSMode 3, or what this command wrote",
         .metavar = "RESULT.nc|.h5|.npz"});
    fields.add("output", output, {.help = "what was converted", .metavar = "FILE.nc|.h5|.npz", .letter = 'o'});
    conversion.describe(fields);
  }
};

/// As lists of lists of this shape.
Value nested(const std::vector<double>& values, const Shape& shape, int axis, std::size_t& next) {
  Value list = Value::list();
  for (Index i = 0; i < shape[axis]; ++i)
    list.push_back(axis + 1 < shape.rank() ? nested(values, shape, axis + 1, next) : Value(values[next++]));
  return list;
}

void tell(const std::string& name, const std::string& unit, const Converted& made, Run& run) {
  const std::vector<double>& values = made.numbers.at(name);
  Value& told = run.results()[name];
  if (made.nu_v.empty() && values.size() == 1) {
    told = values.front();
    run.say(fmt::format("{:<9} {:.10g}{}", name, values.front(), unit == "1" ? "" : " " + unit));
    return;
  }
  const Shape shape = made.shape(name);
  std::size_t next = 0;
  told = nested(values, shape, 0, next);
  run.say(fmt::format("{:<9} {}{}", name, shape.text(), unit == "1" ? "" : ", " + unit));
}

void run_convert(const ConvertOptions& options, Run& run) {
  run.require_output(options.output);
  auto converting = run.report().phase("convert");
  run.require_room_for(options.input);
  const Converted made = converted_result(options.input, options.conversion);
  converting.end();
  const std::array<std::string, 6> names = stored_names(made.normalisation), units = stored_units(made.normalisation);
  for (std::size_t k = 0; k < names.size(); ++k) tell(names[k], units[k], made, run);
  if (!made.nu_v.empty()) {
    run.results()["rho"] = made.rho;
    run.results()["nu_v"] = made.nu_v;
    run.results()["field"] = made.field;
  }
  const auto writing = run.report().phase("write");
  run.give(contents_of(made), options.output);
  run.results()["normalisation"] = name(made.normalisation);
  if (options.output.empty()) return;
  run.results()["files"].push_back(options.output);
  run.say("wrote     " + options.output);
}

}  // namespace

Verb convert_verb() {
  return {
      .name = "neoclassical convert",
      .summary = "Coefficients in the normalisation of another program",
      .details =
          "NTX and MONKES (per toroidal flux / 2 pi), DKES (per metre), SFINCS (transport matrix of RHSMode 3 with "
          "nuPrime and EStar), and the dimensionless stars of the international benchmark. Scans and databases become "
          "tables: coefficients over (rho, nu_v, field), collisionalities over (rho, nu_v) and fields over (rho, "
          "field) "
          "in the new units. Every quantity carries its units, and the geometry goes along, so that what was converted "
          "can be converted back. Lengths and fluxes that a file lacks are given by flags.",
      .examples = {{"sonde neoclassical convert run.nc --to sfincs -o sfincs.nc", "What SFINCS would print"},
                   {"sonde neoclassical convert sfincsOutput.h5 --to dkes -o dkes.nc", "What SFINCS wrote, per metre"},
                   {"sonde neoclassical convert run.nc --to stars --radius 0.25 --major-radius 5.5 -o stars.nc",
                    "The benchmark's D11*, D31*, D33*, with lengths in place of those of the result"},
                   {"sonde neoclassical convert Dij.h5 --to stars -o stars.h5", "A whole database"},
                   {"sonde neoclassical convert sfincs.nc --from sfincs --to dkes -o dkes.h5", "From one to another"}},
      .invoke = invocation<ConvertOptions, run_convert>};
}

}  // namespace sonde::neoclassical
