// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/read/gprmax_input.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "sonde/instruments/maxwell/read/test_gprmax.h"
#include "tests/support/data.h"
#include "tests/support/errors.h"

namespace sonde::maxwell {
namespace {

using sonde::testing::error_of;
using testing::block;
using testing::changed;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::input_of;
using ::testing::IsEmpty;
using ::testing::SizeIs;

/// The message of what bad files throw.
std::string refused(const std::string& text) {
  return error_of(ErrorKind::bad_file, [&] { (void)input_of(text); });
}
std::string unsupported(const std::string& text) {
  return error_of(ErrorKind::not_supported, [&] { (void)input_of(text); });
}

/// With this line after the others, line 8.
std::string bad_line(const std::string& line) { return refused(block + line); }

GprmaxInput read_shared(const std::filesystem::path& data, const std::string& name) {
  return read_gprmax_input((data / "maxwell/gprmax" / name).string());
}

TEST(RoundedHalfDown, HalvesGoTowardsZero) {
  EXPECT_EQ(rounded_half_down(2.5), 2);
  EXPECT_EQ(rounded_half_down(2.5000001), 3);
  EXPECT_EQ(rounded_half_down(-2.5), -2);
  EXPECT_EQ(rounded_half_down(-2.6), -3);
  EXPECT_EQ(rounded_half_down(0.49999999999999994), 0);  // + 0.5 would round to 1
}

TEST(NearestPlanes, RoundTheQuotient) {
  EXPECT_EQ(nearest_planes({0.070, 0.0005, 0.21}, {0.001, 0.001, 0.002}), (XyzIndex{70, 0, 105}));
}

TEST(GprmaxInput, ReadsALineSourceInTwoDimensions) {
  SONDE_NEED_DATA(data);
  const GprmaxInput read = read_shared(data, "2D_EzHxHy.in");
  EXPECT_EQ(read.title, "2D test Ez, Hx, Hy components");
  EXPECT_EQ(read.cells, (XyzIndex{100, 100, 1}));
  EXPECT_EQ(read.flat_axis(), 2U);
  ASSERT_THAT(read.sources, SizeIs(1));
  EXPECT_EQ(read.sources[0].kind, GprmaxSourceKind::hertzian_dipole);
  EXPECT_EQ(read.sources[0].polarisation, 2U);
  EXPECT_EQ(read.sources[0].position, (Xyz{0.05, 0.05, 0}));
  EXPECT_EQ(read.sources[0].waveform, "myWave");
  ASSERT_THAT(read.waveforms, SizeIs(1));
  EXPECT_EQ(read.waveforms[0].type, "gaussiandot");
  EXPECT_EQ(read.waveforms[0].frequency, 1e9);
  ASSERT_THAT(read.receivers, SizeIs(1));
  EXPECT_THAT(read.receivers[0].outputs, SizeIs(6));
  EXPECT_EQ(read.receivers[0].name, "");
}

TEST(GprmaxInput, ReadsTheOtherFlatModels) {
  SONDE_NEED_DATA(data);
  EXPECT_EQ(read_shared(data, "2D_EyHxHz.in").flat_axis(), 1U);
  EXPECT_EQ(read_shared(data, "2D_ExHyHz.in").flat_axis(), 0U);
}

TEST(GprmaxInput, ReadsABScanOfACylinder) {
  SONDE_NEED_DATA(data);
  const GprmaxInput read = read_shared(data, "cylinder_Bscan_2D.in");
  EXPECT_EQ(read.cells, (XyzIndex{120, 105, 1}));
  EXPECT_EQ(read.src_steps, (XyzIndex{1, 0, 0}));
  EXPECT_EQ(read.rx_steps, (XyzIndex{1, 0, 0}));
  ASSERT_THAT(read.materials, SizeIs(3));
  EXPECT_EQ(read.materials[0].id, "pec");
  EXPECT_TRUE(std::isinf(read.materials[0].sigma));
  EXPECT_EQ(read.materials[2].id, "half_space");
  EXPECT_EQ(read.materials[2].eps_r, 6);
  ASSERT_THAT(read.objects, SizeIs(2));
  EXPECT_EQ(std::get<GprmaxBox>(read.objects[0].shape).high, (Xyz{0.24, 0.17, 0.002}));
  EXPECT_EQ(std::get<GprmaxCylinder>(read.objects[1].shape).radius, 0.01);
  EXPECT_THAT(read.objects[1].materials, ElementsAre("pec"));
}

TEST(GprmaxInput, ReadsAnAScanOfACylinder) {
  SONDE_NEED_DATA(data);
  const GprmaxInput read = read_shared(data, "cylinder_Ascan_2D.in");
  EXPECT_EQ(read.sources[0].position, (Xyz{0.1, 0.17, 0}));
  EXPECT_EQ(read.src_steps, XyzIndex{});
  EXPECT_EQ(read.waveforms[0].type, "ricker");
}

TEST(GprmaxInput, ReadsDebyeWater) {
  SONDE_NEED_DATA(data);
  const GprmaxInput read = read_shared(data, "hertzian_dipole_dispersive.in");
  const GprmaxMaterial& water = read.materials[2];
  EXPECT_EQ(water.eps_r, 4.9);
  ASSERT_THAT(water.poles, SizeIs(1));
  EXPECT_EQ(water.poles[0].deps, 75.2);
  EXPECT_EQ(water.poles[0].tau, 9.231e-12);
  EXPECT_FALSE(water.averaged());
  EXPECT_EQ(read.flat_axis(), std::nullopt);
}

TEST(GprmaxInput, ReadsDipolesInThreeDimensions) {
  SONDE_NEED_DATA(data);
  for (const char* name : {"hertzian_dipole_fs.in", "hertzian_dipole_fs_analytical.in", "hertzian_dipole_hs.in"}) {
    SCOPED_TRACE(name);
    const GprmaxInput read = read_shared(data, name);
    EXPECT_EQ(read.cells, (XyzIndex{100, 100, 100}));
    EXPECT_EQ(read.sources[0].polarisation, 2U);
    EXPECT_EQ(read.receivers[0].position, (Xyz{0.07, 0.07, 0.07}));
  }
  EXPECT_EQ(read_shared(data, "magnetic_dipole_fs.in").sources[0].kind, GprmaxSourceKind::magnetic_dipole);
}

TEST(GprmaxInput, ReadsTheBenchmarks) {
  SONDE_NEED_DATA(data);
  EXPECT_EQ(read_shared(data, "bench_100x100x100.in").cells, (XyzIndex{100, 100, 100}));
  EXPECT_EQ(read_shared(data, "bench_200x200x200.in").cells, (XyzIndex{200, 200, 200}));
  EXPECT_EQ(read_shared(data, "bench_200x200x200.in").waveforms[0].type, "gaussiandotnorm");
}

TEST(GprmaxInput, NamesEveryUnsupportedCommandWithItsLine) {
  SONDE_NEED_DATA(data);
  const std::string path = (data / "maxwell/gprmax/heterogeneous_soil.in").string();
  const std::string text = error_of(ErrorKind::not_supported, [&] { (void)read_gprmax_input(path); });
  EXPECT_EQ(text, "error: " + path + ": 3 problems\n" +                                              //
                      "  - " + path + ", line 10: command #soil_peplinski is not supported yet\n" +  //
                      "  - " + path + ", line 11: command #fractal_box is not supported yet\n" +     //
                      "  - " + path + ", line 12: command #add_surface_roughness is not supported yet");
}

TEST(GprmaxInput, APythonBlockHidesWhatItDefines) {
  EXPECT_EQ(unsupported("#python:\nprint('#domain: 1 1 1')\n#end_python:\n#box: 0 0 0 1 1 1 soil"),
            "error: model.in, line 1: command #python is not supported yet\n"
            "hint: `python -m gprMax model.in --write-processed` writes a file with the commands that it prints");
}

TEST(GprmaxInput, TheSmallestFileHasTheDefaultsOfGprmax) {
  const GprmaxInput read = input_of("#domain: 0.1 0.1 0.1\n#dx_dy_dz: 0.002 0.002 0.002\n#time_window: 100");
  EXPECT_EQ(read.title, "");
  EXPECT_EQ(read.pml_cells[2][1], 10);
  EXPECT_EQ(read.stability_factor, 1);
  EXPECT_EQ(read.pml.grading, 4);
  EXPECT_EQ(read.pml.kappa_max, 1);
  EXPECT_EQ(read.pml.alpha_max, 0);
  EXPECT_THAT(read.sources, IsEmpty());
  EXPECT_EQ(read.iterations(), 100);
}

TEST(GprmaxInput, ReadsWhatIsNotOfTheModel) {
  const GprmaxInput read = input_of(block + "#messages: N\n#num_threads: 3\n#output_dir: my results");
  EXPECT_FALSE(read.messages);
  EXPECT_EQ(read.num_threads, 3);
  EXPECT_EQ(read.output_dir, "my results");
}

TEST(GprmaxInput, LayersHaveOneOrSixWidths) {
  EXPECT_EQ(input_of(changed("#pml_cells: 2", "#pml_cells: 3")).pml_cells[1][0], 3);
  const GprmaxInput read = input_of(changed("#pml_cells: 2", "#pml_cells: 1 2 3 4 5 6"));
  EXPECT_EQ(read.pml_cells[0], (std::array<Index, 2>{1, 4}));
  EXPECT_EQ(read.pml_cells[1], (std::array<Index, 2>{2, 5}));
  EXPECT_EQ(read.pml_cells[2], (std::array<Index, 2>{3, 6}));
}

TEST(GprmaxInput, ReadsLayersOfFirstOrder) {
  const GprmaxInput read =
      input_of(block + "#pml_cfs: linear reverse 0.01 0.05 cubic forward 1 8 cubic forward 0 None");
  EXPECT_EQ(read.pml.grading, 3);
  EXPECT_EQ(read.pml.kappa_max, 8);
  EXPECT_EQ(read.pml.alpha_min, 0.01);
  EXPECT_DOUBLE_EQ(read.pml.alpha_max.value(), 0.04);  // alpha = alpha_max (1 - depth) + alpha_min
  EXPECT_EQ(read.pml_sigma_max, std::nullopt);
  const GprmaxInput given =
      input_of(block + "#pml_cfs: constant forward 0 0.05 constant forward 1 1 quartic forward 0 7");
  EXPECT_EQ(given.pml.alpha_min, 0.05);
  EXPECT_EQ(given.pml.alpha_max, 0);
  EXPECT_EQ(given.pml_sigma_max, 7);
}

TEST(GprmaxInput, LayersOfOtherProfilesAreNotSupported) {
  const auto with = [](const std::string& cfs) { return unsupported(block + "#pml_cfs: " + cfs); };
  EXPECT_EQ(with("constant forward 0 0 constant forward 1 1 quartic forward 1 None"),
            "error: model.in, line 8: a sigma of #pml_cfs that does not grow forward from 0 is not supported yet");
  EXPECT_EQ(with("constant forward 0 0 linear forward 1 5 quartic forward 0 None"),
            "error: model.in, line 8: a kappa of #pml_cfs that does not grow from 1 like sigma is not supported yet");
  EXPECT_EQ(with("cubic forward 0 1 constant forward 1 1 quartic forward 0 None"),
            "error: model.in, line 8: an alpha of #pml_cfs that is neither constant nor linear in reverse direction is "
            "not supported yet");
  const std::string plain = "constant forward 0 0 constant forward 1 1 quartic forward 0 None";
  EXPECT_EQ(with(plain + "\n#pml_cfs: " + plain),
            "error: model.in, line 9: a second #pml_cfs (a layer of second order) is not supported yet");
}

TEST(GprmaxInput, ProfilesOfLayersAreChecked) {
  EXPECT_EQ(bad_line("#pml_cfs: const forward 0 0 constant forward 1 1 quartic forward 0 None"),
            "error: model.in, line 8: #pml_cfs: profile of alpha = \"const\"; expected constant, linear, quadratic, "
            "cubic, quartic, quintic or sextic");
  EXPECT_EQ(bad_line("#pml_cfs: constant up 0 0 constant forward 1 1 quartic forward 0 None"),
            "error: model.in, line 8: #pml_cfs: direction of alpha = \"up\"; expected forward or reverse");
  EXPECT_EQ(bad_line("#pml_cfs: constant forward 0 0 constant forward 0 1 quartic forward 0 None"),
            "error: model.in, line 8: #pml_cfs: smallest kappa = 0; expected at least 1");
  EXPECT_EQ(bad_line("#pml_cfs: constant forward 0 0 quartic forward 1 0.5 quartic forward 0 None"),
            "error: model.in, line 8: #pml_cfs: largest kappa = 0.5; expected at least 1");
}

TEST(GprmaxInput, SourcesHaveTimesAndResistances) {
  const GprmaxInput read = input_of(block +
                                    "#magnetic_dipole: X 0.02 0.02 0.02 w 1e-10 5e-10\n"
                                    "#voltage_source: y 0.02 0.02 0.02 50 w\n");
  ASSERT_THAT(read.sources, SizeIs(2));  // voltage sources first, as results number them
  EXPECT_EQ(read.sources[0].kind, GprmaxSourceKind::voltage_source);
  EXPECT_EQ(read.sources[0].resistance, 50);
  EXPECT_EQ(read.sources[0].stop, std::nullopt);
  EXPECT_EQ(read.sources[1].polarisation, 0U);
  EXPECT_EQ(read.sources[1].start, 1e-10);
  EXPECT_EQ(read.sources[1].stop, 5e-10);
  EXPECT_EQ(read.sources[1].where, "model.in, line 8");
}

TEST(GprmaxInput, ReceiversMayNameTheirOutputs) {
  const GprmaxInput read = input_of(block + "#rx: 0.02 0.02 0.02 mine Ez Hx");
  EXPECT_EQ(read.receivers[0].name, "mine");
  EXPECT_THAT(read.receivers[0].outputs, ElementsAre(Component::Ez, Component::Hx));
}

TEST(GprmaxInput, SnapshotsHaveATimeOrAStep) {
  const GprmaxInput read = input_of(block +
                                    "#snapshot: 0 0 0 0.04 0.04 0.04 0.001 0.001 0.001 7 a\n"
                                    "#snapshot: 0 0 0 0.04 0.04 0.04 0.001 0.001 0.001 1e-10 b\n");
  EXPECT_EQ(read.snapshot_step(read.snapshots[0]), 7);
  // dt = 1 mm / (c sqrt 3) = 1.9258 ps: 1e-10 s are 51.93 steps, and the first step is number 1.
  EXPECT_EQ(read.snapshot_step(read.snapshots[1]), 53);
}

TEST(GprmaxInput, ObjectsHaveOneOrSeveralMaterials) {
  const std::string more = "#material: 2 0 1 0 b\n#material: 3 0 1 0 c\n";
  const auto object = [&](const std::string& line) { return input_of(block + more + line).objects.at(0); };
  EXPECT_TRUE(object("#box: 0 0 0 0.01 0.01 0.01 soil").averaged);
  EXPECT_TRUE(object("#box: 0 0 0 0.01 0.01 0.01 soil Y").averaged);
  EXPECT_FALSE(object("#box: 0 0 0 0.01 0.01 0.01 soil n").averaged);
  EXPECT_FALSE(object("#box: 0 0 0 0.01 0.01 0.01 soil b c").averaged);
  EXPECT_THAT(object("#box: 0 0 0 0.01 0.01 0.01 soil b c").materials, ElementsAre("soil", "b", "c"));
  EXPECT_THAT(object("#plate: 0 0 0 0.01 0.01 0 soil b").materials, ElementsAre("soil", "b"));
  EXPECT_THAT(object("#edge: 0 0 0 0.01 0 0 soil").materials, ElementsAre("soil"));
  EXPECT_EQ(std::get<GprmaxSphere>(object("#sphere: 0 0 0 0.01 soil").shape).radius, 0.01);
  EXPECT_EQ(std::get<GprmaxTriangle>(object("#triangle: 0 0 0 0.01 0 0 0 0.01 0 0.002 soil").shape).thickness, 0.002);
  EXPECT_EQ(std::get<GprmaxSector>(object("#cylindrical_sector: z 0.02 0.02 0 0.01 0.005 0 90 soil").shape).axis, 2U);
}

TEST(GprmaxInput, MaterialsMayFollowTheirUse) {
  const GprmaxInput read = input_of(
      block +
      "#add_dispersion_debye: 2 3 1e-11 4 2e-11 wet\n#box: 0 0 0 0.01 0.01 0.01 wet\n#material: 4 0.01 1 0 wet");
  ASSERT_THAT(read.materials.back().poles, SizeIs(2));
  EXPECT_EQ(read.materials.back().poles[1].tau, 2e-11);
}

TEST(GprmaxInput, WaveformsMayBeColumnsOfAFile) {
  const TextReader reader = [](const std::string& path) {
    EXPECT_EQ(path, "waves.txt");
    return std::string("time a  b\n# comment\n0 1 2\n\n1e-10 3 4\n");
  };
  const GprmaxInput read =
      parse_gprmax_input(block + "#excitation_file: waves.txt linear extrapolate\n#hertzian_dipole: x 0.02 0.02 0.02 b",
                         "model.in", reader);
  EXPECT_THAT(read.excitation.ids, ElementsAre("a", "b"));
  EXPECT_THAT(read.excitation.times, ElementsAre(0, 1e-10));
  EXPECT_THAT(read.excitation.values[1], ElementsAre(2, 4));
  EXPECT_TRUE(read.excitation.extrapolate);
}

TEST(GprmaxInput, ColumnsOfWaveformsAreChecked) {
  const auto with = [](const std::string& content) {
    return error_of(ErrorKind::bad_file, [&] {
      (void)parse_gprmax_input(block + "#excitation_file: waves.txt", "model.in",
                               [&](const std::string&) { return content; });
    });
  };
  EXPECT_EQ(with(""), "error: waves.txt: no names of waveforms");
  EXPECT_EQ(with("a\n"), "error: waves.txt: no numbers below the names");
  EXPECT_EQ(with("a b\n1 2\n3\n"), "error: waves.txt, line 3: 1 numbers; expected 2, one for each name");
  EXPECT_EQ(with("a\nx\n"), "error: waves.txt, line 2: \"x\"; expected a number");
  EXPECT_EQ(with("time a\n1 2\n1 3\n"), "error: waves.txt, line 3: time = 1; expected later than the row before");
  EXPECT_EQ(with("w\n1\n"), "error: model.in, line 8: #excitation_file: the waveform \"w\" exists already");
  EXPECT_EQ(bad_line("#excitation_file: absent.txt"),
            "error: model.in, line 8: #excitation_file: absent.txt: no such file");
  EXPECT_EQ(bad_line("#excitation_file: a.txt spline extrapolate"),
            "error: model.in, line 8: #excitation_file: interpolation = \"spline\"; expected linear");
  EXPECT_EQ(bad_line("#excitation_file: a.txt linear nan"),
            "error: model.in, line 8: #excitation_file: fill = \"nan\"; expected 0 or extrapolate");
  EXPECT_EQ(unsupported(block + "#excitation_file: a.txt cubic 0"),
            "error: model.in, line 8: interpolation cubic of #excitation_file is not supported yet");
}

TEST(GprmaxInput, UnknownCommandsNameTheNearest) {
  EXPECT_EQ(bad_line("#boxx: 1"), "error: model.in, line 8: unknown command #boxx; did you mean \"#box\"?");
  EXPECT_EQ(bad_line("#Domain: 1"), "error: model.in, line 8: unknown command #Domain; did you mean \"#domain\"?");
  EXPECT_EQ(bad_line("#end_python:"), "error: model.in, line 8: unknown command #end_python");
}

TEST(GprmaxInput, EssentialCommandsAreMissed) {
  EXPECT_EQ(refused("#domain: 1 1 1"), "error: model.in: #dx_dy_dz and #time_window are missing");
  EXPECT_EQ(refused(changed("#time_window: 1e-9", "")), "error: model.in: #time_window is missing");
}

TEST(GprmaxInput, SomeCommandsAreGivenOnce) {
  EXPECT_EQ(bad_line("#domain: 1 1 1"), "error: model.in, line 8: #domain: given twice; the first is model.in, line 2");
}

TEST(GprmaxInput, TheNumberOfValuesIsChecked) {
  EXPECT_EQ(refused(changed("#dx_dy_dz: 0.001 0.001 0.001", "#dx_dy_dz: 0.001")),
            "error: model.in, line 3: #dx_dy_dz: 1 value; expected dx dy dz");
  EXPECT_EQ(bad_line("#rx: 0.02 0.02 0.02 name"),
            "error: model.in, line 8: #rx: 4 values; expected x y z [name outputs]");
  EXPECT_EQ(bad_line("#hertzian_dipole: z 0.02 0.02 0.02 w 0"),
            "error: model.in, line 8: #hertzian_dipole: 6 values; expected axis x y z waveform [start stop]");
  EXPECT_EQ(
      bad_line("#add_dispersion_debye: 2 3 1e-11 4 soil"),
      "error: model.in, line 8: #add_dispersion_debye: 5 values; expected deps and tau of 2 poles, and the ids of "
      "materials");
}

TEST(GprmaxInput, ValuesAreChecked) {
  EXPECT_EQ(bad_line("#rx: 0.02 abc 0.02"), "error: model.in, line 8: #rx: y = \"abc\"; expected a number");
  EXPECT_EQ(bad_line("#rx: 0.02 nan 0.02"), "error: model.in, line 8: #rx: y = \"nan\"; expected a number");
  EXPECT_EQ(refused(changed("#dx_dy_dz: 0.001 0.001 0.001", "#dx_dy_dz: 0.001 0 0.001")),
            "error: model.in, line 3: #dx_dy_dz: dy = 0; expected above 0");
  EXPECT_EQ(bad_line("#time_step_stability_factor: 1.5"),
            "error: model.in, line 8: #time_step_stability_factor: factor = 1.5; expected at most 1");
  EXPECT_EQ(bad_line("#messages: maybe"), "error: model.in, line 8: #messages: messages = \"maybe\"; expected y or n");
  EXPECT_EQ(bad_line("#num_threads: 2.5"),
            "error: model.in, line 8: #num_threads: threads = \"2.5\"; expected a whole number of at least 1");
  EXPECT_EQ(bad_line("#hertzian_dipole: w 0.02 0.02 0.02 w"),
            "error: model.in, line 8: #hertzian_dipole: polarisation = \"w\"; expected x, y or z");
  EXPECT_EQ(refused(changed("#time_window: 1e-9", "#time_window: 0")),
            "error: model.in, line 4: #time_window: time window = \"0\"; expected a whole number of at least 1");
  EXPECT_EQ(refused(changed("#time_window: 1e-9", "#time_window: -1e-9")),
            "error: model.in, line 4: #time_window: time window = -1e-9; expected above 0");
}

TEST(GprmaxInput, MaterialsAreChecked) {
  EXPECT_EQ(bad_line("#material: 0.5 0 1 0 a"), "error: model.in, line 8: #material: eps_r = 0.5; expected at least 1");
  EXPECT_EQ(bad_line("#material: 1 -1 1 0 a"), "error: model.in, line 8: #material: sigma = -1; expected at least 0");
  EXPECT_EQ(bad_line("#material: 1 0 0 0 a"), "error: model.in, line 8: #material: mu_r = 0; expected at least 1");
  EXPECT_EQ(bad_line("#material: 1 0 1 0 soil"),
            "error: model.in, line 8: #material: the material \"soil\" exists already");
  EXPECT_EQ(unsupported(block + "#material: 1 0 1 2 a\n#box: 0 0 0 0.01 0.01 0.01 a"),
            "error: model.in, line 8: magnetic loss (sigma* of #material above 0) is not supported yet");
  EXPECT_EQ(bad_line("#add_dispersion_debye: 1 3 0 soil"),
            "error: model.in, line 8: #add_dispersion_debye: tau = 0; expected above 0");
  EXPECT_EQ(bad_line("#box: 0 0 0 0.01 0.01 0.01 soill"),
            "error: model.in, line 8: #box: there is no material \"soill\"; did you mean \"soil\"?");
  EXPECT_EQ(bad_line("#add_dispersion_debye: 1 3 1e-11 sand"),
            "error: model.in, line 8: #add_dispersion_debye: there is no material \"sand\"");
}

TEST(GprmaxInput, WaveformsAreChecked) {
  EXPECT_EQ(
      bad_line("#waveform: rickr 1 1e9 v"),
      "error: model.in, line 8: #waveform: type = \"rickr\"; expected gaussian, gaussiandot, gaussiandotnorm, "
      "gaussiandotdot, gaussiandotdotnorm, ricker, gaussianprime, gaussiandoubleprime, sine, contsine or impulse");
  EXPECT_EQ(bad_line("#waveform: ricker 1 1e9 w"),
            "error: model.in, line 8: #waveform: the waveform \"w\" exists already");
  EXPECT_EQ(bad_line("#hertzian_dipole: z 0.02 0.02 0.02 wave"),
            "error: model.in, line 8: #hertzian_dipole: there is no waveform \"wave\"");
}

TEST(GprmaxInput, PositionsAreInsideTheDomain) {
  EXPECT_EQ(bad_line("#rx: 0.02 0.05 0.02"),
            "error: model.in, line 8: #rx: y = 0.05 m is outside the domain; expected 0 to 0.039 m");
  EXPECT_EQ(bad_line("#rx: 0.02 0.02 0.04"),
            "error: model.in, line 8: #rx: z = 0.04 m is outside the domain; expected 0 to 0.039 m");
  EXPECT_EQ(bad_line("#voltage_source: z -0.02 0.02 0.02 50 w"),
            "error: model.in, line 8: #voltage_source: x = -0.02 m is outside the domain; expected 0 to 0.039 m");
  EXPECT_EQ(bad_line("#box: 0 0 0 0.041 0.01 0.01 soil"),
            "error: model.in, line 8: #box: x = 0.041 m is outside the domain; expected 0 to 0.04 m");
}

TEST(GprmaxInput, ExtentsAreChecked) {
  EXPECT_EQ(bad_line("#box: 0 0.02 0 0.01 0.01 0.01 soil"),
            "error: model.in, line 8: #box: from y = 0.02 to y = 0.01 m; expected the lower end first");
  EXPECT_EQ(bad_line("#box: 0 0 0 0.01 0.01 0 soil"),
            "error: model.in, line 8: #box: an extent along 2 axes; expected 3");
  EXPECT_EQ(bad_line("#plate: 0 0 0 0.01 0.01 0.01 soil"),
            "error: model.in, line 8: #plate: an extent along 3 axes; expected 2");
  EXPECT_EQ(bad_line("#edge: 0 0 0 0 0 0 soil"), "error: model.in, line 8: #edge: an extent along 0 axes; expected 1");
  EXPECT_EQ(bad_line("#sphere: 0 0 0 0 soil"), "error: model.in, line 8: #sphere: radius = 0; expected above 0");
  EXPECT_EQ(bad_line("#cylinder: 0.01 0 0 0.01 0 0 0.01 soil"),
            "error: model.in, line 8: #cylinder: both faces have one centre; expected two");
  EXPECT_EQ(
      bad_line("#triangle: 0 0 0 0.01 0 0 0 0.01 0.01 0 soil"),
      "error: model.in, line 8: #triangle: the corners are in no coordinate plane; expected one coordinate that is "
      "equal in all");
  EXPECT_EQ(bad_line("#triangle: 0 0 0 0.01 0.01 0 0.02 0.02 0 0 soil"),
            "error: model.in, line 8: #triangle: the corners are on a line; expected a triangle");
  EXPECT_EQ(bad_line("#cylindrical_sector: z 0.02 0.02 0 0.01 0.005 0 400 soil"),
            "error: model.in, line 8: #cylindrical_sector: angles 0 and 400; expected less than 360");
  EXPECT_EQ(bad_line("#cylindrical_sector: z 0.02 0.02 0.02 0.01 0.005 0 90 soil"),
            "error: model.in, line 8: #cylindrical_sector: it reaches from 0.02 to 0.01; expected the lower end first");
  EXPECT_EQ(bad_line("#box: 0 0 0 0.01 0.01 0.01 soil maybe"),
            "error: model.in, line 8: #box: averaging = \"maybe\"; expected y or n");
}

TEST(GprmaxInput, ReceiversAreChecked) {
  EXPECT_EQ(bad_line("#rx: 0.02 0.02 0.02 a Ew"),
            "error: model.in, line 8: #rx: output \"Ew\"; expected Ex, Ey, Ez, Hx, Hy or Hz");
  EXPECT_EQ(unsupported(block + "#rx: 0.02 0.02 0.02 a Ix"),
            "error: model.in, line 8: output Ix of #rx is not supported yet");
  EXPECT_EQ(bad_line("#rx_array: 0.01 0.01 0.01 0.02 0.02 0.02 0.0001 0 0"),
            "error: model.in, line 8: #rx_array: step along x = 0.0001; expected 0 or at least one cell");
  EXPECT_EQ(bad_line("#rx_array: 0.02 0.01 0.01 0.01 0.02 0.02 0 0 0"),
            "error: model.in, line 8: #rx_array: the upper end along x is below the lower one");
}

TEST(GprmaxInput, TimesAreChecked) {
  EXPECT_EQ(bad_line("#hertzian_dipole: z 0.02 0.02 0.02 w 2e-9 1e-9"),
            "error: model.in, line 8: #hertzian_dipole: start = 2e-9, stop = 1e-9; expected stop after start");
  EXPECT_EQ(bad_line("#snapshot: 0 0 0 0.04 0.04 0.04 0.001 0.001 0.001 1000 a"),
            "error: model.in, line 8: #snapshot: time = 1000 is step 1000; the run has 521");
  EXPECT_EQ(bad_line("#snapshot: 0 0 0 0.04 0.04 0.04 0.001 0 0.001 1 a"),
            "error: model.in, line 8: #snapshot: step along y = 0; expected at least one cell");
  EXPECT_EQ(refused(changed("#time_window: 1e-9", "#time_window: 1.0")),
            "error: model.in, line 4: #time_window: 519255768983 steps of 1.93e-12 s; expected at most 1000000000");
}

TEST(GprmaxInput, ViewsOfTheGeometryAreBoxesInSteps) {
  const GprmaxInput read = input_of(block + "#geometry_view: 0 0 0.01 0.04 0.03 0.02 0.001 0.002 0.001 ground N\n");
  ASSERT_EQ(read.geometry_views.size(), 1U);
  EXPECT_EQ(read.geometry_views[0].last, (Xyz{0.04, 0.03, 0.02}));
  EXPECT_EQ(read.geometry_views[0].step, (Xyz{0.001, 0.002, 0.001}));
  EXPECT_EQ(read.geometry_views[0].file, "ground");
}

TEST(GprmaxInput, ViewsOfTheGeometryAreChecked) {
  const std::string box = "#geometry_view: 0 0 0 0.04 0.04 0.04 0.001 0.001 0.001 ";
  EXPECT_EQ(unsupported(block + box + "a f"),
            "error: model.in, line 8: a #geometry_view of edges (f) is not supported yet");
  EXPECT_EQ(bad_line(box + "a c"), "error: model.in, line 8: #geometry_view: kind = \"c\"; expected n or f");
  EXPECT_EQ(bad_line("#geometry_view: 0 0 0 0.04 0.04 0.04 0.0001 0.001 0.001 a n"),
            "error: model.in, line 8: #geometry_view: step along x = 0.0001; expected at least one cell");
  EXPECT_EQ(bad_line("#geometry_view: 0 0 0 0.05 0.04 0.04 0.001 0.001 0.001 a n"),
            "error: model.in, line 8: #geometry_view: x = 0.05 m is outside the domain; expected 0 to 0.04 m");
}

TEST(GprmaxInput, ResultsHaveNamesOfTheirOwnWithoutAFolder) {
  const std::string box = "#snapshot: 0 0 0 0.04 0.04 0.04 0.001 0.001 0.001 7 ";
  for (const char* name : {"../a", "/a", ".."})
    EXPECT_EQ(bad_line(box + name), "error: model.in, line 8: #snapshot: file = \"" + std::string(name) +
                                        "\"; expected a name without a folder");
  EXPECT_EQ(refused(block + box + "a\n" + box + "a.h5\n"),
            "error: model.in, line 9: #snapshot: the file \"a.h5\" is written by an earlier command");
  EXPECT_EQ(input_of(block + box + "a\n" + box + "a.vti\n").snapshots.size(), 2U);
}

TEST(GprmaxInput, TheDomainIsChecked) {
  const auto with = [](const std::string& domain) {
    return refused("#domain: " + domain + "\n#dx_dy_dz: 1 1 1\n#time_window: 1");
  };
  EXPECT_EQ(with("30 30 0.5"), "error: model.in, line 1: #domain: 0 cells along z; expected at least 1");
  EXPECT_EQ(with("1 30 1"), "error: model.in, line 1: #domain: one cell along x and z; expected one such axis at most");
  EXPECT_EQ(with("1e6 1e6 1e6"), "error: model.in, line 1: #domain: 1e+18 cells; expected at most 1e+12");
  EXPECT_EQ(
      with("30 15 30"),
      "error: model.in, line 1: #domain: absorbing layers of 10 and 10 cells along y, which has 15; expected less "
      "in all\nhint: a line `#pml_cells: 5` makes them thinner than the 10 cells they have by default");
  EXPECT_THAT(refused(changed("#pml_cells: 2", "#pml_cells: 20")),
              HasSubstr("model.in, line 5: #pml_cells: absorbing layers"));
  EXPECT_EQ(refused("#domain: 1e-40 1e-40 1e-40\n#dx_dy_dz: 1e-42 1e-42 1e-42\n#time_window: 1"),
            "error: model.in, line 3: #time_window: the time step is 0 s; expected above 0");
}

TEST(GprmaxInput, PolarisationsCoupleInTwoDimensions) {
  const std::string flat =
      "#domain: 0.1 0.1 0.002\n#dx_dy_dz: 0.002 0.002 0.002\n#time_window: 10\n#waveform: ricker 1 1e9 w\n";
  EXPECT_EQ(refused(flat + "#hertzian_dipole: x 0.05 0.05 0 w"),
            "error: model.in, line 5: #hertzian_dipole: polarisation x in a domain of one cell along z; expected z");
  EXPECT_EQ(
      refused(flat + "#magnetic_dipole: z 0.05 0.05 0 w"),
      "error: model.in, line 5: #magnetic_dipole: polarisation z in a domain of one cell along z; expected x or y");
}

TEST(GprmaxInput, AllProblemsAreReportedInTheOrderOfTheLines) {
  EXPECT_EQ(refused(block + "#rx: 1 1 1\n#box: 0 0 0 0.01 0.01 0.01 sand\n#rx: a 1 1\n#fractal_box: 1"),
            "error: model.in: 4 problems\n"
            "  - model.in, line 8: #rx: x = 1 m is outside the domain; expected 0 to 0.039 m\n"
            "  - model.in, line 9: #box: there is no material \"sand\"\n"
            "  - model.in, line 10: #rx: x = \"a\"; expected a number\n"
            "  - model.in, line 11: command #fractal_box is not supported yet");
}

}  // namespace
}  // namespace sonde::maxwell
