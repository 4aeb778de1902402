// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/load/stored_frames.h"

#include <cstring>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/interrupt.h"
#include "sonde/engine/device/parallel.h"
#include "sonde/engine/report/progress.h"
#include "sonde/instruments/stem/load/dataset_state.h"
#include "sonde/instruments/stem/pass/batch_feed.h"

namespace sonde::stem {
namespace {

/// What one worker needs between frames.
struct FrameScratch {
  DecodeScratch decode;
  std::vector<std::byte> elements;
  std::vector<Index> frames;
};

template <class T>
std::uint64_t sum_of(const T* elements, const Acquisition& acquisition, std::span<const std::uint8_t> good,
                     const Mask& mask) {
  std::uint64_t sum = 0;
  for (const Index pixel : mask.pixels) {
    const T value = elements[pixel];
    if (good[static_cast<std::size_t>(pixel)] != 0 && !(acquisition.sentinel && value == *acquisition.sentinel))
      sum += value;
  }
  return sum;
}

}  // namespace

bool has_electrons(const Dataset& dataset) { return dataset.state().source->has_events(); }

bool has_bit_planes(const Dataset& dataset) { return dataset.state().source->packing().has_value(); }

FramesRead for_each_stored_frame(
    const Dataset& dataset,
    const std::function<void(const StoredFrame&, DecodeScratch&, std::vector<std::byte>&)>& body, Identify identify) {
  const Dataset::State& state = dataset.state();
  const std::lock_guard lock(state.reading);
  Source& source = *state.source;
  const ScanGrid& scan = state.settings.scan;
  const std::optional<BitshuffleFormat> format = source.packing();
  const bool lists = source.has_events();
  const auto frame_bytes = static_cast<std::size_t>(source.acquisition().rows * source.acquisition().cols) *
                           size_bytes(source.acquisition().stored);
  const Schedule schedule = make_schedule(scan, source, state.settings.batch_bytes);
  PerWorker<FrameScratch> workers;

  FramesRead read;
  BatchFeed feed(source, schedule, identify == Identify::yes);
  ProgressMeter progress("reading frames", scan.positions(), "positions");
  while (const auto batch = feed.next()) {
    check_interrupt();
    parallel_for(batch->plan->last - batch->plan->first, 16, [&](Index first, Index last, Worker& worker) {
      FrameScratch& scratch = workers[worker];
      StoredFrame stored;
      stored.format = format;
      stored.worker = &worker;
      stored.decode = [&](DecodeScratch& decode, std::vector<std::byte>& elements) {
        elements.resize(frame_bytes);
        source.decode(batch->holding(stored.frame), stored.frame, decode, elements);
      };
      for (Index i = first; i < last; ++i) {
        stored.position = schedule.order[static_cast<std::size_t>(batch->plan->first + i)];
        scan.frames_of(stored.position, scratch.frames);
        for (const Index frame : scratch.frames) {
          stored.frame = frame;
          const RawBatch& raw = batch->holding(frame);
          stored.bytes = raw.frame_bytes(frame);
          stored.filter_mask = raw.piece(frame).filter_mask;
          if (!source.has_frame(frame) || (stored.bytes.empty() && !lists)) continue;
          if (lists) stored.electrons = source.events(raw, frame);
          try {
            body(stored, scratch.decode, scratch.elements);
          } catch (const Error& error) {
            // What works on bit planes knows neither file nor frame; decoding names both.
            if (error.kind() == ErrorKind::bad_file) stored.decode(scratch.decode, scratch.elements);
            throw;
          }
        }
      }
    });
    read.stored_bytes += batch->plan->bytes;
    read.read_s += batch->read_s;
    progress.advance(batch->plan->last - batch->plan->first);
  }
  if (identify == Identify::yes) read.content_hash = feed.content_hash();
  return read;
}

std::uint64_t sum_of_pixels(std::span<const std::byte> elements, const Acquisition& acquisition,
                            std::span<const std::uint8_t> good, const Mask& mask) {
  const void* data = elements.data();
  switch (acquisition.stored) {
    case DType::u8:
      return sum_of(static_cast<const std::uint8_t*>(data), acquisition, good, mask);
    case DType::u16:
      return sum_of(static_cast<const std::uint16_t*>(data), acquisition, good, mask);
    default:
      return sum_of(static_cast<const std::uint32_t*>(data), acquisition, good, mask);
  }
}

}  // namespace sonde::stem
