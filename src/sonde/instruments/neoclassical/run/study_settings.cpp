// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/neoclassical/run/study_settings.h"

#include <fmt/format.h>

#include <vector>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/text.h"

namespace sonde::neoclassical {

StudyOptions StudySettings::study() const {
  std::vector<Refined> refined;
  for (const std::string& word : split(refine, ',')) {
    bool known = false;
    for (const Refined each : {Refined::n_xi, Refined::n_theta, Refined::n_zeta})
      if (trim(word) == name(each)) {
        refined.push_back(each);
        known = true;
      }
    if (!known) throw Error(ErrorKind::usage, fmt::format("refine \"{}\": expected n_xi, n_theta, n_zeta", refine));
  }
  if (refined.empty()) throw Error(ErrorKind::usage, "refine names nothing");
  return {refined, tol, static_cast<int>(steps)};
}

void StudySettings::describe(Fields& fields) {
  fields.add("refine", refine, {.help = "what is refined, one after the other", .metavar = "LIST"});
  fields.add("tol", tol, {.help = "relative change that is small enough", .min = 1e-14, .max = 1});
  fields.add("steps", steps, {.help = "refinements in each direction, at most", .min = 1, .max = 20});
}

}  // namespace sonde::neoclassical
