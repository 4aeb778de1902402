// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/math/wavelength.h"

#include <cmath>
#include <limits>

#include "tests/support/errors.h"

namespace sonde {
namespace {

using testing::error_of;
using ::testing::HasSubstr;

struct Row {
  double energy_kev, wavelength, interaction;
};
// Computed apart from this code, seven digits: CODATA 2018 and 2022 agree on them.
constexpr Row table[] = {{30, 0.06979082, 1.543270e-3},  {60, 0.04866060, 1.135691e-3},
                         {80, 0.04175716, 1.008707e-3},  {100, 0.03701437, 9.243958e-4},
                         {200, 0.02507934, 7.288401e-4}, {300, 0.01968749, 6.526161e-4}};

class Wavelength : public ::testing::TestWithParam<Row> {};

TEST_P(Wavelength, OfElectronsIsTheTabulatedOne) {
  // Half of the last digit of the table.
  EXPECT_NEAR(electron_wavelength(GetParam().energy_kev), GetParam().wavelength, 0.5e-8);
}

TEST_P(Wavelength, GivesTheTabulatedInteractionConstant) {
  EXPECT_NEAR(interaction_constant(GetParam().energy_kev) / GetParam().interaction, 1, 0.6e-6);
}

TEST(ElectronWavelength, EqualsPublishedValues) {
  EXPECT_NEAR(electron_wavelength(300), 0.0196875, 5e-8);  // half a unit of the last printed digit
  EXPECT_NEAR(electron_wavelength(200), 0.0250793, 5e-8);
}

INSTANTIATE_TEST_SUITE_P(Table, Wavelength, ::testing::ValuesIn(table));

TEST(PhotonWavelength, OfCopperRadiationIsKnown) {
  // The K-alpha-1 line, 8.047823 keV, has 1.540593 A (NIST).
  EXPECT_NEAR(photon_wavelength(8.047823), 1.540593, 1e-6);
}

TEST(PhotonWavelength, EqualsThatOfVeryFastElectrons) {
  // Above the rest energy by 10^6 the mass no longer matters.
  EXPECT_NEAR(electron_wavelength(5e8) / photon_wavelength(5e8), 1, 2e-6);
}

TEST(WavelengthErrors, EnergiesAreAboveZero) {
  EXPECT_THAT(error_of(ErrorKind::bad_input, [] { (void)electron_wavelength(0); }), HasSubstr("energy_keV = 0"));
  EXPECT_THAT(error_of(ErrorKind::bad_input, [] { (void)photon_wavelength(-3); }), HasSubstr("energy_keV = -3"));
  error_of(ErrorKind::bad_input, [] { (void)interaction_constant(std::numeric_limits<double>::quiet_NaN()); });
}

}  // namespace
}  // namespace sonde
