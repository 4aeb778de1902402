// SPDX-License-Identifier: Apache-2.0
// Many points of one command: the file, its charts, and what memory allows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "sonde/engine/report/json.h"
#include "tests/cli/neoclassical.h"
#include "tests/support/data.h"
#include "tests/support/python.h"

namespace sonde {
namespace {

namespace fs = std::filesystem;
using testing::Ended;
using ::testing::HasSubstr;
using testing::Neoclassical;

TEST_F(Neoclassical, ScanIsDrawnAndHoldsWhatRunFinds) {
  ASSERT_EQ(command(with_grid({"scan", "analytic-demo", "--nu-v", "1e-2,1e-1,1", "--er-hat", "0,1e-3", "-o",
                               file("scan.h5"), "--plot"},
                              "5", "7", "6"))
                .status,
            0);
  EXPECT_TRUE(fs::exists(file("scan.png")));
  const Value one = results(with_grid({"run", "analytic-demo", "--nu-hat", "1e-1", "--er-hat", "1e-3"}, "5", "7", "6"));
  testing::python(
      "import sys, h5py\n"
      "f = h5py.File(sys.argv[1] + '/scan.h5')\n"
      "assert f['D11'].shape == (1, 3, 2) and float(f['D11'][0, 1, 1]) == " +
          to_json(*one.find("D11"), -1) + "\n",
      folder_.path().string());
  EXPECT_EQ(command({"plot", file("scan.h5"), "-o", file("again.pdf")}).status, 0);
}

// The report is written last, beside data of the same stem: neither may take the other's place, now or later.
TEST_F(Neoclassical, ChartsTellTheirFilesAndReplaceNoOther) {
  const Value found = results(
      with_grid({"scan", "analytic-demo", "--nu-v", "1e-1,1", "-o", file("q.nc"), "--plot", "--report", file("q.json")},
                "5", "5", "4"));
  std::vector<std::string> names;
  for (const Value& each : found.find("files")->items()) {
    EXPECT_TRUE(fs::exists(each.as_text()));
    names.push_back(fs::path(each.as_text()).filename().string());
  }
  EXPECT_THAT(names, ::testing::ElementsAre("q.nc", "q.png", "q.pdf", "q.chart.json", "q.gp"));
  ASSERT_EQ(command({"plot", file("q.nc"), "--quantity", "D11,D33", "-o", file("q.svg")}).status, 0);
  EXPECT_EQ(text_at(read_json(file("q.json")), "schema"), "sonde.report/1");
  EXPECT_EQ(read_json(file("q.chart.json")).find("facets")->size(), 2U);
  const Ended wrong = command({"plot", file("q.nc"), "--quantity", "b", "-o", file("b.png")});
  EXPECT_EQ(wrong.status, 2);
  EXPECT_THAT(wrong.err, HasSubstr("of which D11, D31, D33, onsager can be drawn"));
  EXPECT_FALSE(fs::exists(file("b.png")));
}

TEST_F(Neoclassical, ScansOfAnEquilibriumSayUnitsAndLengths) {
  SONDE_NEED_DATA(data);
  const std::string wout = (data / "neoclassical/wout_circular_tokamak.nc").string();
  ASSERT_EQ(
      command(with_grid({"scan", wout, "--s", "0.25", "--nu-v", "1e-1", "-o", file("scan.h5")}, "9", "1", "6")).status,
      0);
  testing::python(
      "import sys, h5py\n"
      "f = h5py.File(sys.argv[1] + '/scan.h5')\n"
      "text = lambda v: v.decode() if isinstance(v, bytes) else v\n"
      "units = {k: text(f[k].attrs['units']) for k in ('D11', 'D31', 'D13', 'D33', 'nu_v', 'R0', 'a_b', 'psi_a')}\n"
      "assert units == dict(D11='m^-3 T^-2', D31='m^-1 T^-1', D13='m^-1 T^-1', D33='m', nu_v='m^-1', R0='m', a_b='m', "
      "psi_a='T m^2'), units\n"
      "assert text(f['D11'].attrs['radial_label']) == 's' and f['nfp'][()] == 1\n"
      "# A torus of nearly even field: its flux is that through a circle, to the order of the aspect ratio squared.\n"
      "a, R0 = f['a_b'][()], f['R0'][0]\n"
      "assert abs(abs(f['psi_a'][()]) / (f['B0'][0] * a * a / 2) - 1) < (a / R0) ** 2, (f['psi_a'][()], f['B0'][0], "
      "a)\n"
      "assert f['stellarator_symmetric'][()] == 1\n",
      folder_.path().string());
}

TEST_F(Neoclassical, LittleMemoryMakesSmallerBatchesOfTheSameNumbers) {
  const auto scanned = [&](const std::string& memory, const std::string& output) {
    const Value found = read_json([&] {
      const std::string report = file("report.json");
      const Ended ended = command(
          with_grid({"scan", "analytic-demo", "--nu-v", "1e-3,1e-2,1e-1,1,2,3,4,5", "--threads", "8", "--memory",
                     memory, "--set", "grid.discretisation=collocation", "--report", report, "-o", file(output)},
                    "17", "17", "4"));
      EXPECT_EQ(ended.status, 0) << ended.err;
      return report;
    }());
    for (const Value& choice : found.find("choices")->items())
      if (text_at(choice, "what") == "at a time") return number_at(choice, "value");
    return 0.0;
  };
  // Eight matrices of 289 x 289 a point: 5.4 MB.
  EXPECT_EQ(scanned("1G", "much.h5"), 8);
  EXPECT_EQ(scanned("20M", "little.h5"), 3);
  testing::python(
      "import sys, h5py\n"
      "a, b = (h5py.File(sys.argv[1] + name) for name in ('/much.h5', '/little.h5'))\n"
      "assert all((a[k][()] == b[k][()]).all() for k in ('D11', 'D31', 'D13', 'D33'))\n",
      folder_.path().string());
}

}  // namespace
}  // namespace sonde
