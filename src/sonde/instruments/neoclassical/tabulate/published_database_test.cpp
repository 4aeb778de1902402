// SPDX-License-Identifier: Apache-2.0
// A database from the wout alone against the published one: radii between the nodes of the half mesh, E = 0 and the
// largest field. `collocation` is point by point the operator that made it.
#include <gtest/gtest.h>

#include "sonde/instruments/neoclassical/database/database_file.h"
#include "sonde/instruments/neoclassical/tabulate/build_database.h"
#include "tests/support/data.h"
#include "tests/support/files.h"

namespace sonde::neoclassical {
namespace {

TEST(PublishedDatabase, IsReproducedFromItsEquilibrium) {
  SONDE_NEED_DATA(data);
  const sonde::testing::TemporaryFolder folder;
  const Database published = read_database((data / "neoclassical/Dij_NTX_QI_Er_Optimized.h5").string()).database;
  const Axes& axes = published.axes;
  SurfaceOptions options;
  options.path = (data / "neoclassical/wout_QI_nfp2_newNT_opt_hires.nc").string();
  const Equilibrium equilibrium = Equilibrium::open(options);
  const std::size_t radii[] = {2, 6}, nus[] = {5}, fields[] = {0, 11};
  DatabaseRequest request;
  request.axes = {{axes.rho[2], axes.rho[6]}, {axes.nu_v[5]}, {axes.Er_tilde[0], axes.Er_tilde[11]}};
  request.grid = {25, 25, 60, Discretisation::collocation};
  DatabaseBuild build(equilibrium, std::nullopt, request);
  PartFile part(folder.file("d.part"), build.key());
  const Database made = build.run(part, Budget(std::size_t{1} << 30U, "for the test"));
  // E_hat is Er_tilde psia / (a_b rho), and a_b is known to 1e-3 only: at E = 0 agreement to round-off, with a field to
  // what that allows.
  for (Index r = 0; r < 2; ++r)
    for (Index field = 0; field < 2; ++field) {
      const std::size_t at = made.axes.index(r, 0, field);
      const std::size_t there =
          axes.index(static_cast<Index>(radii[r]), static_cast<Index>(nus[0]), static_cast<Index>(fields[field]));
      const double tolerance = field == 0 ? 1e-9 : 1e-2;
      EXPECT_NEAR(made.D11[at] / published.D11[there], 1, tolerance);
      EXPECT_NEAR(made.D31[at] / published.D31[there], 1, tolerance);
      EXPECT_NEAR(made.D13[at] / published.D13[there], 1, tolerance);
      EXPECT_NEAR(made.D33[at] / published.D33[there], 1, tolerance);
    }
}

}  // namespace
}  // namespace sonde::neoclassical
