// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/trajectory/field_samples.h"

#include <algorithm>

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

bool lies_in_place(Tier tier, Encoding encoding, Device device) {
  return tier == (device.is_cpu() ? Tier::host : Tier::device) && encoding == Encoding::raw;
}

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
  beside.after = [this, after = std::move(beside.after)](Index n, const Propagator<T>& at) {
    if (after) after(n, at);
    if (stepped) stepped();
  };
  fields.run(record.empty() ? blind : shot, count,
             amplitudes.subspan(static_cast<std::size_t>(first) * sources, static_cast<std::size_t>(count) * sources),
             record, beside);
}

template <class T>
FieldSamples<T>::FieldSamples(SampleLayout layout, Index most_steps, Tier tier, Encoding encoding,
                              const TierBudgets& budgets, Device device)
    : layout_(std::move(layout)),
      pieces_(pieces_of(layout_, lies_in_place(tier, encoding, device), device)),
      piece_size_((layout_.elements() + pieces_ - 1) / pieces_),
      stream_(device),
      store_(budgets, stream_,
             store_options(layout_, layout_.samples(most_steps), pieces_, piece_size_, dtype_of<T>, tier, encoding)),
      in_place_(lies_in_place(tier, encoding, device)) {
  for (std::size_t i = 0; i < layout_.components.size(); ++i)
    order_[static_cast<std::size_t>(layout_.components[i])] = static_cast<Index>(i);
  if (in_place_ && device.is_cpu()) touch(layout_.samples(most_steps));
  if (!in_place_)
    for (auto& buffer : buffers_) buffer = Array::zeros(device, {pieces_ * piece_size_}, dtype_of<T>);
  if (layout_.interval > 1)
    before_ = Array::zeros(device, {std::ssize(layout_.components) * layout_.nodes()}, dtype_of<T>);
}

/// Pages come into being here and not in the middle of the first run.
template <class T>
void FieldSamples<T>::touch(Index samples) {
  parallel_for(samples, 1, [&](Index first, Index last, Worker&) {
    for (Index i = first; i < last; ++i) std::fill_n(store_.template in_place<T>(i), layout_.elements(), T(0));
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
void FieldSamples<T>::copy_poles(const PoleRows& poles, Index k) {
  const NodeBox& box = layout_.box;
  if (k < box.first[0] || k >= box.last[0]) return;
  for (std::size_t p = 0; p < static_cast<std::size_t>(layout_.poles); ++p)
    for (const Component c : layout_.components)
      for (Index j = box.first[1]; is_electric(c) && j < box.last[1]; ++j)
        std::copy_n(poles(p, c, k, j) + box.first[2], box.extent(2), to_ + pole_place(p, c, k, j));
}

template <class T>
View<T, 1> FieldSamples<T>::piece(Array& buffer, Index index) {
  return View<T, 1>(static_cast<T*>(buffer.data()) + index * piece_size_, piece_size_);
}

template <class T>
void FieldSamples<T>::begin_sample(Index sample) {
  sample_ = sample;
  to_ = in_place_ ? store_.template in_place<T>(sample) : static_cast<T*>(buffers_[0].data());
}

template <class T>
void FieldSamples<T>::end_sample() {
  if (in_place_) return;
  if (queue_ != nullptr) return store_.put(sample_, piece(buffers_[0], 0), *queue_);
  parallel_for(pieces_, 1, [&](Index first, Index last, Worker&) {
    for (Index i = first; i < last; ++i) store_.put(sample_ * pieces_ + i, piece(buffers_[0], i), stream_);
  });
}

template <class T>
void FieldSamples<T>::copy_plane(const Rows& fields, bool electric, Index k, T* to) const {
  const NodeBox& box = layout_.box;
  if (k < box.first[0] || k >= box.last[0]) return;
  for (const Component c : layout_.components)
    for (Index j = box.first[1]; is_electric(c) == electric && j < box.last[1]; ++j) {
      T* at = to + place(0, c, k, j);
      for (const auto& [first, count] : layout_.pieces(k, j)) at = std::copy_n(fields(c, k, j) + first, count, at);
    }
}

template <class T>
void FieldSamples<T>::paste_plane(bool electric, Index k, const RowsOfBox& to) const {
  const NodeBox& box = layout_.box;
  for (const Component c : layout_.components)
    for (Index j = box.first[1]; is_electric(c) == electric && j < box.last[1]; ++j) {
      const T* at = at_ + place(0, c, k, j);
      for (const auto& [first, count] : layout_.pieces(k, j)) {
        std::copy_n(at, count, to(c, k, j) + first - box.first[2]);
        at += count;
      }
    }
}

template <class T>
void FieldSamples<T>::change_of_plane(const Rows& fields, bool electric, Index k) {
  const NodeBox& box = layout_.box;
  if (k < box.first[0] || k >= box.last[0]) return;
  for (const Component c : layout_.components)
    for (Index j = box.first[1]; is_electric(c) == electric && j < box.last[1]; ++j) {
      const T *old = before_data() + place(0, c, k, j), *now = fields(c, k, j) + box.first[2];
      std::size_t quantity = 0;
      if (layout_.difference) {
        T* to = to_ + place(quantity++, c, k, j);
        for (Index x = 0; x < box.extent(2); ++x) to[x] = now[x] - old[x];
      }
      if (layout_.sum) {
        T* to = to_ + place(quantity, c, k, j);
        for (Index x = 0; x < box.extent(2); ++x) to[x] = now[x] + old[x];
      }
    }
}

/// to_ is null in steps that are not sampled.
template <class T>
PlaneHooks FieldSamples<T>::hooks(const Rows& fields, const PoleRows& poles) {
  const bool changes = layout_.interval > 1;
  const auto before = [&, changes](bool electric) {
    return [this, fields, changes, electric](Index k) {
      if (to_ != nullptr) copy_plane(fields, electric, k, changes ? before_data() : to_);
    };
  };
  const auto after = [&](bool electric) {
    return [this, fields, electric](Index k) {
      if (to_ != nullptr) change_of_plane(fields, electric, k);
    };
  };
  PlaneHooks made{.before_electric = before(true)};
  if (layout_.poles > 0)
    made.before_electric = [this, poles, fields = before(true)](Index k) {
      fields(k);
      if (to_ != nullptr) copy_poles(poles, k);
    };
  if (changes) made.after_electric = after(true);
  if (!layout_.has_magnetic()) return made;
  made.before_magnetic = before(false);
  if (changes) made.after_magnetic = after(false);
  return made;
}

template <class T>
void FieldSamples<T>::begin_run(Index first_step) {
  first_sample_ = (first_step + layout_.interval - 1) / layout_.interval;
  holds_ = {-1, -1};
}

template <class T>
void FieldSamples<T>::before_step(Index step) {
  to_ = nullptr;
  if (step % layout_.interval == 0) begin_sample(step / layout_.interval - first_sample_);
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
      for (const bool electric : {true, false}) copy_plane(fields, electric, k, to_);
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
  run.advance(first, count, record,
              {.before = [&](Index n) { before_step(first + n); },
               .planes = hooks(rows, poles),
               .after = [&](Index, const Propagator<T>&) { after_step(); }});
  end_run(rows, first + count);
}

template <class T>
void FieldSamples<T>::record_on_gpu(const RecordedRun<T>& run, Index first, Index count, std::span<double> record) {
  const bool changes = layout_.interval > 1;
  const Index quantity = std::ssize(layout_.components) * layout_.box.count();
  const auto sample = [&](const Propagator<T>& fields) {
    fields.sample(layout_.box, layout_.components, changes ? before_data() : to_);
  };
  const auto sample_change = [&](const Propagator<T>& fields) {
    fields.sample_change(layout_.box, layout_.components, before_data(), layout_.difference ? to_ : nullptr,
                         layout_.sum ? to_ + (layout_.difference ? quantity : 0) : nullptr);
  };
  begin_run(first);
  run.advance(first, count, record,
              {.before =
                   [&](Index n) {
                     before_step(first + n);
                     if (to_ != nullptr) sample(run.fields);
                   },
               .after =
                   [&](Index, const Propagator<T>& fields) {
                     if (to_ != nullptr && changes) sample_change(fields);
                     after_step();
                   }});
  if (changes) return;
  begin_sample(first + count - first_sample_);
  sample(run.fields);
  end_sample();
}

template <class T>
const T* FieldSamples<T>::loaded(Index sample) {
  if (in_place_) return store_.template in_place<T>(sample);
  const auto which = static_cast<std::size_t>(sample % 2);
  const auto* const loaded = static_cast<const T*>(buffers_[which].data());
  if (holds_[which] == sample) return loaded;
  if (sample > 0) {
    // The one that is asked for next comes while this one is used.
    std::vector<Index> next;
    for (Index i = 0; i < pieces_; ++i) next.push_back((sample - 1) * pieces_ + i);
    store_.will_read(next);
  }
  if (queue_ != nullptr)
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
  if (n % layout_.interval != 0) return false;
  const Index sample = n / layout_.interval - first_sample_;
  if (layout_.interval == 1) after_ = loaded(sample + 1);
  at_ = loaded(sample);
  return true;
}

template <class T>
typename KeptFields<T>::Row FieldSamples<T>::row(Component c, Index k, Index j) const {
  if (layout_.interval == 1) return {.before = at_ + place(0, c, k, j), .after = after_ + place(0, c, k, j)};
  typename KeptFields<T>::Row made;
  if (layout_.difference) made.difference = at_ + place(0, c, k, j);
  if (layout_.sum) made.sum = at_ + place(layout_.difference ? 1 : 0, c, k, j);
  return made;
}

template class FieldSamples<float>;
template class FieldSamples<double>;
template struct RecordedRun<float>;
template struct RecordedRun<double>;

}  // namespace sonde::maxwell
