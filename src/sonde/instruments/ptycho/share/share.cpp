// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/share/share.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "sonde/engine/base/error.h"
#include "sonde/engine/device/parallel.h"
#include "sonde/engine/ranks/agree.h"
#include "sonde/instruments/ptycho/share/split.h"

namespace sonde::ptycho {
namespace {

template <class T>
std::span<T> elements(Array& array) {
  return {static_cast<T*>(array.data()), static_cast<std::size_t>(array.count())};
}

/// A box of every slice, one after the other.
template <class T>
std::vector<T> cut_out(View<const T, 3> from, const Box& box) {
  std::vector<T> cut;
  cut.reserve(static_cast<std::size_t>(from.extent[0] * box.rows * box.cols));
  for (Index s = 0; s < from.extent[0]; ++s)
    for (Index r = 0; r < box.rows; ++r) {
      const T* line = &from(s, box.row + r, box.col);
      cut.insert(cut.end(), line, line + box.cols);
    }
  return cut;
}

}  // namespace

Share::Share(const Ranks& ranks, std::vector<Placement> placements, Window window, Index rows, Index cols)
    : ranks_(ranks), placements_(std::move(placements)), own_number_(placements_.size(), -1), rows_(rows), cols_(cols) {
  if (static_cast<Index>(placements_.size()) < ranks.size())
    throw Error(ErrorKind::bad_input, fmt::format("{} frames for {} processes", placements_.size(), ranks.size()));
  std::vector<std::vector<Index>> split = split_frames(placements_, ranks.size());
  for (const std::vector<Index>& frames : split) boxes_.push_back(box_of(frames, placements_, window));
  frames_ = std::move(split[static_cast<std::size_t>(ranks.rank())]);
  for (std::size_t i = 0; i < frames_.size(); ++i)
    own_number_[static_cast<std::size_t>(frames_[i])] = static_cast<Index>(i);
  const Box& own = box();
  counts_here_.assign(static_cast<std::size_t>(own.rows * own.cols), 1);
  for (int rank = 0; rank < ranks.size(); ++rank) {
    Box shared = overlap(own, boxes_[static_cast<std::size_t>(rank)]);
    if (rank == ranks.rank() || shared.rows == 0) continue;
    shared.row -= own.row;
    shared.col -= own.col;
    neighbours_.push_back({rank, shared});
    if (rank > ranks.rank()) continue;
    for (Index r = shared.row; r < shared.row + shared.rows; ++r)
      std::fill_n(counts_here_.begin() + r * own.cols + shared.col, shared.cols, std::uint8_t{0});
  }
}

std::vector<Index> Share::own(std::span<const Index> of_scan) const {
  std::vector<Index> here;
  for (const Index frame : of_scan)
    if (const Index own = own_number_[static_cast<std::size_t>(frame)]; own >= 0) here.push_back(own);
  return here;
}

std::vector<double> Share::joined(std::span<const double> values) const {
  std::vector<double> all = ranks_.gather(values);
  auto count = static_cast<std::int64_t>(all.size());
  ranks_.broadcast(std::span(&count, 1));
  all.resize(static_cast<std::size_t>(count));
  ranks_.broadcast(std::span(all));
  return all;
}

bool Share::any(bool here) const { return any_of(ranks_, here); }

std::string Share::of_first(const std::string& text) const {
  auto size = static_cast<std::int64_t>(text.size());
  ranks_.broadcast(std::span(&size, 1));
  std::vector<std::int64_t> letters(text.begin(), text.end());
  letters.resize(static_cast<std::size_t>(size));
  ranks_.broadcast(std::span(letters));
  std::string of_first;
  for (const std::int64_t letter : letters) of_first.push_back(static_cast<char>(letter));
  return of_first;
}

void Share::check_interrupt() const { sonde::check_interrupt(ranks_); }

/// Everybody sends what it has of the pixels that both have, and adds what comes in the order of ranks, its own at its
/// place: floating-point sums depend on the order, and all must get the same.
template <class T>
void Share::add_parts(Array& part, Array& scratch) {
  if (scratch.empty()) scratch = Array(Device::cpu(), part.shape(), part.dtype());
  const auto from = std::as_const(part).view<T, 3>();
  std::vector<std::vector<T>> sent, received;
  std::vector<Exchange<T>> exchanges;
  for (const Neighbour& neighbour : neighbours_) {
    sent.push_back(cut_out(from, neighbour.shared));
    received.emplace_back(sent.back().size());
  }
  for (std::size_t i = 0; i < neighbours_.size(); ++i)
    exchanges.push_back({neighbours_[i].rank, 0, sent[i], received[i]});
  ranks_.exchange(std::span<const Exchange<T>>(exchanges));

  const auto to = scratch.view<T, 3>();
  const Index rows = to.extent[1], cols = to.extent[2];
  parallel_for(to.extent[0] * rows, 8, [&](Index first, Index last, Worker&) {
    for (Index line = first; line < last; ++line) {
      const Index slice = line / rows, row = line % rows;
      T* sum = &to(slice, row, 0);
      std::fill(sum, sum + cols, T{});
      const auto add_own = [&] {
        const T* own = &from(slice, row, 0);
        for (Index c = 0; c < cols; ++c) sum[c] += own[c];
      };
      bool added = false;
      for (std::size_t i = 0; i < neighbours_.size(); ++i) {
        if (!added && neighbours_[i].rank > ranks_.rank()) {
          add_own();
          added = true;
        }
        const Box& shared = neighbours_[i].shared;
        if (row < shared.row || row >= shared.row + shared.rows) continue;
        const T* values = received[i].data() + (slice * shared.rows + row - shared.row) * shared.cols;
        for (Index c = 0; c < shared.cols; ++c) sum[shared.col + c] += values[c];
      }
      if (!added) add_own();
    }
  });
  std::swap(part, scratch);
}

template <class Real>
void Share::add_up(BatchSums& sums, Wanted wanted) {
  using Complex = std::complex<Real>;
  if (wanted.object) {
    add_parts<Complex>(sums.object, object_scratch_);
    if (wanted.weights) {
      add_parts<Real>(sums.object_weight, weight_scratch_);
      const auto weight = sums.object_weight.view<Real, 3>();
      const Index pixels = weight.extent[1] * weight.extent[2];
      for (Index s = 0; s < weight.extent[0]; ++s)
        sums.largest_object_weight[static_cast<std::size_t>(s)] =
            static_cast<double>(*std::max_element(weight.data + s * pixels, weight.data + (s + 1) * pixels));
      ranks_.largest(std::span(sums.largest_object_weight));
    }
  }
  if (!wanted.probe) return;
  ranks_.all_reduce(elements<Complex>(sums.probe));
  if (!wanted.weights) return;
  const std::span<Real> weight = elements<Real>(sums.probe_weight);
  ranks_.all_reduce(weight);
  sums.largest_probe_weight = static_cast<double>(*std::max_element(weight.begin(), weight.end()));
}

template <class Body>
void Share::for_own_pixels(const Shape& part, Body&& body) const {
  const Index pixels = part[1] * part[2];
  for (Index i = 0; i < part.count(); ++i)
    if (counts_here_[static_cast<std::size_t>(i % pixels)] != 0) body(i);
}

template <class Real>
double Share::product(const Array& a, const Array& b) const {
  const auto* x = static_cast<const std::complex<Real>*>(a.data());
  const auto* y = static_cast<const std::complex<Real>*>(b.data());
  double sum = 0;
  for_own_pixels(a.shape(), [&](Index i) {
    sum += static_cast<double>(x[i].real()) * static_cast<double>(y[i].real()) +
           static_cast<double>(x[i].imag()) * static_cast<double>(y[i].imag());
  });
  ranks_.all_reduce(std::span(&sum, 1));
  return sum;
}

template <class Real>
double Share::mean(const Array& part) const {
  const auto* values = static_cast<const Real*>(part.data());
  double sum = 0;
  for_own_pixels(part.shape(), [&](Index i) { sum += static_cast<double>(values[i]); });
  ranks_.all_reduce(std::span(&sum, 1));
  return sum / static_cast<double>(part.shape()[0] * rows_ * cols_);
}

template <class Real>
std::pair<double, double> Share::change(const Array& a, const Array& b) const {
  const auto* now = static_cast<const std::complex<Real>*>(a.data());
  const auto* before = static_cast<const std::complex<Real>*>(b.data());
  double sums[2] = {0, 0};
  for_own_pixels(a.shape(), [&](Index i) {
    sums[0] += std::norm(std::complex<double>(now[i]) - std::complex<double>(before[i]));
    sums[1] += std::norm(std::complex<double>(before[i]));
  });
  ranks_.all_reduce(std::span<double>(sums, 2));
  return {sums[0], sums[1]};
}

template <class T>
Array Share::assembled(const Array& part, T outside) const {
  const auto* own = static_cast<const T*>(part.data());
  const std::vector<T> all = ranks_.gather(std::span<const T>(own, static_cast<std::size_t>(part.count())));
  if (ranks_.rank() != 0) return {};
  const Index slices = part.shape()[0];
  Array whole(Device::cpu(), Shape{slices, rows_, cols_}, part.dtype());
  const auto to = whole.view<T, 3>();
  std::fill_n(to.data, to.count(), outside);
  const T* next = all.data();
  for (const Box& box : boxes_)
    for (Index s = 0; s < slices; ++s)
      for (Index r = 0; r < box.rows; ++r, next += box.cols) std::copy_n(next, box.cols, &to(s, box.row + r, box.col));
  return whole;
}

template <class T>
Array Share::part_of(const Array& whole) const {
  const std::vector<T> cut = cut_out(whole.view<T, 3>(), box());
  return Array::from(cut, Shape{whole.shape()[0], box().rows, box().cols});
}

template Array Share::part_of<float>(const Array&) const;
template Array Share::part_of<double>(const Array&) const;
template Array Share::part_of<std::complex<float>>(const Array&) const;
template Array Share::part_of<std::complex<double>>(const Array&) const;
template Array Share::assembled(const Array&, float) const;
template Array Share::assembled(const Array&, double) const;
template Array Share::assembled(const Array&, std::complex<float>) const;
template Array Share::assembled(const Array&, std::complex<double>) const;
#define SONDE_SHARE_OF(Real)                                              \
  template void Share::add_up<Real>(BatchSums&, Wanted);                  \
  template double Share::product<Real>(const Array&, const Array&) const; \
  template double Share::mean<Real>(const Array&) const;                  \
  template std::pair<double, double> Share::change<Real>(const Array&, const Array&) const;
SONDE_SHARE_OF(float)
SONDE_SHARE_OF(double)
#undef SONDE_SHARE_OF

}  // namespace sonde::ptycho
