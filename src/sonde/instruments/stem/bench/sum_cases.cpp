// SPDX-License-Identifier: Apache-2.0
// Sums over detector pixels: centre of mass, many detectors in one pass, radial profiles. All frames are in memory and
// larger than the caches together, so that reading them is the floor.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "sonde/engine/device/parallel.h"
#include "sonde/instruments/stem/bench/inputs.h"
#include "sonde/instruments/stem/bench/prepare.h"
#include "sonde/instruments/stem/image/masked_sum.h"
#include "sonde/instruments/stem/load/in_place.h"
#include "sonde/instruments/stem/load/visit_frames.h"
#include "sonde/instruments/stem/pass/frame_kernels.h"
#include "sonde/instruments/stem/pass/moment_sums.h"
#include "sonde/instruments/stem/radial/radial_plan.h"

namespace sonde::stem {
namespace {

using Frames = std::shared_ptr<Array>;
constexpr const char* reading = "reading the frames";
constexpr Index frames_per_task = 32;

double bytes_of(const Array& frames) { return static_cast<double>(frames.allocated_bytes()); }
double count_of(const Array& frames) { return static_cast<double>(frames.shape()[0]); }

std::string described(const Array& frames) {
  return fmt::format("{} frames of {} x {} u16 in memory, 25 disks", frames.shape()[0], frames.shape()[1],
                     frames.shape()[2]);
}

sonde::Operation reading_of(const Frames& frames) {
  return {.name = reading,
          .run = [=] { (void)read_words(frames->data(), frames->allocated_bytes()); },
          .bytes = bytes_of(*frames),
          .items = count_of(*frames)};
}

/// Of every frame its largest element, total and first moments.
sonde::Operation centres_of(const Frames& frames) {
  auto moments =
      std::make_shared<std::vector<cpu::FrameSums<std::uint64_t>>>(static_cast<std::size_t>(frames->shape()[0]));
  const Index rows = frames->shape()[1], cols = frames->shape()[2];
  auto scratch = std::make_shared<PerWorker<std::vector<std::uint64_t>>>(
      [=] { return std::vector<std::uint64_t>(static_cast<std::size_t>(cols)); });
  return {.name = "centre of mass",
          .run =
              [=] {
                const auto& kernels = cpu::frame_kernels<std::uint16_t>();
                const auto* all = static_cast<const std::uint16_t*>(std::as_const(*frames).data());
                parallel_for(frames->shape()[0], frames_per_task, [&](Index first, Index last, Worker& worker) {
                  for (Index i = first; i < last; ++i) {
                    const std::uint16_t* frame = all + i * rows * cols;
                    (*moments)[static_cast<std::size_t>(i)] = kernels.moments(
                        frame, rows, cols, kernels.largest(frame, rows * cols), (*scratch)[worker].data());
                  }
                });
              },
          .bytes = bytes_of(*frames),
          .items = count_of(*frames),
          .floor = reading};
}

/// The same as an operation of a pass, which copies and cleans every frame first.
sonde::Operation centres_in_pass(const Frames& frames) {
  LoadOptions options;
  options.hot_pixels = BadPixelAction::none;
  const Shape shape = frames->shape();
  auto scan = std::make_shared<Dataset>(load_in_place(alias(*frames).reshaped({shape[0] / 32, 32, shape[1], shape[2]}),
                                                      "bench", options, Budget::automatic(Device::cpu())));
  return {.name = "centre of mass in a pass",
          .run =
              [=] {
                MomentSums sums;
                Operation* const operation = &sums;
                visit_frames(*scan, "", std::span(&operation, 1));
                (void)frames;
              },
          .bytes = bytes_of(*frames),
          .items = count_of(*frames),
          .floor = reading};
}

std::vector<Mask> rings_of(Index side, std::size_t count) {
  std::vector<std::vector<Index>> pixels(count);
  const double middle = static_cast<double>(side) / 2, width = middle / static_cast<double>(count);
  for (Index q = 0; q < side * side; ++q) {
    const double radius =
        std::hypot(static_cast<double>(q / side) - middle, static_cast<double>(q % side) - middle) / width;
    if (radius < static_cast<double>(count)) pixels[static_cast<std::size_t>(radius)].push_back(q);
  }
  std::vector<Mask> masks;
  for (auto& each : pixels) masks.push_back(make_mask(side, side, std::move(each)));
  return masks;
}

std::vector<Mask> random_masks(Index side, int count) {
  std::mt19937_64 random(workload_seed);
  std::vector<Mask> masks;
  for (int i = 0; i < count; ++i) {
    std::vector<Index> pixels;
    for (Index q = 0; q < side * side; ++q)
      if ((random() & 1) != 0) pixels.push_back(q);
    masks.push_back(make_mask(side, side, std::move(pixels)));
  }
  return masks;
}

using Images = std::shared_ptr<std::vector<Array>>;

Images images_for(const Array& frames, std::size_t masks) {
  auto images = std::make_shared<std::vector<Array>>();
  for (std::size_t i = 0; i < masks; ++i)
    images->push_back(Array::zeros(Device::cpu(), {frames.shape()[0]}, DType::u64));
  return images;
}

double difference(const std::vector<Array>& a, const std::vector<Array>& b) {
  for (std::size_t i = 0; i < a.size(); ++i)
    if (std::memcmp(a[i].data(), b[i].data(), a[i].allocated_bytes()) != 0) return 1;
  return 0;
}

PreparedCase many_masks(const BenchPoint& point, const std::string& what, std::vector<Mask> some,
                        const std::string& peer_words) {
  const Index side = some.front().rows;
  const Frames frames = disk_frames(frames_beyond_caches(side), side);
  auto masks = std::make_shared<std::vector<Mask>>(std::move(some));
  const Images together = images_for(*frames, masks->size()), single = images_for(*frames, masks->size());
  auto stream = std::make_shared<Stream>();
  PreparedCase prepared;
  prepared.input = described(*frames);
  prepared.operations.push_back({.name = what + ", together",
                                 .run = [=] { masked_sums(*stream, *frames, *masks, *together); },
                                 .bytes = bytes_of(*frames),
                                 .items = count_of(*frames),
                                 .floor = reading});
  prepared.operations.push_back({.name = what + ", one by one",
                                 .run =
                                     [=] {
                                       for (std::size_t i = 0; i < masks->size(); ++i)
                                         masked_sum(*stream, *frames, (*masks)[i], (*single)[i]);
                                     },
                                 .bytes = bytes_of(*frames),
                                 .difference = [=] { return difference(*together, *single); },
                                 .items = count_of(*frames),
                                 .floor = reading});
  prepared.operations.push_back(centres_of(frames));
  prepared.operations.push_back(reading_of(frames));
  prepared.peers.push_back(python_peer(
      "NumPy, product with 100 masks", "numpy_masks.py",
      {peer_words, std::to_string(side), std::to_string(frames->shape()[0]), std::to_string(point.workers)}));
  return prepared;
}

}  // namespace

PreparedCase prepare_centres(const BenchPoint& point) {
  const Index side = whole_size(point.size, "detector pixels along a side");
  const Frames frames = disk_frames(frames_beyond_caches(side), side);
  PreparedCase prepared;
  prepared.input = described(*frames);
  prepared.operations = {centres_of(frames), centres_in_pass(frames)};
  auto stream = std::make_shared<Stream>();
  auto disk = std::make_shared<Mask>(rings_of(side, 3).front());
  auto image = std::make_shared<Array>(Array::zeros(Device::cpu(), {frames->shape()[0]}, DType::u64));
  prepared.operations.push_back({.name = "one virtual image, a disk",
                                 .run = [=] { masked_sum(*stream, *frames, *disk, *image); },
                                 .bytes = 2 * static_cast<double>(disk->area()) * count_of(*frames),
                                 .items = count_of(*frames)});
  prepared.operations.push_back(reading_of(frames));
  for (const auto& [name, way] :
       {std::pair("NumPy, py4DSTEM's sums", "py4dstem"), {"NumPy, best of three ways", "best"}})
    prepared.peers.push_back(python_peer(
        name, "numpy_com.py", {way, point.size, std::to_string(frames->shape()[0]), std::to_string(point.workers)}));
  return prepared;
}

PreparedCase prepare_rings(const BenchPoint& point) {
  const Index side = whole_size(point.size, "detector pixels along a side");
  return many_masks(point, "100 rings", rings_of(side, 100), "rings");
}

PreparedCase prepare_masks(const BenchPoint& point) {
  const Index side = whole_size(point.size, "detector pixels along a side");
  return many_masks(point, "100 masks at random", random_masks(side, 100), "random");
}

PreparedCase prepare_radial(const BenchPoint& point) {
  const Index side = whole_size(point.size, "detector pixels along a side");
  const Frames frames = disk_frames(frames_beyond_caches(side), side);
  const double middle = static_cast<double>(side - 1) / 2;
  const RadialGeometry geometry{side, side, middle, middle, {}};
  PreparedCase prepared;
  prepared.input = described(*frames) + "; 64 rings; 64 rings of 180 sectors";
  const auto add = [&](const std::string& name, Index angles, PixelSplit split) {
    const RadialBins bins{64, 0, middle, angles};
    auto plan = std::make_shared<RadialPlan>(RadialPlan::prepare(geometry, bins, split, {}));
    struct Room {
      RadialPlan::Scratch scratch;
      std::vector<double> sums;
    };
    auto rooms = std::make_shared<PerWorker<Room>>([=] {
      return Room{RadialPlan::Scratch(*plan), std::vector<double>(static_cast<std::size_t>(8 * bins.count()))};
    });
    prepared.operations.push_back(
        {.name = name,
         .run =
             [=] {
               const auto* all = static_cast<const std::uint16_t*>(std::as_const(*frames).data());
               parallel_for(frames->shape()[0], 8, [&](Index first, Index last, Worker& worker) {
                 Room& room = (*rooms)[worker];
                 plan->run(all + first * side * side, last - first, 65535.0, room.scratch, room.sums, {});
               });
             },
         .bytes = bytes_of(*frames),
         .items = count_of(*frames),
         .floor = reading});
  };
  add("64 rings", 1, PixelSplit::none);
  add("64 rings, shared pixels", 1, PixelSplit::full);
  add("180 sectors", 180, PixelSplit::none);
  add("180 sectors, shared pixels", 180, PixelSplit::full);
  prepared.operations.push_back(reading_of(frames));
  for (const char* way : {"rings", "sectors"})
    prepared.peers.push_back(
        python_peer(fmt::format("SciPy, sparse product, {}", way), "scipy_radial.py",
                    {way, point.size, std::to_string(frames->shape()[0]), std::to_string(point.workers)}));
  return prepared;
}

PreparedCase prepare_scan_growth(const BenchPoint& point) {
  const Index positions = whole_size(point.size, "frames"), side = 128;
  const Frames frames = disk_frames(positions, side);
  auto masks = std::make_shared<std::vector<Mask>>(rings_of(side, 100));
  const Images images = images_for(*frames, masks->size());
  auto stream = std::make_shared<Stream>();
  PreparedCase prepared;
  prepared.input = described(*frames);
  prepared.operations = {centres_of(frames), reading_of(frames)};
  prepared.operations.push_back(
      {.name = "100 rings, together", .run = [=] { masked_sums(*stream, *frames, *masks, *images); }});
  // Whole scans are compared here, not frames.
  for (sonde::Operation& operation : prepared.operations) operation.items = 0;
  return prepared;
}

}  // namespace sonde::stem
