// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/bench/inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <numeric>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/paths.h"
#include "sonde/engine/device/multiversion.h"
#include "sonde/engine/device/parallel.h"
#include "sonde/engine/memory/budget.h"
#include "sonde/instruments/stem/layout/resident.h"
#include "sonde/instruments/stem/layout/transpose.h"
#include "sonde/instruments/stem/simulate/frames.h"
#include "sonde/instruments/stem/simulate/simulate.h"
#include "sonde/instruments/stem/write/write_arina.h"

namespace sonde::stem {
namespace {

namespace fs = std::filesystem;

/// How well a workload compresses, as measured detectors do: W1 a bright, W2 a sparse scan.
struct Ratio {
  double expected, tolerance;
};

Ratio ratio_of(Workload which) { return which == Workload::w1 ? Ratio{9.7, 0.3} : Ratio{23, 1}; }

void write_workload(Workload which, const std::string& master) {
  const Model model = workload(which);
  ArinaDescription description;
  description.scan_rows = model.scan_rows();
  description.scan_cols = model.scan_cols();
  description.rows = model.optics().rows;
  description.cols = model.optics().cols;
  description.dtype = workload_dtype(which);
  description.sentinels = true;
  description.saturation = 65534;
  description.pixel_mask.resize(static_cast<std::size_t>(model.pixels()));
  for (const Defect& defect : model.defects())
    description.pixel_mask[static_cast<std::size_t>(defect.row * model.optics().cols + defect.col)] = mask_bit::dead;
  ArinaWriter writer(master, description);
  constexpr Index block = 512;
  for (Index first = 0; first < model.positions(); first += block)
    writer.append(
        simulate_frames(model, workload_seed, first, std::min(block, model.positions() - first), description.dtype));
  (void)writer.finish();
}

}  // namespace

std::string workload_file(Workload which) {
  const fs::path folder = temporary_folder() / "sonde-bench";
  make_folders(folder);
  std::string master = (folder / (which == Workload::w1 ? "w1_master.h5" : "w2_master.h5")).string();
  if (!path_exists(master)) write_workload(which, master);
  const auto source = open_source(master, {});
  double stored = 0;
  for (Index frame = 0; frame < source->acquisition().frames; ++frame)
    stored += static_cast<double>(source->stored_bytes(frame));
  const Acquisition& a = source->acquisition();
  const double ratio = static_cast<double>(a.frames * a.rows * a.cols) * 2 / stored;
  const Ratio allowed = ratio_of(which);
  if (std::abs(ratio - allowed.expected) > allowed.tolerance)
    throw Error(ErrorKind::bad_input, fmt::format("{} compresses {:.2f} : 1, but {} +- {} : 1 is asked for", master,
                                                  ratio, allowed.expected, allowed.tolerance))
        .hint("remove the file, so that it is written again");
  return master;
}

std::size_t HeldScan::frame_bytes() const {
  const Acquisition& a = source->acquisition();
  return static_cast<std::size_t>(a.rows * a.cols) * size_bytes(a.stored);
}

double HeldScan::decoded_bytes() const { return static_cast<double>(frames()) * static_cast<double>(frame_bytes()); }

std::shared_ptr<HeldScan> hold_scan(Workload which) {
  auto held = std::make_shared<HeldScan>();
  held->source = open_source(workload_file(which), {});
  held->source->read(0, held->frames(), held->batch);
  return held;
}

namespace {

/// The model's positions, the first of the scan's.
void fill_resident(const Model& model, ResidentScan& scan) {
  const Index rows = model.optics().rows, cols = model.optics().cols;
  const auto planes = scan.planes.view<std::uint8_t, 2>();
  auto* total = static_cast<std::uint64_t*>(scan.total.data());
  constexpr Index block = 4096;
  for (Index first = 0; first < model.positions(); first += block) {
    const Array frames =
        simulate_frames(model, workload_seed, first, std::min(block, model.positions() - first), DType::u8);
    const auto* counts = static_cast<const std::uint8_t*>(frames.data());
    parallel_for(frames.shape()[0] / 64, 1, [&](Index begin, Index end, Worker&) {
      for (Index tile = begin; tile < end; ++tile) {
        const std::uint8_t* from = counts + tile * 64 * rows * cols;
        place_frames<std::uint8_t, std::uint8_t>(View<const std::uint8_t, 2>(from, 64, rows * cols), planes,
                                                 first + tile * 64);
        for (Index k = 0; k < 64; ++k)
          for (Index q = 0; q < rows * cols; ++q) total[first + tile * 64 + k] += from[k * rows * cols + q];
      }
    });
  }
}

std::shared_ptr<ResidentScan> empty_resident(Index positions, Index rows, Index cols) {
  auto scan = std::make_shared<ResidentScan>();
  scan->planes = make_planes(Device::cpu(), positions, rows, cols, DType::u8);
  scan->total = Array::zeros(Device::cpu(), {positions}, DType::u64);
  return scan;
}

}  // namespace

std::shared_ptr<ResidentScan> resident_scan() {
  const Model model = workload(Workload::w3);
  auto scan = empty_resident(model.positions(), model.optics().rows, model.optics().cols);
  fill_resident(model, *scan);
  return scan;
}

std::shared_ptr<ResidentScan> full_size_scan() {
  const Model model = workload(Workload::w1);
  const Index drawn = model.positions(), positions = Index{512} * 512, pixels = model.pixels();
  (void)Budget::automatic(Device::cpu()).reserve(static_cast<std::size_t>(positions * pixels), "a scan of full size");
  auto scan = empty_resident(positions, model.optics().rows, model.optics().cols);
  fill_resident(model, *scan);
  const auto planes = scan->planes.view<std::uint8_t, 2>();
  parallel_for(pixels, 64, [&](Index first, Index last, Worker&) {
    for (Index q = first; q < last; ++q)
      for (Index copy = drawn; copy < positions; copy += drawn)
        std::memcpy(&planes(q, copy), &planes(q, 0), static_cast<std::size_t>(drawn));
  });
  auto* total = static_cast<std::uint64_t*>(scan->total.data());
  for (Index copy = drawn; copy < positions; copy += drawn) std::copy_n(total, drawn, total + copy);
  return scan;
}

std::shared_ptr<Array> disk_frames(Index positions, Index side, Index orders) {
  SimulateOptions options;
  options.sample = Sample::disks;
  options.scan_shape = "16,32";
  options.detector_shape = fmt::format("{0},{0}", side);
  const auto scale = static_cast<double>(side) / 128;
  options.disk_radius = 7 * scale;
  options.halo_length = 15 * scale;
  options.orders = orders;
  // Neighbours 18 px apart on 128 px: three orders are on the detector.
  options.lattice = fmt::format("{},{},{},{}", 17.6 * scale, 3.7 * scale, -3.2 * scale, 18.5 * scale);
  options.masked_pixels = options.hot_pixels = 0;
  const Model model = model_of(options);
  const Index drawn = std::min<Index>(positions, model.positions());
  auto frames = std::make_shared<Array>(Device::cpu(), Shape{positions, side, side}, DType::u16);
  const Array some = simulate_frames(model, workload_seed, 0, drawn, DType::u16);
  const std::size_t frame = static_cast<std::size_t>(side * side) * 2;
  auto* to = static_cast<std::byte*>(frames->data());
  parallel_for(positions, 64, [&](Index first, Index last, Worker&) {
    for (Index i = first; i < last; ++i)
      std::memcpy(to + static_cast<std::size_t>(i) * frame,
                  static_cast<const std::byte*>(some.data()) + static_cast<std::size_t>(i % drawn) * frame, frame);
  });
  return frames;
}

Index frames_beyond_caches(Index side) { return (Index{256} << 20) / (2 * side * side); }

namespace {

SONDE_MULTIVERSION std::uint64_t sum_of(const std::uint64_t* from, Index count) {
  std::uint64_t sum = 0;
  for (Index i = 0; i < count; ++i) sum += from[i];
  return sum;
}

}  // namespace

std::uint64_t read_words(const void* from, std::size_t bytes) {
  const auto* words = static_cast<const std::uint64_t*>(from);
  const auto count = static_cast<Index>(bytes / 8);
  std::array<std::uint64_t, 64> parts{};
  const Index piece = count / static_cast<Index>(parts.size());
  parallel_for(static_cast<Index>(parts.size()), 1, [&](Index first, Index last, Worker&) {
    for (Index i = first; i < last; ++i) parts[static_cast<std::size_t>(i)] = sum_of(words + i * piece, piece);
  });
  return std::accumulate(parts.begin(), parts.end(), std::uint64_t{0});
}

std::filesystem::path bench_folder(const std::string& name) {
  const std::filesystem::path folder = temporary_folder() / "sonde-bench" / name;
  make_folders(folder);
  return folder;
}

}  // namespace sonde::stem
