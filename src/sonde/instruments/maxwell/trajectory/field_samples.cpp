// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/trajectory/field_samples.h"

#include <algorithm>
#include <limits>

#include "sonde/engine/device/parallel.h"

namespace sonde::maxwell {
namespace {

/// Elements that one thread converts or copies at a time: half a megabyte of float64.
constexpr Index elements_of_piece = 65536;

StoreOptions store_options(const SampleLayout& layout, Index samples, Index pieces, Index piece_size, DType dtype,
                           Tier tier, Encoding encoding) {
  return {.count = samples * pieces,
          .slot_size = piece_size,
          .dtype = dtype,
          .encoding = encoding,
          .tier = tier,
          .what = layout.interval == 1 ? "the fields of every step" : "the fields of sampled steps"};
}

bool is_near(Tier tier, Device device) { return tier == (device.is_cpu() ? Tier::host : Tier::device); }

/// On a GPU a sample is converted and moved as a whole.
Index pieces_of(const SampleLayout& layout, bool in_place, Device device) {
  return in_place || !device.is_cpu() ? 1 : (layout.elements() + elements_of_piece - 1) / elements_of_piece;
}

}  // namespace

template <class T>
void RecordedRun<T>::advance(Index first, Index count, std::span<double> record,
                             typename Propagator<T>::Beside beside) const {
  const Acquisition blind{shot.sources, {}};
  const std::size_t sources = shot.sources.size();
  beside.counted = stepped;
  fields.run(record.empty() ? blind : shot, count,
             amplitudes.subspan(static_cast<std::size_t>(first) * sources, static_cast<std::size_t>(count) * sources),
             record, beside);
}

template <class T>
FieldSamples<T>::FieldSamples(SampleLayout layout, Index most_steps, Tier tier, Encoding encoding,
                              const TierBudgets& budgets, Device device)
    : layout_(std::move(layout)),
      pieces_(pieces_of(layout_, is_near(tier, device) && encoding == Encoding::raw, device)),
      piece_size_((layout_.elements() + pieces_ - 1) / pieces_),
      stream_(device),
      near_(is_near(tier, device)),
      halves_(!device.is_cpu() && encoding == Encoding::bf16),
      store_(budgets, stream_,
             store_options(layout_, layout_.samples(most_steps), pieces_, piece_size_,
                           halves_ ? dtype_of<std::uint16_t> : dtype_of<T>, tier, halves_ ? Encoding::raw : encoding)),
      in_place_(near_ && encoding == Encoding::raw) {
  for (std::size_t i = 0; i < layout_.components.size(); ++i)
    order_[static_cast<std::size_t>(layout_.components[i])] = static_cast<Index>(i);
  for (Index i = 0; in_place_ && i < layout_.samples(most_steps); ++i)
    places_.push_back(store_.template in_place<T>(i));
  if (in_place_ && device.is_cpu()) touch(layout_.samples(most_steps));
  if (!in_place_)
    for (auto& buffer : buffers_) buffer = Array::zeros(device, {pieces_ * piece_size_}, dtype_of<T>);
  if (layout_.interval > 1)
    before_ = Array::zeros(device, {layout_.shots * std::ssize(layout_.components) * layout_.nodes()}, dtype_of<T>);
  if (halves_ && !near_) converted_ = Array::zeros(device, {piece_size_}, DType::u16);
}

/// Pages come into being here and not in the middle of the first run.
template <class T>
void FieldSamples<T>::touch(Index samples) {
  parallel_for(samples, 1, [&](Index first, Index last, Worker&) {
    for (Index i = first; i < last; ++i) std::fill_n(places_[static_cast<std::size_t>(i)], layout_.elements(), T(0));
  });
}

template <class T>
Index FieldSamples<T>::place(std::size_t quantity, Component c, Index k, Index j) const {
  const Index which = static_cast<Index>(quantity * layout_.components.size()) + order_[static_cast<std::size_t>(c)];
  return which * layout_.nodes() + layout_.row(k, j);
}

/// Behind the fields, E as they come.
template <class T>
Index FieldSamples<T>::pole_place(std::size_t pole, Component c, Index k, Index j) const {
  const auto electric = std::count_if(layout_.components.begin(), layout_.components.end(), is_electric);
  const Index fields = layout_.elements() - layout_.poles * electric * layout_.nodes();
  Index which = 0;
  for (const Component each : layout_.components) {
    if (each == c) break;
    which += is_electric(each) ? 1 : 0;
  }
  return fields + (static_cast<Index>(pole) * electric + which) * layout_.nodes() + layout_.row(k, j);
}

template <class T>
void FieldSamples<T>::copy_poles(const PoleRows& poles, const PlaneRows& at, T* to) const {
  const NodeBox& box = layout_.box;
  const Index k = at.k, last = std::min(at.last, box.last[1]);
  if (k < box.first[0] || k >= box.last[0]) return;
  for (std::size_t p = 0; p < static_cast<std::size_t>(layout_.poles); ++p)
    for (const Component c : layout_.components)
      for (Index j = std::max(at.first, box.first[1]); is_electric(c) && j < last; ++j)
        std::copy_n(poles(p, c, k, j) + box.first[2], box.extent(2), to + pole_place(p, c, k, j));
}

template <class T>
View<T, 1> FieldSamples<T>::piece(Array& buffer, Index index) {
  return View<T, 1>(static_cast<T*>(buffer.data()) + index * piece_size_, piece_size_);
}

template <class T>
void FieldSamples<T>::begin_sample(Index sample) {
  sample_ = sample;
  to_ = in_place_ ? places_[static_cast<std::size_t>(sample)] : static_cast<T*>(buffers_[0].data());
}

template <class T>
std::uint16_t* FieldSamples<T>::halves_of(Index sample) {
  return near_ ? store_.template in_place<std::uint16_t>(sample) : static_cast<std::uint16_t*>(converted_.data());
}

template <class T>
void FieldSamples<T>::end_sample(bool converted) {
  if (in_place_) return;
  if (halves_) {
    std::uint16_t* const halves = halves_of(sample_);
    if (!converted) encode(*queue_, Encoding::bf16, dtype_of<T>, piece_size_, buffers_[0].data(), halves);
    if (!near_) store_.put(sample_, View<std::uint16_t, 1>(halves, piece_size_), *queue_);
    return;
  }
  if (queue_ != nullptr) return store_.put(sample_, piece(buffers_[0], 0), *queue_);
  parallel_for(pieces_, 1, [&](Index first, Index last, Worker&) {
    for (Index i = first; i < last; ++i) store_.put(sample_ * pieces_ + i, piece(buffers_[0], i), stream_);
  });
}

template <class T>
void FieldSamples<T>::copy_rows(const Rows& fields, bool electric, const PlaneRows& at, T* to) const {
  const NodeBox& box = layout_.box;
  const Index k = at.k, last = std::min(at.last, box.last[1]);
  if (k < box.first[0] || k >= box.last[0]) return;
  for (const Component c : layout_.components)
    for (Index j = std::max(at.first, box.first[1]); is_electric(c) == electric && j < last; ++j) {
      T* row = to + place(0, c, k, j);
      for (const auto& [first, count] : layout_.pieces(k, j)) row = std::copy_n(fields(c, k, j) + first, count, row);
    }
}

template <class T>
void FieldSamples<T>::paste_rows(bool electric, Index n, const PlaneRows& at, const RowsOfBox& to) const {
  const NodeBox& box = layout_.box;
  const Index last = std::min(at.last, box.last[1]);
  for (const Component c : layout_.components)
    for (Index j = std::max(at.first, box.first[1]); is_electric(c) == electric && j < last; ++j) {
      const T* row = read_at(n) + place(0, c, at.k, j);
      for (const auto& [first, count] : layout_.pieces(at.k, j)) {
        std::copy_n(row, count, to(c, at.k, j) + first - box.first[2]);
        row += count;
      }
    }
}

template <class T>
void FieldSamples<T>::change_of_rows(const Rows& fields, bool electric, const PlaneRows& at, T* to_sample) {
  const NodeBox& box = layout_.box;
  const Index k = at.k, last = std::min(at.last, box.last[1]);
  if (k < box.first[0] || k >= box.last[0]) return;
  for (const Component c : layout_.components)
    for (Index j = std::max(at.first, box.first[1]); is_electric(c) == electric && j < last; ++j) {
      const T *old = before_data() + place(0, c, k, j), *now = fields(c, k, j) + box.first[2];
      std::size_t quantity = 0;
      if (layout_.difference) {
        T* to = to_sample + place(quantity++, c, k, j);
        for (Index x = 0; x < box.extent(2); ++x) to[x] = now[x] - old[x];
      }
      if (layout_.sum) {
        T* to = to_sample + place(quantity, c, k, j);
        for (Index x = 0; x < box.extent(2); ++x) to[x] = now[x] + old[x];
      }
    }
}

template <class T>
T* FieldSamples<T>::written_at(Index n) const {
  return !in_place_ ? to_ : is_sampled(n) ? place_of(n) : nullptr;
}

template <class T>
PlaneHooks FieldSamples<T>::hooks(const Rows& fields, const PoleRows& poles) {
  const bool changes = layout_.interval > 1;
  const auto before = [&, changes](bool electric) {
    return [this, fields, changes, electric](const PlaneRows& at) {
      if (T* to = written_at(first_step_ + at.step); to != nullptr)
        copy_rows(fields, electric, at, changes ? before_data() : to);
    };
  };
  const auto after = [&](bool electric) {
    return [this, fields, electric](const PlaneRows& at) {
      if (T* to = written_at(first_step_ + at.step); to != nullptr) change_of_rows(fields, electric, at, to);
    };
  };
  PlaneHooks made{.before_electric = before(true)};
  if (layout_.poles > 0)
    made.before_electric = [this, poles, fields = before(true)](const PlaneRows& at) {
      fields(at);
      if (T* to = written_at(first_step_ + at.step); to != nullptr) copy_poles(poles, at, to);
    };
  if (changes) made.after_electric = after(true);
  if (!layout_.has_magnetic()) return made;
  made.before_magnetic = before(false);
  if (changes) made.after_magnetic = after(false);
  return made;
}

template <class T>
void FieldSamples<T>::begin_run(Index first_step) {
  first_step_ = first_step;
  first_sample_ = (first_step + layout_.interval - 1) / layout_.interval;
  holds_ = {-1, -1};
}

template <class T>
void FieldSamples<T>::before_step(Index step) {
  to_ = nullptr;
  if (is_sampled(step)) begin_sample(step / layout_.interval - first_sample_);
}

template <class T>
void FieldSamples<T>::after_step() {
  if (to_ != nullptr) end_sample();
}

template <class T>
void FieldSamples<T>::end_run(const Rows& fields, Index last_step) {
  if (layout_.interval > 1) return;
  begin_sample(last_step - first_sample_);
  parallel_for(layout_.box.extent(0), 1, [&](Index from, Index to, Worker&) {
    for (Index k = layout_.box.first[0] + from; k < layout_.box.first[0] + to; ++k)
      for (const bool electric : {true, false})
        copy_rows(fields, electric, {last_step, k, layout_.box.first[1], layout_.box.last[1]}, to_);
  });
  end_sample();
}

template <class T>
void FieldSamples<T>::record(const RecordedRun<T>& run, Index first, Index count, std::span<double> record) {
  queue_ = run.fields.stream();
  if (queue_ != nullptr) return record_on_gpu(run, first, count, record);
  const Rows rows = [&](Component c, Index k, Index j) { return run.fields.row(c, k, j); };
  const PoleRows poles = [&](std::size_t p, Component c, Index k, Index j) { return run.fields.pole_row(p, c, k, j); };
  begin_run(first);
  typename Propagator<T>::Beside beside{.planes = hooks(rows, poles)};
  if (!in_place_) {
    beside.before = [&](Index n) { before_step(first + n); };
    beside.after = [&](Index, const Propagator<T>&) { after_step(); };
  }
  run.advance(first, count, record, std::move(beside));
  end_run(rows, first + count);
}

/// Elements from one sample to the next where a step writes them.
template <class T>
Index FieldSamples<T>::stride() {
  if (!near_ || store_.options().count < 2) return 0;
  return halves_ ? halves_of(1) - halves_of(0) : store_.template in_place<T>(1) - store_.template in_place<T>(0);
}

template <class T>
typename Propagator<T>::Kept FieldSamples<T>::kept_by_steps() {
  typename Propagator<T>::Kept made{.box = layout_.box, .components = layout_.components};
  if (halves_)
    made.halves = halves_of(0);
  else
    made.to = in_place_ ? store_.template in_place<T>(0) : static_cast<T*>(buffers_[0].data());
  made.stride = stride();
  made.shot = layout_.elements_of_shot();
  return made;
}

/// Samples of H, and changes over a step, are gathered by themselves.
template <class T>
void FieldSamples<T>::record_on_gpu(const RecordedRun<T>& run, Index first, Index count, std::span<double> record) {
  const bool changes = layout_.interval > 1, by_steps = !changes && !layout_.has_magnetic();
  const Index quantity = std::ssize(layout_.components) * layout_.box.count();
  const Index of_shot = layout_.elements_of_shot();
  const auto sample = [&](const Propagator<T>& fields) {
    fields.sample(layout_.box, layout_.components, changes ? quantity : of_shot, changes ? before_data() : to_);
  };
  const auto sample_change = [&](const Propagator<T>& fields) {
    fields.sample_change(layout_.box, layout_.components, of_shot, {before_data(), quantity},
                         layout_.difference ? to_ : nullptr,
                         layout_.sum ? to_ + (layout_.difference ? quantity : 0) : nullptr);
  };
  begin_run(first);
  typename Propagator<T>::Beside beside;
  if (by_steps) beside.kept = kept_by_steps();
  if (!by_steps || !near_) {
    beside.before = [&](Index n) {
      before_step(first + n);
      if (to_ != nullptr && !by_steps) sample(run.fields);
    };
    beside.after = [&](Index, const Propagator<T>& fields) {
      if (to_ != nullptr && changes) sample_change(fields);
      if (to_ != nullptr) end_sample(by_steps);
    };
  }
  run.advance(first, count, record, std::move(beside));
  if (changes) return;
  begin_sample(first + count - first_sample_);
  sample(run.fields);
  end_sample();
}

template <class T>
const T* FieldSamples<T>::loaded(Index sample) {
  const auto which = static_cast<std::size_t>(sample % 2);
  const auto* const loaded = static_cast<const T*>(buffers_[which].data());
  if (holds_[which] == sample) return loaded;
  if (sample > 0) {
    // The one that is asked for next comes while this one is used.
    std::vector<Index> next;
    for (Index i = 0; i < pieces_; ++i) next.push_back((sample - 1) * pieces_ + i);
    store_.will_read(next);
  }
  if (halves_) {
    std::uint16_t* const halves = halves_of(sample);
    if (!near_) store_.get(sample, View<std::uint16_t, 1>(halves, piece_size_), *queue_);
    decode(*queue_, Encoding::bf16, dtype_of<T>, piece_size_, halves, buffers_[which].data());
  } else if (queue_ != nullptr)
    store_.get(sample, piece(buffers_[which], 0), *queue_);
  else
    parallel_for(pieces_, 1, [&](Index first, Index last, Worker&) {
      for (Index i = first; i < last; ++i) store_.get(sample * pieces_ + i, piece(buffers_[which], i), stream_);
    });
  holds_[which] = sample;
  return loaded;
}

template <class T>
bool FieldSamples<T>::begin_step(Index n) {
  if (!is_sampled(n)) return false;
  if (in_place_) return true;
  const Index sample = n / layout_.interval - first_sample_;
  if (layout_.interval == 1) after_ = loaded(sample + 1);
  at_ = loaded(sample);
  return true;
}

template <class T>
Index FieldSamples<T>::steps_at_once() const {
  return in_place_ && queue_ == nullptr ? std::numeric_limits<Index>::max() : 1;
}

template <class T>
typename KeptFields<T>::Row FieldSamples<T>::row(Index n, Component c, Index k, Index j) const {
  const T* at = read_at(n);
  if (layout_.interval == 1)
    return {.before = at + place(0, c, k, j), .after = (in_place_ ? place_of(n + 1) : after_) + place(0, c, k, j)};
  typename KeptFields<T>::Row made;
  if (layout_.difference) made.difference = at + place(0, c, k, j);
  if (layout_.sum) made.sum = at + place(layout_.difference ? 1 : 0, c, k, j);
  return made;
}

template class FieldSamples<float>;
template class FieldSamples<double>;
template struct RecordedRun<float>;
template struct RecordedRun<double>;

}  // namespace sonde::maxwell
