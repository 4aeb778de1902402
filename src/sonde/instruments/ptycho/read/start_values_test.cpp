// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/read/start_values.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sonde/engine/options/fields.h"
#include "tests/support/errors.h"

namespace sonde::ptycho {
namespace {

using sonde::testing::error_of;
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
