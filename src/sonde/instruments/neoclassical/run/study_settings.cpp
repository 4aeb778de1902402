// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/neoclassical/run/study_settings.h"

#include <fmt/format.h>

#include <vector>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/text.h"

namespace sonde::neoclassical {

namespace {

std::vector<Refined> directions(std::string_view refine, std::string_view where) {
  std::vector<Refined> refined;
  for (const std::string& word : split(refine, ',')) {
    bool known = false;
    for (const Refined each : {Refined::n_xi, Refined::n_theta, Refined::n_zeta})
      if (trim(word) == name(each)) {
        refined.push_back(each);
        known = true;
      }
    if (!known) throw Error(ErrorKind::usage, fmt::format("{} \"{}\": expected n_xi, n_theta, n_zeta", where, refine));
  }
  return refined;
}

}  // namespace

StudyOptions StudySettings::study() const {
  const std::vector<Refined> refined = directions(refine, "refine");
  if (refined.empty())
    throw Error(ErrorKind::usage, "refine names nothing").hint("n_xi,n_theta,n_zeta, or some of them");
  return {refined, tol, static_cast<int>(steps)};
}

void StudySettings::describe(Fields& fields) {
  fields.add("refine", refine,
             {.help = "what is refined, one after the other",
              .metavar = "LIST",
              .check = [](std::string_view list, std::string_view where) { (void)directions(list, where); }});
  fields.add("tol", tol, {.help = "relative change that is small enough", .min = 1e-14, .max = 1});
  fields.add("steps", steps, {.help = "refinements in each direction, at most", .min = 1, .max = 20});
}

}  // namespace sonde::neoclassical
