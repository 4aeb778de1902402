// SPDX-License-Identifier: Apache-2.0
// The same commands by several processes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
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
  std::string survey(const std::string& more = "", const std::string& name = "survey.toml") {
    return model(
        "[model]\neps_r = 5\nsigma = 0.003\nshape = [30, 24]\nspacing = 0.1\n"
        "[survey]\nsources = \"4, 2, 9, 2, 15, 2, 20, 2, 26, 2\"\n"
        "receivers = \"5, 21, 15, 21, 25, 21\"\n[source]\nf0 = 60e6\n[time]\nnt = 150\n" +
            more,
        name);
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

/// A block in the ground: 24 x 20 x 26 cells with layers inside, 120 steps.
const std::string block =
    "#title: A block\n#domain: 0.48 0.40 0.52\n#dx_dy_dz: 0.02 0.02 0.02\n#time_window: 120\n#pml_cells: 4\n"
    "#material: 5 0.01 1 0 soil\n#material: 9 0.02 2 0 block\n#box: 0 0 0 0.48 0.40 0.30 soil\n"
    "#box: 0.2 0.16 0.1 0.3 0.3 0.26 block\n#waveform: ricker 1 3e8 pulse\n"
    "#hertzian_dipole: y 0.14 0.20 0.34 pulse\n#rx: 0.34 0.20 0.34\n#rx: 0.24 0.14 0.2\n"
    "#src_steps: 0.02 0 0\n#rx_steps: 0.02 0 0\n";

TEST_F(MaxwellRanks, DivideTheGridOfAModelOfGprmax) {
  const std::string large = model(block, "block.in");
  ASSERT_EQ(run({"maxwell", "run", large, "-n", "2", "-o", file("one.out"), "--force"}).status, 0);
  ASSERT_EQ(run({"maxwell", "gradient", large, "--observed", file("one2.out"), "-o", file("g1.h5"), "--force"}).status,
            0);
  for (const auto& [count, parts] : {std::pair(2, "2x1x1"), {4, "1x2x2"}}) {
    const testing::Ended ended = run_together(
        count, {"maxwell", "run", large, "-n", "2", "-o", file("divided.out"), "--decompose", parts, "--force"});
    ASSERT_EQ(ended.status, 0) << ended.err;
    EXPECT_THAT(ended.err, HasSubstr(std::string("parts     ") + parts));
    for (const char* field : {"/rxs/rx1/Ey", "/rxs/rx2/Hx", "/rxs/rx2/Ez"})
      EXPECT_EQ(numbers(file("divided_merged.out"), field), numbers(file("one_merged.out"), field)) << field;
    ASSERT_EQ(run_together(count, {"maxwell", "gradient", large, "--observed", file("one2.out"), "-o", file("g.h5"),
                                   "--decompose", parts, "--force"})
                  .status,
              0);
    for (const char* part : {"/gradient/eps_r_Ex", "/gradient/sigma_Ez"})
      EXPECT_EQ(numbers(file("g.h5"), part), numbers(file("g1.h5"), part)) << part << " of " << parts;
  }
}

TEST_F(MaxwellRanks, DivideTheGridOfASurvey) {
  const std::string survey_file = survey();
  ASSERT_EQ(run({"maxwell", "run", survey_file, "-o", file("one.h5")}).status, 0);
  ASSERT_EQ(run({"maxwell", "run", survey_file, "--set", "model.eps_r=5.3", "--set", "time.dt=3e-10", "-o",
                 file("observed.h5")})
                .status,
            0);
  const std::vector<std::string> gradient{"maxwell",           "gradient", survey_file,          "--observed",
                                          file("observed.h5"), "--wrt",    "eps_r,sigma,source", "-o"};
  const auto with = [&](std::vector<std::string> more) {
    std::vector<std::string> made = gradient;
    made.insert(made.end(), more.begin(), more.end());
    return made;
  };
  ASSERT_EQ(run(with({file("g1.h5")})).status, 0);
  ASSERT_EQ(run_together(4, {"maxwell", "run", survey_file, "-o", file("divided.h5"), "--decompose", "2x1x2"}).status,
            0);
  EXPECT_EQ(numbers(file("divided.h5"), "/receivers/data"), numbers(file("one.h5"), "/receivers/data"));
  for (const char* mode : {"host", "recompute"}) {
    ASSERT_EQ(run_together(2, with({file("g.h5"), "--decompose", "1x1x2", "--storage-mode", mode})).status, 0);
    for (const char* part : {"/gradient/eps_r", "/gradient/sigma", "/gradient/source"})
      EXPECT_EQ(numbers(file("g.h5"), part), numbers(file("g1.h5"), part)) << part << " with " << mode;
  }
}

TEST_F(MaxwellRanks, GatherTheFieldsOfADividedGrid) {
  const std::string shown = model(block + "#snapshot: 0 0 0 0.48 0.4 0.5 0.02 0.04 0.06 60 early\n" +
                                      "#snapshot: 0.1 0.1 0.1 0.4 0.4 0.4 0.02 0.02 0.02 90 late.vti\n",
                                  "shown.in");
  const auto words = [&](const char* name) {
    return std::vector<std::string>{"maxwell",
                                    "run",
                                    shown,
                                    "--force",
                                    "-n",
                                    "2",
                                    "-o",
                                    file(std::string(name) + ".out"),
                                    "--snapshots",
                                    file(std::string(name) + "_frames.h5"),
                                    "--snapshot-every",
                                    "25",
                                    "--snapshot-step",
                                    "2,1,3"};
  };
  ASSERT_EQ(run(words("one")).status, 0);
  std::vector<std::string> divided = words("parts");
  divided.insert(divided.end(), {"--decompose", "2x1x2"});
  const testing::Ended ended = run_together(4, divided);
  ASSERT_EQ(ended.status, 0) << ended.err;
  for (const char* component : {"/Ex", "/Ey", "/Hz"}) {
    EXPECT_EQ(numbers(file("parts_frames.h5"), component), numbers(file("one_frames.h5"), component)) << component;
    // Means of edges on both sides of a face: added in another order in float64.
    const std::vector<double> made = numbers(file("parts_snaps2/early.h5"), component),
                              wanted = numbers(file("one_snaps2/early.h5"), component);
    ASSERT_EQ(made.size(), wanted.size());
    for (std::size_t i = 0; i < made.size(); ++i) ASSERT_NEAR(made[i], wanted[i], 1.2e-7 * std::abs(wanted[i])) << i;
  }
  for (const char* energy : {"/energy_electric", "/energy_magnetic"}) {
    const std::vector<double> made = numbers(file("parts_frames.h5"), energy),
                              wanted = numbers(file("one_frames.h5"), energy);
    ASSERT_GT(wanted.back(), 0);
    for (std::size_t i = 0; i < made.size(); ++i) EXPECT_NEAR(made[i], wanted[i], 1e-12 * std::abs(wanted[i])) << i;
  }
  EXPECT_EQ(std::filesystem::file_size(file("parts_snaps1/late.vti")),
            std::filesystem::file_size(file("one_snaps1/late.vti")));
}

TEST_F(MaxwellRanks, ThatShareShotsWriteTheFramesOfTheFirst) {
  const std::string survey_file = survey();
  ASSERT_EQ(run({"maxwell", "run", survey_file, "-o", file("one.h5"), "--snapshots", file("one_frames.h5")}).status, 0);
  ASSERT_EQ(
      run_together(2, {"maxwell", "run", survey_file, "-o", file("two.h5"), "--snapshots", file("frames.h5")}).status,
      0);
  EXPECT_EQ(numbers(file("frames.h5"), "/Ey"), numbers(file("one_frames.h5"), "/Ey"));
}

TEST_F(MaxwellRanks, SayWhatTheyDoNotDivide) {
  struct Refused {
    int count;
    std::vector<std::string> words;
    int status;
    std::string said;
  };
  const std::string large = model(block, "block.in");
  for (const Refused& each : std::vector<Refused>{
           {1, {"maxwell", "run", large, "--decompose", "2x1"}, 2, "expected parts along x, y and z, such as 2x1x2"},
           {1, {"maxwell", "run", large, "--decompose", "2x1x1"}, 2, "2 parts for 1 process: each takes one"},
           {2, {"maxwell", "run", large, "--decompose", "3x1x1"}, 2, "3 parts for 2 processes: each takes one"},
           {4, {"maxwell", "run", large, "--decompose", "1x4x1", "--order", "8"}, 2, "4 parts along y of 20 cells"},
           {2, {"maxwell", "gradient", large, "--observed", "a.out"}, 2, "2 processes for the gradient of one run"},
           {2,
            {"maxwell", "gradient", survey(), "--observed", "a.h5", "--decompose", "1x2x1"},
            3,
            "a.h5: no such file"}}) {
    const testing::Ended ended = run_together(each.count, each.words);
    EXPECT_EQ(ended.status, each.status) << ended.err;
    EXPECT_THAT(ended.err, HasSubstr(each.said));
    EXPECT_EQ(ended.err.find(each.said), ended.err.rfind(each.said)) << ended.err;
  }
}

class MaxwellRanksInverting : public MaxwellRanks {
 protected:
  MaxwellRanksInverting() {
    EXPECT_EQ(
        run({"maxwell", "run", survey("dt = 3e-10\n"), "--set", "model.eps_r=5.3", "-o", file("observed.h5")}).status,
        0);
    (void)survey(
        "dt = 3e-10\n[data]\nfile = \"observed.h5\"\n[inversion]\neps_r_bounds = [2, 9]\nexit_change = 0\n"
        "[output]\ncheckpoint_every = 1\n[[inversion.stage]]\niterations = 3\n",
        "inversion.toml");
  }
  [[nodiscard]] std::vector<std::string> words(const std::string& folder, const std::string& iterations,
                                               const std::vector<std::string>& more = {}) const {
    std::vector<std::string> made{"maxwell",
                                  "fwi",
                                  file("inversion.toml"),
                                  "-o",
                                  file(folder),
                                  "--set",
                                  "inversion.stage.0.iterations=" + iterations};
    made.insert(made.end(), more.begin(), more.end());
    return made;
  }
  /// All but the times of two files of an inversion.
  void expect_equal(const std::string& one, const std::string& other) const {
    testing::python(
        "import sys, h5py\n"
        "def read(path):\n"
        "    made = {}\n"
        "    h5py.File(path).visititems(lambda n, x: made.update({n: x[()]}) if isinstance(x, h5py.Dataset) else "
        "None)\n"
        "    return {n: v.tobytes() for n, v in made.items() if not n.endswith('run/seconds')}\n"
        "a, b = read(sys.argv[1] + '/" +
            one + "'), read(sys.argv[1] + '/" + other +
            "')\n"
            "assert len(a) > 5 and a == b, [n for n in a if a[n] != b.get(n)]\n",
        folder_.path().string());
  }
};

TEST_F(MaxwellRanksInverting, MakeTheModelOfOneProcess) {
  ASSERT_EQ(run(words("one", "3")).status, 0);
  for (const int count : {2, 4}) {
    const std::string folder = "by" + std::to_string(count);
    const testing::Ended ended = run_together(count, words(folder, "3"));
    ASSERT_EQ(ended.status, 0) << ended.err;
    for (const char* name : {"/result.h5", "/checkpoint.h5"}) expect_equal("one" + std::string(name), folder + name);
  }
}

TEST_F(MaxwellRanksInverting, ContinueWhatAnotherNumberOfThemHasBegun) {
  ASSERT_EQ(run(words("whole", "20")).status, 0);
  // One of them is asked to stop, behind a checkpoint: all do, and one says so.
  testing::python(
      "import os, signal, subprocess, sys, time\n"
      "job = subprocess.Popen(" +
          testing::words_together(3, words("broken", "20")) +
          ", stderr=subprocess.PIPE, text=True)\n"
          "def rows():\n"
          "    path = sys.argv[1] + '/broken/history.csv'\n"
          "    return len(open(path).readlines()) - 2 if os.path.exists(path) else 0\n"
          "while rows() < 4: time.sleep(0.001)\n"
          "children = open(f'/proc/{job.pid}/task/{job.pid}/children').read().split()\n"
          "os.kill(int(children[-1]), signal.SIGTERM)\n"
          "said = job.communicate()[1]\n"
          "assert job.returncode == 143, job.returncode\n"
          "assert said.count('error: ') == 1 and '--resume continues from' in said, said\n"
          "assert not os.path.exists(sys.argv[1] + '/broken/result.h5')\n",
      folder_.path().string());
  ASSERT_EQ(run_together(2, words("broken", "20", {"--resume"})).status, 0);
  expect_equal("whole/result.h5", "broken/result.h5");
}

TEST_F(MaxwellRanksInverting, EndWithOneMessage) {
  const testing::Ended ended = run_together(3, words("none", "3", {"--set", "data.file=absent.h5"}));
  EXPECT_EQ(ended.status, 3);
  const std::string said = "absent.h5: no such file";
  const std::size_t first = ended.err.find(said);
  ASSERT_NE(first, std::string::npos) << ended.err;
  EXPECT_EQ(ended.err.find(said, first + 1), std::string::npos) << ended.err;
}

TEST_F(MaxwellRanks, SayOnceWhatIsWrongWithADirection) {
  const testing::Ended ended =
      run_together(2, {"maxwell", "born", survey(), "--direction", model("nothing", "change.h5")});
  EXPECT_EQ(ended.status, 3);
  const std::size_t first = ended.err.find("change.h5: not an HDF5 file");
  ASSERT_NE(first, std::string::npos) << ended.err;
  EXPECT_EQ(ended.err.find("error: ", first), std::string::npos) << ended.err;
}

TEST_F(MaxwellRanks, ShareTheRunsOfAModelOfGprmax) {
  const std::string lines = model(testing::sand_model("#snapshot: 0 0 0 0.3 0.3 0.005 0.01 0.01 0.005 1e-9 early\n"));
  ASSERT_EQ(run({"maxwell", "run", lines, "-n", "5", "-o", file("one.out")}).status, 0);
  const testing::Ended ended = run_together(3, {"maxwell", "run", lines, "-n", "5", "-o", file("by3.out")});
  ASSERT_EQ(ended.status, 0) << ended.err;
  for (const char* each : {"1", "2", "3", "4", "5", "_merged"})
    for (const char* field : {"/rxs/rx1/Ez", "/rxs/rx1/Hx"})
      EXPECT_EQ(numbers(file("by3" + std::string(each) + ".out"), field),
                numbers(file("one" + std::string(each) + ".out"), field))
          << each;
  for (const char* each : {"1", "5"}) {
    const std::string name = "_snaps" + std::string(each) + "/early.h5";
    EXPECT_EQ(numbers(file("by3" + name), "/Ez"), numbers(file("one" + name), "/Ez"));
    EXPECT_THAT(ended.err, HasSubstr("by3" + name));
  }
}

TEST_F(MaxwellRanks, DoNotShareOneRunOfAModelOfGprmax) {
  const testing::Ended ended = run_together(2, {"maxwell", "run", model()});
  EXPECT_EQ(ended.status, 2);
  EXPECT_THAT(ended.err, HasSubstr("2 processes for one run of a model of gprMax"));
}

}  // namespace
}  // namespace sonde
