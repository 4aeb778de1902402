// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/load/survey.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <utility>

#include "sonde/engine/base/clock.h"
#include "sonde/engine/base/error.h"
#include "sonde/engine/device/parallel.h"
#include "sonde/instruments/stem/correct/mask_bit.h"
#include "sonde/instruments/stem/image/bitplane.h"
#include "sonde/instruments/stem/image/event_masks.h"
#include "sonde/instruments/stem/image/mask_set.h"
#include "sonde/instruments/stem/load/dataset_state.h"
#include "sonde/instruments/stem/load/stored_frames.h"

namespace sonde::stem {
namespace {

/// What becomes of a stored pixel; the order is that of the ledger.
enum Fate : std::size_t { masked, hot, cut, kept };
constexpr std::size_t fates = 4;

/// One position's counts by fate, and its values that mean "no data".
struct Tally {
  std::uint64_t counts[fates] = {};
  std::uint64_t no_data = 0, masked_no_data = 0;  // in pixels that the mask calls good, and bad
  std::uint32_t frames = 0, no_data_frames = 0;

  void add_no_data(const std::uint64_t (&by_fate)[fates]) {
    const std::uint64_t in_good = by_fate[kept] + by_fate[cut] + by_fate[hot];
    no_data += in_good;
    masked_no_data += by_fate[masked];
    no_data_frames += in_good > 0 ? 1 : 0;
  }
};

std::vector<Fate> fates_of(const Dataset::State& state) {
  const DetectorGrid& grid = state.settings.detector;
  std::vector<Fate> all(static_cast<std::size_t>(grid.pixels()), kept);
  for (Index pixel = 0; pixel < grid.pixels(); ++pixel) {
    Fate& fate = all[static_cast<std::size_t>(pixel)];
    if (pixel / grid.cols >= grid.out_rows * grid.bin || pixel % grid.cols >= grid.out_cols * grid.bin) fate = cut;
    if (mask_bit::is_bad(state.settings.mask_bits[static_cast<std::size_t>(pixel)])) fate = masked;
  }
  for (const BadPixel& pixel : state.bad_pixels) all[static_cast<std::size_t>(pixel.row * grid.cols + pixel.col)] = hot;
  return all;
}

Mask pixels_of(const DetectorGrid& grid, const std::vector<Fate>& all, Fate fate) {
  std::vector<Index> pixels;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (all[i] == fate) pixels.push_back(static_cast<Index>(i));
  return make_mask(grid.rows, grid.cols, std::move(pixels));
}

/// The kept pixels of the bins of a mask: their sum is that of the bins.
Mask stored_mask(const DetectorGrid& grid, const std::vector<Fate>& all, const Mask& bins) {
  if (!bins.boolean()) throw Error(ErrorKind::bad_input, "weighted masks need decoded frames").hint("load the scan");
  std::vector<Index> pixels;
  for (const Index bin : bins.pixels) {
    const Index row_first = bin / grid.out_cols * grid.bin, col_first = bin % grid.out_cols * grid.bin;
    for (Index row = row_first; row < std::min(row_first + grid.bin, grid.rows); ++row)
      for (Index col = col_first; col < std::min(col_first + grid.bin, grid.cols); ++col)
        if (const Index pixel = row * grid.cols + col; all[static_cast<std::size_t>(pixel)] == kept)
          pixels.push_back(pixel);
  }
  return make_mask(grid.rows, grid.cols, std::move(pixels));
}

/// So many masks, and the kept pixels, are evaluated on bit planes; more of them take less time on decoded frames.
constexpr std::size_t most_on_planes = BitplaneSums::most_masks - 1;

/// Decoded frames of one worker that wait until they are as many as a MaskSet takes at a time.
struct WaitingFrames {
  std::vector<std::byte> elements[MaskSet::lanes];
  Index positions[MaskSet::lanes] = {};
  Index count = 0;
  MaskSet::Scratch scratch;
  std::vector<std::uint64_t> sums;
};

/// All masks over all frames.
class Walk {
 public:
  Walk(Dataset& dataset, std::span<const Mask> masks, std::span<Array> images)
      : state_(dataset.state()),
        acquisition_(dataset.acquisition()),
        images_(images),
        fates_(fates_of(state_)),
        tallies_(static_cast<std::size_t>(dataset.positions())),
        no_data_(fates_.size()) {
    const DetectorGrid& grid = state_.settings.detector;
    std::vector<Mask> stored;
    for (const Mask& mask : masks) stored.push_back(stored_mask(grid, fates_, mask));
    BitplaneMasks::Options options;
    for (const Fate fate : {masked, hot, cut}) options.apart.push_back(pixels_of(grid, fates_, fate));
    stored.push_back(pixels_of(grid, fates_, kept));
    if (sums_on_planes(dataset, masks.size())) {
      for (const Fate fate : fates_) options.good.push_back(fate == kept ? 1 : 0);
      options.sentinel = acquisition_.sentinel;
      planes_ = BitplaneMasks::prepare(grid.rows, grid.cols, size_bytes(acquisition_.stored), stored, options);
    }
    stored.insert(stored.begin() + std::ssize(masks), options.apart.begin(), options.apart.end());
    if (sums_of_electrons(dataset, masks.size())) electrons_ = EventMasks::prepare(stored);
    set_ = MaskSet::prepare(stored);
  }

  void add(const StoredFrame& frame, DecodeScratch& scratch) {
    Tally& tally = tallies_[static_cast<std::size_t>(frame.position)];
    ++tally.frames;
    if (electrons_) return add_electrons(frame, tally);
    // A chunk that skipped its filter, and a frame with "no data" in a pixel that the mask calls good, are decoded.
    if (planes_ && (frame.filter_mask & 1u) == 0) {
      BitplaneSums sums;
      planes_->evaluate(frame.bytes, *frame.format, scratch.bitshuffle, sums);
      if (!sums.sentinel && sums.apart[cut].no_data == 0 && sums.apart[hot].no_data == 0)
        return add(sums, frame.position, tally);
    }
    WaitingFrames& waiting = waiting_[*frame.worker];
    std::vector<std::byte>& elements = waiting.elements[waiting.count];
    frame.decode(scratch, elements);
    visit_stored([&](auto zero) { remove_no_data<decltype(zero)>(elements, tally); });
    waiting.positions[waiting.count++] = frame.position;
    if (waiting.count == MaskSet::lanes) sum(waiting);
  }

  /// After the last frame, on one thread.
  void sum_waiting() {
    for (auto& waiting : waiting_)
      if (waiting->count > 0) sum(*waiting);
  }

  void finish(const FramesRead& read, double seconds) {
    Tally all;
    LedgerSum sums[fates];
    state_.valid.assign(tallies_.size(), 0);
    std::uint64_t empty = 0, frames = 0, no_data_frames = 0;
    for (std::size_t position = 0; position < tallies_.size(); ++position) {
      const Tally& tally = tallies_[position];
      for (std::size_t fate = 0; fate < fates; ++fate) sums[fate] += LedgerSum(tally.counts[fate]);
      all.no_data += tally.no_data;
      all.masked_no_data += tally.masked_no_data;
      frames += tally.frames;
      no_data_frames += tally.no_data_frames;
      state_.valid[position] = tally.frames > 0 ? 1 : 0;
      empty += tally.frames == 0 ? 1 : 0;
    }
    Ledger& ledger = state_.ledger = {};
    ledger.masked = sums[masked];
    ledger.hot = sums[hot];
    ledger.cut = sums[cut];
    ledger.kept = sums[kept];
    for (const LedgerSum& sum : sums) ledger.stored += sum;  // every pixel has one fate
    ledger.frames_read = frames;
    ledger.frames_unread = static_cast<std::uint64_t>(acquisition_.frames) - frames;
    ledger.empty_positions = empty;
    ledger.no_data = all.no_data;
    ledger.no_data_frames = no_data_frames;
    ledger.no_data_pixels = static_cast<std::uint64_t>(
        std::count_if(no_data_.begin(), no_data_.end(), [](const auto& each) { return each != 0; }));
    ledger.masked_no_data = all.masked_no_data;
    state_.exactness = {};
    state_.exactness.values_seen = false;
    state_.exactness.sentinels = all.no_data;
    state_.exactness.masked_sentinels = all.masked_no_data;
    state_.stored_bytes = read.stored_bytes;
    state_.content_hash = read.content_hash;
    state_.seconds.read += read.read_s;
    state_.seconds.wall += seconds;
    state_.passes = 1;
  }

 private:
  void add_electrons(const StoredFrame& frame, Tally& tally) {
    std::array<std::uint64_t, EventMasks::most_masks> sums{};
    electrons_->add(frame.electrons, sums);
    add_to_images(sums.data(), frame.position);
    const std::uint64_t* of_fates = sums.data() + images_.size();  // in their order
    for (const Fate fate : {masked, hot, cut, kept}) tally.counts[fate] += *of_fates++;
  }

  void add_to_images(const std::uint64_t* sums, Index position) {
    for (std::size_t i = 0; i < images_.size(); ++i)
      static_cast<std::uint64_t*>(images_[i].data())[position] += sums[i];
  }

  void add(const BitplaneSums& sums, Index position, Tally& tally) {
    add_to_images(sums.masks.data(), position);
    tally.counts[kept] += sums.masks[images_.size()];
    std::uint64_t no_data[fates] = {};
    for (const Fate fate : {masked, hot, cut}) {
      tally.counts[fate] += sums.apart[fate].sum;
      no_data[fate] = sums.apart[fate].no_data;
    }
    tally.add_no_data(no_data);
  }

  template <class Body>
  void visit_stored(Body&& body) const {
    switch (acquisition_.stored) {
      case DType::u8:
        return body(std::uint8_t{});
      case DType::u16:
        return body(std::uint16_t{});
      default:
        return body(std::uint32_t{});
    }
  }

  /// Counts the values that mean "no data", and makes them zero.
  template <class T>
  void remove_no_data(std::vector<std::byte>& elements, Tally& tally) {
    if (!acquisition_.sentinel) return;
    T* values = reinterpret_cast<T*>(elements.data());
    const auto sentinel = static_cast<T>(*acquisition_.sentinel);
    if (sentinel != *acquisition_.sentinel) return;
    Index found = 0;
    for (std::size_t pixel = 0; pixel < fates_.size(); ++pixel) found += values[pixel] == sentinel ? 1 : 0;
    if (found == 0) return;
    std::uint64_t no_data[fates] = {};
    for (std::size_t pixel = 0; pixel < fates_.size(); ++pixel) {
      if (values[pixel] != sentinel) continue;
      values[pixel] = 0;
      ++no_data[fates_[pixel]];
      if (fates_[pixel] != masked) std::atomic_ref(no_data_[pixel]).store(1, std::memory_order_relaxed);
    }
    tally.add_no_data(no_data);
  }

  void sum(WaitingFrames& waiting) {
    waiting.sums.resize(static_cast<std::size_t>(set_.masks() * MaskSet::lanes));
    visit_stored([&](auto zero) {
      using T = decltype(zero);
      const T* frames[MaskSet::lanes];
      // Where frames are missing the last one is summed again, and left out.
      for (Index k = 0; k < MaskSet::lanes; ++k)
        frames[k] = reinterpret_cast<const T*>(waiting.elements[std::min(k, waiting.count - 1)].data());
      set_.run(frames, waiting.scratch, waiting.sums.data());
    });
    for (Index k = 0; k < waiting.count; ++k) {
      const auto of = [&](std::size_t mask) {
        return waiting.sums[mask * MaskSet::lanes + static_cast<std::size_t>(k)];
      };
      const Index position = waiting.positions[k];
      for (std::size_t i = 0; i < images_.size(); ++i)
        static_cast<std::uint64_t*>(images_[i].data())[position] += of(i);
      std::uint64_t(&counts)[fates] = tallies_[static_cast<std::size_t>(position)].counts;
      for (const Fate fate : {masked, hot, cut, kept}) counts[fate] += of(images_.size() + fate);
    }
    waiting.count = 0;
  }

  Dataset::State& state_;
  const Acquisition& acquisition_;
  std::span<Array> images_;
  std::vector<Fate> fates_;
  MaskSet set_;  // of stored pixels: the masks asked for, then the pixels of each fate
  std::optional<BitplaneMasks> planes_;
  std::optional<EventMasks> electrons_;  // of the same masks
  PerWorker<WaitingFrames> waiting_;
  std::vector<Tally> tallies_;         // by position, which one worker has at a time
  std::vector<std::uint8_t> no_data_;  // by pixel, set by any worker
};

}  // namespace

bool sums_on_planes(const Dataset& survey, std::size_t masks) {
  return has_bit_planes(survey) && masks <= most_on_planes;
}

bool sums_of_electrons(const Dataset& survey, std::size_t masks) {
  return has_electrons(survey) && masks + fates <= EventMasks::most_masks;
}

std::vector<Array> sum_masks(Dataset& survey, std::span<const Mask> masks) {
  std::vector<Array> images;
  for (std::size_t i = 0; i < masks.size(); ++i)
    images.push_back(Array::zeros(Device::cpu(), {survey.positions()}, DType::u64));
  const Stopwatch watch;
  Walk walk(survey, masks, images);
  const FramesRead read = for_each_stored_frame(
      survey,
      [&](const StoredFrame& frame, DecodeScratch& scratch, std::vector<std::byte>&) { walk.add(frame, scratch); },
      Identify::yes);
  walk.sum_waiting();
  walk.finish(read, watch.seconds());
  return images;
}

void record_opening(Dataset& dataset, Choice<std::string> choice, double validate_s) {
  Dataset::State& state = dataset.state();
  state.choices.insert(state.choices.begin(), std::move(choice));
  state.seconds.validate += validate_s;
  state.seconds.wall += validate_s;
}

}  // namespace sonde::stem
