// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/optics/sampling.h"

#include "tests/support/errors.h"

namespace sonde::ptycho {
namespace {

using sonde::testing::error_of;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(Sampling, OfElectronsGivesTheObjectPixel) {
  // The reference set v5: 200 keV, 64 pixels of 1.875 mrad; 0.02507934 A / 0.12.
  const Sampling sampling = electron_sampling(64, 64, 200, 1.875);
  EXPECT_NEAR(sampling.pixel_row(), 0.2089945036, 5e-11);
  EXPECT_NEAR(sampling.angle_col(), 1.875e-3, 1e-17);
  EXPECT_TRUE(sampling.calibrated());
}

TEST(Sampling, HasOnePixelPerAxis) {
  const Sampling sampling = electron_sampling(64, 128, 200, 1.875);
  EXPECT_NEAR(sampling.pixel_row(), 2 * sampling.pixel_col(), 1e-15);
}

TEST(Sampling, OfPhotonsFollowsFromTheDistance) {
  // 1.2398 A at 10 keV; a pixel of 75 um at 2 m is 37.5 urad, so 256 pixels resolve 1.2398 A / 9.6e-3 = 129.1 A.
  const Sampling sampling = photon_sampling(256, 256, 10, 75e-6, 2);
  EXPECT_NEAR(sampling.pixel_row(), 1.2398419843320026 / (256 * 37.5e-6), 1e-10);
}

TEST(Sampling, InPixelsIsOne) {
  const Sampling sampling = pixel_sampling(60, 128);
  EXPECT_DOUBLE_EQ(sampling.pixel_row(), 1);
  EXPECT_DOUBLE_EQ(sampling.pixel_col(), 1);
  EXPECT_FALSE(sampling.calibrated());
  EXPECT_THAT(error_of(ErrorKind::not_supported, [&] { require_calibrated(sampling, "the aperture probe"); }),
              HasSubstr("the aperture probe needs a wavelength"));
}

TEST(Sampling, NumbersThatMakeNoSenseAreRefused) {
  error_of(ErrorKind::bad_input, [] { (void)electron_sampling(0, 64, 200, 1); });
  EXPECT_THAT(error_of(ErrorKind::bad_input, [] { (void)electron_sampling(64, 64, 200, 0); }),
              HasSubstr("detector_mrad_per_px = 0"));
  EXPECT_THAT(error_of(ErrorKind::bad_input, [] { (void)photon_sampling(64, 64, 8, 75e-6, -1); }),
              HasSubstr("distance_m = -1"));
  EXPECT_THAT(error_of(ErrorKind::bad_input, [] { (void)electron_sampling(64, 64, -200, 1); }),
              HasSubstr("energy_keV = -200"));
}

/// What v5 says of itself.
SamplingClaims v5() {
  SamplingClaims claims;
  claims.n = 64;
  claims.energy_kev = 200;
  claims.mrad_per_px = 1.875;
  claims.object_pixel_a = 0.209;
  claims.step_a = 0.418;
  claims.step_px = 2;
  return claims;
}

TEST(RequireConsistent, AcceptsClaimsThatAgree) {
  EXPECT_NO_THROW(require_consistent(v5()));
  EXPECT_NO_THROW(require_consistent({}));
  SamplingClaims alone;
  alone.energy_kev = 80;
  EXPECT_NO_THROW(require_consistent(alone));
}

TEST(RequireConsistent, NamesTheAngleOrTheEnergyWhenTheOthersAgree) {
  SamplingClaims claims = v5();
  claims.mrad_per_px = 0.9375;
  const std::string text = error_of(ErrorKind::bad_input, [&] { require_consistent(claims); });
  EXPECT_THAT(text,
              AllOf(HasSubstr("energy_keV = 200 and detector_mrad_per_px = 0.9375 give an object pixel of 0.418 A"),
                    HasSubstr("but object_pixel_A = 0.209 one of 0.209 A, 0.5 times as much"),
                    HasSubstr("look at the energy or the angle of a detector pixel"),
                    HasSubstr("detector_mrad_per_px = 1.875")));
}

TEST(RequireConsistent, GivesTheEnergyThatWouldFit) {
  SamplingClaims claims = v5();
  claims.energy_kev = 80;  // 0.04175716 A instead of 0.02507934 A
  const std::string text = error_of(ErrorKind::bad_input, [&] { require_consistent(claims); });
  EXPECT_THAT(text, HasSubstr("energy_keV = 200 or detector_mrad_per_px = 3.122"));
}

TEST(RequireConsistent, NamesTheStep) {
  SamplingClaims claims = v5();
  claims.step_a = 4.18;
  const std::string text = error_of(ErrorKind::bad_input, [&] { require_consistent(claims); });
  EXPECT_THAT(text, AllOf(HasSubstr("scan_step_A = 4.18 and scan_step_px = 2"), HasSubstr("10 times as much"),
                          HasSubstr("look at the scan step: scan_step_A = 0.418 or scan_step_px = 20 would fit"),
                          Not(HasSubstr("look at the object pixel"))));
}

TEST(RequireConsistent, NamesTheObjectPixel) {
  SamplingClaims claims = v5();
  claims.object_pixel_a = 2.09;
  EXPECT_THAT(error_of(ErrorKind::bad_input, [&] { require_consistent(claims); }),
              HasSubstr("look at the object pixel: object_pixel_A = 0.209 would fit"));
}

TEST(RequireConsistent, OfTwoClaimsNeitherIsBlamed) {
  SamplingClaims claims = v5();
  claims.step_a.reset();
  claims.object_pixel_a = 0.25;
  const std::string text = error_of(ErrorKind::bad_input, [&] { require_consistent(claims); });
  EXPECT_THAT(text, AllOf(HasSubstr("1.2 times as much"), HasSubstr("or object_pixel_A = 0.209"),
                          HasSubstr("detector_mrad_per_px = 1.567"), Not(HasSubstr("look at"))));
}

TEST(RequireConsistent, AReciprocalPixelIsAWayToTheObjectPixelAndSaysWhoseItIs) {
  SamplingClaims claims = v5();
  claims.inv_a_per_px = 1 / (64 * 0.209);
  EXPECT_NO_THROW(require_consistent(claims));
  // 1/nm taken for 1/A.
  claims.inv_a_per_px = Claim(10 / (64 * 0.209), "scan.h5");
  claims.energy_kev = Claim(200, "the run file");
  EXPECT_THAT(error_of(ErrorKind::bad_input, [&] { require_consistent(claims); }),
              AllOf(HasSubstr("energy_keV = 200 of the run file and detector_mrad_per_px = 1.875 give"),
                    HasSubstr("but detector_inv_A_per_px = 0.747608 of scan.h5 one of 0.0209 A, 0.1 times as much"),
                    HasSubstr("look at the reciprocal size of a detector pixel: detector_inv_A_per_px = 0.07476")));
}

TEST(RequireConsistent, OfPhotonsTheDistanceIsNamed) {
  SamplingClaims claims;
  claims.n = 256;
  claims.photons = true;
  claims.energy_kev = 10;
  claims.detector_pixel_m = 75e-6;
  claims.distance_m = 2;
  claims.object_pixel_a = 1.2398419843320026 / (256 * 37.5e-6);
  EXPECT_NO_THROW(require_consistent(claims));
  claims.distance_m = 4;
  EXPECT_THAT(error_of(ErrorKind::bad_input, [&] { require_consistent(claims); }),
              AllOf(HasSubstr("energy_keV = 10, detector_pixel_m = 7.5e-05 and distance_m = 4 give"),
                    HasSubstr("0.5 times as much"), HasSubstr("or distance_m = 2 would fit")));
}

TEST(RequireSemiangle, LiesBetweenHalfAPixelAndTheEdgeOfTheDetector) {
  const Sampling sampling = electron_sampling(64, 64, 200, 1.875);
  EXPECT_NO_THROW(require_semiangle(sampling, 0.020));
  EXPECT_THAT(error_of(ErrorKind::bad_input, [&] { require_semiangle(sampling, 0.061); }),
              HasSubstr("a semiangle of 61 mrad on a detector that reaches to 60 mrad"));
  // 1.875 mrad written in rad.
  EXPECT_THAT(
      error_of(ErrorKind::bad_input, [] { require_semiangle(electron_sampling(64, 64, 200, 0.001875), 0.020); }),
      HasSubstr("0.001875 rad would be detector_mrad_per_px = 1.875"));
  // 20 mrad written in rad.
  EXPECT_THAT(error_of(ErrorKind::bad_input, [&] { require_semiangle(sampling, 20e-6); }),
              AllOf(HasSubstr("0.02 mrad is within one detector pixel of 1.875 mrad"),
                    HasSubstr("0.02 rad would be semiangle_mrad = 20")));
}

TEST(RequireConsistent, ValuesAreAboveZero) {
  SamplingClaims claims = v5();
  claims.object_pixel_a = -0.2;
  EXPECT_THAT(error_of(ErrorKind::bad_input, [&] { require_consistent(claims); }), HasSubstr("object_pixel_A = -0.2"));
}

}  // namespace
}  // namespace sonde::ptycho
