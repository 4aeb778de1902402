// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/text.h"
#include "sonde/engine/figure/curves.h"
#include "sonde/engine/figure/image.h"
#include "sonde/engine/io/atomic_file.h"
#include "sonde/engine/io/png.h"
#include "sonde/engine/report/provenance.h"
#include "sonde/instruments/ptycho/results/compare.h"
#include "sonde/instruments/ptycho/results/picture.h"
#include "sonde/instruments/ptycho/verbs/verbs.h"

namespace sonde::ptycho {
namespace {

namespace fs = std::filesystem;

struct CompareOptions {
  std::string result, other, output;
  std::optional<std::string> truth;
  Start start = Start::blind;
  bool picture = true;
  void describe(Fields& fields) {
    fields.positional("result", result, {.help = "a result of `sonde ptycho run`"});
    fields.positional("other", other,
                      {.help = "another result, or a scan with its truth; left out: the truth beside the measurement",
                       .optional = true});
    fields.add("truth", truth,
               {.help = "the scan of `sonde ptycho simulate` that holds the truth", .metavar = "FILE.h5"});
    fields.add(
        "output", output,
        {.help = "the picture; empty: the result's name and _compare.png", .metavar = "FILE.png", .letter = 'o'});
    fields.add("picture", picture, {.help = "draw both phases, their difference and the ring correlation"});
    fields.choice(
        "start", start, {{"blind", Start::blind}, {"near", Start::near}},
        {.help = "blind looks for shifts of pixels and ramps of turns, near takes small ones for granted: for "
                 "crystals on which a shift by a unit cell looks as good"});
  }
};

/// The second object: a file that was named, or the truth of the measurement that the result was made from.
PlacedObject measure_of(const CompareOptions& options, const Result& result) {
  if (options.truth && !options.other.empty())
    throw Error(ErrorKind::usage, "both another file and " + setting("truth") + " are given; one is compared with");
  if (options.truth) return read_truth(*options.truth);
  if (!options.other.empty())
    return has_truth(options.other) ? read_truth(options.other) : placed(read_result(options.other), options.other);
  const std::string measurement = input_path(result.provenance);
  if (!measurement.empty() && has_truth(measurement)) return read_truth(measurement);
  throw Error(ErrorKind::usage, fmt::format("{}: nothing to compare with", options.result))
      .hint(measurement.empty() ? "name another result, or a scan with its truth"
                                : fmt::format("{} holds no truth: name another result", measurement));
}

std::string length_text(std::optional<double> length, bool calibrated, double finest) {
  const char* unit = calibrated ? "A" : "px";
  return length ? fmt::format("{:.3g} {}", *length, unit)
                : fmt::format("finer than {:.3g} {}, which two pixels are", finest, unit);
}

void say_comparison(const ObjectComparison& found, const std::string& first, const std::string& second,
                    const Run& run) {
  const auto line = [&](const std::string& what, const std::string& value) {
    run.say(fmt::format("{:<22} {}", what, value));
  };
  line("first", first);
  line("second, the measure", second);
  line("common view", fmt::format("{} x {} pixels", found.view.rows, found.view.cols));
  const double finest = 2 * std::max(found.pixel_row, found.pixel_col);
  const auto part = [&](const std::string& of, const SliceComparison& slice) {
    line("phase difference" + of, fmt::format("{:.4g} rad rms", slice.phase.rmse));
    line("resolution" + of,
         length_text(slice.rings.resolution(), found.calibrated, finest) + " (half bit, ring correlation)");
  };
  part("", found.whole);
  const PhaseComparison& phase = found.whole.phase;
  line("taken out", fmt::format("shift {:.3f}, {:.3f} px; ramp {:.2g}, {:.2g} rad/px; amplitude x{:.4g}",
                                phase.shift_row, phase.shift_col, phase.ramp.per_row, phase.ramp.per_col, phase.scale));
  for (std::size_t s = 0; s < found.slices.size(); ++s) part(fmt::format(", slice {}", s + 1), found.slices[s]);
}

Array ring_picture(const ObjectComparison& found, Index rows, Index cols) {
  const RingCorrelation& rings = found.whole.rings;
  Facet facet;
  facet.x = {.title = "spatial frequency", .unit = found.calibrated ? "1/A" : "1/px", .low = 0.0};
  facet.y = {.title = "ring correlation", .low = 0.0, .high = 1.05};
  facet.series.push_back({.name = "correlation", .x = rings.frequency, .y = rings.correlation, .mark = Mark::lines});
  facet.series.push_back({.name = "half bit", .x = rings.frequency, .y = rings.half_bit, .mark = Mark::lines});
  if (const std::optional<double> at = rings.crossing())
    facet.references.push_back({*at, fmt::format("{:.3g} {}", 1 / *at, found.calibrated ? "A" : "px"), true});
  return render_facet(facet, rows, cols);
}

void write_figure(const std::string& path, const ObjectComparison& found, const OutputRole& role) {
  ImageStyle style;
  style.colour_bar = true;
  style.value_unit = "rad";
  style.pixel_size = found.calibrated ? found.pixel_col / 10 : 1;
  style.unit = found.calibrated ? std::string("nm") : std::string("px");
  const ValueRange range = percentile_range(found.second, 0.5, 99.5);
  style.low = range.low;
  style.high = range.high;
  std::vector<Panel> panels;
  panels.push_back({"first: phase", render_image(found.first, style)});
  panels.push_back({"second: phase", render_image(found.second, style)});
  style.low.reset();
  style.high.reset();
  style.symmetric = true;
  style.colours = ColourMap::rdbu;
  panels.push_back(
      {fmt::format("difference: {:.3g} rad rms", found.whole.phase.rmse), render_image(found.difference, style)});
  const Shape size = panels.front().picture.shape();
  panels.push_back(
      {"Fourier ring correlation", ring_picture(found, std::max<Index>(size[0], 360), std::max<Index>(size[1], 480))});
  write_png(path, montage(panels, 2), "", role);
}

void run_compare(const CompareOptions& options, Run& run) {
  const std::string output =
      !options.output.empty() ? options.output : fs::path(options.result).replace_extension().string() + "_compare.png";
  // A name that was made up replaces pictures of sonde only.
  const OutputRole role = options.output.empty() ? picture_role() : OutputRole{.what = picture_role().what};
  const bool draws = options.picture && (!options.output.empty() || !run.gives_arrays());
  if (draws) {
    if (!to_lower(output).ends_with(".png"))
      throw Error(ErrorKind::usage, fmt::format("{}: the picture is a .png", output)).hint("give another -o");
    require_place(output, role);
  }
  run.require_room_for(options.result);
  const Result result = read_result(options.result);
  const PlacedObject measure = measure_of(options, result);
  const ObjectComparison found = compare_objects(placed(result, options.result), measure, options.start);
  run.results() = found.to_value();
  run.results()["first"] = options.result;
  run.results()["second"] = measure.name;
  say_comparison(found, options.result, measure.name, run);
  if (!draws) return;
  write_figure(output, found, role);
  run.results()["files"].push_back(output);
  run.say("wrote     " + output);
}

}  // namespace

Verb compare_verb() {
  return {
      .name = "ptycho compare",
      .summary = "Compare a reconstruction with the truth or with another one",
      .details =
          "What patterns cannot tell is taken out first: a factor, a phase ramp and a shift. Then the rms of what is "
          "left of the phase difference inside the area that both have scanned, and the Fourier ring correlation, "
          "whose crossing with the half-bit threshold (van Heel and Schatz 2005) is the resolution. Of two results "
          "of independent data that is the resolution of either; against a truth it is where the result stops to "
          "follow it.\n\n"
          "Of several slices each is compared with its own, when both have as many, beside the product of all.",
      .examples = {{"sonde ptycho compare result.h5", "With the truth beside a simulated measurement"},
                   {"sonde ptycho compare result.h5 --truth scan.h5 --json", "As numbers"},
                   {"sonde ptycho compare half1.h5 half2.h5 -o halves.png",
                    "Two halves of the data: what they agree on"}},
      .invoke = invocation<CompareOptions, run_compare>};
}

}  // namespace sonde::ptycho
