// SPDX-License-Identifier: Apache-2.0
// The same commands by several processes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "sonde/engine/io/hdf5.h"
#include "tests/cli/maxwell.h"
#include "tests/cli/ranks.h"

namespace sonde {
namespace {

using ::testing::HasSubstr;
using testing::run;
using testing::run_together;

class MaxwellRanks : public testing::MaxwellProgram {
 protected:
  /// Five shots over ground of 30 x 24 cells.
  std::string survey() {
    return model(
        "[model]\neps_r = 5\nsigma = 0.003\nshape = [30, 24]\nspacing = 0.1\n"
        "[survey]\nsources = \"4, 2, 9, 2, 15, 2, 20, 2, 26, 2\"\n"
        "receivers = \"5, 21, 15, 21, 25, 21\"\n[source]\nf0 = 60e6\n[time]\nnt = 150\n",
        "survey.toml");
  }
  static std::vector<double> numbers(const std::string& path, const std::string& dataset) {
    const Array array = Hdf5File::open(path).dataset(dataset).read();
    std::vector<double> made;
    for (Index i = 0; i < array.count(); ++i)
      made.push_back(array.dtype() == DType::f32 ? static_cast<const float*>(array.data())[i]
                                                 : static_cast<const double*>(array.data())[i]);
    return made;
  }
};

TEST_F(MaxwellRanks, MakeTheRecordsAndTheGradientOfOneProcess) {
  const std::string survey_file = survey();
  ASSERT_EQ(run({"maxwell", "run", survey_file, "-o", file("one.h5")}).status, 0);
  ASSERT_EQ(run({"maxwell", "run", survey_file, "--set", "model.eps_r=5.3", "--set", "time.dt=3e-10", "-o",
                 file("observed.h5")})
                .status,
            0);
  ASSERT_EQ(run({"maxwell", "gradient", survey_file, "--observed", file("observed.h5"), "-o", file("g1.h5")}).status,
            0);
  for (const int count : {2, 4}) {
    ASSERT_EQ(run_together(count, {"maxwell", "run", survey_file, "-o", file("several.h5")}).status, 0);
    EXPECT_EQ(numbers(file("several.h5"), "/receivers/data"), numbers(file("one.h5"), "/receivers/data"));
    ASSERT_EQ(
        run_together(count, {"maxwell", "gradient", survey_file, "--observed", file("observed.h5"), "-o", file("g.h5")})
            .status,
        0);
    for (const char* part : {"/gradient/eps_r", "/gradient/sigma"})
      EXPECT_EQ(numbers(file("g.h5"), part), numbers(file("g1.h5"), part)) << count;
  }
}

TEST_F(MaxwellRanks, DoNotShareAModelOfGprmax) {
  const testing::Ended ended = run_together(2, {"maxwell", "run", model()});
  EXPECT_EQ(ended.status, 8);
  EXPECT_THAT(ended.err, HasSubstr("several processes share the shots of a native model; gprMax's has one"));
}

}  // namespace
}  // namespace sonde
