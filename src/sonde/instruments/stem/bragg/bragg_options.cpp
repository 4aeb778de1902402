// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/bragg/bragg_options.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/setting.h"

namespace sonde::stem {

std::optional<double> BraggOptions::radius() const {
  double value = 0;
  const auto [end, problem] = std::from_chars(probe.data(), probe.data() + probe.size(), value);
  if (problem != std::errc() || end != probe.data() + probe.size()) return std::nullopt;
  return value;
}

std::string BraggOptions::vacuum() const { return probe == "auto" || radius() ? std::string() : probe; }

KernelSettings BraggOptions::kernel_settings() const {
  return {.shape = kernel,
          .inner = kernel_inner.value_or(0),
          .outer = kernel_outer.value_or(0),
          .sigma = kernel_sigma.value_or(0)};
}

DiskSettings BraggOptions::disk_settings(const Probe& of) const {
  DiskSettings settings;
  settings.gain = gain;
  settings.background = background;
  settings.background_sigma = background_sigma.value_or(2 * of.radius);
  settings.corr_power = corr_power;
  settings.sigma_dp = sigma_dp;
  settings.sigma_cc = sigma_cc;
  settings.subpixel = subpixel;
  settings.upsample_factor = upsample_factor;
  settings.min_absolute_intensity = min_absolute_intensity;
  settings.min_relative_intensity = min_relative_intensity;
  settings.relative_to_peak = relative_to_peak;
  settings.min_peak_spacing = min_peak_spacing.value_or(1.5 * of.radius);
  settings.edge_boundary = edge_boundary.value_or(static_cast<Index>(std::ceil(of.radius)) + 1);
  settings.max_num_peaks = max_num_peaks;
  return settings;
}

void BraggOptions::check() const {
  if (const auto given = radius(); given && !(*given >= 1 && *given <= 10'000))
    throw Error(ErrorKind::usage,
                fmt::format("{}: a radius of {:g} px; expected 1 to 10000", setting("probe"), *given));
  if (kernel_inner && kernel_outer && *kernel_outer <= *kernel_inner)
    throw Error(ErrorKind::usage,
                fmt::format("a trench from {:g} to {:g} px has no width", *kernel_inner, *kernel_outer))
        .hint("give a larger " + setting("kernel_outer") + " or a smaller " + setting("kernel_inner"));
  if (subpixel == Refinement::mle && background != PatternBackground::none)
    throw Error(ErrorKind::usage,
                fmt::format("{}: its likelihood is that of the counts, with a background of their own; expected {}",
                            setting("subpixel", "mle"), setting("background", "none")))
        .hint("leave out " + setting("background") + " or give another " + setting("subpixel"));
  if (background_sigma && background != PatternBackground::dog)
    throw Error(ErrorKind::usage,
                fmt::format("{}: no Gaussian is subtracted with {}; expected {}", setting("background_sigma"),
                            setting("background", std::string(name(background))), setting("background", "dog")));
}

void BraggOptions::describe(Fields& fields) {
  fields.heading("Template");
  fields.add(
      "probe", probe,
      {.help = "the disk that is searched: of a vacuum scan, a soft disk of this radius in pixels after binning, "
               "or the brightest disk of the mean pattern",
       .metavar = "FILE|RADIUS|auto"});
  fields.choice("kernel", kernel,
                {{"flat", KernelShape::flat},
                 {"gaussian", KernelShape::gaussian},
                 {"sigmoid", KernelShape::sigmoid},
                 {"sigmoid_log", KernelShape::sigmoid_log},
                 {"ring", KernelShape::ring},
                 {"poisson", KernelShape::poisson}},
                {.help = "what is taken from the disk around it; poisson: its logarithm, the most precise where disks "
                         "are evenly filled"});
  fields.add("kernel_inner", kernel_inner,
             {.help = "where the trench begins; else the radius of the disk", .unit = "px", .min = 0.1, .max = 10'000});
  fields.add("kernel_outer", kernel_outer,
             {.help = "where it ends; else before the nearest disk of the mean pattern, at most twice the radius",
              .unit = "px",
              .min = 0.1,
              .max = 10'000});
  fields.add("kernel_sigma", kernel_sigma,
             {.help = "width of the gaussian one; else twice the radius", .unit = "px", .min = 0.1, .max = 10'000});
  fields.heading("Correlation");
  fields.choice("background", background,
                {{"none", PatternBackground::none},
                 {"constant", PatternBackground::constant},
                 {"radial_median", PatternBackground::radial_median},
                 {"dog", PatternBackground::dog}},
                {.help = "what is subtracted from each pattern first: the median of its pixels, the median at each "
                         "distance from the direct beam, or the pattern blurred by a wide Gaussian (difference of "
                         "Gaussians)"});
  fields.add("background_sigma", background_sigma,
             {.help = "width of that Gaussian; else twice the radius", .unit = "px", .min = 0.1, .max = 10'000});
  fields.add("corr_power", corr_power,
             {.help = "1: cross-correlation, 0: phase correlation, between: hybrid", .min = 0, .max = 1});
  fields.add("sigma_dp", sigma_dp, {.help = "Gaussian blur of the pattern", .unit = "px", .min = 0, .max = 1000});
  fields.add("sigma_cc", sigma_cc,
             {.help = "Gaussian smoothing of the correlation", .unit = "px", .min = 0, .max = 1000});
  fields.choice("subpixel", subpixel,
                {{"none", Refinement::none},
                 {"poly", Refinement::poly},
                 {"multicorr", Refinement::multicorr},
                 {"newton", Refinement::newton},
                 {"gaussian2d", Refinement::gaussian2d},
                 {"mle", Refinement::mle}},
                {.help = "how places between pixels are found: newton: the maximum of the correlation itself; mle: "
                         "where the counts about the disk and its neighbours are most likely; both with standard "
                         "errors"});
  fields.add("upsample_factor", upsample_factor, {.help = "points of multicorr in a pixel", .min = 2, .max = 256});
  fields.heading("Which disks");
  fields.add("min_absolute_intensity", min_absolute_intensity, {.help = "least correlation of a disk", .min = 0});
  fields.add("min_relative_intensity", min_relative_intensity,
             {.help = "the same as a fraction of that of another disk of the pattern", .min = 0, .max = 1});
  fields.add("relative_to_peak", relative_to_peak,
             {.help = "which one: 0 for the brightest, 1 for the next", .min = 0, .max = 10'000});
  fields.add("min_peak_spacing", min_peak_spacing,
             {.help = "least distance of two disks, of which the brighter one stays; else 1.5 radii",
              .unit = "px",
              .min = 0,
              .max = 10'000});
  fields.add(
      "edge_boundary", edge_boundary,
      {.help = "distance from the edge of the detector within which no disk is taken; else one radius and a pixel",
       .unit = "px",
       .min = 1,
       .max = 10'000});
  fields.add("max_num_peaks", max_num_peaks, {.help = "most disks of a pattern", .min = 1, .max = 10'000});
  fields.heading("Counts");
  fields.add(
      "gain", gain,
      {.help = "units of the detector for one electron, which standard errors follow from; 1 where electrons are "
               "counted",
       .min = 1e-6,
       .max = 1e9});
  fields.heading("");
}

}  // namespace sonde::stem
