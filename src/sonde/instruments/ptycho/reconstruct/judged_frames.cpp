// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/reconstruct/judged_frames.h"

#include <span>
#include <utility>

#include "sonde/engine/base/error.h"
#include "sonde/instruments/ptycho/model/phase_roughness.h"
#include "sonde/instruments/ptycho/reconstruct/holdout.h"

namespace sonde::ptycho {
namespace {

/// Over all processes.
CountSums counts_of(const Measurement& measurement, const Share* share, const std::vector<Index>& frames) {
  CountSums total;
  const auto add = [&](Index own) { total += measurement.sums()[static_cast<std::size_t>(own)]; };
  if (share == nullptr) {
    for (const Index j : frames) add(j);
    return total;
  }
  for (const Index j : share->own(frames)) add(j);
  double values[] = {total.counts, total.counts2, total.amplitudes, total.lit, total.pixels};
  share->sum(values);
  return {values[0], values[1], values[2], values[3], values[4]};
}

}  // namespace

JudgedFrames judged_frames(const Measurement& measurement, const Schedule& schedule) {
  const Share* share = schedule.share.get();
  const Index frames = share != nullptr ? static_cast<Index>(share->placements().size()) : measurement.count();
  HeldOut chosen = hold_out(frames, schedule.skip, schedule.holdout, schedule.seed).value;
  JudgedFrames judged;
  judged.active = std::move(chosen.active);
  judged.held = std::move(chosen.held);
  judged.held_here = share != nullptr ? share->own(judged.held) : judged.held;
  judged.counts = counts_of(measurement, share, judged.active);
  judged.held_counts = counts_of(measurement, share, judged.held);
  if (judged.active.empty() || judged.counts.counts <= 0)
    throw Error(ErrorKind::bad_input, "no frame with counts takes part");
  return judged;
}

template <class Real>
Metrics judged(const Workbench<Real>& bench, const std::vector<FrameSums>& fit, const std::vector<Index>& frames,
               const CountSums& counts) {
  FrameSums total;
  for (const Index j : frames) total += fit[static_cast<std::size_t>(j)];
  double values[] = {total.loss, total.intensity_error2, total.amplitude_error, total.amplitude_error2, total.deviance};
  bench.sum(values);
  total = {values[0], values[1], values[2], values[3], values[4]};
  return metrics_of(std::span<const FrameSums>(&total, 1), counts);
}

template <class Real>
std::optional<double> judged_by_held_out(Workbench<Real>& bench, const JudgedFrames& frames,
                                         std::vector<FrameSums>& fit) {
  if (frames.held.empty()) return std::nullopt;
  bench.compare(frames.held_here, fit);
  return judged(bench, fit, frames.held_here, frames.held_counts).r_intensity;
}

template <class Real>
double roughness(const Workbench<Real>& bench, const State& state) {
  if (bench.share() == nullptr) return phase_roughness(state);
  const auto frames = static_cast<double>(state.positions.size());
  double sums[] = {phase_roughness(state) * frames, frames};
  bench.sum(sums);
  return sums[0] / sums[1];
}

template Metrics judged(const Workbench<float>&, const std::vector<FrameSums>&, const std::vector<Index>&,
                        const CountSums&);
template std::optional<double> judged_by_held_out(Workbench<float>&, const JudgedFrames&, std::vector<FrameSums>&);
template double roughness(const Workbench<float>&, const State&);
template Metrics judged(const Workbench<double>&, const std::vector<FrameSums>&, const std::vector<Index>&,
                        const CountSums&);
template std::optional<double> judged_by_held_out(Workbench<double>&, const JudgedFrames&, std::vector<FrameSums>&);
template double roughness(const Workbench<double>&, const State&);

}  // namespace sonde::ptycho
