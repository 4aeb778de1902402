// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/reconstruct/reconstruction.h"

#include <fmt/format.h>

#include <utility>

#include "sonde/engine/base/error.h"
#include "sonde/instruments/ptycho/reconstruct/checkpointed.h"
#include "sonde/instruments/ptycho/reconstruct/steps.h"

namespace sonde::ptycho {
namespace {

/// In the precision of the state. `from`: the checkpoint to go on from, or nullptr.
template <class Real>
std::unique_ptr<Reconstruction> steps_of(const Measurement& measurement, State state, Array propagators,
                                         Schedule schedule, const CheckpointReader* from) {
  auto steps = std::make_unique<Steps<Real>>(measurement, std::move(state), std::move(propagators), std::move(schedule),
                                             from != nullptr ? from->text("fft_wisdom") : "");
  if (from != nullptr) steps->restore(*from);
  return steps;
}

std::unique_ptr<Reconstruction> prepare_or_resume(const Measurement& measurement, State state, Array propagators,
                                                  Schedule schedule, const CheckpointReader* from) {
  if (schedule.share) require_shareable(schedule);
  if (schedule.engines.empty()) throw Error(ErrorKind::bad_input, "a reconstruction needs at least one engine");
  for (const EngineRun& run : schedule.engines) require_knows(run.name, *run.setup, state.type, state.slices());
  if (const std::string why = schedule.kernels ? why_no_kernels(schedule) : ""; !why.empty())
    throw Error(ErrorKind::not_supported, why).hint("use " + setting("device", "cpu"));
  const Window window = state.window();
  if (window.rows != measurement.rows() || window.cols != measurement.cols())
    throw Error(ErrorKind::bad_input, fmt::format("the probe has {} x {} pixels, the patterns {} x {}", window.rows,
                                                  window.cols, measurement.rows(), measurement.cols()));
  if (static_cast<Index>(state.positions.size()) != measurement.count())
    throw Error(ErrorKind::bad_input,
                fmt::format("{} positions for {} patterns", state.positions.size(), measurement.count()));
  require_inside(state.placements, window, state.object.shape()[1], state.object.shape()[2]);
  if (state.object.dtype() == DType::c64)
    return steps_of<float>(measurement, std::move(state), std::move(propagators), std::move(schedule), from);
  return steps_of<double>(measurement, std::move(state), std::move(propagators), std::move(schedule), from);
}

}  // namespace

std::string_view name(Outcome::Kind kind) {
  switch (kind) {
    case Outcome::Kind::running:
      return "running";
    case Outcome::Kind::finished:
      return "finished";
    case Outcome::Kind::converged:
      return "converged";
    case Outcome::Kind::diverged:
      return "diverged";
  }
  return "";
}

std::unique_ptr<Reconstruction> Reconstruction::prepare(const Measurement& measurement, State state, Array propagators,
                                                        Schedule schedule) {
  return prepare_or_resume(measurement, std::move(state), std::move(propagators), std::move(schedule), nullptr);
}

std::unique_ptr<Reconstruction> Reconstruction::resume(const Measurement& measurement, Array propagators,
                                                       Schedule schedule, const CheckpointReader& checkpoint) {
  State state;
  restore_state(checkpoint, "", state, schedule.share.get());
  return prepare_or_resume(measurement, std::move(state), std::move(propagators), std::move(schedule), &checkpoint);
}

}  // namespace sonde::ptycho
