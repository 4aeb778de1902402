// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/run/run_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "sonde/instruments/ptycho/run/reference.h"
#include "tests/support/errors.h"
#include "tests/support/files.h"

namespace sonde::ptycho {
namespace {

using sonde::testing::error_of;
using ::testing::HasSubstr;

constexpr const char* example = R"([data]
file = "scan.h5"
scan_shape = [128, 128]
mask = "mask.h5:/mask"
[geometry]
energy_keV = 200
semiangle_mrad = 20
detector_mrad_per_px = 0.94
scan_step_A = 0.42
scan_rotation_deg = -12.5
[probe]
init = "aperture"
defocus_A = 150
C12_A = 20
phi12_deg = 90
modes = 3
[object]
type = "potential"
[[engine]]
name = "dm"
iterations = 20
alpha = 0.9
[[engine]]
name = "lsqml"
iterations = 80
batch = 32
loss = "poisson"
[stop]
rule = "off"
)";

TEST(RunFile, EveryTableReachesItsSettings) {
  RunFile run;
  run.parse(example, "run.toml");
  EXPECT_EQ(run.data.scan_shape, "128,128");
  EXPECT_EQ(run.geometry.scan_rotation_deg, -12.5);
  EXPECT_EQ(run.probe.init, ProbeInit::aperture);
  EXPECT_EQ(run.object.type, ObjectType::potential);
  EXPECT_EQ(run.stop.rule, StopRule::off);
  const Schedule schedule = run.schedule();
  ASSERT_EQ(schedule.engines.size(), 2u);
  EXPECT_EQ(schedule.engines[0].name, "dm");
  EXPECT_EQ(schedule.engines[0].iterations, 20);
  EXPECT_EQ(schedule.engines[1].setup->loss(), Loss::poisson);
}

TEST(RunFile, SlicesHaveOneThicknessOrEachItsOwn) {
  const auto object = [](const std::string& text) {
    auto run = std::make_unique<RunFile>();
    run->parse("[object]\n" + text, "run.toml");
    return run;
  };
  using Numbers = std::vector<double>;
  EXPECT_EQ(object("")->object.slice_distances(), Numbers{});
  EXPECT_EQ(object("slices = 3\nslice_thickness_A = 12.5")->object.slice_distances(), (Numbers{12.5, 12.5}));
  const auto own = object("slices = 3\nslice_thickness_A = [5, 7.5, 10]");
  EXPECT_EQ(own->object.slice_thickness(), (Numbers{5, 7.5, 10}));
  EXPECT_EQ(own->object.slice_distances(), (Numbers{5, 7.5}));
  RunFile again;
  again.parse(own->text(), "settings");
  EXPECT_EQ(again.object.slice_thickness(), (Numbers{5, 7.5, 10}));
  EXPECT_THAT(error_of(ErrorKind::bad_input,
                       [&] { (void)object("slices = 3\nslice_thickness_A = [5, 7.5]")->object.slice_distances(); }),
              HasSubstr("object.slice_thickness_A has 2 numbers for 3 slices\nhint: give one for all"));
  EXPECT_THAT(error_of(ErrorKind::bad_input,
                       [&] { (void)object("slices = 2\nslice_thickness_A = -5")->object.slice_distances(); }),
              HasSubstr("a slice of -5 A"));
}

TEST(RunFile, AberrationsAreThoseOfTheLens) {
  RunFile run;
  run.parse(example, "run.toml");
  Aberrations expected;
  expected.set("defocus", 150);
  expected.set("C12", 20);
  expected.set("phi12", 3.14159265358979323846 / 2);
  EXPECT_EQ(run.probe.lens(), expected);
}

TEST(RunFile, TheResolvedTextRepeatsTheRun) {
  RunFile run, again;
  run.parse(example, "run.toml");
  again.parse(run.text(), "settings");
  EXPECT_EQ(again.tables().echo(), run.tables().echo());
}

TEST(RunFile, UnknownEnginesAndKeysNameTheNearest) {
  RunFile run;
  EXPECT_THAT(
      error_of(ErrorKind::bad_file,
               [&] { run.parse("[[engine]]\nname = \"epei\"\n[probe]\ndefocus = 3\n", "run.toml"); }),
      ::testing::AllOf(HasSubstr("name in run.toml line 2: \"epei\" is not a known engine; did you mean \"epie\""),
                       HasSubstr("unknown key \"defocus\" in [probe] of run.toml line 4; did you mean "
                                 "\"defocus_A\"")));
}

TEST(RunFile, ConstraintsReachTheSchedule) {
  RunFile run;
  run.parse("[[engine]]\nname = \"gd\"\n[[constraint]]\nname = \"probe_power\"\nevery = 3\n", "run.toml");
  const Schedule schedule = run.schedule();
  ASSERT_EQ(schedule.constraints.size(), 1u);
  EXPECT_EQ(schedule.constraints[0].name, "probe_power");
  EXPECT_EQ(schedule.constraints[0].setup->when.every, 3);
}

TEST(RunFile, ARunNeedsAnEngine) {
  RunFile run;
  EXPECT_THAT(error_of(ErrorKind::bad_input, [&] { (void)run.schedule(); }), HasSubstr("names no engine"));
}

TEST(RunFile, PathsStartAtTheFolderOfTheFile) {
  const sonde::testing::TemporaryFolder folder;
  std::ofstream(folder.file("run.toml")) << "[data]\nfile = \"a.h5\"\npositions = \"scan\"\nmask = \"m.h5:/mask\"\n"
                                            "[probe]\nfile = \"p.npy\"\n[output]\nfile = \"/tmp/r.h5\"\n";
  RunFile run;
  run.read(folder.file("run.toml"));
  EXPECT_EQ(run.data.file, folder.file("a.h5"));
  EXPECT_EQ(run.data.positions, "scan");  // a data set
  EXPECT_EQ(run.data.mask, folder.file("m.h5") + ":/mask");
  EXPECT_EQ(run.probe.file, folder.file("p.npy"));
  EXPECT_EQ(run.output.file, "/tmp/r.h5");
}

TEST(RunFile, TheReferenceHasEveryTableKindAndKey) {
  const std::string page = run_file_reference();
  EXPECT_THAT(page, HasSubstr("| `energy_keV` | number |  | keV | energy of the electrons or photons |"));
  EXPECT_THAT(page, HasSubstr("| `units` | `\"A\"`, `\"pixel\"` | `\"A\"` |"));
  RunFile run;
  for (const std::string& name : run.tables().names()) {
    const Tables::Table& table = *run.tables().find(name);
    EXPECT_THAT(page, HasSubstr(table.list ? "\n## [[" + name + "]]\n" : "\n## [" + name + "]\n"));
    for (const std::string& kind : table.kinds) {
      EXPECT_THAT(page, HasSubstr("\n### name = \"" + kind + "\"\n"));
      run.tables().append(name, kind, "name");
    }
    for (const Tables::Item& item : table.items)
      for (const Field& field : item.fields.all()) EXPECT_THAT(page, HasSubstr("| `" + field.key + "` |"));
  }
}

TEST(RunFile, TheCommentedFileIsARunFile) {
  RunFile run, again;
  run.parse(example, "run.toml");
  again.parse(commented_run_file(run), "commented.toml");
  EXPECT_EQ(again.tables().echo(), run.tables().echo());
}

TEST(RunFile, TheCommentedFileExplainsTablesEnginesAndEveryConstraint) {
  RunFile run;
  run.parse("[[engine]]\nname = \"gd\"\n[[constraint]]\nname = \"probe_power\"\n", "run.toml");
  const std::string text = commented_run_file(run, {"geometry.energy_keV"});
  EXPECT_THAT(
      text,
      HasSubstr("\n# ---- What turns pixels into lengths, and how a raster is placed on the specimen.\n[geometry]\n"));
  EXPECT_THAT(text, HasSubstr("# FILL IN: energy of the electrons or photons, keV\n"));
  EXPECT_THAT(text, HasSubstr("\n#   lsqml "));
  EXPECT_THAT(text,
              HasSubstr("\n[[constraint]]\nname = \"probe_power\"             # The probe has the mean counts of a "
                        "frame.\n"));
  EXPECT_THAT(text,
              HasSubstr("\n# [[constraint]]\n# name = \"tv\"                    # Smooths noise and keeps edges"));
  EXPECT_THAT(text, HasSubstr("\n# weight = "));
  // Without their marks all constraints are those of a run file.
  std::string all;
  std::istringstream lines(text.substr(text.find("\n# [[constraint]]")));
  for (std::string line; std::getline(lines, line) && line.rfind("# ----", 0) != 0;)
    if (line.find("= ") != std::string::npos || line.rfind("# [[", 0) == 0)
      if (line.find("=  ") == std::string::npos) all += line.substr(line.rfind("# ", 1) == 0 ? 2 : 0) + "\n";
  RunFile again;
  again.parse("[[engine]]\nname = \"gd\"\n" + all, "constraints.toml");
  EXPECT_EQ(again.schedule().constraints.size() + 1, constraint_kinds().size());
}

}  // namespace
}  // namespace sonde::ptycho
