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
#include "sonde/instruments/stem/load/given_calibration.h"
#include "sonde/instruments/stem/load/held_source.h"
#include "sonde/instruments/stem/load/survey.h"
#include "sonde/instruments/stem/load/zero_in_place.h"
#include "sonde/instruments/stem/pass/scan_sample.h"

namespace sonde::stem {
namespace {

// Three of these circulate: 24 MiB stay in a third-level cache, and decoding starts early.
constexpr std::size_t batch_bytes = std::size_t{8} << 20;
// Sums on bit planes need little scratch: with small batches the bytes are still in the second-level cache.
constexpr std::size_t walk_batch_bytes = std::size_t{1} << 20;
constexpr Index sampled_frames = 32;
// By so many frames BadPixelAction::sampled judges: at least frames_to_judge_by, decoded in some milliseconds.
constexpr Index judged_frames = 128;
// In fewer frames sums over them do not tell a hot pixel from a sharp spot of diffraction.
constexpr Index frames_to_judge_by = 100;

/// What the order of reading and the sums of positions take, before any of it is allocated.
void require_lists_fit(const Acquisition& acquisition, const ScanGrid& scan, std::size_t memory_bytes) {
  constexpr double position_bytes = 3 * 8 + 3 * 8 + 1, frame_bytes = 24;
  const double bytes =
      position_bytes * static_cast<double>(scan.positions()) + frame_bytes * static_cast<double>(acquisition.frames);
  constexpr double small_bytes = 16 << 20;  // the plan that follows names the whole need
  if (bytes <= std::max(static_cast<double>(memory_bytes), small_bytes)) return;
  throw Error(ErrorKind::budget, fmt::format("{}: lists of {} frames and {} positions take {}, the budget is {}",
                                             acquisition.path, acquisition.frames, scan.positions(),
                                             format_bytes(bytes), format_bytes(static_cast<double>(memory_bytes))))
      .hint("give a smaller " + setting("scan_region") + ", or more " + setting("memory"));
}

LoadSizes sizes_of(const Source& source, const ScanGrid& scan, const LoadOptions& options, std::size_t memory_bytes) {
  const Acquisition& acquisition = source.acquisition();
  require_lists_fit(acquisition, scan, memory_bytes);
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
  sizes.electrons = source.has_events();
  sizes.reading_bytes = source.reading_bytes(sizes.workers);
  sizes.useful_cache_bytes = source.useful_cache_bytes();
  if (options.bin_mode == BinMode::mean) sizes.needed = DType::f32;
  return sizes;
}

/// Stored frames of the grid, counted up to `enough`.
Index frames_of(const ScanGrid& scan, Index enough) {
  std::vector<Index> frames;
  Index count = 0;
  for (Index position = 0; position < scan.positions() && count < enough; ++position) {
    scan.frames_of(position, frames);
    count += static_cast<Index>(frames.size());
  }
  return count;
}

/// What is done to bad pixels, when that is left to the program.
BadPixelAction resolved(BadPixelAction action, const ScanGrid& scan) {
  if (action != BadPixelAction::automatic) return action;
  return frames_of(scan, frames_to_judge_by) < frames_to_judge_by ? BadPixelAction::mark : BadPixelAction::zero;
}

LedgerSum at(const Array& sums, Index i) {
  return sums.dtype() == DType::u64 ? LedgerSum(static_cast<const std::uint64_t*>(sums.data())[i])
                                    : LedgerSum(static_cast<const double*>(sums.data())[i]);
}

LedgerSum sum_of(const Array& sums) {
  LedgerSum total;
  for (Index i = 0; i < sums.count(); ++i) total += at(sums, i);
  return total;
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
          .hint("give " + setting("bin_mode", "sum") + " for exact integers, or " + setting("dtype", "f32"));
    return {DType::f32, "means are not whole numbers"};
  }
  if (float_input) {
    if (options.dtype != ResultType::automatic && options.dtype != ResultType::f32)
      throw Error(ErrorKind::bad_input, "the file holds floating-point values, which no integer type holds exactly")
          .hint("give " + setting("dtype", "f32") + " or leave it out");
    return {DType::f32, "stored as floating point"};
  }
  if (options.dtype != ResultType::automatic) return {type_asked(options.dtype), "asked for"};
  const double largest = sample_scan(source, settings, sampled_frames).largest;
  return {std::min(narrowest_unsigned(static_cast<std::uint64_t>(largest)), DType::u32),
          fmt::format("largest of {} sampled frames is {:.0f}", sampled_frames, largest)};
}

/// The destination for the layout; empty for layouts without an array.
Array make_destination(Device device, const PassSettings& settings, const ResidentSettings& resident) {
  const DetectorGrid& grid = settings.detector;
  if (resident.destination == Destination::frames)
    return make_frames(device, settings.scan.positions(), grid.out_rows, grid.out_cols, resident.out);
  if (resident.destination == Destination::planes)
    return make_planes(device, settings.scan.positions(), grid.out_rows, grid.out_cols, resident.out);
  return {};
}

/// One scan on its way from the file to a Dataset.
class Loader {
 public:
  Loader(Dataset::State& state, std::unique_ptr<Source> source, Device device, std::span<Operation* const> beside = {})
      : state_(state), source_(*source), stream_(device), beside_(beside) {
    state_.source = std::move(source);
  }

  void run(const LoadOptions& options, const Budget& budget) {
    const BadPixelAction action = begin(options, budget);
    PassSettings& settings = state_.settings;
    plan("");

    suspect(action);
    Choice<DType> type = first_type(source_, settings, options);
    while (exceeds_plan(type.value)) {
      plan_for(type.value, type.because);
      type = first_type(source_, settings, options);  // of larger bins perhaps
    }
    state_.resident.out = type.value;
    state_.exactness = {};
    LoadResult result = pass_until_it_fits(type.because);
    state_.exactness.stored_largest = std::max(result.pass.largest, result.pass.suspects_largest);
    count_stored(result);
    result = correct(std::move(result), action);
    balance(result, action);
    finish(std::move(result));
    settle();
  }

  /// Decodes a sample only. What is held of the scan is its file.
  void survey(LoadOptions options, const Budget& budget) {
    options.layout = LayoutChoice::file;
    if (options.hot_pixels == BadPixelAction::automatic) options.hot_pixels = BadPixelAction::sampled;
    const BadPixelAction action = begin(options, budget);
    plan("");
    PassSettings& settings = state_.settings;
    state_.resident.out = state_.estimate.dtype;
    settings.batch_bytes = walk_batch_bytes;
    const ScanSample sample = sample_scan(source_, settings, judged_frames);
    state_.sampled_frames = sample.frames;
    if (action == BadPixelAction::sampled) {
      state_.bad_pixels = judge(sample.sum, {}, sample.frames);
      for (const BadPixel& pixel : state_.bad_pixels)
        settings.mask_bits[static_cast<std::size_t>(flat(pixel))] |= mask_bits(pixel.reason);
      choose("bad pixels", fmt::format("{} found, zero", state_.bad_pixels.size()), by_sample(sample.frames));
    } else {
      choose("bad pixels", "not looked for", "hot_pixels is none");
    }
    state_.moments.pattern_sum = binned(sample.sum);
    finish_masks();
  }

 private:
  /// What the description of the file and the options settle.
  BadPixelAction begin(const LoadOptions& options, const Budget& budget) {
    const Acquisition& acquisition = source_.acquisition();
    state_.options = options;
    asked_ = options.hot_pixels;
    state_.budget = budget;
    ChosenCalibration chosen = with_given(acquisition, options, budget);
    state_.calibration = std::move(chosen.calibration);
    for (const auto& note : acquisition.notes) state_.choices.push_back(note);
    for (auto& choice : chosen.choices) state_.choices.push_back(std::move(choice));
    choose("scan shape", fmt::format("{} x {}", acquisition.scan.rows, acquisition.scan.cols),
           acquisition.scan_because);

    PassSettings& settings = state_.settings;
    settings.scan = ScanGrid::make(acquisition, options.region(), options.scan_bin, options.edge);
    settings.mask_bits = mask_of(acquisition, options);
    settings.mode = options.bin_mode;
    settings.on_error = options.on_error;
    settings.batch_bytes = batch_bytes;
    state_.resident.saturate = options.dtype != ResultType::automatic;
    const BadPixelAction action = state_.options.hot_pixels = resolved(options.hot_pixels, settings.scan);
    const Stopwatch watch;
    sizes_ = sizes_of(source_, settings.scan, options, budget.available_bytes());
    state_.seconds.index = watch.seconds();
    sizes_.beside_bytes = beside_bytes();
    return action;
  }

  /// Of the operations beside the load, with the bin that is asked for.
  [[nodiscard]] std::size_t beside_bytes() const {
    const Acquisition& acquisition = source_.acquisition();
    PassShape shape;
    shape.detector = DetectorGrid::make(acquisition.rows, acquisition.cols, state_.options.detector_bin().value_or(1),
                                        state_.options.edge);
    shape.scan = state_.settings.scan;
    shape.elements = acquisition.stored;
    std::size_t bytes = 0;
    for (const Operation* operation : beside_) bytes += operation->abilities(shape).shared_bytes;
    return bytes;
  }

  void choose(const std::string& what, const std::string& value, std::string because) {
    state_.choices.push_back({what + ": " + value, std::move(because)});
  }

  /// Chooses bin and layout by what is known by now, reserves what the load then takes, and sets the pass up for it.
  /// `fact` says what has changed since the last choice.
  void plan(const std::string& fact) {
    const LoadOptions& options = state_.options;
    const Acquisition& acquisition = source_.acquisition();
    state_.array.free();
    state_.reservation.free();
    const auto choose_one = [&] {
      return choose_load(sizes_, options.detector_bin(), options.edge, options.scan_bin, options.layout, options.dtype,
                         state_.budget.available_bytes());
    };
    auto [estimate, because] = fact.empty() ? choose_one() : during("choosing again: " + fact, choose_one);
    state_.estimate = estimate;
    choose("detector bin and layout", fmt::format("{}, {}", estimate.det_bin, layout_name(estimate.layout)),
           fact.empty() ? because : fmt::format("chosen again: {}; {}", fact, because));
    PassSettings& settings = state_.settings;
    settings.detector = DetectorGrid::make(acquisition.rows, acquisition.cols, estimate.det_bin, options.edge);
    state_.resident.destination = estimate.layout == LayoutChoice::frame   ? Destination::frames
                                  : estimate.layout == LayoutChoice::pixel ? Destination::planes
                                                                           : Destination::none;
    state_.reservation = state_.budget.reserve(estimate.predicted_peak_bytes, "loading " + acquisition.path,
                                               "give " + setting("det_bin", "auto") + ", or more " + setting("memory"));
    if (sizes_.useful_cache_bytes == 0) return;
    source_.set_cache_bytes(estimate.cache_bytes);
    choose("cache of chunks", format_bytes(static_cast<double>(estimate.cache_bytes)),
           estimate.cache_bytes == sizes_.useful_cache_bytes
               ? "every chunk is decoded once"
               : fmt::format("{} would decode every chunk once, but the budget has no more; some are decoded again",
                             format_bytes(static_cast<double>(sizes_.useful_cache_bytes))));
  }

  /// Whether resident elements of this type take more memory than was planned.
  [[nodiscard]] bool exceeds_plan(DType type) const { return size_bytes(type) > size_bytes(state_.estimate.dtype); }

  void plan_for(DType type, const std::string& because) {
    sizes_.needed = type;
    plan(fmt::format("counts need {} ({})", name(type), because));
  }

  LoadResult pass() {
    state_.array.free();
    state_.array = make_destination(stream_.device(), state_.settings, state_.resident);
    state_.settings.stage = state_.passes == 0 ? "loading" : "loading again";
    if (!stream_.device().is_cpu()) {
      const auto [way, why] = pass_way(stream_.device(), source_, state_.settings, beside_);
      choose(state_.settings.stage, way, why);
    }
    LoadResult result = run_load_pass(stream_, source_, state_.settings, state_.resident, state_.array, beside_);
    if (source_.has_events())
      choose(
          state_.settings.stage, result.pass.by_events ? "electrons were summed" : "frames were made of electrons",
          result.pass.by_events ? "no sum of this pass needs a frame" : "the elements are kept, or neighbours count");
    ++state_.passes;
    state_.seconds.add(result.pass.seconds);
    return result;
  }

  /// Runs the pass, and once more in the type that the exact maximum needs when the first try was too narrow.
  LoadResult pass_until_it_fits(const std::string& because) {
    PassSettings& settings = state_.settings;
    LoadResult result = pass();
    if (!result.overflow) {
      choose("element type", std::string(name(state_.resident.out)), because);
      return result;
    }
    const auto largest = static_cast<std::uint64_t>(result.pass.largest);
    if (largest > max_value(DType::u32))
      throw Error(ErrorKind::not_supported,
                  fmt::format("{}: sums of bins reach {}, beyond 32 bits", source_.acquisition().path, largest))
          .hint("give a smaller " + setting("det_bin") + " or " + setting("scan_bin"));
    const DType tried = state_.resident.out, needed = narrowest_unsigned(largest);
    const Index bin = settings.detector.bin;
    if (exceeds_plan(needed)) plan_for(needed, fmt::format("the largest value is {}", largest));
    state_.resident.out = needed;
    if (settings.detector.bin != bin)  // sums of larger bins are larger
      return pass_until_it_fits(fmt::format("the largest value is {} in bins of {}", largest, bin));
    const std::string fact =
        fmt::format("the largest value is {}; {} was tried first ({})", largest, name(tried), because);
    if (state_.resident.destination == Destination::none) {  // no element was stored, so none was too large
      choose("element type", std::string(name(needed)), fact);
      result.overflow = false;
      return result;
    }
    choose("element type", std::string(name(needed)), fact + ", all frames were decoded again");
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
    if (!is_zeroed(action) || source_.acquisition().stored == DType::f32) return;
    const bool final = action == BadPixelAction::sampled;
    const ScanSample sample = sample_scan(source_, state_.settings, final ? judged_frames : sampled_frames);
    std::vector<BadPixel> found = judge(sample.sum, {}, sample.frames);
    for (const BadPixel& pixel : found) state_.settings.suspects.push_back(flat(pixel));
    if (final) judged_ = {std::move(found), sample.frames};
  }

  static bool is_zeroed(BadPixelAction action) {
    return action == BadPixelAction::zero || action == BadPixelAction::sampled;
  }

  static std::string by_sample(Index frames) {
    return fmt::format("sums over {} frames spread over the scan against their neighbours", frames);
  }

  /// What the sample found, with the sums over all frames.
  [[nodiscard]] std::vector<BadPixel> judged_by_sample(const LoadResult& result) const {
    std::vector<BadPixel> found = judged_.pixels;
    for (BadPixel& pixel : found)
      pixel.sum = static_cast<const std::uint64_t*>(result.pass.input_sum.data())[flat(pixel)];
    return found;
  }

  /// Finds bad pixels in the exact sums and takes them out: nothing is left to do for suspects, others are zeroed in
  /// place where a pixel is its own bin, else by another pass.
  LoadResult correct(LoadResult result, BadPixelAction action) {
    if (result.pass.input_sum.dtype() != DType::u64) {
      choose("bad pixels", "not looked for", "the file holds floating-point values, not counts");
      return result;
    }
    if (action == BadPixelAction::none) {
      choose("bad pixels", "not looked for", "hot_pixels is none");
      return result;
    }
    PassSettings& settings = state_.settings;
    const bool by_a_sample = action == BadPixelAction::sampled;
    state_.bad_pixels = by_a_sample ? judged_by_sample(result)
                                    : judge(result.pass.input_sum, result.pass.sentinels_per_pixel,
                                            static_cast<Index>(result.pass.frames));
    std::vector<Index> bad, unexpected;
    for (const BadPixel& pixel : state_.bad_pixels) bad.push_back(flat(pixel));
    std::set_difference(bad.begin(), bad.end(), settings.suspects.begin(), settings.suspects.end(),
                        std::back_inserter(unexpected));
    if (bad.size() - unexpected.size() != settings.suspects.size()) {
      settings.suspects.clear();
      if (state_.resident.out != DType::f32 && !state_.resident.saturate) {
        const DType needed = narrowest_unsigned(static_cast<std::uint64_t>(result.pass.suspects_largest));
        if (exceeds_plan(needed)) plan_for(needed, "a pixel that looked bad is not");
        state_.resident.out = std::max(state_.resident.out, needed);
      }
      return correct(pass_until_it_fits("pixels that looked bad in a few frames are not, over all frames"), action);
    }
    if (action == BadPixelAction::mark) {
      mark();
      if (!bad.empty())
        choose("bad pixels", fmt::format("{} found, marked and not changed", bad.size()),
               asked_ == BadPixelAction::mark
                   ? "hot_pixels is mark"
                   : fmt::format("{} frames do not tell a hot pixel from a sharp spot, {} do; hot_pixels zero sets "
                                 "them to zero",
                                 result.pass.frames, frames_to_judge_by));
      return result;
    }
    for (const BadPixel& pixel : state_.bad_pixels)
      settings.mask_bits[static_cast<std::size_t>(flat(pixel))] |= mask_bits(pixel.reason);
    settings.suspects.clear();  // the mask names them now
    if (bad.empty()) return result;

    const std::string why =
        by_a_sample ? by_sample(judged_.frames) : "exact sums over all frames against their neighbours";
    const DetectorGrid& grid = settings.detector;
    const bool own_bins = grid.bin == 1 && grid.out_pixels() == grid.pixels();
    const bool may_narrow = state_.resident.out != DType::f32 && !state_.resident.saturate;
    const bool resident = state_.resident.destination != Destination::none;
    if (is_zeroed(action) && unexpected.empty()) {
      choose("bad pixels", fmt::format("{} found, zero", bad.size()), why);
      return result;
    }
    // Clipped elements are not what went into the sums, from which they are taken back. Operations beside the load take
    // nothing back.
    if (action == BadPixelAction::zero && own_bins && resident && result.clipped == 0 && beside_.empty() &&
        (!may_narrow || largest_without(result.moments, unexpected) > largest_of_narrower(state_.resident.out))) {
      zero_in_place(unexpected, state_.resident.destination, state_.array, result);
      choose("bad pixels", fmt::format("{} found, zeroed in place", bad.size()), why);
      return result;
    }
    if (action == BadPixelAction::interpolate) interpolate(bad);
    choose("bad pixels", fmt::format("{} found, {}", bad.size(), name(action)),
           why + "; all frames were decoded again without them");
    if (may_narrow) {
      const double largest =
          own_bins ? largest_without(result.moments, bad) : sample_scan(source_, settings, sampled_frames).largest;
      state_.resident.out = std::min(narrowest_unsigned(static_cast<std::uint64_t>(largest)), DType::u32);
    }
    return pass_until_it_fits(fmt::format("the largest value was {:.0f} with the bad pixels", result.pass.largest));
  }

  /// Records the bits of bad pixels that keep their values.
  void mark() {
    if (state_.bad_pixels.empty()) return;
    flagged_bits_.assign(state_.settings.mask_bits.size(), 0);
    for (const BadPixel& pixel : state_.bad_pixels)
      flagged_bits_[static_cast<std::size_t>(flat(pixel))] = mask_bits(pixel.reason);
  }

  /// What the file holds, judged by its mask only: pixels that are found bad join the mask of later passes.
  void count_stored(const LoadResult& result) {
    Ledger& ledger = state_.ledger;
    ledger.masked = result.pass.masked;
    ledger.stored = sum_of(result.pass.input_sum);
    ledger.stored += result.pass.masked;
    ledger.no_data = result.pass.sentinels;
    ledger.no_data_frames = result.pass.sentinel_frames;
    ledger.no_data_pixels = static_cast<std::uint64_t>(std::count_if(
        result.pass.sentinels_per_pixel.begin(), result.pass.sentinels_per_pixel.end(), [](auto n) { return n > 0; }));
    ledger.masked_no_data = result.pass.masked_sentinels;
  }

  /// Where the values of the frames read went; `result` is that of the last pass.
  void balance(const LoadResult& result, BadPixelAction action) {
    Ledger& ledger = state_.ledger;
    const DetectorGrid& grid = state_.settings.detector;
    ledger.counts = result.pass.input_sum.dtype() == DType::u64;
    ledger.kept = sum_of(result.moments.total);
    ledger.kept -= result.clipped_counts;
    ledger.clipped = result.clipped_counts;
    const auto is_cut = [&](Index pixel) {
      return pixel / grid.cols >= grid.out_rows * grid.bin || pixel % grid.cols >= grid.out_cols * grid.bin;
    };
    std::vector<Index> bad;
    for (const BadPixel& pixel : state_.bad_pixels) {
      bad.push_back(flat(pixel));
      if (action != BadPixelAction::mark)
        ledger.hot += pixel.sum;
      else if (!is_cut(bad.back()))
        ledger.marked += pixel.sum;
      if (action == BadPixelAction::interpolate) ledger.interpolated += at(result.pass.input_sum, bad.back());
    }
    const bool zeroed = is_zeroed(action);
    for (Index pixel = 0; pixel < grid.pixels(); ++pixel)
      if (is_cut(pixel) && !(zeroed && std::binary_search(bad.begin(), bad.end(), pixel)))
        ledger.cut += at(result.pass.input_sum, pixel);
    ledger.frames_read = result.pass.frames;
    ledger.frames_unread = static_cast<std::uint64_t>(source_.acquisition().frames) - result.pass.frames;
    ledger.frames_broken = result.pass.failed.size();
    ledger.empty_positions =
        static_cast<std::uint64_t>(std::count(result.pass.valid.begin(), result.pass.valid.end(), std::uint8_t{0}));
    if (ledger.counts && ledger.unexplained() != 0)
      log_warning(fmt::format("{}: {:.0f} counts are not accounted for: an error of this program",
                              source_.acquisition().path, ledger.unexplained()));
  }

  /// From the next pass on these pixels hold the median of their good neighbours: they are no longer zeroed as bad, but
  /// stay flagged in the result.
  void interpolate(const std::vector<Index>& bad) {
    PassSettings& settings = state_.settings;
    settings.interpolations =
        interpolation_plan(settings.detector.rows, settings.detector.cols, good_of(settings.mask_bits), bad);
    flagged_bits_.assign(settings.mask_bits.size(), 0);
    for (const Index pixel : bad) {
      const auto i = static_cast<std::size_t>(pixel);
      flagged_bits_[i] = settings.mask_bits[i] | mask_bit::virtual_pixel;
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

  /// The sum of the good pixels of each resident pixel.
  [[nodiscard]] Array binned(const Array& sum) const {
    const DetectorGrid& grid = state_.settings.detector;
    Array bins = Array::zeros(Device::cpu(), {grid.out_rows, grid.out_cols}, DType::u64);
    const auto from = sum.view<std::uint64_t, 2>();
    auto to = bins.view<std::uint64_t, 2>();
    for (Index row = 0; row < grid.out_rows * grid.bin && row < grid.rows; ++row)
      for (Index col = 0; col < grid.out_cols * grid.bin && col < grid.cols; ++col)
        if (!mask_bit::is_bad(state_.settings.mask_bits[static_cast<std::size_t>(row * grid.cols + col)]))
          to(row / grid.bin, col / grid.bin) += from(row, col);
    return bins;
  }

  void finish_masks() {
    const PassSettings& settings = state_.settings;
    const DetectorGrid& grid = settings.detector;
    state_.mask_bits = grid.bin_mask(settings.mask_bits);
    state_.good.resize(state_.mask_bits.size());
    const std::vector<std::uint32_t> good = grid.good_per_bin(settings.mask_bits);
    for (std::size_t i = 0; i < good.size(); ++i) state_.good[i] = good[i] > 0 ? 1 : 0;
    if (!flagged_bits_.empty() && grid.bin == 1)
      for (std::size_t i = 0; i < state_.mask_bits.size(); ++i) state_.mask_bits[i] |= flagged_bits_[i];
  }

  void finish(LoadResult result) {
    PassSettings& settings = state_.settings;
    finish_masks();
    Exactness& exactness = state_.exactness;
    exactness.largest = result.pass.largest;
    exactness.narrowest = state_.resident.out == DType::f32
                              ? DType::f32
                              : narrowest_unsigned(static_cast<std::uint64_t>(result.pass.largest));
    exactness.sentinels = result.pass.sentinels;
    exactness.masked_sentinels = result.pass.masked_sentinels;
    exactness.saturated = result.pass.saturated;
    exactness.clipped = result.clipped;
    exactness.failed_frames = result.pass.failed.size();
    state_.missing_per_pixel = std::move(result.pass.sentinels_per_pixel);
    for (std::size_t i = 0; i < state_.missing_per_pixel.size(); ++i)
      if (mask_bit::is_bad(settings.mask_bits[i])) state_.missing_per_pixel[i] = 0;
    state_.moments = std::move(result.moments);
    state_.valid = std::move(result.pass.valid);
    state_.failed = std::move(result.pass.failed);
    state_.stored_bytes = result.pass.stored_bytes;
    state_.content_hash = result.pass.content_hash;
    state_.estimate.dtype = state_.resident.out;
    if (exactness.clipped > 0)
      log_warning(
          fmt::format("{} values exceed {} and were set to its maximum", exactness.clipped, name(state_.resident.out)));
    if (const Ledger& ledger = state_.ledger; !ledger.counts && ledger.no_data > 0)
      log_warning(
          fmt::format("{}: {} values in {} pixels of {} frames are not finite (NaN or infinity): taken as no "
                      "data, which counts as zero",
                      source_.acquisition().path, ledger.no_data, ledger.no_data_pixels, ledger.no_data_frames));
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
  std::span<Operation* const> beside_;
  LoadSizes sizes_;
  BadPixelAction asked_ = BadPixelAction::automatic;
  std::vector<std::uint32_t> flagged_bits_;  // of pixels that are bad, but not zeroed
  struct {
    std::vector<BadPixel> pixels;
    Index frames = 0;
  } judged_;  // by BadPixelAction::sampled
};

}  // namespace

std::unique_ptr<Source> open_scan(const std::string& path, const LoadOptions& options, const Budget& budget) {
  ReadOptions read = options.read_options();
  read.memory_bytes = budget.available_bytes();
  return open_source(path, read);
}

Dataset load(const std::string& path, const LoadOptions& options, Budget budget, Device device,
             std::span<Operation* const> beside) {
  const Stopwatch watch;
  std::unique_ptr<Source> source = open_scan(path, options, budget);
  const double validate_s = watch.seconds();
  Dataset dataset = load(std::move(source), options, std::move(budget), device, beside);
  dataset.state().seconds.validate += validate_s;
  dataset.state().seconds.wall += validate_s;
  return dataset;
}

Dataset load(std::unique_ptr<Source> source, const LoadOptions& options, Budget budget, Device device,
             std::span<Operation* const> beside) {
  return during("loading " + source->acquisition().path, [&] {
    Dataset dataset;
    Loader(dataset.state(), adapt(std::move(source), options), device, beside).run(options, budget);
    return dataset;
  });
}

bool can_survey(const Source& source, const LoadOptions& options) {
  const Acquisition& acquisition = source.acquisition();
  const bool counts = !is_float(acquisition.stored);
  const bool sampled = options.hot_pixels == BadPixelAction::automatic ||
                       options.hot_pixels == BadPixelAction::sampled || options.hot_pixels == BadPixelAction::none;
  const bool file = options.layout == LayoutChoice::automatic || options.layout == LayoutChoice::file;
  if (!counts || !sampled || !file || options.det_bin == "auto" || options.bin_mode != BinMode::sum ||
      options.dtype != ResultType::automatic || options.on_error != OnError::fail || source.useful_cache_bytes() > 0)
    return false;
  const ScanGrid scan = ScanGrid::make(acquisition, options.region(), options.scan_bin, options.edge);
  return options.hot_pixels != BadPixelAction::automatic || resolved(options.hot_pixels, scan) == BadPixelAction::zero;
}

Dataset survey(std::unique_ptr<Source> source, const LoadOptions& options, const Budget& budget) {
  return during("loading " + source->acquisition().path, [&] {
    Dataset dataset;
    Loader(dataset.state(), adapt(std::move(source), options), Device::cpu()).survey(options, budget);
    return dataset;
  });
}

LoadPreview preview_load(const std::string& path, const LoadOptions& options, const Budget& budget) {
  return preview_load(open_scan(path, options, budget), options, budget);
}

LoadPreview preview_load(std::unique_ptr<Source> opened, const LoadOptions& options, const Budget& budget) {
  const std::unique_ptr<Source> source = adapt(std::move(opened), options);
  const ScanGrid scan = ScanGrid::make(source->acquisition(), options.region(), options.scan_bin, options.edge);
  LoadPreview preview{source->acquisition(), sizes_of(*source, scan, options, budget.available_bytes()), {}};
  ChosenCalibration chosen = with_given(preview.acquisition, options, budget);
  preview.acquisition.calibration = std::move(chosen.calibration);
  for (auto& choice : chosen.choices) preview.acquisition.notes.push_back(std::move(choice));
  preview.estimate = choose_load(preview.sizes, options.detector_bin(), options.edge, options.scan_bin, options.layout,
                                 options.dtype, budget.available_bytes())
                         .value;
  return preview;
}

}  // namespace sonde::stem
