// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/simulate/frames.h"

#include <fmt/format.h>

#include <cstddef>
#include <limits>
#include <span>
#include <type_traits>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/interrupt.h"
#include "sonde/engine/device/parallel.h"
#include "sonde/engine/io/codec/bitshuffle.h"
#include "sonde/engine/math/poisson.h"

namespace sonde::stem {
namespace {

constexpr Index frames_per_piece = 4;  // under a millisecond of work

struct FrameScratch {
  Model::Scratch profile;
  std::vector<double> rate;
  std::vector<std::uint32_t> count;
  BitshuffleScratch bitshuffle;
  std::vector<std::byte> frame;
  IntegratingDetector::Scratch charge;
};

template <class T>
void narrow(const Model& model, Index frame, std::span<const std::uint32_t> counts, T* out) {
  constexpr std::uint32_t largest = std::numeric_limits<T>::max();
  bool has_sentinel = false;
  for (const Defect& defect : model.defects()) has_sentinel = has_sentinel || defect.kind == Defect::Kind::sentinel;
  const std::uint32_t limit = has_sentinel ? largest - 1 : largest;
  std::uint32_t highest = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    highest = counts[i] > highest ? counts[i] : highest;
    out[i] = static_cast<T>(counts[i]);
  }
  if (highest > limit)
    throw Error(ErrorKind::bad_input,
                fmt::format("frame {} has a count of {}, {} holds up to {}", frame, highest, name(dtype_of<T>), limit))
        .hint("choose a wider element type or a smaller dose");
  for (const Defect& defect : model.defects())
    if (defect.kind == Defect::Kind::sentinel)
      out[defect.row * model.optics().cols + defect.col] = static_cast<T>(largest);
}

template <class Body>
void visit_type(DType dtype, Body&& body) {
  switch (dtype) {
    case DType::u8:
      return body(std::uint8_t{});
    case DType::u16:
      return body(std::uint16_t{});
    case DType::u32:
      return body(std::uint32_t{});
    default:
      throw Error(ErrorKind::bad_input, fmt::format("frames are simulated as u8, u16 or u32, not as {}", name(dtype)));
  }
}

void check_range(const Model& model, Index first, Index count) {
  if (first < 0 || count < 0 || first + count > model.positions())
    throw Error(ErrorKind::bad_input,
                fmt::format("frames {} to {} of a scan of {} positions", first, first + count, model.positions()));
}

/// Calls use(frame, scratch) with the counts of each frame in scratch.count.
template <class Use>
void for_frames(const Model& model, std::uint64_t seed, Index first, Index count, Use&& use) {
  check_range(model, first, count);
  const auto pixels = static_cast<std::size_t>(model.pixels());
  PerWorker<FrameScratch> scratch([&] {
    FrameScratch fresh;
    fresh.rate.resize(pixels);
    fresh.count.resize(pixels);
    return fresh;
  });
  parallel_for(count, frames_per_piece, [&](Index begin, Index end, Worker& worker) {
    check_interrupt();
    FrameScratch& own = scratch[worker];
    for (Index frame = first + begin; frame < first + end; ++frame) {
      model.rates(frame, own.profile, own.rate);
      draw_poisson({seed, static_cast<std::uint64_t>(frame)}, own.rate, own.count);
      if (model.integrating() != nullptr) model.integrating()->expose(frame, own.count, own.charge);
      use(frame, own);
    }
  });
}

}  // namespace

Array simulate_frames(const Model& model, std::uint64_t seed, Index first, Index count, DType dtype) {
  check_range(model, first, count);
  Array frames(Device::cpu(), {count, model.optics().rows, model.optics().cols}, dtype);
  visit_type(dtype, [&](auto type) {
    using T = decltype(type);
    for_frames(model, seed, first, count, [&](Index frame, FrameScratch& own) {
      narrow(model, frame, own.count, static_cast<T*>(frames.data()) + (frame - first) * model.pixels());
    });
  });
  return frames;
}

std::vector<std::vector<std::byte>> simulate_chunks(const Model& model, std::uint64_t seed, Index first, Index count,
                                                    DType dtype) {
  check_range(model, first, count);
  std::vector<std::vector<std::byte>> chunks(static_cast<std::size_t>(count));
  visit_type(dtype, [&](auto type) {
    using T = decltype(type);
    const BitshuffleFormat format{.element_bytes = sizeof(T)};
    for_frames(model, seed, first, count, [&](Index frame, FrameScratch& own) {
      own.frame.resize(static_cast<std::size_t>(model.pixels()) * sizeof(T));
      narrow(model, frame, own.count, reinterpret_cast<T*>(own.frame.data()));
      encode_bitshuffle(own.frame, format, own.bitshuffle, chunks[static_cast<std::size_t>(frame - first)]);
    });
  });
  return chunks;
}

std::vector<FallenElectron> simulated_electrons(const Model& model, std::uint64_t seed, Index frame) {
  check_range(model, frame, 1);
  if (model.integrating() == nullptr) throw Error(ErrorKind::internal, "places of electrons of a detector that counts");
  const auto pixels = static_cast<std::size_t>(model.pixels());
  Model::Scratch scratch;
  std::vector<double> rate(pixels);
  std::vector<std::uint32_t> count(pixels);
  model.rates(frame, scratch, rate);
  draw_poisson({seed, static_cast<std::uint64_t>(frame)}, rate, count);
  std::vector<FallenElectron> fallen;
  model.integrating()->electrons(frame, count, fallen);
  return fallen;
}

}  // namespace sonde::stem
