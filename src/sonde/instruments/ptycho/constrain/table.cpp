// SPDX-License-Identifier: Apache-2.0
// The table of constraints in the order in which they act: a new one is a file of its own, a line in
// kinds.h and a row here.
#include <fmt/format.h>

#include <array>
#include <string>
#include <vector>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/text.h"
#include "sonde/instruments/ptycho/constrain/kinds.h"

namespace sonde::ptycho {
namespace {

constexpr std::array<ConstraintKind, 14> kinds{{
    {"tv", "smooths noise and keeps edges: least total variation", Subject::object, constrain::tv},
    {"gaussian", "smooths the object with a Gaussian", Subject::object, constrain::gaussian},
    {"butterworth", "takes high or low spatial frequencies out of the object", Subject::object, constrain::butterworth},
    {"kz", "takes out what changes faster along the beam than its angle allows", Subject::object, constrain::kz},
    {"slice_equal", "gives all slices their mean", Subject::object, constrain::slice_equal, /*can_be_shared=*/true},
    {"tikhonov", "pulls the object towards vacuum", Subject::object, constrain::tikhonov, /*can_be_shared=*/true},
    {"support", "vacuum where no specimen can be", Subject::object, constrain::support},
    {"bounds", "keeps phase and amplitude within limits", Subject::object, constrain::bounds, /*can_be_shared=*/true},
    {"probe_fourier_support", "nothing outside of the aperture, or the measured vacuum pattern", Subject::probe,
     constrain::probe_fourier_support, /*can_be_shared=*/true},
    {"probe_support", "nothing far away from the probe's centre", Subject::probe, constrain::probe_support,
     /*can_be_shared=*/true},
    {"probe_centre", "brings the probe's centre of mass back to the middle of its window", Subject::both,
     constrain::probe_centre},
    {"orthogonalise", "makes probe modes orthogonal, strongest first", Subject::probe, constrain::orthogonalise,
     /*can_be_shared=*/true},
    {"probe_aberrations", "the probe has the phase of a lens", Subject::probe, constrain::probe_aberrations},
    {"probe_power", "the probe has the mean counts of a frame", Subject::both, constrain::probe_power,
     /*can_be_shared=*/true},
}};

}  // namespace

std::span<const ConstraintKind> constraint_kinds() { return kinds; }

const ConstraintKind& constraint_kind(std::string_view name) {
  std::vector<std::string> names;
  for (const ConstraintKind& kind : kinds) {
    if (kind.name == name) return kind;
    names.emplace_back(kind.name);
  }
  throw Error(ErrorKind::usage, fmt::format("\"{}\" is not a constraint{}", name, did_you_mean(name, names)))
      .hint(fmt::format("known: {}", fmt::join(names, ", ")));
}

void When::describe(Fields& fields) {
  fields.add("start", start, {.help = "first iteration in which it acts", .min = 1});
  fields.add("every", every, {.help = "acts in every n-th iteration", .min = 1});
  fields.add("stop", stop, {.help = "last iteration in which it acts", .min = 1});
}

}  // namespace sonde::ptycho
