// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/dose/half_dose.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>

#include "sonde/engine/math/philox.h"
#include "sonde/instruments/stem/dose/study_sites.h"

namespace sonde::stem {
namespace {

// Not a number that simulated counts are drawn with: the same bits would draw and halve them.
constexpr std::uint64_t halving_seed = 0x68616C7665730001;

struct PartialDose final : Operation::State {
  std::unique_ptr<Operation::State> disks;
  std::vector<std::uint32_t> frames;
  std::uint64_t pixels = 0, not_counts = 0;
};

/// Whether a value is a number of electrons but for the rounding of a float.
bool is_count(double electrons) { return electrons >= 0 && std::abs(electrons - std::round(electrons)) <= 1e-3; }

}  // namespace

std::uint64_t first_half(RandomStream random, std::uint32_t element, std::uint64_t counts) {
  const std::array<std::uint32_t, 2> key = {static_cast<std::uint32_t>(random.seed),
                                            static_cast<std::uint32_t>(random.seed >> 32)};
  const auto low = static_cast<std::uint32_t>(random.stream), high = static_cast<std::uint32_t>(random.stream >> 32);
  std::uint64_t kept = 0;
  for (std::uint32_t draw = 0; counts > 0; ++draw)
    for (const std::uint32_t bits : philox({element, draw, low, high}, key)) {
      const auto here = static_cast<int>(std::min<std::uint64_t>(counts, 32));
      if (here == 0) break;
      kept += static_cast<std::uint64_t>(std::popcount(bits >> (32 - here)));
      counts -= static_cast<std::uint64_t>(here);
    }
  return kept;
}

Abilities PartialDoseDisks::abilities(const PassShape& shape) const {
  Abilities abilities = disks_.abilities(shape);
  abilities.state_bytes += static_cast<std::size_t>(shape.detector.out_rows * shape.detector.out_cols) * 4;
  return abilities;
}

void PartialDoseDisks::start(const PassShape& shape) {
  shape_ = shape;
  shape_.elements = DType::u32;
  not_counts_ = 0;
  disks_.start(shape_);
}

std::unique_ptr<Operation::State> PartialDoseDisks::make_state(const PassShape& shape) const {
  auto state = std::make_unique<PartialDose>();
  state->disks = disks_.make_state(shape);
  return state;
}

void PartialDoseDisks::take(const Tile& tile, State* state) {
  auto& of = static_cast<PartialDose&>(*state);
  const Index pixels = shape_.detector.out_rows * shape_.detector.out_cols;
  of.frames.resize(static_cast<std::size_t>(tile.count() * pixels));
  visit_elements(tile.shape->elements, [&](auto element) {
    using T = decltype(element);
    const auto* frames = static_cast<const T*>(tile.frames);
    for (Index k = 0; k < tile.count(); ++k) {
      const auto position = static_cast<std::size_t>(tile.positions[static_cast<std::size_t>(k)]);
      const RandomStream random{halving_seed, static_cast<std::uint64_t>(positions_[position])};
      for (Index i = 0; i < pixels; ++i) {
        const T value = frames[k * pixels + i];
        if constexpr (std::is_floating_point_v<T>)
          of.not_counts += is_count(static_cast<double>(value) / gain_) ? 0 : 1;
        const double most = std::numeric_limits<std::uint32_t>::max();
        // A NaN fails both comparisons of clamp and would stay; it counts as nothing, and as no count above.
        const double exact = electrons(value, gain_);
        const auto whole = std::isnan(exact) ? 0U : static_cast<std::uint32_t>(std::clamp(exact, 0.0, most));
        std::uint32_t kept = whole;
        if (part_ != DosePart::whole && whole != 0) {
          const auto first = static_cast<std::uint32_t>(first_half(random, static_cast<std::uint32_t>(i), whole));
          kept = part_ == DosePart::first_half ? first : whole - first;
        }
        of.frames[static_cast<std::size_t>(k * pixels + i)] = kept;
      }
    }
  });
  of.pixels += static_cast<std::uint64_t>(tile.count() * pixels);
  Tile partial = tile;
  partial.shape = &shape_;
  partial.frames = of.frames.data();
  disks_.take(partial, of.disks.get());
}

void PartialDoseDisks::merge(State& total, State& part) const {
  auto& to = static_cast<PartialDose&>(total);
  auto& from = static_cast<PartialDose&>(part);
  to.pixels += from.pixels;
  to.not_counts += from.not_counts;
  disks_.merge(*to.disks, *from.disks);
}

void PartialDoseDisks::finish(State* total) {
  const auto& of = static_cast<PartialDose&>(*total);
  if (of.pixels > 0) not_counts_ = static_cast<double>(of.not_counts) / static_cast<double>(of.pixels);
  disks_.finish(of.disks.get());
}

}  // namespace sonde::stem
