// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/image/imager.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "sonde/engine/base/error.h"
#include "sonde/instruments/stem/image/masked_sum.h"
#include "sonde/instruments/stem/image/plane_sum.h"

namespace sonde::stem {
namespace {

std::vector<Index> all_pixels(Index count) {
  std::vector<Index> pixels(static_cast<std::size_t>(count));
  std::iota(pixels.begin(), pixels.end(), Index{0});
  return pixels;
}

void check(const ImagerSources& sources) {
  const auto fail = [&](const std::string& what) {
    throw Error(ErrorKind::bad_input,
                fmt::format("virtual images of a detector of {} x {} pixels: {}", sources.rows, sources.cols, what));
  };
  if (sources.planes == nullptr && sources.frames == nullptr) fail("neither planes nor frames");
  const Index positions = sources.planes != nullptr ? sources.planes->shape()[1] : sources.frames->shape()[0];
  if (sources.planes != nullptr && sources.planes->shape() != Shape{sources.rows * sources.cols, positions})
    fail("planes of shape " + sources.planes->shape().text());
  if (sources.frames != nullptr && sources.frames->shape() != Shape{positions, sources.rows, sources.cols})
    fail("frames of shape " + sources.frames->shape().text());
  if (sources.total != nullptr && (sources.total->shape() != Shape{positions} || sources.total->dtype() != DType::u64))
    fail("totals of shape " + sources.total->shape().text());
  if (!sources.good.empty() && static_cast<Index>(sources.good.size()) != sources.rows * sources.cols)
    fail(fmt::format("{} pixel flags", sources.good.size()));
}

}  // namespace

std::string_view name(ImagePath path) {
  switch (path) {
    case ImagePath::dense:
      return "dense";
    case ImagePath::sparse:
      return "sparse";
    case ImagePath::complement:
      return "complement";
    case ImagePath::incremental:
      return "incremental";
    case ImagePath::prefix:
      return "prefix";
  }
  return "";
}

/// A starting image and the pixels it is made of; the rest is added and removed.
struct VirtualImager::Route {
  ImagePath path = ImagePath::sparse;
  PixelSet start;              // pixels the starting image holds
  const Past* past = nullptr;  // incremental
  RadialPrefix::Rings rings;   // prefix
  std::size_t bytes = 0;
  std::string because;
};

VirtualImager::VirtualImager(ImagerSources sources) : sources_(std::move(sources)) {
  check(sources_);
  positions_ = sources_.planes != nullptr ? sources_.planes->shape()[1] : sources_.frames->shape()[0];
  const Index pixels = sources_.rows * sources_.cols;
  std::vector<Index> good = all_pixels(pixels);
  if (!sources_.good.empty())
    std::erase_if(good, [&](Index pixel) { return sources_.good[static_cast<std::size_t>(pixel)] == 0; });
  good_ = PixelSet(pixels, good);
}

std::size_t VirtualImager::bytes_of(const PixelSet& wanted, const PixelSet& start) const {
  const auto positions = static_cast<std::size_t>(positions_);
  if (sources_.planes != nullptr)
    return static_cast<std::size_t>(wanted.distance(start)) * positions * size_bytes(sources_.planes->dtype());
  // A frame is read by cache lines: count those that hold a pixel of the difference.
  const auto line = static_cast<Index>(64 / size_bytes(sources_.frames->dtype()));
  std::size_t lines = 0;
  for (const auto& pixels : {wanted.without(start), start.without(wanted)}) {
    Index last = -1;
    for (const Index pixel : pixels)
      if (pixel / line != last) {
        ++lines;
        last = pixel / line;
      }
  }
  return lines * 64 * positions;
}

VirtualImager::Route VirtualImager::choose(const PixelSet& wanted) const {
  const auto image_bytes = static_cast<std::size_t>(positions_) * sizeof(std::uint64_t);
  const PixelSet nothing(sources_.rows * sources_.cols);
  const bool sparse = sources_.planes != nullptr;
  Route best{sparse ? ImagePath::sparse : ImagePath::dense,          nothing, nullptr, {}, bytes_of(wanted, nothing),
             fmt::format("{} pixels, no shorter way", wanted.area())};
  const auto offer = [&](ImagePath path, const PixelSet& start, std::size_t start_bytes, std::string because) -> bool {
    const std::size_t bytes = bytes_of(wanted, start) + start_bytes;
    if (bytes >= best.bytes) return false;
    best = {path, start, nullptr, {}, bytes, std::move(because)};
    return true;
  };
  if (sources_.total != nullptr)
    offer(ImagePath::complement, good_, image_bytes,
          fmt::format("{} good pixels are outside the mask, {} inside", good_.distance(wanted), wanted.area()));
  for (const Past& past : past_)
    if (offer(ImagePath::incremental, past.pixels, image_bytes,
              fmt::format("{} pixels differ from an earlier mask", wanted.distance(past.pixels))))
      best.past = &past;
  if (prefix_) {
    const RadialPrefix::Rings rings = prefix_->nearest(wanted);
    const std::size_t ring_bytes =
        2 * static_cast<std::size_t>(positions_) * size_bytes(prefix_->planes().dtype()) + image_bytes;
    if (offer(ImagePath::prefix, prefix_->pixels(rings), ring_bytes,
              fmt::format("{} pixels differ from the annulus {} to {}", rings.difference, rings.from, rings.to)))
      best.rings = rings;
  }
  return best;
}

std::shared_ptr<Array> VirtualImager::fresh_image(DType dtype) {
  // The oldest image is written over when nobody else holds it any more.
  if (dtype == DType::u64 && past_.size() == history_length) {
    const auto oldest =
        std::min_element(past_.begin(), past_.end(), [](const Past& a, const Past& b) { return a.used < b.used; });
    std::shared_ptr<Array> image = std::move(oldest->image);
    past_.erase(oldest);
    if (image.use_count() == 1) return image;
  }
  const Device device = (sources_.planes != nullptr ? sources_.planes : sources_.frames)->device();
  return std::make_shared<Array>(device, Shape{positions_}, dtype);
}

void VirtualImager::remember(PixelSet pixels, std::shared_ptr<Array> image) {
  past_.push_back({std::move(pixels), std::move(image), ++clock_});
}

VirtualImage VirtualImager::direct(Stream& stream, const Mask& mask) {
  std::shared_ptr<Array> image = fresh_image(DType::f64);
  const bool sparse = sources_.planes != nullptr;
  if (sparse)
    plane_sum(stream, *sources_.planes, mask, *image);
  else
    masked_sum(stream, *sources_.frames, mask, *image);
  const PixelSet pixels(mask.rows * mask.cols, mask.pixels), nothing(mask.rows * mask.cols);
  return {std::move(image), sparse ? ImagePath::sparse : ImagePath::dense,
          mask.area(),      bytes_of(pixels, nothing),
          mask.area(),      "sums of floating-point numbers are always taken in full"};
}

VirtualImage VirtualImager::compute(Stream& stream, const Mask& mask) {
  if (mask.rows != sources_.rows || mask.cols != sources_.cols)
    throw Error(ErrorKind::bad_input, fmt::format("a mask of {} x {} pixels and a detector of {} x {}", mask.rows,
                                                  mask.cols, sources_.rows, sources_.cols))
        .hint("bin the mask like the data");
  const std::lock_guard lock(mutex_);
  const Array& source = sources_.planes != nullptr ? *sources_.planes : *sources_.frames;
  if (!mask.boolean() || source.dtype() == DType::f32) return direct(stream, mask);

  PixelSet wanted = PixelSet(mask.rows * mask.cols, mask.pixels).intersection(good_);
  const Route route = choose(wanted);
  const std::vector<Index> added = wanted.without(route.start), removed = route.start.without(wanted);
  VirtualImage result{nullptr,     route.path,    static_cast<Index>(added.size() + removed.size()),
                      route.bytes, wanted.area(), route.because};
  // Keeps the starting image alive while the oldest is written over.
  const std::shared_ptr<Array> start = route.past != nullptr ? route.past->image : nullptr;
  if (start != nullptr && result.pixels_read == 0) {
    for (Past& past : past_)
      if (past.image == start) past.used = ++clock_;
    result.image = start;
    return result;
  }
  std::shared_ptr<Array> image = fresh_image(DType::u64);
  const Array* base = start.get();
  if (route.path == ImagePath::complement) base = sources_.total;
  if (route.path == ImagePath::prefix) {
    prefix_->image(stream, route.rings, *image);
    base = image.get();
  }
  if (base == nullptr) {
    if (sources_.planes != nullptr)
      plane_sum(stream, source, added, *image);
    else
      masked_sum(stream, source, make_mask(mask.rows, mask.cols, added), *image);
  } else if (sources_.planes != nullptr) {
    plane_update(stream, source, *base, added, removed, *image);
  } else {
    masked_update(stream, source, *base, added, removed, *image);
  }
  stream.synchronise();
  result.image = image;
  remember(std::move(wanted), std::move(image));
  return result;
}

void VirtualImager::build_prefix(Stream& stream, double centre_row, double centre_col) {
  const std::lock_guard lock(mutex_);
  if (sources_.planes == nullptr || sources_.planes->dtype() == DType::f32)
    throw Error(ErrorKind::bad_input, "radial prefix planes need a pixel-major layout of counts")
        .hint("load with " + setting("layout", "pixel"));
  prefix_ = RadialPrefix::build(stream, *sources_.planes, sources_.rows, sources_.cols, sources_.good, centre_row,
                                centre_col);
}

void VirtualImager::drop_prefix() {
  const std::lock_guard lock(mutex_);
  prefix_.reset();
}

void VirtualImager::reset() {
  const std::lock_guard lock(mutex_);
  past_.clear();
}

}  // namespace sonde::stem
