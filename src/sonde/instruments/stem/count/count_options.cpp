// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/count/count_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sonde/engine/array/visit_real.h"
#include "sonde/engine/base/error.h"
#include "sonde/engine/base/setting.h"
#include "sonde/instruments/stem/load/mask_file.h"

namespace sonde::stem {
namespace {

std::vector<float> read_values(const std::string& path, Index rows, Index cols) {
  if (path.empty()) return {};
  const Array image = read_detector_image(path, rows, cols);
  std::vector<float> values(static_cast<std::size_t>(rows * cols));
  const bool real = visit_real(image, [&](const auto* elements) {
    std::transform(elements, elements + values.size(), values.begin(),
                   [](auto element) { return static_cast<float>(element); });
  });
  if (!real) throw Error(ErrorKind::bad_file, path + ": complex values; expected real ones");
  const auto wrong = std::count_if(values.begin(), values.end(), [](float value) { return !std::isfinite(value); });
  if (wrong > 0)
    throw Error(ErrorKind::bad_file,
                fmt::format("{}: {} of {} pixels are not finite; expected finite values", path, wrong, values.size()))
        .hint("put those pixels into a mask, " + setting("mask_file") + ", and any number in their place");
  return values;
}

}  // namespace

FrameCorrection read_correction(const CountOptions& options, Index rows, Index cols) {
  FrameCorrection correction{
      .dark = read_values(options.dark, rows, cols), .gain = read_values(options.gain, rows, cols), .good = {}};
  const auto negative =
      std::find_if(correction.gain.begin(), correction.gain.end(), [](float gain) { return gain < 0; });
  if (negative != correction.gain.end())
    throw Error(
        ErrorKind::bad_file,
        fmt::format("{}: a gain of {:g}; expected 0 or more, by which counts are multiplied", options.gain, *negative));
  return correction;
}

void CountOptions::check() const {
  if (background && xray && *background >= *xray)
    throw Error(ErrorKind::usage, fmt::format("the background threshold ({:g}) is not below the x-ray threshold ({:g})",
                                              *background, *xray))
        .hint("give a larger " + setting("xray") + " or a smaller " + setting("background"));
}

ThresholdSettings CountOptions::thresholds() const {
  return {.background = background,
          .xray = xray,
          .background_sigmas = background_sigma,
          .xray_sigmas = xray_sigma,
          .seed = static_cast<std::uint64_t>(seed)};
}

void CountOptions::describe(Fields& fields) {
  fields.heading("Counting");
  fields.add("dark", dark,
             {.help = "mean frame without a beam, subtracted from every frame", .metavar = "FILE.npy|.tif|.png"});
  fields.add("gain", gain,
             {.help = "image by which counts are multiplied after that", .metavar = "FILE.npy|.tif|.png"});
  fields.add("background", background,
             {.help = "an electron is above this; else from the noise of sampled frames",
              .unit = "counts",
              .min = -1e9,
              .max = 1e9});
  fields.add(
      "xray", xray,
      {.help = "and below this; else from the electrons of sampled frames", .unit = "counts", .min = -1e9, .max = 1e9});
  fields.add("background_sigma", background_sigma,
             {.help = "sigma of the noise between its mean and the background threshold", .min = 0, .max = 100});
  fields.add("xray_sigma", xray_sigma,
             {.help = "spreads of electrons between their median and the x-ray threshold", .min = 0.1, .max = 1000});
  fields.add("samples", samples,
             {.help = "frames that are sampled for the thresholds", .unit = "frames", .min = 1, .max = 10'000});
  fields.add("seed", seed, {.help = "start of the random numbers that choose these frames", .min = 0});
  fields.heading("");
}

}  // namespace sonde::stem
