// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/report/provenance.h"

#include <gtest/gtest.h>

#include <string>

#include "sonde/engine/base/moment.h"
#include "sonde/engine/base/version.h"
#include "tests/support/files.h"

namespace sonde {
namespace {

TEST(Provenance, NamesTheProgramThatMadeTheResult) {
  EXPECT_EQ(text_at(made_by(), "program"), "sonde");
  EXPECT_EQ(text_at(made_by(), "version"), build_info().version);
  EXPECT_EQ(made_by_text(),
            "sonde " + std::string(build_info().version) + " (" + std::string(build_info().revision) + ")");
}

TEST(Provenance, TheMomentHasTheAbsolutePathOfAFileAndTheNameOfWhatIsNone) {
  const testing::TemporaryFolder folder;
  const std::string file = folder.file("scan.npy");
  testing::write_bytes(file, {1});
  EXPECT_EQ(text_at(moment_of_run(folder.path().string() + "/./scan.npy"), "input"), file);
  EXPECT_EQ(text_at(moment_of_run("array of (4, 4)"), "input"), "array of (4, 4)");
  EXPECT_EQ(text_at(moment_of_run(file), "host"), host_name());
}

TEST(Provenance, ThePathIsFoundInRecordsOfNowAndOfBefore) {
  Value now, before;
  now["run"]["input"] = "/a/scan.h5";
  before["input"]["path"] = "/b/scan.h5";
  EXPECT_EQ(input_path(now), "/a/scan.h5");
  EXPECT_EQ(input_path(before), "/b/scan.h5");
  EXPECT_EQ(input_path(Value::object()), "");
}

TEST(Provenance, AHashHas16Digits) { EXPECT_EQ(hash_text(0x1a2b), "xxh3:0000000000001a2b"); }

}  // namespace
}  // namespace sonde
