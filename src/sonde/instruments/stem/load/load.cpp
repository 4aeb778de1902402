// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "sonde/engine/base/clock.h"
#include "sonde/engine/base/error.h"
#include "sonde/engine/base/log.h"
#include "sonde/engine/base/text.h"
#include "sonde/engine/device/parallel.h"
#include "sonde/instruments/stem/load/adapt.h"
#include "sonde/instruments/stem/load/dataset_state.h"
#include "sonde/instruments/stem/load/held_source.h"
#include "sonde/instruments/stem/load/zero_in_place.h"

namespace sonde::stem {
namespace {

// Three of these circulate: 24 MiB stay in a third-level cache, and decoding starts early. The specification allows 64
// MiB.
constexpr std::size_t batch_bytes = std::size_t{8} << 20;
constexpr Index sampled_frames = 32;

LoadSizes sizes_of(const Source& source, const ScanGrid& scan) {
  const Acquisition& acquisition = source.acquisition();
  LoadSizes sizes;
  sizes.scan_rows = scan.out_rows;
  sizes.scan_cols = scan.out_cols;
  sizes.rows = acquisition.rows;
  sizes.cols = acquisition.cols;
  sizes.frames = acquisition.frames;
  sizes.stored = acquisition.stored;
  sizes.workers = worker_limit();
  const Schedule schedule = make_schedule(scan, source, batch_bytes);
  sizes.stored_bytes = schedule.total_bytes;
  sizes.largest_batch_bytes = schedule.largest_bytes;
  sizes.reading_bytes = source.reading_bytes(sizes.workers);
  sizes.useful_cache_bytes = source.useful_cache_bytes();
  return sizes;
}

Calibration calibration_of(const Acquisition& acquisition, const LoadOptions& options) {
  Calibration calibration = acquisition.calibration;
  const auto given = [](std::optional<Quantity>& quantity, std::optional<double> value, double factor) {
    if (value) quantity = Quantity{*value * factor, StatedBy::user};
  };
  given(calibration.high_tension_v, options.voltage, 1e3);
  given(calibration.camera_length_m, options.camera_length, 1);
  given(calibration.scan_step_row_nm, options.scan_step, 1);
  given(calibration.scan_step_col_nm, options.scan_step, 1);
  given(calibration.scan_rotation, options.rotation, 1);
  return calibration;
}

DType type_asked(ResultType type) {
  switch (type) {
    case ResultType::u8:
      return DType::u8;
    case ResultType::u16:
      return DType::u16;
    case ResultType::f32:
      return DType::f32;
    default:
      return DType::u32;
  }
}

/// The element type to try first, and whether a larger value clips (the user chose the type) or widens it.
Choice<DType> first_type(Source& source, const PassSettings& settings, const LoadOptions& options) {
  const bool float_input = source.acquisition().stored == DType::f32;
  if (options.bin_mode == BinMode::mean) {
    if (options.dtype != ResultType::automatic && options.dtype != ResultType::f32)
      throw Error(ErrorKind::bad_input, "means of bins are f32, not integers")
          .hint("give --bin-mode sum for exact integers, or --dtype f32");
    return {DType::f32, "means are not whole numbers"};
  }
  if (float_input) {
    if (options.dtype != ResultType::automatic && options.dtype != ResultType::f32)
      throw Error(ErrorKind::bad_input, "the file holds floating-point values, which no integer type holds exactly")
          .hint("give --dtype f32 or leave it out");
    return {DType::f32, "stored as floating point"};
  }
  if (options.dtype != ResultType::automatic) return {type_asked(options.dtype), "asked for"};
  const double largest = sample_scan(source, settings, sampled_frames).largest;
  return {std::min(narrowest_unsigned(static_cast<std::uint64_t>(largest)), DType::u32),
          fmt::format("largest of {} sampled frames is {:.0f}", sampled_frames, largest)};
}

/// The destination for the layout; empty for layouts without an array.
Array make_destination(Device device, const PassSettings& settings) {
  const DetectorGrid& grid = settings.detector;
  if (settings.destination == Destination::frames)
    return make_frames(device, settings.scan.positions(), grid.out_rows, grid.out_cols, settings.out);
  if (settings.destination == Destination::planes)
    return make_planes(device, settings.scan.positions(), grid.out_rows, grid.out_cols, settings.out);
  return {};
}

/// One scan on its way from the file to a Dataset.
class Loader {
 public:
  Loader(Dataset::State& state, std::unique_ptr<Source> source, Device device)
      : state_(state), source_(*source), stream_(device) {
    state_.source = std::move(source);
  }

  void run(const LoadOptions& options, Budget budget) {
    const Acquisition& acquisition = source_.acquisition();
    state_.options = options;
    state_.budget = budget;
    state_.calibration = calibration_of(acquisition, options);
    for (const auto& note : acquisition.notes) state_.choices.push_back(note);
    choose("scan shape", fmt::format("{} x {}", acquisition.scan.rows, acquisition.scan.cols),
           acquisition.scan_because);

    PassSettings& settings = state_.settings;
    settings.scan = ScanGrid::make(acquisition, options.region(), options.scan_bin, options.edge);
    settings.mask_bits = mask_of(acquisition, options);
    settings.mode = options.bin_mode;
    settings.on_error = options.on_error;
    settings.batch_bytes = batch_bytes;
    const Stopwatch watch;
    const LoadSizes sizes = sizes_of(source_, settings.scan);
    state_.seconds.index = watch.seconds();
    auto [estimate, because] = choose_load(sizes, options.detector_bin(), options.edge, options.scan_bin,
                                           options.layout, options.dtype, budget.available_bytes());
    state_.estimate = estimate;
    choose("detector bin and layout", fmt::format("{}, {}", estimate.det_bin, layout_name(estimate.layout)), because);
    settings.detector = DetectorGrid::make(acquisition.rows, acquisition.cols, estimate.det_bin, options.edge);
    settings.destination = estimate.layout == LayoutChoice::frame   ? Destination::frames
                           : estimate.layout == LayoutChoice::pixel ? Destination::planes
                                                                    : Destination::none;
    state_.reservation = budget.reserve(estimate.predicted_peak_bytes, "loading " + acquisition.path,
                                        "give --det-bin auto, or more --memory");

    if (sizes.useful_cache_bytes > 0) {
      source_.set_cache_bytes(estimate.cache_bytes);
      choose("cache of chunks", format_bytes(static_cast<double>(estimate.cache_bytes)),
             estimate.cache_bytes == sizes.useful_cache_bytes
                 ? "every chunk is decoded once"
                 : fmt::format("{} would decode every chunk once, but the budget has no more; some are decoded again",
                               format_bytes(static_cast<double>(sizes.useful_cache_bytes))));
    }

    suspect(options.hot_pixels);
    const auto [type, type_because] = first_type(source_, settings, options);
    settings.out = type;
    settings.saturate = options.dtype != ResultType::automatic;
    state_.exactness = {};
    PassResult result = pass_until_it_fits(type_because);
    state_.exactness.stored_largest = std::max(result.largest, result.suspects_largest);
    result = correct(std::move(result), options.hot_pixels);
    finish(std::move(result));
    settle();
  }

 private:
  void choose(const std::string& what, const std::string& value, std::string because) {
    state_.choices.push_back({what + ": " + value, std::move(because)});
  }

  PassResult pass() {
    state_.array.free();
    state_.array = make_destination(stream_.device(), state_.settings);
    state_.settings.stage = state_.passes == 0 ? "loading" : "loading again";
    if (!stream_.device().is_cpu()) {
      const auto [way, why] = pass_way(stream_.device(), source_, state_.settings);
      choose(state_.settings.stage, way, why);
    }
    PassResult result = run_pass(stream_, source_, state_.settings, state_.array);
    ++state_.passes;
    state_.seconds.add(result.seconds);
    return result;
  }

  /// Runs the pass, and once more in the type that the exact maximum needs when the first try was too narrow.
  PassResult pass_until_it_fits(const std::string& because) {
    PassSettings& settings = state_.settings;
    PassResult result = pass();
    if (!result.overflow) {
      choose("element type", std::string(name(settings.out)), because);
      return result;
    }
    const auto largest = static_cast<std::uint64_t>(result.largest);
    if (largest > max_value(DType::u32))
      throw Error(ErrorKind::not_supported,
                  fmt::format("{}: sums of bins reach {}, beyond 32 bits", source_.acquisition().path, largest))
          .hint("give a smaller --det-bin or --scan-bin");
    const DType tried = settings.out;
    settings.out = narrowest_unsigned(largest);
    choose("element type", std::string(name(settings.out)),
           fmt::format("the largest value is {}; {} was tried first ({}), all frames were decoded again", largest,
                       name(tried), because));
    return pass();
  }

  /// Judges by what is known of every pixel; `good` is that of the mask.
  [[nodiscard]] std::vector<BadPixel> judge(const Array& sum, const std::vector<std::uint64_t>& sentinels,
                                            Index frames) const {
    PixelStatistics statistics;
    const std::vector<std::uint8_t> good = good_of(state_.settings.mask_bits);
    statistics.sum = sum.view<std::uint64_t, 2>();
    statistics.good = good;
    statistics.sentinels = sentinels;
    statistics.frames = frames;
    return find_bad_pixels(statistics);
  }

  /// Pixels that already look bad in a few frames are zeroed from the start, so that they neither widen the element
  /// type nor cost another pass; whether they are bad is decided by the sums over all frames.
  void suspect(BadPixelAction action) {
    if (action != BadPixelAction::zero || source_.acquisition().stored == DType::f32) return;
    const ScanSample sample = sample_scan(source_, state_.settings, sampled_frames);
    for (const BadPixel& pixel : judge(sample.sum, {}, sample.frames)) state_.settings.suspects.push_back(flat(pixel));
  }

  /// Finds bad pixels in the exact sums and takes them out: nothing is left to do for suspects, others are zeroed in
  /// place where a pixel is its own bin, else by another pass.
  PassResult correct(PassResult result, BadPixelAction action) {
    if (result.input_sum.dtype() != DType::u64) {
      choose("bad pixels", "not looked for", "the file holds floating-point values, not counts");
      return result;
    }
    if (action == BadPixelAction::none) {
      choose("bad pixels", "not looked for", "--hot-pixels none");
      return result;
    }
    PassSettings& settings = state_.settings;
    state_.bad_pixels = judge(result.input_sum, result.sentinels_per_pixel, static_cast<Index>(result.frames));
    std::vector<Index> bad, unexpected;
    for (const BadPixel& pixel : state_.bad_pixels) bad.push_back(flat(pixel));
    std::set_difference(bad.begin(), bad.end(), settings.suspects.begin(), settings.suspects.end(),
                        std::back_inserter(unexpected));
    if (bad.size() - unexpected.size() != settings.suspects.size()) {
      settings.suspects.clear();
      if (settings.out != DType::f32 && !settings.saturate)
        settings.out = std::max(settings.out, narrowest_unsigned(static_cast<std::uint64_t>(result.suspects_largest)));
      return correct(pass_until_it_fits("pixels that looked bad in a few frames are not, over all frames"), action);
    }
    for (const BadPixel& pixel : state_.bad_pixels)
      settings.mask_bits[static_cast<std::size_t>(flat(pixel))] |= mask_bits(pixel.reason);
    settings.suspects.clear();  // the mask names them now
    if (bad.empty()) return result;

    const std::string why = "exact sums over all frames against their neighbours";
    const DetectorGrid& grid = settings.detector;
    const bool own_bins = grid.bin == 1 && grid.out_pixels() == grid.pixels();
    const bool may_narrow = settings.out != DType::f32 && !settings.saturate;
    const bool resident = settings.destination != Destination::none;
    if (action == BadPixelAction::zero && unexpected.empty()) {
      choose("bad pixels", fmt::format("{} found, zero", bad.size()), why);
      return result;
    }
    if (action == BadPixelAction::zero && own_bins && resident &&
        (!may_narrow || largest_without(result.moments, unexpected) > largest_of_narrower(settings.out))) {
      zero_in_place(unexpected, settings.destination, state_.array, result);
      choose("bad pixels", fmt::format("{} found, zeroed in place", bad.size()), why);
      return result;
    }
    if (action == BadPixelAction::interpolate) interpolate(bad);
    choose("bad pixels", fmt::format("{} found, {}", bad.size(), name(action)),
           why + "; all frames were decoded again without them");
    if (may_narrow) {
      const double largest =
          own_bins ? largest_without(result.moments, bad) : sample_scan(source_, settings, sampled_frames).largest;
      settings.out = std::min(narrowest_unsigned(static_cast<std::uint64_t>(largest)), DType::u32);
    }
    return pass_until_it_fits(fmt::format("the largest value was {:.0f} with the bad pixels", result.largest));
  }

  /// From the next pass on these pixels hold the median of their good neighbours: they are no longer zeroed as bad, but
  /// stay flagged in the result.
  void interpolate(const std::vector<Index>& bad) {
    PassSettings& settings = state_.settings;
    settings.interpolations =
        interpolation_plan(settings.detector.rows, settings.detector.cols, good_of(settings.mask_bits), bad);
    interpolated_bits_.assign(settings.mask_bits.size(), 0);
    for (const Index pixel : bad) {
      const auto i = static_cast<std::size_t>(pixel);
      interpolated_bits_[i] = settings.mask_bits[i];
      settings.mask_bits[i] = mask_bit::virtual_pixel;
    }
  }

  [[nodiscard]] Index flat(const BadPixel& pixel) const {
    return pixel.row * state_.settings.detector.cols + pixel.col;
  }

  static std::vector<std::uint8_t> good_of(const std::vector<std::uint32_t>& bits) {
    std::vector<std::uint8_t> good(bits.size());
    std::transform(bits.begin(), bits.end(), good.begin(),
                   [](std::uint32_t each) { return mask_bit::is_bad(each) ? 0 : 1; });
    return good;
  }

  /// The largest value over all pixels but these.
  static double largest_without(const Moments& moments, const std::vector<Index>& bad) {
    const auto* most = static_cast<const std::uint64_t*>(moments.pattern_max.data());
    std::vector<std::uint64_t> kept(most, most + moments.pattern_max.count());
    for (const Index pixel : bad) kept[static_cast<std::size_t>(pixel)] = 0;
    return static_cast<double>(*std::max_element(kept.begin(), kept.end()));
  }

  /// The largest value of the next narrower type; -1 for the narrowest.
  static double largest_of_narrower(DType type) {
    return type == DType::u8 ? -1.0 : static_cast<double>(max_value(type == DType::u16 ? DType::u8 : DType::u16));
  }

  void finish(PassResult result) {
    PassSettings& settings = state_.settings;
    const DetectorGrid& grid = settings.detector;
    state_.mask_bits = grid.bin_mask(settings.mask_bits);
    state_.good.resize(state_.mask_bits.size());
    const std::vector<std::uint32_t> good = grid.good_per_bin(settings.mask_bits);
    for (std::size_t i = 0; i < good.size(); ++i) state_.good[i] = good[i] > 0 ? 1 : 0;
    if (!interpolated_bits_.empty() && grid.bin == 1)
      for (std::size_t i = 0; i < state_.mask_bits.size(); ++i)
        state_.mask_bits[i] |= interpolated_bits_[i] | (interpolated_bits_[i] != 0 ? mask_bit::virtual_pixel : 0);
    Exactness& exactness = state_.exactness;
    exactness.largest = result.largest;
    exactness.narrowest =
        settings.out == DType::f32 ? DType::f32 : narrowest_unsigned(static_cast<std::uint64_t>(result.largest));
    exactness.sentinels = result.sentinels;
    exactness.masked_sentinels = result.masked_sentinels;
    exactness.saturated = result.saturated;
    exactness.clipped = result.clipped;
    exactness.failed_frames = result.failed.size();
    state_.missing_per_pixel = std::move(result.sentinels_per_pixel);
    for (std::size_t i = 0; i < state_.missing_per_pixel.size(); ++i)
      if (mask_bit::is_bad(settings.mask_bits[i])) state_.missing_per_pixel[i] = 0;
    state_.moments = std::move(result.moments);
    state_.valid = std::move(result.valid);
    state_.failed = std::move(result.failed);
    state_.stored_bytes = result.stored_bytes;
    state_.content_hash = result.content_hash;
    state_.estimate.dtype = settings.out;
    if (exactness.clipped > 0)
      log_warning(
          fmt::format("{} values exceed {} and were set to its maximum", exactness.clipped, name(settings.out)));
    if (!state_.failed.empty())
      log_warning(fmt::format("{} zero", state_.failed.size() == 1
                                             ? "one broken frame is"
                                             : fmt::format("{} broken frames are", state_.failed.size())));
  }

  /// From now on stored bytes come from memory; and what only the pass needed is handed back.
  void settle() {
    if (state_.estimate.layout == LayoutChoice::compressed)
      state_.source =
          hold_in_memory(std::move(state_.source), make_schedule(state_.settings.scan, source_, batch_bytes));
    // Only a scan that stays on file is read again.
    if (state_.estimate.layout != LayoutChoice::file) source_.set_cache_bytes(state_.estimate.cache_bytes = 0);
    const Moments& m = state_.moments;
    std::size_t kept = state_.array.allocated_bytes() + state_.source->held_bytes() + state_.estimate.cache_bytes +
                       24 * static_cast<std::size_t>(source_.acquisition().frames);
    for (const Array* array : {&m.total, &m.moment_row, &m.moment_col, &m.pattern_sum, &m.pattern_max, &m.nonzero})
      kept += array->allocated_bytes();
    state_.reservation.shrink_to(kept);
  }

  Dataset::State& state_;
  Source& source_;
  Stream stream_;  // of the device that the data set lies on
  std::vector<std::uint32_t> interpolated_bits_;
};

}  // namespace

Dataset load(const std::string& path, const LoadOptions& options, Budget budget, Device device) {
  const Stopwatch watch;
  std::unique_ptr<Source> source = open_source(path, options.read_options());
  const double validate_s = watch.seconds();
  Dataset dataset = load(std::move(source), options, std::move(budget), device);
  dataset.state().seconds.validate += validate_s;
  dataset.state().seconds.wall += validate_s;
  return dataset;
}

Dataset load(std::unique_ptr<Source> source, const LoadOptions& options, Budget budget, Device device) {
  return during("loading " + source->acquisition().path, [&] {
    Dataset dataset;
    Loader(dataset.state(), adapt(std::move(source), options), device).run(options, std::move(budget));
    return dataset;
  });
}

LoadPreview preview_load(const std::string& path, const LoadOptions& options, const Budget& budget) {
  const std::unique_ptr<Source> source = adapt(open_source(path, options.read_options()), options);
  const ScanGrid scan = ScanGrid::make(source->acquisition(), options.region(), options.scan_bin, options.edge);
  LoadPreview preview{source->acquisition(), sizes_of(*source, scan), {}};
  preview.acquisition.calibration = calibration_of(preview.acquisition, options);
  preview.estimate = choose_load(preview.sizes, options.detector_bin(), options.edge, options.scan_bin, options.layout,
                                 options.dtype, budget.available_bytes())
                         .value;
  return preview;
}

}  // namespace sonde::stem
