// SPDX-License-Identifier: Apache-2.0
// What `sonde maxwell` says of wrong input: its name, its status, and nothing written.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <vector>

#include "tests/cli/maxwell.h"

namespace sonde {
namespace {

using testing::MaxwellProgram;
using testing::sand_model;

// The model with one piece of its text replaced.
std::string with(const std::string& piece, const std::string& other) {
  std::string text = sand_model();
  return text.replace(text.find(piece), piece.size(), other);
}

TEST_F(MaxwellProgram, WrongWordsOfRunAreNamed) {
  const std::string in = model(), out = file("out.out");
  for (const Wrong& c : std::vector<Wrong>{
           {{"run", "-o", out}, 2, "input is missing"},
           {{"run", in, "other.in", "-o", out}, 2, "unexpected argument \"other.in\""},
           {{"run", in, "-o", out, "--snapshot", "3"}, 2, "unknown flag \"--snapshot\""},
           {{"run", in, "-o", out, "--snapshots", file("a.vti")}, 2, "frames are written as .h5"},
           {{"run", in, "-o", out, "--snapshots", file("no/a.h5")}, 5, "there is no folder"},
           {{"run", in, "-o", out, "--snapshot-every", "3"}, 2, "--snapshot-every is of snapshots, and no file"},
           {{"run", in, "-o", out, "--snapshot-step", "3"}, 2, "--snapshot-step is of snapshots, and no file"},
           {{"run", in, "-o", out, "--snapshots", file("a.h5"), "--snapshot-step", "3,2,1"},
            2,
            "--snapshot-step: 3 numbers; expected one, or y,x"},
           {{"run", in, "-o", out, "--snapshots", file("a.h5"), "--snapshot-step", "0.5"},
            2,
            "--snapshot-step: 0.5; expected whole numbers from 1 on"},
           {{"run", in, "--geometry-only"}, 3, "no #geometry_view, so nothing would be written"},
           {{"run", in, "-o", file("out.txt")}, 2, "traces are written as .out, .h5, .nc or .npz"},
           {{"run", in, "-o", in}, 2, "traces are written as .out, .h5, .nc or .npz"},
           {{"run", in, "-o", out, "--plot", file("a.jpg")}, 2, "charts are written as .png, .pdf or .svg"},
           {{"run", in, "-o", file("a.h5"), "--snapshots", file("a.h5")},
            3,
            "a.h5: is the output and the file of frames of one run"},
           {{"run", in, "-o", out, "-n", "1000001"}, 2, "--runs: 1000001 is above the largest allowed value, 1000000"},
           {{"run", in, "-o", out, "-n", "0"}, 2, "--runs: 0 is below the smallest allowed value, 1"},
           {{"run", in, "-o", out, "--order", "3"}, 2, "--order: unknown word \"3\""},
           {{"run", in, "-o", out, "--dtype", "f16"}, 2, "give one of f32 or f64"},
           {{"run", in, "-o", out, "--pml-preset", "none"}, 2, "give one of gprmax, tide or default"},
           {{"run", in, "-o", file("no/where.out")}, 5, "there is no folder"},
           {{"run", in, "-o", out, "--plot", file("no/a.png")}, 5, "there is no folder"},
           {{"run", in, "-o", out, "--memory", "100k"}, 4, "the model of " + in + " needs"},
           {{"run", in, "-o", out, "--device", "cuda:7"}, 6, "cuda:7"},
       })
    expect_refused(c);
}

TEST_F(MaxwellProgram, WrongModelsAreNamedWithTheirLine) {
  struct Model {
    std::string text;
    int status;
    std::string message;  ///< after the name of the file
  };
  for (const Model& c : std::vector<Model>{
           {"", 3, ": #domain, #dx_dy_dz and #time_window are missing"},
           {with("#domain: 0.300 0.300 0.005\n", ""), 3, ": #domain is missing"},
           {with("#rx: 0.150 0.200 0\n", ""), 3, ": no receiver, so nothing would be recorded"},
           {with("ricker 1 1e9", "ricker 1 4e9"), 3, ": 2.71 cells per wavelength at"},
           {with("#dx_dy_dz: 0.005 0.005 0.005", "#dx_dy_dz: 0.005"), 3, ", line 3: #dx_dy_dz: 1 value; expected"},
           {with("4e-9", "-4e-9"), 3, ", line 4: #time_window: time window = -4e-9; expected above 0"},
           {with("0.005 sand", "0.005 snad"), 3,
            ", line 6: #box: there is no material \"snad\"; did you mean \"sand\"?"},
           {with("z 0.100", "z 0.400"), 3, ", line 9: #hertzian_dipole: x = 0.4 m is outside the domain"},
           {with("z 0.100", "x 0.100"), 3, ", line 9: #hertzian_dipole: polarisation x in a domain of one cell"},
           {sand_model("#rxx: 1 2 3\n"), 3, ", line 13: unknown command #rxx; did you mean \"#rx\"?"},
           {sand_model("#include_file: none.txt\n"), 3, ", line 13: #include_file: "},
           {sand_model("#python:\n"), 3, ", line 13: #python: without a line #end_python:"},
           {sand_model("#python:\nprint(1)\n#end_python:\n"), 8, ", line 13: command #python is not supported yet"},
           {sand_model("#transmission_line: z 0.1 0.1 0 50 pulse\n"), 8,
            ", line 13: command #transmission_line is not supported yet"},
       }) {
    const std::string in = model(c.text);
    expect_refused({{"run", in, "-o", file("out.out")}, c.status, in + c.message});
  }
}

TEST_F(MaxwellProgram, EveryUnsupportedCommandIsListedBeforeAnythingRuns) {
  const std::string in =
      model(sand_model("#soil_peplinski: 0.5 0.5 2.0 2.66 0.001 0.25 soil\n"
                       "#geometry_view: 0 0 0 0.3 0.3 0.005 0.005 0.005 0.005 view f\n"));
  for (const char* text : {": 2 problems", "line 13: command #soil_peplinski is not supported yet",
                           "line 14: a #geometry_view of edges (f) is not supported yet"})
    expect_refused({{"run", in, "-o", file("out.out")}, 8, text});
}

TEST_F(MaxwellProgram, FilesThatAreNotModelsAreRefused) {
  for (const Wrong& c :
       std::vector<Wrong>{{{"run", file("none.in"), "-o", file("out.out")}, 3, "none.in: no such file"},
                          {{"run", folder_.path().string(), "-o", file("out.out")}, 3, "is a folder, expected a file"}})
    expect_refused(c);
}

TEST_F(MaxwellProgram, ARunThatLeavesTheDomainIsRefusedBeforeTheFirst) {
  expect_refused({{"run", model(), "-n", "21", "-o", file("line.out")}, 3, "in run 21 the source is at x = 0.3 m"});
}

TEST_F(MaxwellProgram, WrongWordsOfPlotAreNamed) {
  const std::string out = file("run.out"), png = file("a.png");
  ASSERT_EQ(command({"run", model(), "-o", out}).status, 0);
  const auto bytes = testing::read_bytes(out);
  testing::write_bytes(file("cut.out"), {bytes.begin(), bytes.begin() + 5000});
  for (const Wrong& c : std::vector<Wrong>{
           {{"plot", file("none.out"), "-o", png}, 3, "none.out: no such file"},
           {{"plot", model(), "-o", png, "--receiver", "1"}, 2, "model.in has no traces of receivers"},
           {{"plot", out, "-o", png, "--frame", "1"}, 2, "run.out has no frames"},
           {{"plot", file("cut.out"), "-o", png}, 3, "cut.out: damaged: the file is cut off"},
           {{"plot", out, "-o", file("a.jpg")}, 2, "charts are written as .png, .pdf or .svg"},
           {{"plot", out, "-o", out}, 2, "charts are written as .png, .pdf or .svg"},
           {{"plot", out, "-o", file("no/a.png")}, 5, "there is no folder"},
           {{"plot", out, "-o", png, "--component", "Q"}, 2, "--component: \"Q\" is not a field component, Ex to Hz"},
           {{"plot", out, "-o", png, "--receiver", "2"}, 3, "receiver 2: the file has 1"},
           {{"plot", out, "-o", png, "--receiver", "0"}, 2, "--receiver: 0 is below the smallest allowed value, 1"},
       })
    expect_refused(c);
}

TEST_F(MaxwellProgram, AnUnknownCheckOfVerifyNamesThoseThatThereAre) {
  expect_refused({{"verify", "--only", "nothing"}, 2, "--only nothing: expected energy, cavity"});
}

}  // namespace
}  // namespace sonde
