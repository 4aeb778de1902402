// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/verbs/scan_centres.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/log.h"
#include "sonde/engine/base/setting.h"
#include "sonde/instruments/stem/load/calibration_file.h"
#include "sonde/instruments/stem/load/given_calibration.h"
#include "sonde/instruments/stem/load/visit_frames.h"
#include "sonde/instruments/stem/phase/centres.h"
#include "sonde/instruments/stem/phase/corner_noise.h"
#include "sonde/instruments/stem/phase/stored_centres.h"
#include "sonde/instruments/stem/results/output_path.h"
#include "sonde/instruments/stem/verbs/load_text.h"
#include "sonde/instruments/stem/verbs/scan_input.h"

namespace sonde::stem {
namespace {

bool is_stored(const std::string& input, Run& run) {
  return run.array(input) == nullptr && is_centre_file(input, run.host_budget());
}

/// Centres of mass with what makes a phase of them.
struct Measured {
  Centres centres;
  std::optional<VectorField> reference{};
  PhaseScale scale{};
  PhaseOptions options{};
};

/// A scan with its centres of mass. Their errors and a given threshold cost no other pass over the frames; one that is
/// found does.
struct MeasuredScan {
  Dataset dataset;
  Centres centres;
};

bool has_counts(const LoadPreview& preview) { return !is_float(preview.acquisition.stored); }

MeasuredScan measure(const std::string& input, const PhaseOptions& options, const LoadOptions& load, bool counts,
                     Run& run) {
  const CentreThreshold threshold = options.centre_threshold();
  CentreSums sums(threshold.counts);
  Operation* const operation = &sums;
  const std::span<Operation* const> operations(&operation, 1);
  const bool beside = !threshold.automatic && (counts || threshold.counts);
  MeasuredScan scan{load_input(input, load, run, beside ? operations : std::span<Operation* const>()), {}};
  if (threshold.automatic) {
    sums = CentreSums(corner_noise(scan.dataset).threshold());
    visit_frames(scan.dataset, "centres of mass", operations);
  }
  if (beside || threshold.automatic)
    scan.centres = centres_of(scan.dataset, sums, options.min_counts);
  else
    scan.centres.field = centre_field(scan.dataset, options.min_counts);
  scan.centres.errors.found_threshold = threshold.automatic;
  return scan;
}

std::optional<VectorField> reference_centres(const PhaseOptions& options, const LoadOptions& load, Run& run) {
  const std::string input = options.reference();
  if (input.empty()) return std::nullopt;
  if (is_stored(input, run)) return read_centres(input, run.host_budget()).centres.field;
  return measure(input, options, load, has_counts(preview_input(input, load, run)), run).centres.field;
}

/// Settings with the orientation of the file, which is reported where it is taken.
PhaseOptions oriented(PhaseOptions options, const Calibration& calibration, Run& run) {
  StatedOrientation orientation = with_orientation(std::move(options), calibration);
  if (orientation.stated)
    run.report().add_choice(
        "rotation", Value(orientation.options.rotation),
        fmt::format("degrees, stated by the {}; {} finds it in the data",
                    calibration.rotation_rad->stated_by == StatedBy::calibration ? "calibration file" : "file",
                    setting("skip_calibration", "rotation")));
  return std::move(orientation.options);
}

Measured measured_scan(const std::string& input, const PhaseOptions& options, const LoadOptions& load, bool counts,
                       Run& run) {
  MeasuredScan scan = measure(input, options, load, counts, run);
  const Dataset& dataset = scan.dataset;
  say_result(run, dataset);
  report_load(run, dataset);
  const Calibration calibration = options.used(dataset.calibration());
  Measured measured{
      .centres = std::move(scan.centres),
      .reference = reference_centres(options, load, run),
      .scale = phase_scale(dataset.acquisition().path, calibration, dataset.det_bin(), dataset.scan_bin(), options),
      .options = oriented(options, calibration, run)};
  measured.scale.frame = calibration_frame(dataset.acquisition(), dataset.options());
  return measured;
}

/// Refuses what can be refused before a frame is read; on a dry run what the scan will need is reported.
LoadPreview check_scan(const std::string& input, const PhaseOptions& options, const LoadOptions& load,
                       std::span<const std::string> outputs, Run& run) {
  const LoadPreview preview = preview_input(input, load, run);
  (void)phase_scale(preview.acquisition.path, options.used(preview.acquisition.calibration), preview.estimate.det_bin,
                    load.scan_bin, options);
  if (const std::string reference = options.reference(); !reference.empty() && !is_stored(reference, run))
    (void)preview_input(reference, load, run);
  for (const std::string& file : outputs)
    if (!file.empty()) require_not_input(file, preview.acquisition, load);
  if (!run.dry_run()) return preview;
  run.report().add_choice("load", Value(preview.estimate.because), "the estimate before decoding");
  MemoryPlan plan = preview.estimate.memory();
  const auto sums = static_cast<std::size_t>(preview.sizes.scan_rows * preview.sizes.scan_cols) * 5 * sizeof(double);
  plan.add("centres of mass", sums, "sums by position");
  plan.peak_bytes += sums;
  run.show_memory(plan, run.budget());
  return preview;
}

/// Settings that say how centres of mass are measured do nothing to those of a file.
void refuse_measuring(const std::string& input, LoadOptions load, const Run& run) {
  Fields fields;
  load.describe_without({"voltage", "camera_length", "scan_step", "rotation", "calibration"}, fields);
  std::vector<std::string> keys = {"min_counts", "threshold"};
  for (const Field& field : fields.all()) keys.push_back(field.key);
  for (const std::string& key : keys)
    if (run.settings().is_set(key))
      throw Error(ErrorKind::usage,
                  fmt::format("{}: the centres of mass in {} were measured already", setting(key), input))
          .hint("leave it out, or give the scan");
}

/// The file's settings of origin and orientation where none were set.
PhaseOptions with_settings_of(const StoredCentres& stored, PhaseOptions options, const Run& run) {
  PhaseOptions of_file = stored.options;
  const Fields from(of_file);
  Fields to(options);
  constexpr std::array keys = {"fit",        "min_counts", "threshold",     "rotation",         "transpose",
                               "convention", "sign",       "rotation_blur", "skip_calibration", "q_pixel"};
  for (const char* key : keys)
    if (!run.settings().is_set(key)) to.assign(key, from.find(key)->value(), key, sonde::Origin::built_in);
  return options;
}

/// What the file says, with what the caller gives. Files that were made without a frame belong to no detector that is
/// known.
Calibration calibration_of_centres(const std::string& input, const StoredCentres& stored, const LoadOptions& load,
                                   Run& run) {
  if (!load.calibration.empty() && !stored.scale.frame)
    throw Error(ErrorKind::bad_input,
                fmt::format("{}: does not say which detector its centres of mass belong to, which {} needs", input,
                            setting("calibration")))
        .hint("give the scan, or make the file anew");
  ChosenCalibration chosen =
      with_given(stored.calibration, input, stored.scale.frame.value_or(CalibrationFrame{}), load, run.host_budget());
  for (const Choice<std::string>& choice : chosen.choices) report_choice(run, choice);
  return std::move(chosen.calibration);
}

Measured stored_measurement(const std::string& input, const PhaseOptions& asked, const LoadOptions& load, Run& run) {
  refuse_measuring(input, load, run);
  StoredCentres stored = read_centres(input, run.host_budget());
  const PhaseOptions options = with_settings_of(stored, asked, run);
  const Calibration calibration = options.used(calibration_of_centres(input, stored, load, run));
  Measured measured{.centres = std::move(stored.centres),
                    .scale = phase_scale(input, calibration, stored.scale.det_bin, stored.scale.scan_bin, options),
                    .options = oriented(options, calibration, run)};
  measured.scale.frame = stored.scale.frame;
  // The surface that a reference scan gave is in the file, the scan itself may be gone.
  if (!options.reference().empty() && !run.settings().is_set("fit"))
    measured.reference = std::move(stored.origin);
  else
    measured.reference = reference_centres(options, load, run);
  return measured;
}

PhaseResult make_reported(Measured measured, Run& run) {
  auto phase = run.report().phase(measured.options.method == IntegralMethod::none ? "field" : "phase");
  PhaseResult result = make_phase(std::move(measured.centres.field), measured.scale, measured.options,
                                  measured.reference, std::move(measured.centres.errors));
  phase.end();
  for (const std::string& line : result.lines()) run.say(line);
  for (const std::string& warning : result.warnings) log_warning(warning);
  return result;
}

}  // namespace

std::optional<PhaseResult> phase_of_input(const std::string& input, const PhaseOptions& options,
                                          const LoadOptions& load, std::span<const std::string> outputs, Run& run) {
  options.check();
  if (is_stored(input, run)) {
    Measured measured = stored_measurement(input, options, load, run);
    if (run.dry_run()) return std::nullopt;
    return make_reported(std::move(measured), run);
  }
  const bool counts = has_counts(check_scan(input, options, load, outputs, run));
  if (run.dry_run()) return std::nullopt;
  return make_reported(measured_scan(input, options, load, counts, run), run);
}

PhaseResult phase_of_scan(const std::string& path, const PhaseOptions& options, const LoadOptions& load, Run& run) {
  const bool counts = has_counts(preview_input(path, load, run));
  return make_reported(measured_scan(path, options, load, counts, run), run);
}

}  // namespace sonde::stem
