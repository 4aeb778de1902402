// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/invert/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/text.h"
#include "sonde/instruments/maxwell/grid/constants.h"

namespace sonde::maxwell {
namespace {

std::array<double, 2> pair_of(const std::string& text, const char* key) {
  const std::vector<double> numbers = parse_numbers(text, key);
  if (numbers.size() != 2)
    throw Error(ErrorKind::bad_input, fmt::format("{} = \"{}\"; expected two numbers, lowest first", key, text));
  return {numbers[0], numbers[1]};
}

/// One number for all axes, or one for each in the order of arrays.
Triple cells_of(const std::string& text, Mode mode) {
  const std::vector<double> numbers = parse_numbers(text, "inversion.every");
  const bool flat = mode == Mode::tm2d;
  const bool fits = numbers.size() == 1 || numbers.size() == (flat ? 2U : 3U);
  if (!fits || std::ranges::any_of(numbers, [](double n) { return !(n >= 1) || n != std::floor(n) || n > 1e6; }))
    throw Error(ErrorKind::bad_input,
                fmt::format("inversion.every = \"{}\"; expected whole numbers from 1 on, one or {}", text,
                            flat ? "two" : "three"));
  const auto along = [&](std::size_t i) { return static_cast<Index>(numbers.size() == 1 ? numbers[0] : numbers[i]); };
  return {along(0), flat ? 1 : along(1), along(flat ? 1 : 2)};
}

Band band_of(const InversionStageTable& stage) {
  if (stage.fmax && !stage.band.empty())
    throw Error(ErrorKind::bad_input, "a stage of the inversion has fmax and band; expected one of them");
  if (stage.fmax) return {0, *stage.fmax};
  if (stage.band.empty()) return {};
  const auto [low, high] = pair_of(stage.band, "band");
  return {low, high};
}

}  // namespace

void InversionTable::describe(Fields& fields) {
  fields.add("parameters", parameters, {.help = "what is unknown: eps_r, sigma or both", .metavar = "NAME"});
  fields.add("eps_r_bounds", eps_r_bounds,
             {.help = "lowest and highest eps_r; the lowest decides the time step",
              .metavar = "LOW,HIGH",
              .check = require_numbers});
  fields.add("sigma_bounds", sigma_bounds,
             {.help = "lowest and highest sigma", .unit = "S/m", .metavar = "LOW,HIGH", .check = require_numbers});
  fields.add("beta", beta, {.help = "weight of sigma against eps_r: the unknown is beta sigma / sigma0", .min = 0});
  fields.add("sigma0", sigma0,
             {.help = "scale of sigma; unset: 2 pi f eps0 at the dominant frequency of the source", .unit = "S/m"});
  fields.choice("sigma_scale", sigma_scale, {{"linear", SigmaScale::linear}, {"log", SigmaScale::logarithmic}},
                {.help = "log: the unknown is beta ln(sigma / sigma0)"});
  fields.add("every", every,
             {.help = "one unknown for so many cells: one number, or one for each axis in the order of the arrays",
              .unit = "cells",
              .metavar = "N|NZ,NX",
              .check = require_numbers});
  fields.choice("spline", spline, {{"linear", Spline::linear}, {"cubic", Spline::cubic}},
                {.help = "between unknowns: linear, or cubic B-splines"});
  fields.choice(
      "misfit", misfit.kind,
      {{"l2", MisfitKind::l2}, {"envelope", MisfitKind::envelope}, {"correlation", MisfitKind::correlation}},
      {.help = "l2: squares of differences; envelope: of envelopes, where the start is more than half a period "
               "away; correlation: 1 - normalised correlation, where amplitudes are not known"});
  fields.add("normalise_traces", misfit.normalise_traces,
             {.help = "divide each trace by its norm; amplitudes, of which sigma is found, then do not count"});
  fields.choice("filter", filter, {{"records", FilterPlace::records}, {"source", FilterPlace::source}},
                {.help = "what the filter of a stage is applied to beside the measured records: computed records "
                         "(exact), or the source, whose beginning it cuts at t = 0"});
  fields.add("tv", regularisation.tv,
             {.help = "weight of the total variation of the unknowns, against a misfit of 1 at the start of a stage",
              .min = 0});
  fields.add("tv_epsilon", regularisation.tv_epsilon, {.help = "gradients below it count as smooth", .unit = "1/m"});
  fields.add("tikhonov", regularisation.tikhonov,
             {.help = "weight of half the squared gradient of the unknowns", .min = 0});
  fields.add("mask", mask,
             {.help = "array of 0 (held) to 1 (free) on the cells of the model", .metavar = "FILE", .array = true});
  fields.add("mask_radius", mask_radius,
             {.help = "cells this near to sources and receivers are held", .unit = "m", .min = 0});
  fields.add("mask_taper", mask_taper, {.help = "width of the edge of held cells", .unit = "m", .min = 0});
  fields.add("mask_depth", mask_depth, {.help = "cells above this depth are held: air, water", .unit = "m", .min = 0});
  fields.choice(
      "source_estimation", source_estimation,
      {{"off", SourceEstimation::off}, {"per_shot", SourceEstimation::per_shot}, {"global", SourceEstimation::global}},
      {.help = "correct the source signals, one by one or all in the same way, as the records suggest"});
  fields.add("source_every", source_every, {.help = "iterations between corrections", .min = 1});
  fields.add("source_damping", source_damping,
             {.help = "power, over the largest, below which frequencies keep the source"});
  fields.choice("optimiser", optimiser,
                {{"lbfgs", OptimiserKind::lbfgs}, {"gauss_newton", OptimiserKind::gauss_newton}},
                {.help = "within the bounds; lbfgs: limited-memory BFGS; gauss_newton: truncated Gauss-Newton, for few "
                         "but costly iterations of misfit l2",
                 .alias = "optimizer"});
  fields.add("memory", memory, {.help = "pairs that lbfgs keeps", .min = 0, .max = 1000});
  fields.add("products", products,
             {.help = "most products with the Gauss-Newton matrix in one iteration, each as costly as a gradient",
              .min = 1,
              .max = 1e6});
  fields.add("first_change", first_change,
             {.help = "largest change of an unknown in the first step of lbfgs in a stage"});
  fields.add("illumination", illumination,
             {.help = "move an unknown more where a change of it adds less to the waves: balances eps_r and sigma"});
  fields.add("illumination_damping", illumination_damping,
             {.help = "share of the largest of its class below which this makes no more difference"});
  fields.add("shots_per_batch", shots_per_batch, {.help = "shots of one iteration; 0: all", .min = 0});
  fields.add("exit_change", exit.change,
             {.help = "a stage ends when an iteration lowers the objective by less than this part of it", .min = 0});
  fields.add("exit_gradient", exit.gradient,
             {.help = "a stage ends when the projected gradient is this part of that at its start", .min = 0});
  fields.add("exit_chi2", exit.chi2,
             {.help = "a stage ends when the mean square of residuals over the noise is this, where data.noise is set",
              .min = 0});
  fields.add("exit_evaluations", exit.evaluations,
             {.help = "limit of gradients and products in all stages; 0: none", .min = 0});
  fields.add("exit_seconds", exit.seconds, {.help = "limit of time; 0: none", .unit = "s", .min = 0});
  fields.add("uncertainty", uncertainty.rank,
             {.help = "standard deviation of the model found, by so many directions that the records decide, where "
                      "data.noise is set; costs twice as many gradients; 0: not computed",
              .min = 0,
              .max = 10000});
  fields.add("uncertainty_prior", uncertainty.prior,
             {.help = "standard deviation of each unknown before the records: of eps_r, and of beta sigma / sigma0"});
}

void InversionStageTable::describe(Fields& fields) {
  fields.add("fmax", fmax, {.help = "highest frequency, where half the amplitude passes", .unit = "Hz"});
  fields.add("band", band,
             {.help = "lowest and highest frequency, in place of fmax",
              .unit = "Hz",
              .metavar = "LOW,HIGH",
              .check = require_numbers});
  fields.add("iterations", iterations, {.help = "how many at most", .min = 1, .max = 1e6});
}

void InversionTables::add_to(Tables& tables) {
  tables.add("inversion", Fields(inversion));
  tables.add_list("inversion.stage", {}, [this](const std::string&) {
    stages.push_back(std::make_unique<InversionStageTable>());
    return Fields(*stages.back());
  });
}

InversionSettings InversionTables::settings() const {
  InversionSettings settings{.misfit = inversion.misfit,
                             .filter = inversion.filter,
                             .regularisation = inversion.regularisation,
                             .source_estimation = inversion.source_estimation,
                             .source_every = inversion.source_every,
                             .source_damping = inversion.source_damping,
                             .shots_per_batch = inversion.shots_per_batch,
                             .optimiser = inversion.optimiser,
                             .memory = inversion.memory,
                             .products = inversion.products,
                             .first_change = inversion.first_change,
                             .exit = inversion.exit,
                             .uncertainty = inversion.uncertainty};
  if (inversion.illumination) settings.illumination_damping = inversion.illumination_damping;
  for (const auto& stage : stages) settings.stages.push_back({band_of(*stage), stage->iterations});
  if (settings.stages.empty()) settings.stages.emplace_back();
  require_valid(settings);
  return settings;
}

ParameterSettings InversionTables::parameters(Mode mode, double dominant_frequency) const {
  ParameterSettings settings{.eps_r = false,
                             .eps_r_bounds = pair_of(inversion.eps_r_bounds, "inversion.eps_r_bounds"),
                             .sigma_bounds = pair_of(inversion.sigma_bounds, "inversion.sigma_bounds"),
                             .beta = inversion.beta,
                             .sigma_scale = inversion.sigma_scale,
                             .every = cells_of(inversion.every, mode),
                             .spline = inversion.spline};
  for (const std::string& name : inversion.parameters) {
    if (name != "eps_r" && name != "sigma")
      throw Error(ErrorKind::bad_input, fmt::format("inversion.parameters: \"{}\"; expected eps_r, sigma or both{}",
                                                    name, did_you_mean(name, {"eps_r", "sigma"})));
    (name == "eps_r" ? settings.eps_r : settings.sigma) = true;
  }
  if (!inversion.sigma0 && settings.sigma && !(dominant_frequency > 0))
    throw Error(ErrorKind::bad_input, "inversion.sigma0: unset, and the source has no known frequency to take it from")
        .hint("set it to 2 pi f eps0, 5.6e-3 S/m at 100 MHz");
  settings.sigma0 = inversion.sigma0.value_or(2 * std::numbers::pi * std::max(dominant_frequency, 1.0) * eps0);
  require_valid(settings);
  return settings;
}

}  // namespace sonde::maxwell
