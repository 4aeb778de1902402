// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>
#include <numeric>
#include <optional>

#include "sonde/app/cli/commands.h"
#include "sonde/engine/base/error.h"
#include "sonde/instruments/neoclassical/convert/conversions.h"
#include "sonde/instruments/neoclassical/results/result_file.h"

namespace sonde::cli {
namespace {

namespace nc = neoclassical;

enum class Code { ntx, dkes, sfincs, stars };

struct ConvertOptions {
  std::string input, output;
  Code from = Code::ntx, to = Code::sfincs;
  std::optional<double> radius, major_radius;
  void describe(Fields& fields) {
    fields.positional("input", input, {.help = "a result of run, or of this command", .metavar = "RESULT.nc|.h5|.npz"});
    fields.add("output", output, {.help = "the converted point", .metavar = "FILE.nc|.h5|.npz", .letter = 'o'});
    const std::vector<std::pair<std::string, Code>> codes = {{"ntx", Code::ntx},
                                                             {"monkes", Code::ntx},
                                                             {"dkes", Code::dkes},
                                                             {"sfincs", Code::sfincs},
                                                             {"stars", Code::stars}};
    fields.choice("from", from, codes, {.help = "normalisation of the input"});
    fields.choice("to", to, codes, {.help = "normalisation of the output"});
    fields.add(
        "radius", radius,
        {.help = "minor radius of the surface, for stars, and for dkes from results in s", .unit = "m", .min = 0});
    fields.add("major_radius", major_radius, {.help = "for stars", .unit = "m", .min = 0});
  }
};

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// dpsi by the label that a run's coefficients are in. In s that is psi_a, which |sqrt g| B^zeta is on the mean.
double label_slope(const nc::ResultFile& file) {
  if (!(file.number("s") > 0)) return file.number("psi_scale");
  const std::vector<double>& jacobian = file.numbers("jacobian");
  std::vector<double> flux = file.numbers("b_sup_zeta");
  if (flux.size() != jacobian.size())
    throw Error(ErrorKind::bad_file, fmt::format("{}: jacobian and b_sup_zeta differ in length", file.path()));
  for (std::size_t i = 0; i < flux.size(); ++i) flux[i] *= std::abs(jacobian[i]);
  return mean(flux);
}

nc::ConversionGeometry geometry_of(const nc::ResultFile& file, const ConvertOptions& options) {
  nc::ConversionGeometry geometry;
  geometry.B0 = file.number("B0");
  geometry.iota = file.number("iota");
  if (file.has("G")) {  // written by this command
    geometry.G = file.number("G");
    geometry.I = file.number("I");
    geometry.psi_p = file.number("psi_p");
    geometry.r = file.number("r");
    geometry.R0 = file.number("R0");
  } else {
    geometry.G = mean(file.numbers("b_sub_zeta"));
    geometry.I = mean(file.numbers("b_sub_theta"));
    geometry.psi_p = label_slope(file);
  }
  if (options.radius) geometry.r = *options.radius;
  if (options.major_radius) geometry.R0 = *options.major_radius;
  // s = (r / a_b)^2: ds/dr = 2 s / r. Without r there is no slope, and what needs it says so.
  if (!file.has("G") && file.number("s") > 0)
    geometry.psi_p = geometry.r > 0 ? geometry.psi_p * 2 * file.number("s") / geometry.r : 0;
  return geometry;
}

nc::Dij dij_of(const nc::ResultFile& file) {
  return {file.number("D11"), file.number("D31"), file.number("D13"), file.number("D33")};
}

nc::PsiPoint read_point(const nc::ResultFile& file, Code from, const nc::ConversionGeometry& geometry) {
  switch (from) {
    case Code::ntx: {
      if (file.has("e_hat")) return {dij_of(file), file.number("nu_hat"), file.number("e_hat")};
      const double slope = label_slope(file), epsi = file.number("epsi_hat");
      // In s E_hat is per s as the coefficients are; surfaces with a label of their own have it per psi already.
      return {relabelled(dij_of(file), slope), file.number("nu_hat"), file.number("s") > 0 ? epsi / slope : epsi};
    }
    case Code::dkes:
      return from_dkes({dij_of(file), file.number("nu_hat"), file.number("er_hat")}, geometry);
    case Code::sfincs:
      return from_sfincs({file.number("M11"), file.number("M12"), file.number("M21"), file.number("M22"),
                          file.number("nu_prime"), file.number("e_star")},
                         geometry);
    case Code::stars:
      return from_stars({file.number("D11_star"), file.number("D31_star"), file.number("D13_star"),
                         file.number("D33_star"), file.number("nu_star"), file.number("v_e_star")},
                        geometry);
  }
  return {};
}

using Names = std::vector<std::pair<std::string, double>>;

Names written(const nc::PsiPoint& point, Code to, const nc::ConversionGeometry& geometry) {
  const auto with = [](const nc::Dij& d, double nu_hat, const char* field, double value) {
    return Names{{"D11", d.D11}, {"D31", d.D31}, {"D13", d.D13}, {"D33", d.D33}, {"nu_hat", nu_hat}, {field, value}};
  };
  switch (to) {
    case Code::ntx:
      return with(point.d, point.nu_hat, "e_hat", point.e_hat);
    case Code::dkes: {
      const nc::DkesPoint dkes = to_dkes(point, geometry);
      return with(dkes.d, dkes.nu_hat, "er_hat", dkes.er_hat);
    }
    case Code::sfincs: {
      const nc::SfincsPoint p = to_sfincs(point, geometry);
      return {{"M11", p.M11}, {"M12", p.M12},           {"M21", p.M21},
              {"M22", p.M22}, {"nu_prime", p.nu_prime}, {"e_star", p.e_star}};
    }
    case Code::stars: {
      const nc::StarPoint p = to_stars(point, geometry);
      return {{"D11_star", p.D11_star}, {"D31_star", p.D31_star}, {"D13_star", p.D13_star},
              {"D33_star", p.D33_star}, {"nu_star", p.nu_star},   {"v_e_star", p.v_e_star}};
    }
  }
  return {};
}

void run_convert(const ConvertOptions& options, Context& context) {
  nc::require_result_path(options.output);
  const nc::ResultFile file(options.input);
  const nc::ConversionGeometry geometry = geometry_of(file, options);
  const Names names = written(read_point(file, options.from, geometry), options.to, geometry);
  NetcdfContents contents;
  for (const auto& [name, value] : names) {
    contents.add(name, value);
    context.results()[name] = value;
    context.say(fmt::format("{:<9} {:.10g}", name, value));
  }
  for (const auto& [name, value] :
       {std::pair{"B0", geometry.B0}, std::pair{"iota", geometry.iota}, std::pair{"G", geometry.G},
        std::pair{"I", geometry.I}, std::pair{"psi_p", geometry.psi_p}, std::pair{"r", geometry.r},
        std::pair{"R0", geometry.R0}})
    contents.add(name, value);
  nc::write_result(options.output, contents);
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
                    "The benchmark's D11*, D31*, D33*"},
                   {"sonde neoclassical convert sfincs.nc --from sfincs --to dkes -o dkes.h5", "From one to another"}},
      .invoke = invocation<ConvertOptions, run_convert>};
}

}  // namespace sonde::cli
