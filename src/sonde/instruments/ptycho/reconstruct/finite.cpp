// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/reconstruct/finite.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <iterator>
#include <optional>
#include <utility>

#include "sonde/engine/base/error.h"
#include "sonde/instruments/ptycho/reconstruct/divergence_hint.h"

namespace sonde::ptycho {
namespace {

/// "[0, 12, 7]" of an array of three dimensions.
std::string place_in(const Shape& shape, Index i) {
  return fmt::format("[{}, {}, {}]", i / (shape[1] * shape[2]), i / shape[2] % shape[1], i % shape[2]);
}

}  // namespace

template <class Real>
void require_finite(const Array& array, const char* what) {
  // A number times nothing is nothing, unless it is none: several at a time, which a way out in between would forbid.
  const auto* numbers = static_cast<const Real*>(array.data());
  const Index count = 2 * array.count();
  constexpr Index lanes = 16;
  Real nothing[lanes] = {};
  for (Index i = 0; i < count; i += lanes)
    for (Index k = 0; k < std::min(lanes, count - i); ++k) nothing[k] += Real(0) * numbers[i + k];
  if (std::all_of(std::begin(nothing), std::end(nothing), [](Real lane) { return lane == 0; })) return;
  const auto first = std::find_if_not(numbers, numbers + count, [](Real number) { return std::isfinite(number); });
  throw Error(ErrorKind::not_converged, fmt::format("the {} is not finite any more, first at {}", what,
                                                    place_in(array.shape(), (first - numbers) / 2)))
      .hint(std::string(divergence_hint));
}

template <class Real>
void require_finite_state(const State& state, const Share* share) {
  std::optional<Error> found;
  try {
    require_finite<Real>(state.object, "object");
    require_finite<Real>(state.probe, "probe");
  } catch (const Error& error) {
    if (share == nullptr) throw;
    found = error;
  }
  if (share == nullptr || !share->any(found.has_value())) return;
  if (found) throw Error(*found);
  throw Error(ErrorKind::not_converged, "another process has found numbers that are not finite")
      .hint(std::string(divergence_hint));
}

template <class Real>
std::string why_not_finite(const State& state, std::span<const Index> frames, std::span<const FrameSums> fit,
                           const Share* share) {
  std::string why;
  for (const Index j : frames) {
    if (std::isfinite(fit[static_cast<std::size_t>(j)].intensity_error2)) continue;
    const Index frame = share != nullptr ? share->frames()[static_cast<std::size_t>(j)] : j;
    why = fmt::format(": the modelled pattern of frame {} is the first that is not", frame);
    break;
  }
  for (const auto& [what, array] : {std::pair("object", &state.object), std::pair("probe", &state.probe)}) {
    const auto* elements = static_cast<const std::complex<Real>*>(array->data());
    const auto* most = std::max_element(elements, elements + array->count(),
                                        [](const auto& a, const auto& b) { return std::abs(a) < std::abs(b); });
    why +=
        fmt::format(", the {} reaches {:.3g} at {}", what, std::abs(*most), place_in(array->shape(), most - elements));
  }
  return why;
}

template void require_finite<float>(const Array&, const char*);
template void require_finite_state<float>(const State&, const Share*);
template std::string why_not_finite<float>(const State&, std::span<const Index>, std::span<const FrameSums>,
                                           const Share*);
template void require_finite<double>(const Array&, const char*);
template void require_finite_state<double>(const State&, const Share*);
template std::string why_not_finite<double>(const State&, std::span<const Index>, std::span<const FrameSums>,
                                            const Share*);

}  // namespace sonde::ptycho
