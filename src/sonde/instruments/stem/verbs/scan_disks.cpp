// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/verbs/scan_disks.h"

#include <fmt/format.h>

#include <utility>

#include "sonde/engine/base/log.h"
#include "sonde/instruments/stem/bragg/bragg_result.h"
#include "sonde/instruments/stem/results/output_path.h"
#include "sonde/instruments/stem/verbs/load_text.h"
#include "sonde/instruments/stem/verbs/scan_input.h"

namespace sonde::stem {
namespace {

LoadOptions scan_options(const std::string& calibration) {
  LoadOptions load;
  load.calibration = calibration;
  load.layout = LayoutChoice::file;
  return load;
}

Dataset loaded_scan(const std::string& input, const LoadOptions& load, std::span<const std::string> outputs, Run& run) {
  const LoadPreview preview = preview_input(input, load, run);
  for (const std::string& file : outputs)
    if (!file.empty()) require_not_input(file, preview.acquisition, load);
  Dataset dataset = load_input(input, load, run);
  say_result(run, dataset);
  report_load(run, dataset);
  return dataset;
}

FoundDisks disks_of_scan(const std::string& input, const LoadOptions& load, std::span<const std::string> outputs,
                         Run& run) {
  Dataset dataset = loaded_scan(input, load, outputs, run);
  auto phase = run.report().phase("Bragg disks");
  BraggResult bragg = make_bragg(dataset, find_probe(dataset, {}), {}, run.host_budget());
  phase.end();
  run.results()["bragg"] = bragg.to_value();
  for (const std::string& warning : bragg.warnings) log_warning(warning);
  for (const Choice<std::string>& choice : bragg.choices)
    run.report().add_choice("bragg", Value(choice.value), choice.because);
  for (const std::string& line : bragg.lines()) run.say(line);
  return {std::move(bragg.vectors), std::move(dataset), std::move(bragg.probe)};
}

BraggVectors disks_of_file(const std::string& input, const std::string& calibration,
                           std::span<const std::string> outputs, Run& run) {
  Acquisition disks;
  disks.path = input;
  for (const std::string& file : outputs)
    if (!file.empty()) require_not_input(file, disks, scan_options(calibration));
  run.require_room_for(input);
  BraggVectors vectors = read_bragg_vectors(input);
  run.report().add_choice("disks", Value(vectors.disks()),
                          fmt::format("{} x {} positions, {:.1f} disks each", vectors.scan_rows, vectors.scan_cols,
                                      static_cast<double>(vectors.disks()) / static_cast<double>(vectors.positions())));
  if (calibration.empty()) return vectors;
  run.require_room_for(calibration);
  ChosenBraggCalibration chosen = with_calibration_file(
      std::move(vectors.calibration), {vectors.rows, vectors.cols, vectors.scan_rows, vectors.scan_cols}, input,
      calibration, run.host_budget());
  vectors.calibration = std::move(chosen.calibration);
  for (const Choice<std::string>& choice : chosen.choices) report_choice(run, choice);
  return vectors;
}

}  // namespace

bool is_scan(const std::string& input, const Run& run) { return run.array(input) != nullptr || !is_bragg_file(input); }

void describe_calibration(std::string& calibration, Fields& fields) {
  fields.add(
      "calibration", calibration,
      {.help = "use the pixel size, ellipse, rotation and origins of this file in place of those of the input: a "
               "result of sonde stem calibrate, com or phase, or a scan that states them (EMD)",
       .metavar = "FILE"});
}

std::optional<Dataset> patterns_of(const std::string& input, const std::string& calibration,
                                   std::span<const std::string> outputs, Run& run) {
  if (!run.dry_run()) return loaded_scan(input, scan_options(calibration), outputs, run);
  const LoadPreview preview = preview_input(input, scan_options(calibration), run);
  run.report().add_choice("load", Value(preview.estimate.because), "the estimate before decoding");
  run.show_memory(preview.estimate.memory(), run.budget());
  return std::nullopt;
}

void plan_scan_disks(const std::string& input, const std::string& calibration, Run& run) {
  const LoadPreview preview = preview_input(input, scan_options(calibration), run);
  run.report().add_choice("load", Value(preview.estimate.because), "the estimate before decoding");
  run.report().add_choice("disks", Value("found first"), "with the defaults of `sonde stem bragg`");
  MemoryPlan plan = preview.estimate.memory();
  const std::size_t lists =
      BraggDisks::most_bytes(preview.sizes.scan_rows * preview.sizes.scan_cols, BraggOptions{}.max_num_peaks);
  plan.add("lists of disks", lists, "if every pattern has as many as it may");
  plan.peak_bytes += lists;
  run.show_memory(plan, run.budget());
}

FoundDisks found_disks_of(const std::string& input, const std::string& calibration,
                          std::span<const std::string> outputs, Run& run) {
  if (is_scan(input, run)) return disks_of_scan(input, scan_options(calibration), outputs, run);
  return {disks_of_file(input, calibration, outputs, run), std::nullopt, {}};
}

BraggVectors disks_of(const std::string& input, const std::string& calibration, std::span<const std::string> outputs,
                      Run& run) {
  return found_disks_of(input, calibration, outputs, run).vectors;
}

}  // namespace sonde::stem
