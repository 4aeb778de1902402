// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/run/half_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sonde/engine/base/error.h"
#include "sonde/engine/report/progress.h"
#include "sonde/instruments/ptycho/quality/image.h"
#include "sonde/instruments/ptycho/quality/phase_rmse.h"

namespace sonde::ptycho {
namespace {

/// The product of all slices, complex128 (Y, X).
Array whole_object(const State& state) {
  const Array slices = in_double_precision(state.object);
  const auto values = slices.view<complex128, 3>();
  Array object(Device::cpu(), Shape{values.extent[1], values.extent[2]}, DType::c128);
  auto to = object.view<complex128, 2>();
  for (Index r = 0; r < values.extent[1]; ++r)
    for (Index c = 0; c < values.extent[2]; ++c) {
      to(r, c) = 1;
      for (Index s = 0; s < values.extent[0]; ++s) to(r, c) *= values(s, r, c);
    }
  return object;
}

Array object_without(const Job& job, const RunFile& run, const std::vector<Index>& left_out, ProgressMeter& meter) {
  Schedule schedule = job.schedule();
  schedule.holdout = 0;
  schedule.skip.insert(schedule.skip.end(), left_out.begin(), left_out.end());
  std::sort(schedule.skip.begin(), schedule.skip.end());
  const auto half = job.another(run, std::move(schedule));
  while (half->outcome().kind == Outcome::Kind::running) {
    (void)half->iterate();
    meter.advance();
  }
  if (half->outcome().kind == Outcome::Kind::diverged)
    throw Error(ErrorKind::not_converged,
                fmt::format("a reconstruction from half of the frames diverged: {}", half->outcome().because));
  return whole_object(half->state());
}

/// Inside of the object, with the pixel to the edge that aligning needs.
Box inner_view(const JobPlan& plan, const Shape& object) {
  const Box box = field_of_view(moved(plan.scan.positions, plan.extent.offset));
  const Index row = std::max<Index>(1, box.row), col = std::max<Index>(1, box.col);
  return {row, col, std::min(box.row + box.rows, object[0] - 1) - row,
          std::min(box.col + box.cols, object[1] - 1) - col};
}

}  // namespace

std::array<std::vector<Index>, 2> halves(const std::vector<Index>& frames, std::optional<Index> line) {
  std::array<std::vector<Index>, 2> parts;
  for (const Index frame : frames) {
    // Lines of an odd number of frames begin with the other half by themselves.
    const Index shifted = line && *line % 2 == 0 ? frame + frame / *line : frame;
    parts[static_cast<std::size_t>(shifted % 2)].push_back(frame);
  }
  return parts;
}

RingCorrelation half_data_correlation(const Job& job, const RunFile& run, const std::vector<Index>& frames,
                                      std::optional<Index> line) {
  const auto parts = halves(frames, line);
  std::vector<Index> others;  // of all: held out, skipped
  for (Index j = 0; j < job.measurement().count(); ++j)
    if (!std::binary_search(frames.begin(), frames.end(), j)) others.push_back(j);
  Index total = 0;
  for (const EngineRun& engine : job.schedule().engines) total += 2 * engine.iterations;
  ProgressMeter meter("reconstructing both halves", total, "iterations");
  std::array<Array, 2> objects;
  for (std::size_t half = 0; half < 2; ++half) {
    std::vector<Index> left_out = others;
    left_out.insert(left_out.end(), parts[1 - half].begin(), parts[1 - half].end());
    objects[half] = object_without(job, run, left_out, meter);
  }
  const Box view = inner_view(job.plan(), objects[0].shape());
  const Array second = aligned(objects[1], objects[0], view, Start::near);
  const auto in_view = [&](const Array& object) {
    View<const complex128, 2> all = object.view<complex128, 2>();
    all.data += view.row * all.stride[0] + view.col * all.stride[1];
    all.extent[0] = view.rows;
    all.extent[1] = view.cols;
    return all;
  };
  const Sampling& sampling = job.plan().scan.sampling;  // pixels of 1 without a calibration
  return ring_correlation(in_view(objects[0]), in_view(second), sampling.pixel_row(), sampling.pixel_col());
}

}  // namespace sonde::ptycho
