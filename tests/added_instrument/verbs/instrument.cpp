// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/run/instrument.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "sonde/engine/io/contents.h"

namespace sonde::blackbody {
namespace {

struct SpectrumOptions {
  double temperature = 5772;  // the Sun
  std::string output = "spectrum.nc";
  void describe(Fields& fields) {
    fields.add("temperature", temperature, {.help = "temperature of the body", .unit = "K", .min = 1, .max = 1e6});
    fields.add("output", output, {.help = "file of the result", .metavar = "FILE.nc", .letter = 'o'});
  }
};

/// Spectral radiance in W m^-3 sr^-1 (Planck 1901), wavelength in m, temperature in K.
double planck(double wavelength, double temperature) {
  constexpr double h = 6.62607015e-34, c = 299792458, k = 1.380649e-23;  // J s, m/s, J/K: exact in the SI
  return 2 * h * c * c / (std::pow(wavelength, 5) * std::expm1(h * c / (wavelength * k * temperature)));
}

void run_spectrum(const SpectrumOptions& options, Run& run) {
  // A caller who takes arrays and names no file gets none.
  const std::string output = run.gives_arrays() && !run.given("output") ? "" : options.output;
  run.require_output(output, {".nc"});
  std::vector<double> wavelength, radiance;
  for (int i = 1; i <= 3000; ++i) {
    wavelength.push_back(i * 1e-9);
    radiance.push_back(planck(wavelength.back(), options.temperature));
  }
  const auto peak = std::max_element(radiance.begin(), radiance.end()) - radiance.begin();
  const Shape shape{static_cast<Index>(wavelength.size())};

  Contents contents;
  contents.attribute("schema", std::string("sonde.blackbody.spectrum/1"));
  contents.add("wavelength", {"wavelength"}, Array::from(wavelength, shape)).unit("m");
  contents.add("radiance", {"wavelength"}, Array::from(radiance, shape)).unit("W m^-3 sr^-1");
  contents.add("peak", wavelength[static_cast<std::size_t>(peak)]).unit("m");
  run.give(contents, output);

  run.results()["peak_m"] = wavelength[static_cast<std::size_t>(peak)];
  if (output.empty()) return;
  run.results()["files"].push_back(output);
  run.say(fmt::format("wrote     {}", output));
}

std::vector<Verb> verbs() {
  return {{.name = "blackbody spectrum",
           .summary = "The light of a black body by its wavelength",
           .details = "From 1 to 3000 nm in steps of 1 nm.",
           .examples = {{"sonde blackbody spectrum --temperature 3000", "A lamp"}},
           .invoke = invocation<SpectrumOptions, run_spectrum>}};
}

}  // namespace

extern const Instrument instrument;
const Instrument instrument{
    .name = "blackbody", .verbs = verbs, .bench_cases = [](ShowPage) { return std::vector<BenchCase>(); }};

}  // namespace sonde::blackbody
