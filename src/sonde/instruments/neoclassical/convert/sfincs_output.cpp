// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/neoclassical/convert/sfincs_output.h"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "sonde/engine/base/error.h"

namespace sonde::neoclassical {
namespace {

double output_number(const StoredNumbers& file, const std::string& name) {
  const auto found = file.find(name);
  if (found == file.end() || found->second.size() != 1)
    throw Error(ErrorKind::bad_input, fmt::format("sfincsOutput without the number {}", name))
        .hint("a finished run of SFINCS version 3 has it");
  return found->second.front();
}

double number_or(const StoredNumbers& file, const std::string& name, double otherwise) {
  const auto found = file.find(name);
  return found == file.end() || found->second.size() != 1 ? otherwise : found->second.front();
}

}  // namespace

std::optional<StoredNumbers> point_of_sfincs_output(const StoredNumbers& file) {
  const auto matrix = file.find("transportMatrix");
  if (matrix == file.end()) return std::nullopt;
  if (const double mode = output_number(file, "RHSMode"); mode != 3)
    throw Error(ErrorKind::bad_input,
                fmt::format("sfincsOutput of RHSMode {}; monoenergetic coefficients have 3", mode))
        .hint("run SFINCS with RHSMode = 3");
  const std::vector<double>& m = matrix->second;
  if (m.size() != 4)
    throw Error(ErrorKind::bad_input, fmt::format("transportMatrix has {} elements, expected 2 x 2", m.size()));

  StoredNumbers point = {{"M11", {m[0]}}, {"M21", {m[1]}}, {"M12", {m[2]}}, {"M22", {m[3]}}};
  for (const auto& [name, theirs] :
       {std::pair{"nu_prime", "nuPrime"}, std::pair{"e_star", "EStar"}, std::pair{"B0", "B0OverBBar"},
        std::pair{"G", "GHat"}, std::pair{"I", "IHat"}, std::pair{"iota", "iota"}})
    point[name] = {output_number(file, theirs)};
  // psi = psi_a r_N^2 and r = a r_N, so that dpsi/dr = 2 psi_a r_N / a. 0 where the file does not say it.
  const double a = number_or(file, "aHat", 0), r_n = number_or(file, "rN", 0);
  point["r"] = {a > 0 && r_n > 0 ? a * r_n : 0};
  point["psi_p"] = {a > 0 ? 2 * number_or(file, "psiAHat", 0) * r_n / a : 0};
  point["R0"] = {0};
  point["signgs"] = {1};  // SFINCS works in right-handed angles
  return point;
}

}  // namespace sonde::neoclassical
