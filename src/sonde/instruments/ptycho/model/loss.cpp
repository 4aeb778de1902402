// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/model/loss.h"

#include <fmt/format.h>

#include <array>
#include <string>
#include <utility>

#include "sonde/engine/base/error.h"

namespace sonde::ptycho {
namespace {

constexpr std::array<std::pair<Loss, std::string_view>, 4> losses{{{Loss::amplitude, "amplitude"},
                                                                   {Loss::anscombe, "anscombe"},
                                                                   {Loss::poisson, "poisson"},
                                                                   {Loss::intensity, "intensity"}}};

}  // namespace

std::string_view name(Loss loss) { return losses[static_cast<std::size_t>(loss)].second; }

Loss parse_loss(std::string_view text) {
  for (const auto& [loss, word] : losses)
    if (word == text) return loss;
  throw Error(ErrorKind::usage, fmt::format("\"{}\" is not a loss", text))
      .hint("one of amplitude, anscombe, poisson, intensity");
}

}  // namespace sonde::ptycho
