// SPDX-License-Identifier: Apache-2.0
// Traces of models against those that gprMax itself recorded (3.0.13, which moved E before H: its H is that of the next
// sample).
#include "sonde/instruments/maxwell/run/gprmax_run.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "sonde/instruments/maxwell/read/gprmax_output.h"
#include "tests/support/data.h"

namespace sonde::maxwell {
namespace {

GprmaxRecord recorded(const std::string& path, const GprmaxRunOptions& options = {}) {
  const GprmaxInput input = read_gprmax_input(path);
  return GprmaxRun(input, make_gprmax_model(input), options).run(0);
}

double largest(const std::vector<double>& values) {
  double most = 0;
  for (const double value : values) most = std::max(most, std::abs(value));
  return most;
}

/// 20 log10 of the largest difference over the largest sample of the reference; components that symmetry makes zero are
/// compared with the largest of their kind.
struct Compared {
  double electric = -400, magnetic = -400;
};

Compared compared(const GprmaxRecord& made, const GprmaxOutput& reference) {
  const auto& fields = reference.receivers.front().fields;
  double most_e = 0, most_h = 0;
  for (const auto& [c, samples] : fields)
    (is_electric(c) ? most_e : most_h) = std::max(is_electric(c) ? most_e : most_h, largest(samples));
  Compared worst;
  for (const GprmaxTrace& trace : made.traces.front()) {
    const std::vector<double>& wanted = fields.at(trace.component);
    const bool electric = is_electric(trace.component);
    const std::size_t ahead = electric ? 0 : 1;
    double difference = 0;
    for (std::size_t n = 0; n + ahead < wanted.size(); ++n)
      difference = std::max(difference, std::abs(trace.samples[n + ahead] - wanted[n]));
    const double own = largest(wanted), kind = electric ? most_e : most_h;
    // Below a hundredth of its kind a component is what rounding left of a zero.
    const double decibel = 20 * std::log10(difference / (own > 1e-2 * kind ? own : kind));
    (electric ? worst.electric : worst.magnetic) = std::max(electric ? worst.electric : worst.magnetic, decibel);
  }
  return worst;
}

Compared compared_with_reference(const std::filesystem::path& data, const std::string& name) {
  const std::string path = (data / "maxwell/gprmax" / name).string();
  return compared(recorded(path + ".in"), read_gprmax_output(path + "_ref.out"));
}

// The limits are those that models in float32 of different programs keep: layers of the same formula, and rounding that
// gprMax's own symmetry shows at -64 dB in three dimensions.
TEST(GprmaxReference, OfALineSourceInVacuumIsReproduced) {
  SONDE_NEED_DATA(data);
  const Compared made = compared_with_reference(data, "2D_EzHxHy");
  EXPECT_LE(made.electric, -60);
  EXPECT_LE(made.magnetic, -60);
}

TEST(GprmaxReference, OfACylinderInAHalfSpaceIsReproduced) {
  SONDE_NEED_DATA(data);
  const Compared made = compared_with_reference(data, "cylinder_Ascan_2D");
  EXPECT_LE(made.electric, -60);
  EXPECT_LE(made.magnetic, -60);
}

TEST(GprmaxReference, OfADipoleInVacuumIsReproduced) {
  SONDE_NEED_DATA(data);
  const Compared made = compared_with_reference(data, "hertzian_dipole_fs");
  EXPECT_LE(made.electric, -45);
  EXPECT_LE(made.magnetic, -45);
}

TEST(GprmaxReference, OfADipoleInWaterIsReproduced) {
  SONDE_NEED_DATA(data);
  const Compared made = compared_with_reference(data, "hertzian_dipole_dispersive");
  EXPECT_LE(made.electric, -40);
  EXPECT_LE(made.magnetic, -40);
}

/// A square of vacuum with a Ricker wavelet of 1.5 GHz.
GprmaxInput short_model(const std::string& window) {
  return parse_gprmax_input("#domain: 0.08 0.08 0.002\n#dx_dy_dz: 0.002 0.002 0.002\n#time_window: " + window +
                                "\n#pml_cells: 5\n#waveform: ricker 1 1.5e9 pulse\n"
                                "#hertzian_dipole: z 0.04 0.04 0 pulse\n#rx: 0.05 0.04 0\n",
                            "short.in");
}

TEST(GprmaxPlan, TakesTheFrequencyOfAWaveformNotOfTheWindowThatCutsIt) {
  for (const char* window : {"20", "3e-9"}) {
    const GprmaxInput input = short_model(window);
    // 2.76 times its own, where a Ricker wavelet has fallen by 40 dB, to a line of the discrete spectrum.
    EXPECT_NEAR(GprmaxRun(input, make_gprmax_model(input), {}).plan().highest_frequency, 2.76 * 1.5e9, 0.02 * 1.5e9);
  }
}

TEST(GprmaxRun, OfAHigherOrderTakesInnerStepsAndKeepsTheTraces) {
  const GprmaxInput input = short_model("3e-9");
  GprmaxRun second(input, make_gprmax_model(input), {}), eighth(input, make_gprmax_model(input), {.order = 8});
  EXPECT_EQ(second.plan().ratio, 1);
  EXPECT_EQ(eighth.plan().ratio, 2);  // 2161/1680 of the limit of second order
  const auto ez = [](const GprmaxRecord& record) { return record.traces.front()[2].samples; };
  const std::vector<double> a = ez(second.run(0)), b = ez(eighth.run(0));
  ASSERT_EQ(a.size(), b.size());
  double difference = 0;
  for (std::size_t n = 0; n < a.size(); ++n) difference = std::max(difference, std::abs(a[n] - b[n]));
  // 36 cells per wavelength: second order is a few per cent off over a fraction of one.
  EXPECT_LT(difference, 0.03 * largest(a));
}

/// The same square, excited by a column of numbers.
GprmaxInput tabled_model(const std::string& source, const std::string& table, const std::string& more = "") {
  return parse_gprmax_input(
      "#domain: 0.08 0.08 0.002\n#dx_dy_dz: 0.002 0.002 0.002\n#time_window: 200\n#pml_cells: 5\n"
      "#excitation_file: waves.txt" +
          more + "\n" + source + "\n#rx: 0.04 0.04 0\n",
      "tabled.in", [&](const std::string&) { return table; });
}

TEST(GprmaxRun, OfAVoltageWithoutResistanceHasItsFieldAtHalfSteps) {
  // 1 V per ns, given at two times and continued in both directions: E = -V / dl on cells of 2 mm.
  const GprmaxInput input =
      tabled_model("#voltage_source: z 0.04 0.04 0 0 ramp", "time ramp\n1e-10 0.1\n2e-10 0.2\n", " linear extrapolate");
  const GprmaxRecord made = GprmaxRun(input, make_gprmax_model(input), {.precision = Precision::f64}).run(0);
  const std::vector<double>& ez = made.traces.front()[2].samples;
  const double dt = input.time_step();
  for (const std::size_t n : {1U, 10U, 150U})
    EXPECT_NEAR(ez[n], -1e9 * (static_cast<double>(n) - 0.5) * dt / 0.002, 1e-9) << n;  // rounding of some 300 V/m
}

TEST(GprmaxRun, OfATableOfAWaveletIsThatOfTheWavelet) {
  const std::string dipole = "#hertzian_dipole: z 0.04 0.04 0 pulse";
  const GprmaxInput wavelet = short_model("200");
  std::string table = "pulse\n";
  for (int n = 0; n < 200; ++n)  // -g'' / (2 zeta) of gprMax's Ricker wavelet
    table += fmt::format("{:.17g}\n", [&] {
      const double zeta = std::pow(std::acos(-1.0) * 1.5e9, 2), t = n * wavelet.time_step() - std::sqrt(2.0) / 1.5e9;
      return (1 - 2 * zeta * t * t) * std::exp(-zeta * t * t);
    }());
  const GprmaxInput tabled = tabled_model(dipole, table);
  const auto ez = [](const GprmaxInput& input) {
    return GprmaxRun(input, make_gprmax_model(input), {.precision = Precision::f64}).run(0).traces.front()[2].samples;
  };
  const std::vector<double> a = ez(tabled);
  GprmaxInput there = wavelet;
  there.receivers = tabled.receivers;
  const std::vector<double> b = ez(there);
  double difference = 0;
  for (std::size_t n = 0; n < a.size(); ++n) difference = std::max(difference, std::abs(a[n] - b[n]));
  EXPECT_LT(difference, 1e-10 * largest(b));  // rounding of the times
}

}  // namespace
}  // namespace sonde::maxwell
