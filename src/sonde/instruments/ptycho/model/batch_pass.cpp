// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/model/batch_pass.h"

#include <algorithm>
#include <utility>

#include "sonde/engine/base/interrupt.h"
#include "sonde/instruments/ptycho/model/look_ahead.h"
#include "sonde/instruments/ptycho/model/pattern_kernels.h"

namespace sonde::ptycho {
namespace {

template <class T>
void clear(std::vector<T>& elements, Index count) {
  const auto wanted = static_cast<std::size_t>(count);
  if (elements.capacity() < wanted) {
    elements = {};  // never both, the old and the new
    // The boxes of later batches are somewhat larger. Pages that nothing is written to cost nothing; growing again and
    // again would leave gaps in the heap as large as the tiles.
    elements.reserve(wanted + wanted / 2);
  }
  elements.assign(wanted, T{});
}

}  // namespace

template <class Real>
BatchPass<Real>::BatchPass(const Model<Real>& model, BandLimits limits)
    : model_(&model),
      limits_(limits),
      exposures_([&] { return Exposure<Real>(model); }),
      tiles_(static_cast<std::size_t>(limits.most)) {}

template <class Real>
void BatchPass<Real>::fill(const Bands& bands, Index band, Wanted wanted, const Visit& visit,
                           Exposure<Real>& exposure) {
  const Model<Real>& model = *model_;
  const Index pixels = model.pixels(), modes = model.modes(), slices = model.slices();
  const Band& here = bands.bands[static_cast<std::size_t>(band)];
  const Index area = here.box.rows * here.box.cols;
  Tile& tile = tiles_[static_cast<std::size_t>(band)];
  if (wanted.object) {
    clear(tile.object, slices * area);
    if (wanted.weights) clear(tile.object_weight, slices * area);
  }
  if (wanted.probe) {
    clear(tile.probe, modes * pixels);
    if (wanted.weights) clear(tile.probe_weight, pixels);
  }
  const std::span<const Index> members =
      std::span(bands.order)
          .subspan(static_cast<std::size_t>(here.first), static_cast<std::size_t>(here.last - here.first));
  for (Index i = 0; i < here.last - here.first; ++i) {
    if (!finish_) check_interrupt();  // no other process waits for this one
    if (static_cast<Index>(bands.order.size()) > most_announced)
      look_ahead(members, i, [&](std::span<const Index> frames) { announce(frames); });
    announce_next(next_, here.first + i, static_cast<Index>(bands.order.size()),
                  [&](std::span<const Index> frames) { announce(frames); });
    visit(members[static_cast<std::size_t>(i)], exposure);
    const Placement& at = exposure.placement();
    const Index corner = (at.row - here.box.row) * here.box.cols + (at.col - here.box.col);
    const auto window = [&](auto* data) {
      View<std::remove_pointer_t<decltype(data)>, 2> view(data, model.rows(), model.cols());
      view.stride[0] = here.box.cols;
      return view;
    };
    for (Index s = slices - 1; s >= 0; --s) {
      if (wanted.object)
        cpu::add_to_object<Real>(
            exposure.incident(s), exposure.waves(), modes, window(tile.object.data() + s * area + corner),
            wanted.weights ? window(tile.object_weight.data() + s * area + corner) : View<Real, 2>{});
      if (s > 0 || wanted.probe) exposure.before_slice(s);
    }
    if (!wanted.probe) continue;
    if (wanted.weights) cpu::add_object_norms<Real>(exposure.window(0), tile.probe_weight.data());
    exposure.unshift();
    cpu::add<Real>(Real(1), exposure.waves(), tile.probe.data(), modes * pixels);
  }
}

template <class Real>
void BatchPass<Real>::collect_object(const Bands& bands, Wanted wanted, BatchSums& sums) {
  const Index slices = model_->slices(), rows = sums.object.shape()[1], cols = sums.object.shape()[2];
  const auto object = sums.object.template view<Complex, 3>();
  const auto weight = sums.object_weight.template view<Real, 3>();
  std::vector<Real> largest(static_cast<std::size_t>(slices * rows));
  parallel_for(slices * rows, 8, [&](Index first, Index last, Worker&) {
    for (Index line = first; line < last; ++line) {
      const Index s = line / rows, row = line % rows;
      Complex* to = &object(s, row, 0);
      Real* weight_to = &weight(s, row, 0);
      std::fill(to, to + cols, Complex{});
      if (wanted.weights) std::fill(weight_to, weight_to + cols, Real{});
      for (std::size_t b = 0; b < bands.bands.size(); ++b) {
        const Box& box = bands.bands[b].box;
        if (row < box.row || row >= box.row + box.rows) continue;
        const Index from = s * box.rows * box.cols + (row - box.row) * box.cols;
        cpu::add<Real>(Real(1), tiles_[b].object.data() + from, to + box.col, box.cols);
        if (!wanted.weights) continue;
        const Real* weights = tiles_[b].object_weight.data() + from;
        for (Index c = 0; c < box.cols; ++c) weight_to[box.col + c] += weights[c];
      }
      if (wanted.weights) largest[static_cast<std::size_t>(line)] = *std::max_element(weight_to, weight_to + cols);
    }
  });
  sums.largest_object_weight.assign(static_cast<std::size_t>(slices), 0);
  for (Index line = 0; line < slices * rows; ++line) {
    double& most = sums.largest_object_weight[static_cast<std::size_t>(line / rows)];
    most = std::max(most, static_cast<double>(largest[static_cast<std::size_t>(line)]));
  }
}

template <class Real>
void BatchPass<Real>::collect_probe(const Bands& bands, Wanted wanted, BatchSums& sums) {
  const Index pixels = model_->pixels(), modes = model_->modes();
  Complex* probe = sums.probe.template view<Complex, 3>().data;
  Real* weight = sums.probe_weight.template view<Real, 2>().data;
  // Threads share the pixels, not the bands, so that every pixel adds its bands in their order.
  constexpr Index piece = 2048;
  parallel_for(pixels, piece, [&](Index first, Index last, Worker&) {
    for (Index m = 0; m < modes; ++m) {
      Complex* to = probe + m * pixels;
      std::fill(to + first, to + last, Complex{});
      for (std::size_t b = 0; b < bands.bands.size(); ++b)
        cpu::add<Real>(Real(1), tiles_[b].probe.data() + m * pixels + first, to + first, last - first);
    }
    std::fill(weight + first, weight + last, Real{});
    if (!wanted.weights) return;
    for (std::size_t b = 0; b < bands.bands.size(); ++b) {
      const Real* from = tiles_[b].probe_weight.data();
      for (Index i = first; i < last; ++i) weight[i] += from[i];
    }
  });
  sums.largest_probe_weight = static_cast<double>(*std::max_element(weight, weight + pixels));
}

template <class Real>
void BatchPass<Real>::run(const State& state, const Array& spectrum, std::span<const Index> batch, Wanted wanted,
                          BatchSums& sums, std::span<FrameSums> fit) {
  run(state, batch, wanted, sums, [&](Index frame, Exposure<Real>& exposure) {
    exposure.forward(state, spectrum, frame);
    fit[static_cast<std::size_t>(frame)] = exposure.residual(frame);
    exposure.back();
  });
}

template <class Real>
void BatchPass<Real>::run(const State& state, std::span<const Index> batch, Wanted wanted, BatchSums& sums,
                          const Visit& visit) {
  if (sums.object.empty()) {
    const Device cpu = Device::cpu();
    sums.object = Array(cpu, state.object.shape(), dtype_of<Complex>);
    sums.object_weight = Array(cpu, state.object.shape(), dtype_of<Real>);
    sums.probe = Array(cpu, state.probe.shape(), dtype_of<Complex>);
    sums.probe_weight = Array(cpu, state.probe.shape().last(2), dtype_of<Real>);
  }
  const Bands bands = make_bands(batch, state.placements, state.window(), limits_);
  if (!std::exchange(announced_, !next_.empty()) && static_cast<Index>(batch.size()) <= most_announced) announce(batch);
  const struct Forget {
    std::span<const Index>& next;
    ~Forget() { next = {}; }
  } forget{next_};
  parallel_for(static_cast<Index>(bands.bands.size()), 1, [&](Index first, Index last, Worker& worker) {
    for (Index band = first; band < last; ++band) fill(bands, band, wanted, visit, exposures_[worker]);
  });
  if (wanted.object) collect_object(bands, wanted, sums);
  if (wanted.probe) collect_probe(bands, wanted, sums);
  if (finish_) finish_(sums, wanted);
}

template <class Real>
void BatchPass<Real>::compare(const State& state, const Array& spectrum, std::span<const Index> batch,
                              std::span<FrameSums> fit) {
  parallel_for(static_cast<Index>(batch.size()), 4, [&](Index first, Index last, Worker& worker) {
    Exposure<Real>& exposure = exposures_[worker];
    for (Index i = first; i < last; ++i) {
      const Index frame = batch[static_cast<std::size_t>(i)];
      if (!finish_) check_interrupt();
      look_ahead(batch, i, [&](std::span<const Index> frames) { model_->measurement().will_read(frames); });
      exposure.forward(state, spectrum, frame);
      fit[static_cast<std::size_t>(frame)] = exposure.residual(frame, /*change=*/false);
    }
  });
}

template class BatchPass<float>;
template class BatchPass<double>;

}  // namespace sonde::ptycho
