// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/load/device_pass.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "sonde/engine/base/clock.h"
#include "sonde/engine/base/error.h"
#include "sonde/engine/base/interrupt.h"
#include "sonde/engine/device/dispatch.h"
#include "sonde/engine/report/progress.h"
#include "sonde/instruments/stem/layout/transpose.h"
#include "sonde/instruments/stem/load/device_batch.h"
#include "sonde/instruments/stem/load/frame_device.h"

namespace sonde::stem {
namespace {

using u64 = std::uint64_t;

// Frames whose steps follow one another: their scratch nearly fits the second-level cache of a large GPU, and they are
// enough thread blocks to fill it.
constexpr std::size_t group_bytes = std::size_t{48} << 20;
constexpr std::size_t row_alignment_bytes = 16;
constexpr int ring_slots = 3;  // one being filled, one on its way, one being worked on

template <class Body>
void run_on(Stream& stream, Index blocks, const Body& body) {
  LaunchSize size;
  size.blocks = blocks;
  SONDE_DISPATCH(stream, run_body, size, body);
}

template <class T>
Array upload(Stream& stream, const std::vector<T>& list) {
  return Array::from(list, {static_cast<Index>(list.size())}).copy_to(stream.device(), stream);
}

template <class T>
View<T, 1> part(const View<T, 1>& all, Index first, Index count) {
  View<T, 1> some = all;
  some.data += first;
  some.extent[0] = count;
  return some;
}

template <class T>
View<T, 2> rows(const View<T, 2>& all, Index first, Index count) {
  View<T, 2> some = all;
  some.data += first * all.stride[0];
  some.extent[0] = count;
  return some;
}

device::BinShape bin_shape(const DetectorGrid& grid) {
  const auto narrow = [](Index value) { return static_cast<std::uint32_t>(value); };
  return {narrow(grid.rows), narrow(grid.cols), narrow(grid.bin), narrow(grid.out_rows), narrow(grid.out_cols)};
}

u64* counts_of(Array& array) { return static_cast<u64*>(array.data()); }

template <class In, class Acc>
class DevicePass {
 public:
  DevicePass(Stream& stream, Source& source, const PassSettings& settings, const ResidentSettings& resident,
             Array& destination)
      : stream_(stream),
        upload_(stream.device()),
        source_(source),
        settings_(settings),
        resident_settings_(resident),
        destination_(destination),
        device_(stream.device()),
        schedule_(make_schedule(settings.scan, source, settings.batch_bytes)) {
    const DetectorGrid& grid = settings.detector;
    plain_ = is_plain(settings);
    if (why_decoded_on_cpu(source).empty()) packing_ = source.packing();
    const std::size_t row_bytes = static_cast<std::size_t>(grid.pixels()) * sizeof(In);
    group_ = std::clamp<Index>(static_cast<Index>(group_bytes / std::max<std::size_t>(row_bytes, 1)), 1, 65536);
    group_ = std::min(group_, largest_batch());
    stored_ = Array::pitched(device_, {group_, grid.pixels()}, dtype_of<In>, row_alignment_bytes);
    if (!plain_) binned_ = Array::pitched(device_, {group_, grid.out_pixels()}, dtype_of<Acc>, row_alignment_bytes);
    if (resident.destination == Destination::planes)
      resident_ = Array::pitched(device_, {group_, grid.out_pixels()}, resident.out, row_alignment_bytes);

    const Index positions = settings.scan.positions();
    for (Array* sums : {&total_, &moment_row_, &moment_col_}) *sums = Array::zeros(device_, {positions}, DType::u64);
    input_sum_ = Array::zeros(device_, {grid.rows, grid.cols}, DType::u64);
    sentinels_ = Array::zeros(device_, {grid.pixels()}, DType::u64);
    for (Array* sums : {&pattern_sum_, &pattern_max_, &nonzero_})
      *sums = Array::zeros(device_, {grid.out_rows, grid.out_cols}, DType::u64);
    counters_ = Array::zeros(device_, {device::counters}, DType::u64);
    states_ = upload(stream_, pixel_states());
    if (settings.mode == BinMode::mean) scale_ = upload(stream_, mean_scale());
    ring_.reserve(ring_slots);
    for (int i = 0; i < ring_slots; ++i) ring_.emplace_back(device_, source, settings, packing_);
    result_.pass.valid.resize(static_cast<std::size_t>(positions));
  }

  /// Nothing may be freed while the device still works on it, whatever went wrong.
  ~DevicePass() {
    try {
      upload_.synchronise();
      stream_.synchronise();
    } catch (...) {  // the failure itself has been thrown where it was met
    }
  }
  DevicePass(const DevicePass&) = delete;
  DevicePass& operator=(const DevicePass&) = delete;

  LoadResult run() {
    const Stopwatch watch;
    BatchFeed feed(source_, schedule_);
    ProgressMeter progress(settings_.stage, settings_.scan.positions(), "positions");
    std::size_t next = 0;
    while (const auto batch = feed.next()) {
      check_interrupt();
      DeviceBatch& there = ring_[next++ % ring_.size()];
      there.finish(result_.pass);
      there.fill(*batch,
                 std::span(schedule_.order)
                     .subspan(static_cast<std::size_t>(batch->plan->first),
                              static_cast<std::size_t>(batch->plan->last - batch->plan->first)),
                 scratch_, result_.pass);
      there.send(upload_, stream_);
      for (Index first = 0; first < there.count(); first += group_)
        work(there, first, std::min(group_, there.count() - first));
      there.close(stream_);
      result_.pass.seconds.read += batch->read_s;
      result_.pass.stored_bytes += batch->plan->bytes;
      progress.advance(there.count());
    }
    for (std::size_t i = 0; i < ring_.size(); ++i) ring_[next++ % ring_.size()].finish(result_.pass);
    collect();
    result_.pass.content_hash = feed.content_hash();
    result_.pass.seconds.wall = watch.seconds();
    return std::move(result_);
  }

 private:
  [[nodiscard]] Index largest_batch() const {
    Index most = 1;
    for (const Batch& batch : schedule_.batches) most = std::max(most, batch.last - batch.first);
    return most;
  }

  [[nodiscard]] std::vector<std::uint8_t> pixel_states() const {
    std::vector<std::uint8_t> states(settings_.mask_bits.size(), device::good_pixel);
    for (const Index pixel : settings_.suspects) states[static_cast<std::size_t>(pixel)] = device::suspect_pixel;
    for (std::size_t i = 0; i < states.size(); ++i)
      if (mask_bit::is_bad(settings_.mask_bits[i])) states[i] = device::bad_pixel;
    return states;
  }

  [[nodiscard]] std::vector<float> mean_scale() const {
    std::vector<float> scale;
    for (const std::uint32_t good : settings_.detector.good_per_bin(settings_.mask_bits))
      scale.push_back(good == 0 ? 0.0f : 1.0f / static_cast<float>(good));
    return scale;
  }

  /// Queues all steps for frames [first, first + count) of a batch.
  void work(DeviceBatch& batch, Index first, Index count) {
    const auto stored = rows(stored_.view<In, 2>(), 0, count);
    decode_chunks<In>(stream_, batch.device_bytes(), part(batch.device_pieces(), first, count),
                      packing_ ? packing_->block_elements : 0, batch.largest_block_bytes(), stored,
                      part(batch.device_faults(), first, count));
    clean(stored, part(batch.device_present(), first, count));
    if (plain_) {
      add_statistics<In>(stored, input_sum_, true);
      place<In>(stored, batch, first);
    } else {
      add_statistics<In>(stored, input_sum_, false);
      const auto binned = rows(binned_.view<Acc, 2>(), 0, count);
      run_on(stream_, count, device::BinFrames<In, Acc>{stored, bin_shape(settings_.detector), binned});
      add_statistics<Acc>(binned, pattern_sum_, true);
      place<Acc>(binned, batch, first);
    }
  }

  void clean(View<In, 2> frames, View<const std::uint8_t, 1> present) {
    const Acquisition& acquisition = source_.acquisition();
    device::CleanFrames<In> body;
    body.frames = frames;
    body.present = present;
    body.state = std::as_const(states_).view<std::uint8_t, 1>();
    body.has_sentinel = acquisition.sentinel.has_value();
    body.sentinel = static_cast<In>(acquisition.sentinel.value_or(0));
    body.has_saturation =
        acquisition.saturation.has_value() && *acquisition.saturation < std::numeric_limits<In>::max();
    body.saturation = static_cast<In>(acquisition.saturation.value_or(0));
    body.input_sum = counts_of(input_sum_);
    body.sentinels_per_pixel = counts_of(sentinels_);
    body.counts = counts_of(counters_);
    run_on(stream_, frames.extent[0], body);
  }

  template <class T>
  void add_statistics(View<const T, 2> frames, Array& sum, bool resident) {
    device::PixelStatistics<T> body;
    body.frames = frames;
    body.sum = counts_of(sum);
    if (resident) {
      body.most = counts_of(pattern_max_);
      body.nonzero = counts_of(nonzero_);
    }
    run_on(stream_, body.pieces(), body);
  }

  template <class T>
  void place(View<const T, 2> frames, const DeviceBatch& batch, Index first) {
    switch (resident_settings_.out) {
      case DType::u8:
        return place_as<T, std::uint8_t>(frames, batch, first);
      case DType::u16:
        return place_as<T, std::uint16_t>(frames, batch, first);
      case DType::u32:
        return place_as<T, std::uint32_t>(frames, batch, first);
      default:
        return place_as<T, float>(frames, batch, first);
    }
  }

  template <class T, class Out>
  void place_as(View<const T, 2> frames, const DeviceBatch& batch, Index first) {
    const DetectorGrid& grid = settings_.detector;
    device::PlaceFrames<T, Out> body;
    body.frames = frames;
    body.cols = static_cast<std::uint32_t>(grid.out_cols);
    body.positions = part(batch.device_positions(), first, frames.extent[0]);
    body.total = counts_of(total_);
    body.moment_row = counts_of(moment_row_);
    body.moment_col = counts_of(moment_col_);
    body.counts = counts_of(counters_);
    body.limit = std::numeric_limits<T>::max();
    if constexpr (std::is_integral_v<Out>)
      body.limit = static_cast<T>(std::min<u64>(body.limit, std::numeric_limits<Out>::max()));
    if (!scale_.empty()) body.scale = std::as_const(scale_).view<float, 1>().data;
    if (resident_settings_.destination == Destination::frames) {
      body.out = View<Out, 2>(static_cast<Out*>(destination_.data()), settings_.scan.positions(), grid.out_pixels());
      body.by_position = true;
    } else if (resident_settings_.destination == Destination::planes) {
      body.out = rows(resident_.view<Out, 2>(), 0, frames.extent[0]);
    }
    run_on(stream_, frames.extent[0], body);
    if (resident_settings_.destination == Destination::planes) transpose(body.out, batch, first);
  }

  /// Runs of consecutive positions become columns of the planes.
  template <class Out>
  void transpose(View<Out, 2> frames, const DeviceBatch& batch, Index first) {
    const std::span<const Index> positions =
        std::span(batch.positions())
            .subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(frames.extent[0]));
    for (std::size_t begin = 0; begin < positions.size();) {
      std::size_t end = begin + 1;
      while (end < positions.size() && positions[end] == positions[end - 1] + 1) ++end;
      place_frames<Out>(stream_, rows(frames, static_cast<Index>(begin), static_cast<Index>(end - begin)),
                        destination_.view<Out, 2>(), positions[begin]);
      begin = end;
    }
  }

  /// Sums back to the host.
  void collect() {
    Moments& moments = result_.moments;
    const auto fetch = [&](const Array& from) { return from.copy_to(Device::cpu(), stream_); };
    moments.total = fetch(total_);
    moments.moment_row = fetch(moment_row_);
    moments.moment_col = fetch(moment_col_);
    moments.pattern_max = fetch(pattern_max_);
    moments.nonzero = fetch(nonzero_);
    moments.pattern_sum = fetch(plain_ ? input_sum_ : pattern_sum_);
    result_.pass.input_sum = fetch(input_sum_);
    const Array sentinels = fetch(sentinels_), counters = fetch(counters_);
    const auto* per_pixel = static_cast<const u64*>(sentinels.data());
    result_.pass.sentinels_per_pixel.assign(per_pixel, per_pixel + sentinels.count());
    const auto* found = static_cast<const u64*>(counters.data());
    result_.pass.sentinels = found[device::sentinels];
    result_.pass.sentinel_frames = found[device::sentinel_frames];
    result_.pass.masked_sentinels = found[device::masked_sentinels];
    result_.pass.masked = found[device::masked_counts];
    result_.pass.saturated = found[device::saturated];
    result_.pass.suspects_largest = static_cast<double>(found[device::suspects_largest]);
    if (plain_)  // S of the stored detector is that of the resident one, where suspects hold zeros
      for (const Index pixel : settings_.suspects) counts_of(moments.pattern_sum)[pixel] = 0;
    if (resident_settings_.saturate) {
      result_.clipped = found[device::clipped];
      result_.clipped_counts = found[device::clipped_counts];
    }

    const auto* most = static_cast<const u64*>(moments.pattern_max.data());
    u64 largest = 0;
    for (Index i = 0; i < moments.pattern_max.count(); ++i) largest = std::max(largest, most[i]);
    result_.pass.largest = static_cast<double>(largest);
    result_.overflow = resident_settings_.out != DType::f32 && !resident_settings_.saturate &&
                       result_.pass.largest > static_cast<double>(max_value(resident_settings_.out));
    std::sort(result_.pass.failed.begin(), result_.pass.failed.end(),
              [](const FailedFrame& a, const FailedFrame& b) { return a.frame < b.frame; });
  }

  Stream& stream_;
  Stream upload_;
  Source& source_;
  const PassSettings& settings_;
  const ResidentSettings& resident_settings_;
  Array& destination_;
  Device device_;
  Schedule schedule_;
  bool plain_ = true;
  std::optional<BitshuffleFormat> packing_;  // none: all frames are decoded on the CPU
  Index group_ = 1;
  Array stored_, binned_, resident_;  // scratch of a group: (frame, pixel)
  Array total_, moment_row_, moment_col_, input_sum_, sentinels_, pattern_sum_, pattern_max_, nonzero_, counters_;
  Array states_, scale_;
  std::vector<DeviceBatch> ring_;
  PerWorker<DecodeScratch> scratch_;
  LoadResult result_;
};

template <class In>
LoadResult run_stored(Stream& stream, Source& source, const PassSettings& settings, const ResidentSettings& resident,
                      Array& destination) {
  const auto members = static_cast<double>(settings.detector.bin * settings.detector.bin);
  if constexpr (sizeof(In) < 4)
    if (members * std::numeric_limits<In>::max() < 4294967296.0)
      return DevicePass<In, std::uint32_t>(stream, source, settings, resident, destination).run();
  return DevicePass<In, u64>(stream, source, settings, resident, destination).run();
}

}  // namespace

std::string why_not_on_gpu(const Source& source, const PassSettings& settings) {
  if (source.acquisition().stored == DType::f32) return "floating-point values are summed on the CPU";
  if (settings.scan.bin > 1) return "scan bins are summed on the CPU";
  if (!settings.interpolations.empty()) return "bad pixels are interpolated on the CPU";
  if (settings.detector.pixels() > std::numeric_limits<std::uint32_t>::max())
    return "the detector has more than 2^32 pixels";
  return "";
}

std::string why_decoded_on_cpu(const Source& source) {
  const auto packing = source.packing();
  if (!packing) return "the frames are not bitshuffle chunks";
  if (packing->codec == BitshuffleCodec::zstd) return "the frames are compressed by zstd";
  if (packing->element_bytes != size_bytes(source.acquisition().stored))
    return "the elements are shuffled in another size than they have";
  return "";
}

LoadResult run_device_pass(Stream& stream, Source& source, const PassSettings& settings,
                           const ResidentSettings& resident, Array& destination) {
  if (const std::string why = why_not_on_gpu(source, settings); !why.empty()) throw Error(ErrorKind::internal, why);
  switch (source.acquisition().stored) {
    case DType::u8:
      return run_stored<std::uint8_t>(stream, source, settings, resident, destination);
    case DType::u16:
      return run_stored<std::uint16_t>(stream, source, settings, resident, destination);
    default:
      return run_stored<std::uint32_t>(stream, source, settings, resident, destination);
  }
}

void zero_on_device(Stream& stream, std::span<const Index> pixels, Destination destination, Array& array,
                    Moments& moments) {
  const Array list = upload(stream, std::vector<Index>(pixels.begin(), pixels.end()));
  std::array<Array*, 3> sums = {&moments.total, &moments.moment_row, &moments.moment_col};
  std::array<Array, 3> there;
  for (std::size_t i = 0; i < sums.size(); ++i) there[i] = sums[i]->copy_to(stream.device(), stream);
  const auto zero = [&](auto* elements) {
    device::ZeroPixels<std::remove_pointer_t<decltype(elements)>> body;
    body.elements = elements;
    const bool planes = destination == Destination::planes;
    body.step = planes ? 1 : array.stride(0);
    body.pixel_step = planes ? array.stride(0) : 1;
    body.positions = moments.total.count();
    body.cols = moments.pattern_sum.shape()[1];
    body.pixels = list.view<Index, 1>();
    body.total = counts_of(there[0]);
    body.moment_row = counts_of(there[1]);
    body.moment_col = counts_of(there[2]);
    run_on(stream, body.pieces(), body);
  };
  switch (array.dtype()) {
    case DType::u8:
      zero(static_cast<std::uint8_t*>(array.data()));
      break;
    case DType::u16:
      zero(static_cast<std::uint16_t*>(array.data()));
      break;
    default:
      zero(static_cast<std::uint32_t*>(array.data()));
  }
  for (std::size_t i = 0; i < sums.size(); ++i) *sums[i] = there[i].copy_to(Device::cpu(), stream);
}

}  // namespace sonde::stem
