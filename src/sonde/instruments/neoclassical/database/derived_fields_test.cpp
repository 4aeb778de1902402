// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/neoclassical/database/derived_fields.h"

#include <gtest/gtest.h>

#include <cmath>

#include "sonde/engine/io/hdf5.h"
#include "sonde/instruments/neoclassical/database/database_file.h"
#include "sonde/instruments/neoclassical/database/test_database.h"
#include "tests/support/data.h"

namespace sonde::neoclassical {
namespace {

TEST(DerivedFields, AreTheAlgebraOfTheGeometry) {
  const Database database = testing::small_database();
  const DerivedFields made = derived_fields(database);
  // The second radius by hand: rho 0.5, a_b 0.5, psia 0.3, B00 2.6.
  EXPECT_DOUBLE_EQ(made.drds[1], 0.5);
  EXPECT_DOUBLE_EQ(made.dr_tildedr[1], 0.6 / (0.25 * 2.6));
  EXPECT_DOUBLE_EQ(made.Er[4 + 2], 1e-3 * 0.6 / 0.25);
  EXPECT_DOUBLE_EQ(made.Es[4 + 2], made.Er[4 + 2] * 0.5);
  EXPECT_DOUBLE_EQ(made.Er_to_Ertilde[4], 0.25 * 2.6 / 0.6);
}

TEST(DerivedFields, TheFactorsMultiplyToWhatTheLabelsSay) {
  // MONKES to SFINCS to DKES: D11 by (psia/r)^2, D31 by psia/r, D33 unchanged.
  const Database database = testing::small_database();
  const DerivedFields made = derived_fields(database);
  for (std::size_t i = 0; i < 2; ++i) {
    const double ratio = database.psia / (database.a_b * database.axes.rho[i]);
    EXPECT_NEAR(made.monkes_to_sfincs_11[i] * made.sfincs_to_dkes_11[i] / (ratio * ratio), 1, 1e-14);
    EXPECT_NEAR(made.monkes_to_sfincs_31[i] * made.sfincs_to_dkes_31[i] / ratio, 1, 1e-14);
    EXPECT_NEAR(made.monkes_to_sfincs_33[i] * made.sfincs_to_dkes_33[i], 1, 1e-14);
  }
}

TEST(DerivedFields, WithoutTheGeometryThereAreNoFactors) {
  Database database = testing::small_database();
  database.geometry.iota.clear();
  const DerivedFields made = derived_fields(database);
  EXPECT_EQ(made.drds.size(), 2);
  EXPECT_TRUE(made.monkes_to_sfincs_11.empty());
  EXPECT_TRUE(made.dkes_to_d31_star.empty());
}

TEST(DerivedFields, ThoseOfThePublishedFileComeOutOfItsGeometry) {
  SONDE_NEED_DATA(data);
  const std::string path = (data / "neoclassical/Dij_NTX_QI_Er_Optimized.h5").string();
  const DerivedFields made = derived_fields(read_database(path).database);
  const Hdf5File file = Hdf5File::open(path);
  for (const auto& [name, values] : {std::pair{"drds", &made.drds}, std::pair{"dr_tildedr", &made.dr_tildedr},
                                     std::pair{"dr_tildeds", &made.dr_tildeds}, std::pair{"Er", &made.Er},
                                     std::pair{"Es", &made.Es}, std::pair{"Er_to_Ertilde", &made.Er_to_Ertilde},
                                     std::pair{"Fac_MONKES_TO_SFINCS_11", &made.monkes_to_sfincs_11},
                                     std::pair{"Fac_MONKES_TO_SFINCS_31", &made.monkes_to_sfincs_31},
                                     std::pair{"Fac_MONKES_TO_SFINCS_33", &made.monkes_to_sfincs_33},
                                     std::pair{"Fac_REFERENCE_TO_SFINCS_11", &made.monkes_to_sfincs_11},
                                     std::pair{"Fac_REFERENCE_TO_SFINCS_31", &made.monkes_to_sfincs_31},
                                     std::pair{"Fac_REFERENCE_TO_SFINCS_33", &made.monkes_to_sfincs_33},
                                     std::pair{"Fac_SFINCS_TO_DKES_11", &made.sfincs_to_dkes_11},
                                     std::pair{"Fac_SFINCS_TO_DKES_31", &made.sfincs_to_dkes_31},
                                     std::pair{"Fac_SFINCS_TO_DKES_33", &made.sfincs_to_dkes_33},
                                     std::pair{"Fac_DKES_TO_D11star", &made.dkes_to_d11_star},
                                     std::pair{"Fac_DKES_TO_D31star", &made.dkes_to_d31_star}}) {
    SCOPED_TRACE(name);
    const Array stored = file.dataset(std::string("/") + name).read();
    ASSERT_EQ(stored.count(), static_cast<Index>(values->size()));
    const auto* first = static_cast<const double*>(stored.data());
    for (std::size_t i = 0; i < values->size(); ++i)
      EXPECT_NEAR((*values)[i], first[i], 1e-12 * std::abs(first[i]));  // a handful of roundings
  }
  EXPECT_EQ(file.value("/Fac_DKES_TO_D33star")->number(), made.dkes_to_d33_star);
}

}  // namespace
}  // namespace sonde::neoclassical
