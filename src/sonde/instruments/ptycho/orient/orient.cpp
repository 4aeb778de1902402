// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/orient/orient.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <numbers>
#include <numeric>
#include <utility>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/log.h"
#include "sonde/engine/base/text.h"
#include "sonde/engine/options/toml.h"
#include "sonde/engine/report/progress.h"
#include "sonde/instruments/ptycho/quality/image.h"
#include "sonde/instruments/ptycho/run/job.h"

namespace sonde::ptycho {
namespace {

constexpr double degree = std::numbers::pi / 180;
constexpr double held_out = 0.1;  // of the frames: many, as there are few
constexpr Index least_held = 32;  // frames below which none can be held out
constexpr double refinement = 4 * degree;
constexpr int most_steps = 4;

double in_one_turn(double angle) {
  return angle - 2 * std::numbers::pi * std::floor(angle / (2 * std::numbers::pi) + 0.5);
}

double angle_of(std::string_view text, std::string_view where) {
  double degrees = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), degrees);
  if (problem != std::errc() || end != text.data() + text.size())
    throw Error(ErrorKind::usage, fmt::format("{}: \"{}\" is not an angle", where, text));
  return degrees * degree;
}

std::vector<double> angles_of(const std::vector<std::string>& texts) {
  std::vector<double> angles;
  for (const std::string& text : texts) angles.push_back(angle_of(text, "rotation_deg"));
  return angles;
}

/// The settings that every trial shares: those of the measurement and of the start.
std::string shared_settings(const RunFile& settings) {
  Value kept = Value::object();
  const Value all = settings.tables().echo();
  for (const char* table : {"data", "geometry", "probe", "object", "compute"}) kept[table] = *all.find(table);
  return to_toml(kept);
}

/// The frames nearest to the middle of the scan, ascending.
std::vector<Index> frames_in_the_middle(const std::vector<Point>& positions, const std::vector<Index>& skip,
                                        Index side) {
  Point low = positions.front(), high = low;
  for (const Point& point : positions) {
    low = {std::min(low.row, point.row), std::min(low.col, point.col)};
    high = {std::max(high.row, point.row), std::max(high.col, point.col)};
  }
  const Point middle{(low.row + high.row) / 2, (low.col + high.col) / 2};
  const auto distance = [&](Index j) {
    const Point& point = positions[static_cast<std::size_t>(j)];
    return std::max(std::abs(point.row - middle.row), std::abs(point.col - middle.col));
  };
  std::vector<Index> frames;
  for (Index j = 0; j < static_cast<Index>(positions.size()); ++j)
    if (!std::binary_search(skip.begin(), skip.end(), j)) frames.push_back(j);
  std::stable_sort(frames.begin(), frames.end(), [&](Index a, Index b) { return distance(a) < distance(b); });
  if (static_cast<Index>(frames.size()) > side * side) frames.resize(static_cast<std::size_t>(side * side));
  std::sort(frames.begin(), frames.end());
  return frames;
}

/// Keeps of a measurement only these frames, at these places (object pixels of the whole detector).
void keep_frames(Source& source, const std::vector<Index>& frames, std::vector<Point> places) {
  const Array all = source.read_patterns();
  const auto bytes = static_cast<std::size_t>(source.shape[1] * source.shape[2]) * size_bytes(all.dtype());
  const auto some = std::make_shared<Array>(
      Device::cpu(), Shape{static_cast<Index>(frames.size()), source.shape[1], source.shape[2]}, all.dtype());
  for (std::size_t i = 0; i < frames.size(); ++i)
    std::memcpy(static_cast<std::byte*>(some->data()) + i * bytes,
                static_cast<const std::byte*>(all.data()) + static_cast<std::size_t>(frames[i]) * bytes, bytes);
  source.shape = some->shape();
  source.dtype = some->dtype();
  source.read_patterns = [some] { return some->clone(); };
  source.read_frames = {};  // those of the file are other ones
  source.scan_shape.reset();
  source.positions = std::move(places);
  source.unit = LengthUnit::pixel;
  source.reference = Reference::window_centre;
}

class Trials {
 public:
  Trials(const RunFile& settings, Source source, const OrientOptions& options, Budget budget)
      : options_(options), budget_(std::move(budget)), shared_(shared_settings(settings)), source_(std::move(source)) {
    RunFile run;
    prepare(run, false, 0);
    run.positions.unit = settings.positions.unit;
    run.positions.reference = settings.positions.reference;
    run.data.skip = settings.data.skip;
    const Scan scan = plan_scan(source_, run.data, run.geometry, run.positions);
    look_at_scan(settings);
    const std::vector<Index> frames = frames_in_the_middle(scan.positions, scan.skip, options.scan);
    if (frames.empty()) throw Error(ErrorKind::bad_input, fmt::format("{}: no frame takes part", source_.file));
    // A window that was cropped or padded has other object pixels.
    std::vector<Point> places;
    for (const Index j : frames) {
      const Point& point = scan.positions[static_cast<std::size_t>(j)];
      places.push_back({point.row * static_cast<double>(scan.stored.rows) / static_cast<double>(scan.window.rows),
                        point.col * static_cast<double>(scan.stored.cols) / static_cast<double>(scan.window.cols)});
    }
    const Reservation reading = budget_.reserve(
        static_cast<std::size_t>(source_.shape.count()) * size_bytes(source_.dtype) + source_.reading_bytes,
        "reading " + source_.file);
    keep_frames(source_, frames, std::move(places));
  }

  [[nodiscard]] Index frames() const { return source_.shape[0]; }

  /// What is doubtful about the scan and its settings, in the words of a run.
  [[nodiscard]] const std::vector<std::string>& warnings() const { return warnings_; }

  /// What deflections say, for both handednesses.
  void judge_deflections(Orientation& found) {
    RunFile run;
    prepare(run, false, 0);
    Scan scan = plan_scan(source_, run.data, run.geometry, run.positions);
    const LoadedCounts counts = load_counts(source_, scan, run.data, {.storage = AmplitudeStorage::f32});
    warn(counts.warnings);
    std::vector<Point> deflections = centres_of_mass(counts.measurement), places = scan.positions;
    const Sampling& sampling = scan.sampling;
    for (Point& point : deflections) point = {point.row * sampling.dk_row, point.col * sampling.dk_col};
    for (Point& point : places) point = {point.row * sampling.pixel_row(), point.col * sampling.pixel_col()};
    found.straight = least_curl(places, deflections, false);
    found.transposed = least_curl(places, deflections, true);
  }

  /// A trial that fails (numbers that are none) is the worst; one that cannot begin throws.
  OrientTrial run(bool transpose, double rotation, double* floor = nullptr) {
    RunFile run;
    prepare(run, transpose, rotation);
    OrientTrial trial{.transpose = transpose, .rotation = in_one_turn(rotation)};
    JobPlan plan = plan_job(run, source_);
    require_memory(plan.memory, plan.sizes, budget_);
    const Reservation reserved = budget_.reserve(plan.memory.peak_bytes, "a trial");
    Job job(run, source_, std::move(plan));
    if (whole_) {  // once: the probe of all trials is the first one
      const Array probe = in_double_precision(job.reconstruction().state().probe);
      warn(overlap_warnings(assess_scan(*whole_, spacing_, probe), *whole_, spacing_));
      whole_.reset();
    }
    try {
      while (job.reconstruction().outcome().kind == Outcome::Kind::running) (void)job.reconstruction().iterate();
      const IterationRecord& last = job.reconstruction().history().back();
      trial.r_intensity = last.fit.r_intensity;
      trial.r_free = last.r_free;
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::not_converged) throw;
      trial.r_intensity = std::numeric_limits<double>::infinity();
    }
    if (floor != nullptr) *floor = job.floor();
    return trial;
  }

 private:
  /// With the orientation of the settings, which is the one that a run would have.
  void look_at_scan(const RunFile& settings) {
    RunFile run;
    prepare(run, settings.geometry.transpose, settings.geometry.scan_rotation_deg * degree);
    run.positions = settings.positions;
    run.data.skip = settings.data.skip;
    whole_ = plan_scan(source_, run.data, run.geometry, run.positions);
    spacing_ = spacing_of_active(*whole_);
    const ObjectExtent extent = object_extent(whole_->positions, {whole_->window.rows, whole_->window.cols});
    warn(scan_warnings(run, source_, *whole_, spacing_, extent));
  }

  void warn(const std::vector<std::string>& warnings) {
    for (const std::string& warning : warnings) {
      log_warning(warning);
      warnings_.push_back(warning);
    }
  }

  void prepare(RunFile& run, bool transpose, double rotation) const {
    run.parse(shared_, "settings");
    run.tables().append("engine", "gd", "orient");
    run.tables().assign_text(fmt::format("engine.0.iterations={}", options_.iterations));
    run.geometry.transpose = transpose;
    run.geometry.scan_rotation_deg = rotation / degree;
    run.probe.start = options_.iterations + 1;
    run.object.slices = 1;
    // A one-shot reconstruction would have to know the orientation.
    if (run.object.init == ObjectInit::ssb || run.object.init == ObjectInit::parallax)
      run.object.init = ObjectInit::ones;
    run.stop.rule = StopRule::off;
    run.data.skip.clear();
    run.data.tier.reset();  // a few frames
    run.data.holdout = source_.shape.rank() == 3 && source_.shape[0] >= least_held ? held_out : 0;
    run.positions.unit = LengthUnit::pixel;
    run.positions.reference = Reference::window_centre;
    run.positions.whole_pixels = false;
  }

  OrientOptions options_;
  Budget budget_;
  std::string shared_;
  Source source_;
  std::optional<Scan> whole_;  // until it has been judged
  Spacing spacing_;            // of it
  std::vector<std::string> warnings_;
};

/// The lowest point of the parabola through three scores at -1, 0 and 1; no further than 1.
double lowest(double before, double here, double after) {
  const double bend = before - 2 * here + after;
  return bend > 0 ? std::clamp((before - after) / (2 * bend), -1.0, 1.0) : before < after ? -1 : 1;
}

bool better(const OrientTrial& a, const OrientTrial& b) { return a.score() < b.score(); }

}  // namespace

void OrientOptions::describe(Fields& fields) {
  fields.add("scan", scan,
             {.help = "frames from the middle of the scan, as many along each side", .min = 4, .max = 4096});
  fields.add("iterations", iterations, {.help = "of every trial", .min = 2, .max = 1e6});
  fields.add("rotation_deg", rotation_deg,
             {.help = "an angle to try, with its quarter turns, in place of those at which deflections have the least "
                      "curl; may be repeated",
              .metavar = "DEG",
              .check = [](std::string_view text, std::string_view where) { (void)angle_of(text, where); }});
  fields.add("refine", refine, {.help = "look for a better angle beside the best one"});
}

const OrientTrial* Orientation::rival() const {
  for (const OrientTrial& trial : trials) {
    const double apart = std::abs(in_one_turn(trial.rotation - best().rotation));
    if (trial.transpose == best().transpose && apart <= 4 * refinement) continue;
    return std::isfinite(trial.score()) ? &trial : nullptr;
  }
  return nullptr;
}

bool Orientation::clear() const {
  double worst = 0;
  for (const OrientTrial& trial : trials)
    if (std::isfinite(trial.score())) worst = std::max(worst, trial.score());
  return rival() == nullptr || rival()->score() - best().score() > 0.1 * (worst - best().score());
}

std::string Orientation::run_file_lines() const {
  return fmt::format("[geometry]\ntranspose = {}\nscan_rotation_deg = {:.1f}\n", best().transpose,
                     best().rotation / degree);
}

Orientation find_orientation(const RunFile& settings, Source source, const OrientOptions& options, Budget budget) {
  const std::vector<double> asked = angles_of(options.rotation_deg);
  Trials trials(settings, std::move(source), options, std::move(budget));
  Orientation found;
  found.frames = trials.frames();
  trials.judge_deflections(found);

  std::vector<std::pair<bool, double>> orientations;
  for (const bool transpose : {false, true}) {
    const std::vector<double> angles =
        asked.empty() ? std::vector{(transpose ? found.transposed : found.straight).rotation} : asked;
    for (const double angle : angles)
      for (int quarter = 0; quarter < 4; ++quarter)
        orientations.emplace_back(transpose, angle + quarter * std::numbers::pi / 2);
  }
  ProgressMeter meter("orienting", static_cast<Index>(orientations.size()) + (options.refine ? most_steps + 2 : 0),
                      "trials");
  for (const auto& [transpose, rotation] : orientations) {
    found.trials.push_back(trials.run(transpose, rotation, &found.floor));
    meter.advance();
  }
  found.warnings = trials.warnings();
  std::stable_sort(found.trials.begin(), found.trials.end(), better);
  if (!std::isfinite(found.best().score()))
    throw Error(ErrorKind::not_converged, "no orientation gave a reconstruction of finite numbers")
        .hint("check energy, angles and the scan step");
  if (!options.refine) return found;

  // Deflections may be off by ten degrees: steps continue towards better angles until one is worse, then a parabola
  // gives the angle between them.
  const auto beside = [&](const OrientTrial& trial, double side) {
    OrientTrial made = trials.run(trial.transpose, trial.rotation + side);
    made.refined = true;
    found.trials.push_back(made);
    meter.advance();
    return made;
  };
  OrientTrial here = found.best(), before = beside(here, -refinement), after = beside(here, refinement);
  for (int steps = 1; steps < most_steps && (better(before, here) || better(after, here)); ++steps) {
    if (better(after, before)) {
      before = std::exchange(here, after);
      after = beside(here, refinement);
    } else {
      after = std::exchange(here, before);
      before = beside(here, -refinement);
    }
  }
  (void)beside(here, lowest(before.score(), here.score(), after.score()) * refinement);
  std::stable_sort(found.trials.begin(), found.trials.end(), better);
  return found;
}

}  // namespace sonde::ptycho
