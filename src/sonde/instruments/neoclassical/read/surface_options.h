// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sonde/engine/base/index.h"

namespace sonde {
class Fields;
}

namespace sonde::neoclassical {

/// What kind of file a surface comes from; automatic is decided by its content.
enum class SurfaceType { automatic, analytic, dkes, boozmn, vmec, bc };
/// "analytic", "dkes", "boozmn", "vmec", "bc".
[[nodiscard]] const char* name(SurfaceType type);

/// The table [surface] of a run file.
struct SurfaceOptions {
  SurfaceType type = SurfaceType::automatic;
  std::string path{};
  std::optional<double> s{}, rho{};  ///< one of these three for files of several surfaces
  std::optional<Index> surface_index{};
  std::optional<double> psi_a{};
  std::optional<std::string> wout{};
  std::optional<Index> signgs{};
  double min_bmn = 0;
  bool snap = false;
  Index vmec_radial_option = 0;

  /// An analytic surface; without harmonics the built-in one.
  std::vector<std::string> m{}, n{}, b_cos{}, b_sin{};
  std::optional<Index> nfp{};
  std::optional<double> iota{}, psi_p{}, b_theta{}, b_zeta{};

  void describe(Fields& fields);
};

}  // namespace sonde::neoclassical
