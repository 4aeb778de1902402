// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <memory>
#include <utility>

#include "sonde/engine/base/paths.h"
#include "sonde/engine/device/parallel.h"
#include "sonde/engine/io/chunk_index.h"
#include "sonde/engine/io/hdf5.h"
#include "sonde/instruments/stem/bench/inputs.h"
#include "sonde/instruments/stem/bench/prepare.h"
#include "sonde/instruments/stem/image/bitplane.h"
#include "sonde/instruments/stem/image/expression.h"
#include "sonde/instruments/stem/image/imager.h"
#include "sonde/instruments/stem/write/write_arina.h"

namespace sonde::stem {
namespace {

/// The good pixels of a square detector between two radii.
Mask annulus(Index side, double row, double col, double r_in, double r_out) {
  DetectorGeometry geometry;
  geometry.rows = geometry.cols = side;
  return detector_mask(fmt::format("annulus({},{},{},{})", row, col, r_in, r_out), geometry);
}

Mask bright_field(Index side, double row, double col, double radius) { return annulus(side, row, col, 0, radius); }

/// Reads 1 GiB, more than any cache holds, so that what comes next comes from memory; the time is that of reading.
struct CacheFlush {
  static constexpr std::size_t bytes = std::size_t{1} << 30;
  std::vector<std::uint64_t> block = std::vector<std::uint64_t>(bytes / 8, 1);
  std::uint64_t sum = 0;
  void operator()() { sum += read_words(block.data(), bytes); }
};

/// A disk of `radius` that moves by one pixel along a path that never comes back: the history holds the step before,
/// and nothing nearer.
sonde::Operation drag(const std::shared_ptr<VirtualImager>& imager, const std::shared_ptr<Stream>& stream, Index side,
                      double radius, double bytes) {
  auto dragged = std::make_shared<Mask>();
  auto step = std::make_shared<int>(0);
  const int laps = static_cast<int>(side) - 32;  // as far as the disk stays near the middle
  return {.name = fmt::format("drag step, radius {:.0f} by 1 pixel", radius),
          .run =
              [=] {
                (void)imager->compute(*stream, *dragged);
                stream->synchronise();
              },
          .bytes = bytes,
          .before =
              [=] {
                const int lap = (*step)++ % (laps * laps), row = lap / laps,
                          col = row % 2 == 0 ? lap % laps : laps - 1 - lap % laps;
                if (lap == 0) imager->reset();
                const Mask before = bright_field(side, 16 + row, 16 + col - (row % 2 == 0 ? 1 : -1), radius);
                (void)imager->compute(*stream, before);
                stream->synchronise();
                *dragged = bright_field(side, 16 + row, 16 + col, radius);
              }};
}

/// A scan in the memory of the stream's device.
std::shared_ptr<ResidentScan> there(std::shared_ptr<ResidentScan> scan, Stream& stream) {
  if (stream.device().is_cpu()) return scan;
  return std::make_shared<ResidentScan>(
      ResidentScan{scan->planes.copy_to(stream.device(), stream), scan->total.copy_to(stream.device(), stream)});
}

}  // namespace

PreparedCase prepare_bitplane(const BenchPoint& point) {
  auto held = hold_scan(Workload::w1);
  const Acquisition& acquisition = held->source->acquisition();
  const BitshuffleFormat format = *held->source->packing();
  BitplaneMasks::Options options;
  for (const std::uint32_t bits : acquisition.pixel_mask) options.good.push_back(mask_bit::is_bad(bits) ? 0 : 1);
  options.sentinel = acquisition.sentinel;
  const Mask mask = bright_field(192, 95.5, 95.5, 30);
  auto masks = std::make_shared<BitplaneMasks>(BitplaneMasks::prepare(192, 192, 2, std::span(&mask, 1), options));
  auto scratch = std::make_shared<PerWorker<DecodeScratch>>();
  auto image = std::make_shared<std::vector<std::uint64_t>>(static_cast<std::size_t>(held->frames()));
  auto decoded_image = std::make_shared<std::vector<std::uint64_t>>(image->size());
  auto frames =
      std::make_shared<PerWorker<std::vector<std::uint16_t>>>([] { return std::vector<std::uint16_t>(192 * 192); });
  auto pixels = std::make_shared<std::vector<Index>>();
  for (const Index pixel : mask.pixels)
    if (options.good[static_cast<std::size_t>(pixel)] != 0) pixels->push_back(pixel);

  PreparedCase prepared;
  prepared.input = fmt::format("{}: {} frames, bright field of {} pixels", point.size, held->frames(), mask.area());
  prepared.operations.push_back({.name = "bit planes",
                                 .run =
                                     [=] {
                                       parallel_for(held->frames(), 16, [&](Index first, Index last, Worker& worker) {
                                         BitplaneSums sums;
                                         for (Index frame = first; frame < last; ++frame) {
                                           masks->evaluate(held->batch.frame_bytes(frame), format,
                                                           (*scratch)[worker].bitshuffle, sums);
                                           (*image)[static_cast<std::size_t>(frame)] = sums.masks[0];
                                         }
                                       });
                                     },
                                 .bytes = held->decoded_bytes()});
  prepared.operations.push_back({.name = "decode, then sum",
                                 .run =
                                     [=] {
                                       parallel_for(held->frames(), 16, [&](Index first, Index last, Worker& worker) {
                                         std::vector<std::uint16_t>& counts = (*frames)[worker];
                                         for (Index frame = first; frame < last; ++frame) {
                                           held->source->decode(held->batch, frame, (*scratch)[worker],
                                                                std::as_writable_bytes(std::span(counts)));
                                           std::uint64_t sum = 0;
                                           for (const Index pixel : *pixels)
                                             sum += counts[static_cast<std::size_t>(pixel)];
                                           (*decoded_image)[static_cast<std::size_t>(frame)] = sum;
                                         }
                                       });
                                     },
                                 .bytes = held->decoded_bytes(),
                                 .difference = [=] { return *image == *decoded_image ? 0.0 : 1.0; }});
  return prepared;
}

PreparedCase prepare_index(const BenchPoint& point) {
  const Index frames = std::stoll(point.size);
  const std::filesystem::path folder = temporary_folder() / "sonde-bench";
  make_folders(folder);
  const std::string master = (folder / fmt::format("index{}_master.h5", frames)).string();
  const std::string data = (folder / fmt::format("index{}_data_000001.h5", frames)).string();
  if (!path_exists(master)) {
    ArinaDescription description;
    description.scan_rows = 1;
    description.scan_cols = description.frames_per_file = frames;
    description.rows = description.cols = 8;
    ArinaWriter writer(master, description);
    writer.append(Array::zeros(Device::cpu(), {frames, 8, 8}, DType::u16));
    (void)writer.finish();
  }
  PreparedCase prepared;
  prepared.input = fmt::format("{} chunks in one file", frames);
  auto file = std::make_shared<Hdf5File>(Hdf5File::open(data));
  prepared.operations.push_back({.name = "own pass over the tree", .run = [=] {
                                   // Opened each time: an open data set keeps its index.
                                   (void)read_chunk_index(file->dataset("/entry/data/data"));
                                 }});
  prepared.peers.push_back(python_peer("h5py get_chunk_info by coordinate", "h5py_index.py", {data}));
  return prepared;
}

PreparedCase prepare_image(const BenchPoint& point) {
  auto stream = std::make_shared<Stream>(point.device);
  const auto scan = there(resident_scan(), *stream);
  ImagerSources sources;
  sources.rows = sources.cols = 96;
  sources.planes = &scan->planes;
  sources.total = &scan->total;
  auto imager = std::make_shared<VirtualImager>(sources);
  auto step = std::make_shared<int>(0);
  const double positions = 65536;

  PreparedCase prepared;
  prepared.input = fmt::format("{}: 256 x 256 x 96 x 96 u8 in memory", point.size);
  const auto full = [&](const char* name, double r_in, double r_out, bool cold) {
    // A new centre each time, so that no part of the answer is known; the expression is parsed outside the clock.
    auto mask = std::make_shared<Mask>();
    auto flush = cold ? std::make_shared<CacheFlush>() : nullptr;
    const double pixels = 3.14159265 * (r_out * r_out - r_in * r_in);
    prepared.operations.push_back({.name = name,
                                   .run =
                                       [=] {
                                         (void)imager->compute(*stream, *mask);
                                         stream->synchronise();
                                         (void)scan;
                                       },
                                   .bytes = pixels * positions,
                                   .before =
                                       [=] {
                                         const int k = (*step)++;
                                         *mask = annulus(96, 40.5 + k % 16, 41.5 + k / 16 % 16, r_in, r_out);
                                         imager->reset();
                                         if (flush) (*flush)();
                                       }});
  };
  full("bright field, 316 pixels, warm", 0, 10.03, false);
  full("annular dark field, 908 pixels, warm", 10, 19.72, false);
  full("bright field, 316 pixels, cold", 0, 10.03, true);
  if (point.device.is_cpu()) {
    auto read = std::make_shared<CacheFlush>();
    prepared.operations.push_back({.name = "reading 1 GiB, nothing else",
                                   .run = [=] { (*read)(); },
                                   .bytes = static_cast<double>(CacheFlush::bytes)});
  }
  prepared.operations.push_back(drag(imager, stream, 96, 10, 40 * positions));
  auto prefixed = std::make_shared<VirtualImager>(sources);
  prefixed->build_prefix(*stream, 47.5, 47.5);
  auto ring = std::make_shared<Mask>();
  auto radius_step = std::make_shared<int>(0);
  prepared.operations.push_back({.name = "radius step, prefix planes",
                                 .run =
                                     [=] {
                                       (void)prefixed->compute(*stream, *ring);
                                       stream->synchronise();
                                     },
                                 .bytes = 3 * 4 * positions,
                                 .before =
                                     [=] {
                                       const int k = (*radius_step)++;
                                       prefixed->reset();
                                       *ring = annulus(96, 47.5, 47.5, 5 + k % 10, 20 + k % 25);
                                     }});
  prepared.peers.push_back(python_peer("NumPy, bright field", "numpy_image.py", {"bf"}));
  prepared.peers.push_back(python_peer("PyTorch, bright field", "torch_image.py", {"bf"}));
  return prepared;
}

PreparedCase prepare_full_size(const BenchPoint& point) {
  auto stream = std::make_shared<Stream>(point.device);
  const auto scan = there(full_size_scan(), *stream);
  ImagerSources sources;
  sources.rows = sources.cols = 192;
  sources.planes = &scan->planes;
  sources.total = &scan->total;
  auto imager = std::make_shared<VirtualImager>(sources);
  const double positions = 512.0 * 512;
  PreparedCase prepared;
  prepared.input = fmt::format("{}: 512 x 512 x 192 x 192 u8 in memory", point.size);
  auto mask = std::make_shared<Mask>();
  auto step = std::make_shared<int>(0);
  prepared.operations.push_back({.name = "bright field, 1257 pixels",
                                 .run =
                                     [=] {
                                       (void)imager->compute(*stream, *mask);
                                       stream->synchronise();
                                       (void)scan;
                                     },
                                 .bytes = 1257 * positions,
                                 .before =
                                     [=] {
                                       const int k = (*step)++;
                                       *mask = bright_field(192, 88.5 + k % 16, 89.5 + k / 16 % 16, 20);
                                       imager->reset();
                                     }});
  prepared.operations.push_back(drag(imager, stream, 192, 20, 80 * positions));
  return prepared;
}

}  // namespace sonde::stem
