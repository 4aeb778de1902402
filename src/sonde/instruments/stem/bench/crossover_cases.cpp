// SPDX-License-Identifier: Apache-2.0
// Where one way of computing overtakes another: by how dense a mask is, and by how many electrons a frame has.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "sonde/engine/base/error.h"
#include "sonde/engine/device/parallel.h"
#include "sonde/engine/io/codec/bitshuffle.h"
#include "sonde/instruments/stem/bench/inputs.h"
#include "sonde/instruments/stem/bench/prepare.h"
#include "sonde/instruments/stem/image/bitplane.h"
#include "sonde/instruments/stem/image/imager.h"
#include "sonde/instruments/stem/image/masked_sum.h"
#include "sonde/instruments/stem/image/plane_sum.h"
#include "sonde/instruments/stem/layout/resident.h"
#include "sonde/instruments/stem/layout/transpose.h"
#include "sonde/instruments/stem/simulate/frames.h"

namespace sonde::stem {
namespace {

double number_of(const std::string& size, const char* what) {
  char* end = nullptr;
  const double number = std::strtod(size.c_str(), &end);
  if (end == size.c_str() || *end != '\0' || !(number > 0))
    throw Error(ErrorKind::usage, fmt::format("{}: \"{}\" is not {}", setting("sizes"), size, what))
        .hint("give positive numbers, separated by commas");
  return number;
}

}  // namespace

PreparedCase prepare_density(const BenchPoint& point) {
  constexpr Index side = 96, positions = 256 * 256;
  const double percent = number_of(point.size, "a percentage of the detector");
  auto stream = std::make_shared<Stream>();
  // 4096 different frames, again and again: sums take as long whatever the counts are.
  constexpr Index different = 4096;
  const Array drawn = simulate_frames(workload(Workload::w3), workload_seed, 0, different, DType::u8);
  auto frames = std::make_shared<Array>(make_frames(Device::cpu(), positions, side, side, DType::u8));
  for (Index first = 0; first < positions; first += different)
    std::memcpy(static_cast<std::byte*>(frames->data()) + first * side * side, drawn.data(), drawn.allocated_bytes());
  auto scan = std::make_shared<ResidentScan>();
  scan->planes = make_planes(Device::cpu(), positions, side, side, DType::u8);
  to_pixel_major(*stream, *frames, scan->planes);
  std::vector<Index> all(side * side);
  std::iota(all.begin(), all.end(), Index{0});
  scan->total = Array::zeros(Device::cpu(), {positions}, DType::u64);
  plane_sum(*stream, scan->planes, all, scan->total);
  auto planes_again = std::make_shared<Array>(make_planes(Device::cpu(), positions, side, side, DType::u8));
  std::vector<Index> pixels(static_cast<std::size_t>(std::min(1.0, percent / 100) * side * side));
  std::iota(pixels.begin(), pixels.end(), Index{0});
  auto mask = std::make_shared<Mask>(make_mask(side, side, std::move(pixels)));
  auto image = std::make_shared<Array>(Array::zeros(Device::cpu(), {positions}, DType::u64));
  ImagerSources sources;
  sources.rows = sources.cols = side;
  sources.planes = &scan->planes;
  sources.total = &scan->total;
  auto imager = std::make_shared<VirtualImager>(sources);

  PreparedCase prepared;
  prepared.input = fmt::format("256 x 256 x 96 x 96 u8, mask of {} pixels", mask->area());
  const double bytes = static_cast<double>(mask->area() * positions);
  prepared.operations.push_back(
      {.name = "sparse, from planes", .run = [=] { plane_sum(*stream, scan->planes, *mask, *image); }, .bytes = bytes});
  prepared.operations.push_back(
      {.name = "dense, from frames", .run = [=] { masked_sum(*stream, *frames, *mask, *image); }, .bytes = bytes});
  prepared.operations.push_back({.name = "imager, which chooses",
                                 .run =
                                     [=] {
                                       (void)imager->compute(*stream, *mask);
                                       (void)scan;
                                     },
                                 .bytes = bytes,
                                 .before = [=] { imager->reset(); }});
  // Paid back after (this time) / (dense - sparse) images.
  prepared.operations.push_back({.name = "frames to planes",
                                 .run = [=] { to_pixel_major(*stream, *frames, *planes_again); },
                                 .bytes = 2.0 * side * side * positions});
  return prepared;
}

PreparedCase prepare_dose(const BenchPoint& point) {
  constexpr Index scan = 32, frames = scan * scan, side = 192;
  const double mean = number_of(point.size, "a mean number of counts per pixel");
  const Model reference = workload(Workload::w1, scan, scan);
  Optics optics = reference.optics();
  optics.dose = mean * static_cast<double>(side * side);
  const Model model(optics, scan, scan, [reference](Index row, Index col) { return reference.beam(row * scan + col); });
  auto chunks = std::make_shared<std::vector<std::vector<std::byte>>>(
      simulate_chunks(model, workload_seed, 0, frames, DType::u16));
  double stored = 0;
  for (const auto& chunk : *chunks) stored += static_cast<double>(chunk.size());
  const double decoded = 2.0 * side * side * frames;

  const BitshuffleFormat format{2, 0, BitshuffleCodec::lz4};
  std::vector<Index> pixels;
  for (Index q = 0; q < side * side; ++q)
    if ((q / side - 95) * (q / side - 95) + (q % side - 95) * (q % side - 95) < 30 * 30) pixels.push_back(q);
  const Mask mask = make_mask(side, side, std::move(pixels));
  auto masks = std::make_shared<BitplaneMasks>(BitplaneMasks::prepare(side, side, 2, std::span(&mask, 1), {}));
  struct Scratch {
    BitshuffleScratch bitshuffle;
    std::vector<std::uint16_t> elements = std::vector<std::uint16_t>(side * side);
    std::uint64_t sum = 0;
  };
  auto scratch = std::make_shared<PerWorker<Scratch>>();

  PreparedCase prepared;
  prepared.input = fmt::format("{} frames of 192x192 u16, {:.1f} : 1", frames, decoded / stored);
  prepared.operations.push_back({.name = "decode",
                                 .run =
                                     [=] {
                                       parallel_for(frames, 16, [&](Index first, Index last, Worker& worker) {
                                         Scratch& own = (*scratch)[worker];
                                         for (Index i = first; i < last; ++i)
                                           decode_bitshuffle((*chunks)[static_cast<std::size_t>(i)], format,
                                                             own.bitshuffle,
                                                             std::as_writable_bytes(std::span(own.elements)));
                                       });
                                     },
                                 .bytes = decoded});
  prepared.operations.push_back({.name = "bright field from bit planes",
                                 .run =
                                     [=] {
                                       parallel_for(frames, 16, [&](Index first, Index last, Worker& worker) {
                                         Scratch& own = (*scratch)[worker];
                                         BitplaneSums sums;
                                         for (Index i = first; i < last; ++i) {
                                           masks->evaluate((*chunks)[static_cast<std::size_t>(i)], format,
                                                           own.bitshuffle, sums);
                                           own.sum += sums.masks[0];
                                         }
                                       });
                                     },
                                 .bytes = decoded});
  return prepared;
}

}  // namespace sonde::stem
