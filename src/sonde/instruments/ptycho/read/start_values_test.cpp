// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/read/start_values.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "sonde/engine/io/npy.h"
#include "sonde/engine/options/fields.h"
#include "tests/support/errors.h"
#include "tests/support/files.h"

namespace sonde::ptycho {
namespace {

using sonde::testing::error_of;
using sonde::testing::TemporaryFolder;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(ChooseProbeInit, AberrationsAskForAnApertureBeforeTheProbeOfTheDataFile) {
  ProbeSettings probe;
  EXPECT_EQ(choose_probe_init(probe, true, true).value, ProbeInit::file);
  Fields(probe).assign_text("defocus_A", "150", "a test");
  EXPECT_EQ(choose_probe_init(probe, true, true).value, ProbeInit::aperture);
  EXPECT_THAT(unused_probe_settings(probe, choose_probe_init(probe, true, true)), IsEmpty());
}

TEST(ProbeSettings, TwoNamesOfOneAberrationMustAgree) {
  ProbeSettings probe;
  Fields fields(probe);
  fields.assign_text("C10_A", "-150", "a test");
  fields.assign_text("defocus_A", "150", "a test");
  EXPECT_EQ(probe.lens().get("C10"), -150);
  fields.assign_text("defocus_A", "100", "a test");
  EXPECT_THAT(error_of(ErrorKind::bad_input, [&] { (void)probe.lens(); }),
              HasSubstr("probe.defocus_A = 100, but another name of the same aberration says 150"));
}

TEST(StartProbe, OfAPatternInVacuumDoesNotDependOnItsExposure) {
  const TemporaryFolder folder;
  const Sampling sampling = electron_sampling(16, 16, 200, 2.5);
  const auto from_vacuum = [&](double exposure) {
    Array pattern(Device::cpu(), Shape{16, 16}, DType::f64);
    for (Index r = 0; r < 16; ++r)
      for (Index c = 0; c < 16; ++c) {
        const auto y = static_cast<double>(r - 8), x = static_cast<double>(c - 8);
        pattern.view<double, 2>()(r, c) = exposure * std::exp(-(y * y + 0.5 * x * x) / 9);
      }
    ProbeSettings settings;
    settings.init = ProbeInit::vacuum;
    settings.file = folder.file("vacuum.npy");
    write_npy(settings.file, pattern);
    const Array mean = Array::zeros(Device::cpu(), Shape{16, 16}, DType::f64);
    return start_probe(settings, sampling, 0.01, mean.view<double, 2>(), {}, 1000).value;
  };
  const Array once = from_vacuum(1), longer = from_vacuum(37);
  const auto a = once.view<complex128, 3>(), b = longer.view<complex128, 3>();
  double power = 0, apart = 0;
  for (Index i = 0; i < a.count(); ++i) {
    power += std::norm(a.data[i]);
    apart += std::norm(a.data[i] - b.data[i]);
  }
  // A few roundings of each of 256 pixels.
  EXPECT_NEAR(power, 1000, 1e-10);
  EXPECT_LT(std::sqrt(apart / power), 1e-14);
}

TEST(UnusedProbeSettings, AreNamedWithTheOriginOfTheProbe) {
  ProbeSettings probe;
  Fields(probe).assign_text("defocus_A", "150", "a test");
  probe.fwhm = 12;
  // Without the angle there is no aperture to give aberrations to.
  EXPECT_THAT(
      unused_probe_settings(probe, choose_probe_init(probe, false, true)),
      ElementsAre("[probe] defocus_A = 150 and fwhm = 12 have no effect: the first probe comes from a file (the "
                  "data file has a probe)"));
  probe.file = "probe.npy";
  probe.init = ProbeInit::gaussian;
  EXPECT_THAT(unused_probe_settings(probe, choose_probe_init(probe, true, false)),
              ElementsAre(AllOf(HasSubstr("defocus_A = 150 and file = \"probe.npy\" have"), HasSubstr("a Gaussian"))));
  probe.init = ProbeInit::mean_bf;
  EXPECT_THAT(unused_probe_settings(probe, choose_probe_init(probe, true, false)),
              ElementsAre(HasSubstr("fwhm = 12 and file")));
}

}  // namespace
}  // namespace sonde::ptycho
