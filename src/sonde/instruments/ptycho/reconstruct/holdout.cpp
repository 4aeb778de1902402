// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/reconstruct/holdout.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sonde/engine/base/error.h"
#include "sonde/engine/math/random.h"

namespace sonde::ptycho {

Choice<HeldOut> hold_out(const std::vector<Index>& candidates, std::optional<double> fraction, std::uint64_t seed) {
  constexpr Index least = 16, from = 160;
  const auto count = static_cast<Index>(candidates.size());
  if (fraction && !(*fraction >= 0 && *fraction <= 0.5))
    throw Error(ErrorKind::bad_input, fmt::format("a share of {} of the frames cannot be held out", *fraction))
        .hint("between 0 and 0.5; 0 holds out none");
  Choice<HeldOut> choice{{candidates, {}}, {}};
  if (fraction == 0.0 || (!fraction && count < from)) {
    choice.because = fraction ? "asked for" : fmt::format("{} frames are too few to spare some", count);
    return choice;
  }
  const Index held =
      std::max(least, static_cast<Index>(std::ceil(fraction.value_or(usual_holdout) * static_cast<double>(count))));
  if (2 * held > count)
    throw Error(ErrorKind::bad_input, fmt::format("holding out {} of {} frames leaves too few", held, count))
        .hint("holdout = 0");
  // The orders of iteration i use streams from i 2^32 on, and no iteration has the number 0.
  constexpr std::uint64_t stream = 0x401d;
  std::vector<Index> order = Random(seed, stream).permutation(count);
  for (Index& place : order) place = candidates[static_cast<std::size_t>(place)];
  choice.value.held.assign(order.begin(), order.begin() + held);
  choice.value.active.assign(order.begin() + held, order.end());
  std::sort(choice.value.held.begin(), choice.value.held.end());
  std::sort(choice.value.active.begin(), choice.value.active.end());
  choice.because = fmt::format("{} of {} frames judge the others", held, count);
  return choice;
}

Choice<HeldOut> hold_out(Index frames, std::vector<Index> skip, std::optional<double> fraction, std::uint64_t seed) {
  std::sort(skip.begin(), skip.end());
  std::vector<Index> candidates;
  for (Index j = 0; j < frames; ++j)
    if (!std::binary_search(skip.begin(), skip.end(), j)) candidates.push_back(j);
  return hold_out(candidates, fraction, seed);
}

}  // namespace sonde::ptycho
