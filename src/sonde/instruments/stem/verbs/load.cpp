// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <filesystem>
#include <numeric>
#include <utility>

#include "sonde/engine/base/error.h"
#include "sonde/engine/io/atomic_file.h"
#include "sonde/engine/io/output_ending.h"
#include "sonde/engine/report/json.h"
#include "sonde/instruments/stem/load/series.h"
#include "sonde/instruments/stem/load/trusted.h"
#include "sonde/instruments/stem/results/detector_images.h"
#include "sonde/instruments/stem/results/output_path.h"
#include "sonde/instruments/stem/results/provenance.h"
#include "sonde/instruments/stem/results/save_image.h"
#include "sonde/instruments/stem/results/series_centre.h"
#include "sonde/instruments/stem/verbs/load_text.h"
#include "sonde/instruments/stem/verbs/scan_input.h"
#include "sonde/instruments/stem/verbs/verbs.h"

namespace sonde::stem {
namespace {

struct LoadCommandOptions {
  std::vector<std::string> input;
  std::string output;
  SeriesOptions series;
  CentreMethod centre_method = CentreMethod::edge;
  LoadOptions load;
  void describe(Fields& fields) {
    fields.positional("input", input, {.help = "scans, or folders of *_master.h5", .array = true});
    fields.add("output", output,
               {.help = "write sums, moments, mask and centre to this .h5 file", .metavar = "FILE.h5", .letter = 'o'});
    fields.choice("centre_method", centre_method,
                  {{"edge", CentreMethod::edge},
                   {"threshold", CentreMethod::threshold},
                   {"plateau", CentreMethod::plateau},
                   {"com", CentreMethod::com},
                   {"friedel", CentreMethod::friedel}},
                  {.help = "how the centre is found", .alias = "center_method"});
    load.describe(fields);
    series.describe(fields);
  }
};

Value centre_value(const Centre& centre) {
  Value value;
  value["row"] = centre.row;
  value["col"] = centre.col;
  value["radius"] = centre.radius;
  value["residual_rms"] = centre.residual_rms;
  value["confidence"] = centre.confidence;
  value["method"] = name(centre.method);
  value["notes"] = centre.notes;
  return value;
}

/// The sum of all good values: whole for counts.
Value total_of(const Dataset& dataset) {
  const Array& sum = dataset.moments().pattern_sum;
  const auto add = [&](const auto* values, auto zero) { return std::accumulate(values, values + sum.count(), zero); };
  if (sum.dtype() == DType::u64) return Value(add(static_cast<const std::uint64_t*>(sum.data()), std::uint64_t{0}));
  return Value(add(static_cast<const double*>(sum.data()), 0.0));
}

/// The centre, or why there is none: a scan without a beam still loads.
Value find_and_say_centre(const Dataset& dataset, CentreMethod method, Run& run) {
  const Array mean = mean_pattern(dataset);
  try {
    const Centre centre = find_centre(mean.view<double, 2>(), trusted_pixels(dataset), method);
    run.say(fmt::format("centre    row {:.3f}, col {:.3f}, radius {:.3f} px (confidence {:.2f}, {})", centre.row,
                        centre.col, centre.radius, centre.confidence, name(method)));
    for (const std::string& note : centre.notes) run.say("          " + note);
    return centre_value(centre);
  } catch (const Error& error) {
    run.say("centre    not found: " + error.message());
    Value value;
    value["error"] = error.message();
    return value;
  }
}

/// One centre for the series and the shift of each scan, or why there is none.
void say_centre_of(const SeriesCentreFinder& finder, Run& run) {
  try {
    const SeriesCentre centre = finder.find();
    for (const std::string& line : centre.lines()) run.say(line);
    run.results()["centre"] = centre.to_value();
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::bad_input) throw;
    run.say("centre    not found: " + error.message());
    run.results()["centre"]["error"] = error.message();
  }
}

/// Sums, moments, mask and centre. The data set must live as long.
Contents summary_of(const Dataset& dataset, const Value& centre) {
  const Shape scan = dataset.shape().first(2);
  const Moments& m = dataset.moments();
  const std::vector<std::string> of_pattern = {"row", "column"}, of_scan = {"scan row", "scan column"};
  const ImageScale on_scan = scan_scale(dataset.calibration(), dataset.scan_bin());
  const ImageScale on_detector = detector_scale(dataset.calibration(), dataset.det_bin());
  Contents contents;
  contents.attribute("schema", std::string("sonde.stem.summary/1"));
  const auto add = [&](const std::string& name, Array values, const std::vector<std::string>& axes,
                       const ImageScale& scale, const std::string& unit) {
    Contents::Variable& variable = contents.add(name, axes, std::move(values)).unit(unit);
    if (scale.row_step && scale.col_step)
      variable.attributes.emplace_back("pixel_size_" + scale.unit, std::vector{*scale.row_step, *scale.col_step});
  };
  add("pattern/mean", mean_pattern(dataset), of_pattern, on_detector, "counts");
  add("pattern/sum", alias(m.pattern_sum), of_pattern, on_detector, "counts");
  add("pattern/max", alias(m.pattern_max), of_pattern, on_detector, "counts");
  add("pattern/nonzero", alias(m.nonzero), of_pattern, on_detector, "frames");
  add("scan/total", alias(m.total).reshaped(scan), of_scan, on_scan, "counts");
  add("scan/moment_row", alias(m.moment_row).reshaped(scan), of_scan, on_scan, "px counts");
  add("scan/moment_col", alias(m.moment_col).reshaped(scan), of_scan, on_scan, "px counts");
  add("scan/valid", Array::from(dataset.valid(), scan), of_scan, on_scan, "");
  add("pattern/mask", Array::from(dataset.mask_bits(), dataset.shape().last(2)), of_pattern, on_detector, "");
  contents.attribute("pattern/centre", to_json(centre, -1));
  contents.attribute("provenance", to_json(provenance(dataset), -1));
  return contents;
}

void load_one(const std::string& path, const std::string& output, const LoadCommandOptions& options, Run& run) {
  const Dataset dataset = load_input(path, options.load, run);
  say_result(run, dataset);
  Value& results = run.results();
  results["shape"] = Value::list();
  for (int i = 0; i < 4; ++i) results["shape"].push_back(dataset.shape()[i]);
  results["dtype"] = name(dataset.dtype());
  results["layout"] = layout_name(dataset.layout());
  results["exactness"] = dataset.exactness().to_value();
  results["total"] = total_of(dataset);
  results["failed_frames"] = Value::list();
  for (const FailedFrame& frame : dataset.failed_frames()) {
    run.say(fmt::format("broken    frame {}: {}", frame.frame, frame.reason));
    Value entry;
    entry["frame"] = frame.frame;
    entry["reason"] = frame.reason;
    results["failed_frames"].push_back(std::move(entry));
  }
  const Value centre = find_and_say_centre(dataset, options.centre_method, run);
  results["centre"] = centre;
  const Value record = provenance(dataset);
  results["bad_pixels"] = *record.find("bad_pixels");
  results["input"] = *record.find("input");
  for (const auto& [key, value] : record.find("run")->members()) results["run"][key] = value;
  results["run"]["memory"] = dataset.memory_report();
  for (const BadPixel& pixel : dataset.bad_pixels())
    run.say(fmt::format("bad pixel row {}, col {}: {} (sum {}, brightest neighbour {})", pixel.row, pixel.col,
                        name(pixel.reason), pixel.sum, pixel.neighbour_max));
  report_load(run, dataset);
  if (output.empty() && !run.gives_arrays()) return;
  if (!output.empty()) require_not_input(output, dataset.acquisition(), dataset.options());
  run.give(summary_of(dataset, centre), output);
  if (!output.empty()) run.say("wrote     " + output);
}

void run_load(const LoadCommandOptions& options, Run& run) {
  const std::vector<std::string> scans = scans_of(options.input, options.series, run);
  if (!options.output.empty() && output_ending(options.output) != ".h5")
    throw Error(ErrorKind::usage, fmt::format("-o {}: the summary is an .h5 file", options.output))
        .hint("images are made by `sonde stem image`, data sets by `sonde stem convert`");
  if (!options.output.empty()) require_place(options.output);
  if (run.dry_run()) {
    for (const std::string& path : scans) {
      const LoadEstimate estimate = preview_input(path, options.load, run).estimate;
      run.report().add_choice("load " + path, Value(estimate.because), "the estimate before decoding");
      run.show_memory(estimate.memory(), run.budget(), scans.size() == 1 ? "memory" : "memory of " + path);
    }
    return;
  }
  if (scans.size() == 1) return load_one(scans.front(), options.output, options, run);
  if (!options.output.empty())
    throw Error(ErrorKind::usage, "-o names one file, but there are several scans").hint("load them one by one");
  Series series = Series::open(options.input, options.series, options.load, run.budget());
  run.say(
      fmt::format("{} scans of {} ({})", series.size(), series.items().front().shape.text(), series.eager_because()));
  Value& results = run.results();
  results["items"] = Value::list();
  SeriesCentreFinder finder(options.centre_method, /*disk=*/false);
  for (Index i = 0; i < series.size(); ++i) {
    const auto dataset = series.item(i);
    finder.add(*dataset, series.items()[static_cast<std::size_t>(i)].label);
    Value entry;
    entry["path"] = series.items()[static_cast<std::size_t>(i)].path;
    results["run"]["seconds"].push_back(dataset->seconds().wall);
    entry["exactness"] = dataset->exactness().to_value();
    entry["ledger"] = dataset->ledger().to_value();
    results["items"].push_back(std::move(entry));
    run.say(fmt::format("  {} {}", series.items()[static_cast<std::size_t>(i)].label,
                        dataset->exactness().exact() ? "exact" : "NOT exact"));
  }
  say_centre_of(finder, run);
  results["skipped"] = Value::list();
  for (const SkippedScan& scan : series.skipped()) results["skipped"].push_back(scan.path + ": " + scan.reason);
}

}  // namespace

Verb load_verb() {
  return {.name = "stem load",
          .summary = "Load a scan, correct it and say what was found",
          .details =
              "Decodes every frame once, finds bad pixels and the centre of the pattern, and reports sums, moments, "
              "exactness and memory. "
              "A folder is loaded as a series of scans of one shape.",
          .examples = {{"sonde stem load scan_master.h5 --det-bin auto --memory 8G",
                        "The smallest detector bin that fits 8 GiB"},
                       {"sonde stem load scan_master.h5 -o summary.h5", "Mean pattern, moments and masks as a file"}},
          .plans = true,
          .watched = Watched{},
          .invoke = invocation<LoadCommandOptions, run_load>};
}

}  // namespace sonde::stem
