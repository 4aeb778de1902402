// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/verbs/frames.h"

#include <fmt/format.h>

#include <algorithm>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/text.h"
#include "sonde/engine/device/parallel.h"
#include "sonde/engine/io/atomic_file.h"
#include "sonde/engine/io/output_ending.h"
#include "sonde/engine/run/write_charts.h"
#include "sonde/instruments/maxwell/verbs/run_parts.h"

namespace sonde::maxwell {
namespace {

constexpr Index usual_frames = 100;

OutputRole frames_role() { return {.what = "the file of frames"}; }

/// One number for all axes, or one for each, the slowest first.
XyzIndex steps_of(const std::string& text, const XyzIndex& cells) {
  const std::string name = setting("snapshot_step");
  const std::vector<double> numbers = parse_numbers(text, name);
  std::vector<std::size_t> axes;
  std::string letters;
  for (const std::size_t u : {std::size_t{2}, std::size_t{1}, std::size_t{0}})
    if (cells[u] > 1) {
      axes.push_back(u);
      letters += fmt::format("{}{}", letters.empty() ? "" : ",", xyz_letters[u]);
    }
  if (numbers.size() != 1 && numbers.size() != axes.size())
    throw Error(ErrorKind::usage, fmt::format("{}: {} numbers; expected one, or {}", name, numbers.size(), letters));
  XyzIndex made{1, 1, 1};
  for (std::size_t a = 0; a < axes.size(); ++a) {
    const double number = numbers[numbers.size() == 1 ? 0 : a];
    const auto step = static_cast<Index>(std::clamp(number, 0.0, 1e9));
    if (step < 1 || static_cast<double>(step) != number)
      throw Error(ErrorKind::usage, fmt::format("{}: {:g}; expected whole numbers from 1 on", name, number));
    made[axes[a]] = step;
  }
  return made;
}

void refuse_without_file(const Run& run) {
  for (const char* key : {"snapshot_every", "snapshot_step"})
    if (run.given(key))
      throw Error(ErrorKind::usage, setting(key) + " is of snapshots, and no file for them is named")
          .hint("give " + setting("snapshots") + " too");
}

}  // namespace

void FrameOptions::describe(Fields& fields) {
  fields.add("snapshots", snapshots,
             {.help = "the fields between steps as frames, with the energy in the model: of the first run or shot",
              .metavar = "FILE.h5"});
  fields.add("snapshot_every", snapshot_every,
             {.help = "steps of the traces from frame to frame; unset: about 100 frames", .min = 1});
  fields.add("snapshot_step", snapshot_step,
             {.help = "every so many nodes of a frame: one number, or one for each axis, the slowest first",
              .metavar = "N|Z,X|Z,Y,X"});
}

Frames::Frames(const FrameOptions& options, const FramedRun& of, const Run& run)
    : path_(options.snapshots), writes_(!run.silent()), of_(of) {
  if (!wanted()) {
    refuse_without_file(run);
    return;
  }
  (void)require_ending(path_, "frames", {".h5"});
  if (writes_) require_place(path_, frames_role());
  const Index steps = std::max<Index>(1, of.steps);
  every_ = options.snapshot_every.value_or(std::max<Index>(1, steps / usual_frames));
  spec_ = {.title = of.title,
           .sampling = {.axes = of.axes, .first = of.first, .step = steps_of(options.snapshot_step, of.cells)},
           .grid = of.grid,
           .spacing = of.spacing,
           .frames = (steps - 1) / every_ + 1,
           .precision = of.precision,
           .magnetic_delay = of.inner_dt / 2,
           .energy = true,
           .depth = of.depth};
  for (std::size_t u = 0; u < 3; ++u) {
    spec_.sampling.count[u] = (of.cells[u] - 1) / spec_.sampling.step[u] + 1;
    spec_.origin[u] = of.origin[u] - static_cast<double>(of.first[u]) * of.spacing[u];
  }
}

void Frames::report(MemoryPlan& memory, Run& run) const {
  if (!wanted()) return;
  const XyzIndex& n = spec_.sampling.count;
  run.report().add_choice(
      "frames", Value(spec_.frames),
      fmt::format("every {} steps, {} x {} x {} samples of {} components, {} on disk", every_, n[0], n[1], n[2],
                  spec_.components().size(), format_bytes(static_cast<double>(spec_.bytes()))));
  // A plane of samples; for the energy a plane of H for each thread.
  const GridSpec& grid = spec_.grid;
  const std::size_t plane = 2 * sizeof(double) * static_cast<std::size_t>(n[0] * n[1]),
                    magnetic = 3 * sizeof(double) * static_cast<std::size_t>(grid.cells[1] * grid.cells[2]);
  const std::size_t added =
      memory.add("frames", plane + magnetic * static_cast<std::size_t>(thread_count()), "planes of a frame");
  memory.lasting_bytes += added;
  memory.peak_bytes += added;
}

Watch Frames::watch() {
  if (!wanted()) return {};
  if (writes_) file_.emplace(path_, spec_, frames_role());
  const auto shown = [this](Index step) { return step % every_ == 0 && step / every_ < spec_.frames; };
  return {.look =
              [this, shown](Index step, LiveFields& fields) {
                if (!shown(step)) return;
                if (file_) return file_->add(step / every_, static_cast<double>(step) * of_.dt, fields);
                for_each_plane(spec_, fields, [](Component, Index, const Array&) {});  // for the process that writes
              },
          .energy =
              [this](Index step, const FieldEnergy& energy) {
                if (file_) file_->add_energy(step / every_, energy);
              },
          .energy_every = every_};
}

void Frames::finish(Run& run) {
  if (!wanted()) return;
  file_->finish();
  wrote(path_, run);
  run.results()["frames"] = spec_.frames;
}

}  // namespace sonde::maxwell
