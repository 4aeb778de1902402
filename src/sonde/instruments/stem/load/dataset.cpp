// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/load/dataset.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sonde/engine/base/error.h"
#include "sonde/engine/device/pool.h"
#include "sonde/engine/device/stream.h"
#include "sonde/engine/memory/host_memory.h"
#include "sonde/instruments/stem/layout/transpose.h"
#include "sonde/instruments/stem/load/dataset_state.h"

namespace sonde::stem {
namespace {

/// One column of the planes, gathered on their device, then brought to the host.
template <class T>
void gather_planes(Stream& stream, const Array& planes, Index position, Array& pattern) {
  Array column(stream.device(), {planes.shape()[0]}, planes.dtype());
  gather_frame<T>(stream, planes.view<T, 2>(), position, column.view<T, 1>());
  stream.copy(pattern.data(), column.data(), column.allocated_bytes());
}

std::size_t bytes_of(const Moments& m) {
  std::size_t bytes = 0;
  for (const Array* array : {&m.total, &m.moment_row, &m.moment_col, &m.pattern_sum, &m.pattern_max, &m.nonzero})
    bytes += array->allocated_bytes();
  return bytes;
}

}  // namespace

Value Exactness::to_value() const {
  Value value;
  value["exact"] = exact();
  value["largest"] = values_seen ? Value(largest) : Value();
  value["largest_before_correction"] = values_seen ? Value(stored_largest) : Value();
  value["narrowest_lossless_dtype"] = values_seen ? Value(name(narrowest)) : Value();
  value["sentinels"] = sentinels;
  value["masked_sentinels"] = masked_sentinels;
  value["saturated"] = values_seen ? Value(saturated) : Value();
  value["clipped"] = clipped;
  value["failed_frames"] = failed_frames;
  return value;
}

Dataset::Dataset() : state_(std::make_unique<State>()) {}
Dataset::Dataset(Dataset&&) noexcept = default;
Dataset& Dataset::operator=(Dataset&&) noexcept = default;
Dataset::~Dataset() = default;

const Acquisition& Dataset::acquisition() const { return state_->source->acquisition(); }
const LoadOptions& Dataset::options() const { return state_->options; }

Shape Dataset::shape() const {
  const PassSettings& s = state_->settings;
  return {s.scan.out_rows, s.scan.out_cols, s.detector.out_rows, s.detector.out_cols};
}

Index Dataset::positions() const { return state_->settings.scan.positions(); }
DType Dataset::dtype() const { return state_->resident.out; }
LayoutChoice Dataset::layout() const { return state_->estimate.layout; }
Index Dataset::det_bin() const { return state_->settings.detector.bin; }
Index Dataset::scan_bin() const { return state_->settings.scan.bin; }
const Calibration& Dataset::calibration() const { return state_->calibration; }

const Array& Dataset::array() const {
  require_resident();
  if (state_->array.empty())
    throw Error(ErrorKind::bad_input, fmt::format("the scan is held {}, not as an array", layout_name(layout())))
        .hint("load it with " + setting("layout", "pixel") + " or " + setting("layout", "frame"));
  return state_->array;
}

const Moments& Dataset::moments() const {
  require_resident();
  return state_->moments;
}

const std::vector<std::uint32_t>& Dataset::mask_bits() const { return state_->mask_bits; }
const std::vector<std::uint8_t>& Dataset::good() const { return state_->good; }
const std::vector<std::uint8_t>& Dataset::valid() const { return state_->valid; }
const std::vector<BadPixel>& Dataset::bad_pixels() const { return state_->bad_pixels; }
const Exactness& Dataset::exactness() const { return state_->exactness; }
const Ledger& Dataset::ledger() const { return state_->ledger; }
const LoadEstimate& Dataset::estimate() const { return state_->estimate; }
const StageSeconds& Dataset::seconds() const { return state_->seconds; }
const std::vector<Choice<std::string>>& Dataset::choices() const { return state_->choices; }
const std::vector<std::uint64_t>& Dataset::missing_per_pixel() const { return state_->missing_per_pixel; }
const std::vector<FailedFrame>& Dataset::failed_frames() const { return state_->failed; }
Index Dataset::sampled_frames() const { return state_->sampled_frames; }
int Dataset::passes() const { return state_->passes; }
std::size_t Dataset::stored_bytes() const { return state_->stored_bytes; }
std::uint64_t Dataset::content_hash() const { return state_->content_hash; }

Array Dataset::pattern(Index scan_row, Index scan_col) const {
  require_resident();
  const PassSettings& settings = state_->settings;
  const ScanGrid& scan = settings.scan;
  if (scan_row < 0 || scan_col < 0 || scan_row >= scan.out_rows || scan_col >= scan.out_cols)
    throw Error(ErrorKind::bad_input, fmt::format("scan position {},{} is outside the scan of {} x {}", scan_row,
                                                  scan_col, scan.out_rows, scan.out_cols));
  const Index position = scan_row * scan.out_cols + scan_col;
  Array pattern(Device::cpu(), {settings.detector.out_rows, settings.detector.out_cols}, dtype());
  if (layout() == LayoutChoice::frame) {
    Stream stream(state_->array.device());
    stream.copy(pattern.data(),
                static_cast<const std::byte*>(state_->array.data()) +
                    static_cast<std::size_t>(position) * pattern.allocated_bytes(),
                pattern.allocated_bytes());
    stream.synchronise();
  } else if (layout() == LayoutChoice::pixel) {
    Stream stream(state_->array.device());
    switch (dtype()) {
      case DType::u8:
        gather_planes<std::uint8_t>(stream, state_->array, position, pattern);
        break;
      case DType::u16:
        gather_planes<std::uint16_t>(stream, state_->array, position, pattern);
        break;
      case DType::u32:
        gather_planes<std::uint32_t>(stream, state_->array, position, pattern);
        break;
      default:
        gather_planes<float>(stream, state_->array, position, pattern);
    }
    stream.synchronise();
  } else {
    const std::lock_guard lock(state_->reading);
    decode_frames(*state_->source, part_of(settings, {scan_row, scan_row + 1, scan_col, scan_col + 1}),
                  state_->resident, pattern);
  }
  return pattern;
}

Moments Dataset::moments_of(std::vector<Index> some) const {
  require_resident();
  if (some.empty() || some.front() < 0 || some.back() >= positions())
    throw Error(ErrorKind::bad_input, some.empty() ? "moments of 0 scan positions; expected 1 or more"
                                                   : fmt::format("positions {} to {}: not within the {} of the scan",
                                                                 some.front(), some.back(), positions()));
  PassSettings settings = only_at(state_->settings, std::move(some));
  settings.stage = "decoding";
  const std::lock_guard lock(state_->reading);
  return sum_frames(*state_->source, std::move(settings));
}

void Dataset::require_resident() const {
  if (state_->released) throw Error(ErrorKind::bad_input, "the data set was released").hint("load it again");
}

void Dataset::release() {
  const Device device = state_->array.device();
  state_->array.free();
  state_->moments = Moments();
  state_->source->release();
  state_->valid = {};
  state_->reservation.free();
  state_->released = true;
  Pool::of(Device::cpu()).release();
  if (!device.is_cpu()) Pool::of(device).release();
}

bool Dataset::released() const { return state_->released; }

std::size_t Dataset::held_bytes() const {
  return state_->array.allocated_bytes() + state_->source->held_bytes() + bytes_of(state_->moments);
}

Value Dataset::memory_report() const {
  const std::size_t moments = bytes_of(state_->moments);
  const ResidentMemory process = resident_memory();
  Value report;
  const bool on_host = state_->array.device().is_cpu();
  report["host"]["resident"] = on_host ? state_->array.allocated_bytes() : 0;
  report["host"]["compressed"] = state_->source->held_bytes();
  report["host"]["moments"] = moments;
  report["host"]["budget"] = state_->budget.limit_bytes();
  report["host"]["budget_because"] = state_->budget.because();
  report["device"]["resident"] = on_host ? 0 : state_->array.allocated_bytes();
  report["disk"]["resident"] = 0;
  report["process"]["resident"] = process.now;
  report["process"]["peak"] = process.peak;
  return report;
}

}  // namespace sonde::stem
