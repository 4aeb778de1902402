// SPDX-License-Identifier: Apache-2.0
// The table of engines: a new one is a file of its own and a row here.
#include <fmt/format.h>

#include <array>
#include <string>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/text.h"
#include "sonde/instruments/ptycho/engines/adam.h"
#include "sonde/instruments/ptycho/engines/engine.h"
#include "sonde/instruments/ptycho/engines/gd.h"
#include "sonde/instruments/ptycho/engines/lsqml.h"
#include "sonde/instruments/ptycho/engines/ml.h"
#include "sonde/instruments/ptycho/engines/pie.h"
#include "sonde/instruments/ptycho/engines/projections.h"

namespace sonde::ptycho {
namespace {

template <template <class> class Own, class Settings>
std::unique_ptr<EngineSetup> make() {
  return std::make_unique<SetupOf<Own, Settings>>();
}

constexpr std::array<EngineKind, 12> kinds{{
    {"epie", "frame by frame, divided by the largest illumination", make<Pie, PieSettings>, /*has_kernels=*/true},
    {"rpie", "frame by frame, dim parts move faster",
     +[]() -> std::unique_ptr<EngineSetup> {
       return std::make_unique<SetupOf<Pie, PieSettings>>(PieSettings::regularised());
     },
     /*has_kernels=*/true},
    {"mpie", "rpie with momentum",
     +[]() -> std::unique_ptr<EngineSetup> {
       return std::make_unique<SetupOf<Pie, PieSettings>>(PieSettings::momentum());
     }},
    {"gd", "preconditioned gradient of a batch", make<Gd, GdSettings>, /*has_kernels=*/true},
    {"adam", "adaptive moments of a batch's gradient", make<Adam, AdamSettings>, /*has_kernels=*/true},
    {"lsqml", "least-squares steps for every frame of a batch", make<Lsqml, LsqmlSettings>},
    {"ml", "conjugate gradients of all frames, exact line search", make<Ml, MlSettings>, /*has_kernels=*/true},
    {"dm", "difference map of all exit waves", make<Projections, DmSettings>, /*has_kernels=*/true,
     /*keeps_waves=*/true},
    {"raar", "relaxed averaged alternating reflections", make<Projections, RaarSettings>, /*has_kernels=*/true,
     /*keeps_waves=*/true},
    {"rrr", "relaxed reflect reflect", make<Projections, RrrSettings>, /*has_kernels=*/true, /*keeps_waves=*/true},
    {"ap", "alternating projections", make<Projections, ApSettings>, /*has_kernels=*/true, /*keeps_waves=*/true},
    {"projections", "projections with a, b, c given", make<Projections, ProjectionSettings>, /*has_kernels=*/true,
     /*keeps_waves=*/true},
}};

}  // namespace

std::span<const EngineKind> engine_kinds() { return kinds; }

std::string engines_with_kernels() {
  std::vector<std::string_view> names;
  for (const EngineKind& kind : kinds)
    if (kind.has_kernels) names.push_back(kind.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

const EngineKind& engine_kind(std::string_view name) {
  std::vector<std::string> names;
  for (const EngineKind& kind : kinds) {
    if (kind.name == name) return kind;
    names.emplace_back(kind.name);
  }
  throw Error(ErrorKind::usage, fmt::format("\"{}\" is no engine", name))
      .hint(fmt::format("known: {}", fmt::join(names, ", ")));
}

}  // namespace sonde::ptycho
