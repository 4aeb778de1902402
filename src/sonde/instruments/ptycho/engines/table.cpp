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
    {"epie", "frame by frame, divided by the largest illumination", make<Pie, PieSettings>},
    {"rpie", "frame by frame, dim parts move faster",
     +[]() -> std::unique_ptr<EngineSetup> {
       return std::make_unique<SetupOf<Pie, PieSettings>>(PieSettings::regularised());
     }},
    {"mpie", "rpie with momentum",
     +[]() -> std::unique_ptr<EngineSetup> {
       return std::make_unique<SetupOf<Pie, PieSettings>>(PieSettings::momentum());
     },
     "rpie"},
    {"gd", "preconditioned gradient of a batch", make<Gd, GdSettings>},
    {"adam", "adaptive moments of a batch's gradient", make<Adam, AdamSettings>},
    {"lsqml", "least-squares steps for every frame of a batch", make<Lsqml, LsqmlSettings>},
    {"ml", "conjugate gradients of all frames, exact line search", make<Ml, MlSettings>},
    {"dm", "difference map of all exit waves", make<Projections, DmSettings>},
    {"raar", "relaxed averaged alternating reflections", make<Projections, RaarSettings>},
    {"rrr", "relaxed reflect reflect", make<Projections, RrrSettings>, "dm"},
    {"ap", "alternating projections", make<Projections, ApSettings>, "dm"},
    {"projections", "projections with a, b, c given", make<Projections, ProjectionSettings>, "dm"},
}};

}  // namespace

std::span<const EngineKind> engine_kinds() { return kinds; }

const EngineKind& engine_kind(std::string_view name, std::span<const EngineKind> kinds) {
  std::vector<std::string> names;
  for (const EngineKind& kind : kinds) {
    if (kind.name == name) return kind;
    names.emplace_back(kind.name);
  }
  throw Error(ErrorKind::usage, fmt::format("\"{}\" is not an engine", name))
      .hint(fmt::format("known: {}", fmt::join(names, ", ")));
}

std::string engines_that(bool (*asked)(const EngineSetup& setup)) {
  std::vector<std::string_view> names;
  for (const EngineKind& kind : kinds)
    if (asked(*kind.setup())) names.push_back(kind.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

void require_knows(std::string_view name, const EngineSetup& setup, ObjectType type, Index slices) {
  if (setup.knows(type, slices)) return;
  if (!setup.knows(ObjectType::complex, slices))
    throw Error(ErrorKind::not_supported, fmt::format("the engine {} supports only objects of one slice", name))
        .hint(engines_that([](const EngineSetup& one) { return one.traits().knows_slices; }) + " know several");
  throw Error(ErrorKind::not_supported, fmt::format("the engine {} supports only complex objects", name))
      .hint(engines_that([](const EngineSetup& one) { return one.traits().knows_potentials; }) + " know potentials");
}

}  // namespace sonde::ptycho
