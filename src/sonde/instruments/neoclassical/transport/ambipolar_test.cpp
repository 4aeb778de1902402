// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/neoclassical/transport/ambipolar.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "sonde/instruments/neoclassical/transport/test_source.h"
#include "tests/support/errors.h"

namespace sonde::neoclassical {
namespace {

using sonde::testing::error_of;
using ::testing::HasSubstr;
using testing::three_roots;
using Class = AmbipolarRoot::Class;

TEST(Ambipolar, OneRootIsFoundWithItsSlope) {
  const AmbipolarRoots found = ambipolar_roots([](double er) { return std::atan((er + 3000) / 500); }, {});
  ASSERT_EQ(found.roots.size(), 1);
  EXPECT_NEAR(found.roots[0].E_r, -3000, 1e-3);
  EXPECT_NEAR(found.roots[0].slope, 1.0 / 500, 1e-6);
  EXPECT_EQ(found.roots[0].kind, Class::ion);
  EXPECT_EQ(found.chosen, 0);
  EXPECT_EQ(ambipolar_roots([](double er) { return er - 1000; }, {}).roots[0].kind, Class::electron);
}

TEST(Ambipolar, AllRootsAreFoundAndClassed) {
  const AmbipolarRoots found = ambipolar_roots(three_roots, {});
  ASSERT_EQ(found.roots.size(), 3);
  const double fields[] = {-4e3, 2e3, 9e3};
  const Class classes[] = {Class::ion, Class::unstable, Class::electron};
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(found.roots[i].E_r, fields[i], 1e-3);
    EXPECT_EQ(found.roots[i].kind, classes[i]);
  }
}

TEST(Ambipolar, TheChoiceIsByEntropyIonOrElectron) {
  // The lobe between -4 and 2 (positive) is smaller than that between 2 and 9 (negative): the electron root has the
  // least integral. The mirror image has it at its ion root.
  const auto chosen = [](const std::function<double(double)>& current, RootChoice choice) {
    AmbipolarOptions options;
    options.choice = choice;
    const AmbipolarRoots found = ambipolar_roots(current, options);
    return found.roots.at(found.chosen.value()).E_r;
  };
  const auto mirrored = [](double er) { return -three_roots(-er); };
  EXPECT_NEAR(chosen(three_roots, RootChoice::least_entropy_production), 9e3, 1);
  EXPECT_NEAR(chosen(mirrored, RootChoice::least_entropy_production), -9e3, 1);
  EXPECT_NEAR(chosen(three_roots, RootChoice::ion), -4e3, 1);
  EXPECT_NEAR(chosen(three_roots, RootChoice::electron), 9e3, 1);
}

TEST(Ambipolar, ADoubtfulRootIsNeitherCountedNorTaken) {
  AmbipolarRoots found = ambipolar_roots(three_roots, {});
  found.roots[2].uncertainty = 5e3;  // more than half of 9 kV/m
  settle(found, RootChoice::electron);
  EXPECT_EQ(found.chosen, 0);
  EXPECT_EQ(found.roots[0].kind, Class::ion);
  EXPECT_EQ(found.roots[2].kind, Class::electron);
  found.roots[0].uncertainty = 2.1e3;
  settle(found, RootChoice::electron);
  EXPECT_FALSE(found.chosen);
}

TEST(Ambipolar, WithoutARootNothingIsChosen) {
  const AmbipolarRoots none = ambipolar_roots([](double) { return 1.0; }, {});
  EXPECT_TRUE(none.roots.empty());
  EXPECT_FALSE(none.chosen);
  const AmbipolarRoots unstable = ambipolar_roots([](double er) { return 10 - er; }, {});
  ASSERT_EQ(unstable.roots.size(), 1);
  EXPECT_EQ(unstable.roots[0].kind, Class::unstable);
  EXPECT_FALSE(unstable.chosen);
}

TEST(Ambipolar, ARootOnAPointOfTheGridCountsOnce) {
  AmbipolarOptions options;
  options.lowest = -10;
  options.highest = 10;
  options.points = 21;
  const AmbipolarRoots found = ambipolar_roots([](double er) { return er; }, options);
  ASSERT_EQ(found.roots.size(), 1);
  EXPECT_EQ(found.roots[0].E_r, 0);
  // A plasma that is ambipolar in every field has no root.
  EXPECT_TRUE(ambipolar_roots([](double) { return 0.0; }, options).roots.empty());
}

TEST(Ambipolar, SteepRootsAreFoundToTheTolerance) {
  // A kink as between regimes, and a cubic root: no secant converges fast.
  const auto kink = [](double er) { return er < 123.456 ? 1e-6 * (er - 123.456) : 1e3 * (er - 123.456); };
  EXPECT_NEAR(ambipolar_roots(kink, {}).roots.at(0).E_r, 123.456, 4e-4);
  EXPECT_NEAR(ambipolar_roots([](double er) { return std::cbrt(er - 77.7); }, {}).roots.at(0).E_r, 77.7, 4e-4);
  EXPECT_NEAR(ambipolar_roots([](double er) { return std::pow(er - 77.7, 3); }, {}).roots.at(0).E_r, 77.7, 4e-4);
}

TEST(Ambipolar, ACurrentThatIsNoNumberIsNamedWithItsField) {
  EXPECT_THAT(error_of(ErrorKind::bad_input,
                       [] { (void)ambipolar_roots([](double er) { return er > 0 ? std::nan("") : 1; }, {}); }),
              HasSubstr("the current at E_r = "));
  AmbipolarOptions options;
  options.points = 1;
  EXPECT_THAT(error_of(ErrorKind::bad_input, [&] { (void)ambipolar_roots([](double er) { return er; }, options); }),
              HasSubstr("no range to search"));
  options = {};
  options.highest = options.lowest;
  error_of(ErrorKind::bad_input, [&] { (void)ambipolar_roots([](double er) { return er; }, options); });
}

}  // namespace
}  // namespace sonde::neoclassical
