// SPDX-License-Identifier: Apache-2.0
// Reconstructions of the simulated reference set against an independent program's curves (specification 11, V5, 11.1).
#include <fstream>
#include <map>
#include <sstream>

#include "sonde/instruments/ptycho/engines/pie.h"
#include "sonde/instruments/ptycho/reconstruct/reconstruction.h"
#include "sonde/instruments/ptycho/reconstruct/test_v5.h"

namespace sonde::ptycho {
namespace {

using testing::median;
using testing::V5;

/// A run without hold-out and stop rule, as the reference was made; its settings as text, "step=0.5".
Schedule schedule_of(const std::string& engine, Index iterations,
                     const std::map<std::string, std::string>& settings = {}) {
  std::shared_ptr<EngineSetup> setup = engine_kind(engine).setup();
  Fields fields;
  setup->describe(fields);
  for (const auto& [key, value] : settings) fields.assign_text(key, value, key);
  Schedule schedule;
  schedule.engines.push_back({engine, iterations, setup});
  schedule.stop.rule = StopRule::off;
  schedule.holdout = 0.0;
  return schedule;
}

struct Curve {
  std::vector<double> r_intensity, phase_rmse;
  [[nodiscard]] double r_at(std::size_t last) const { return part(r_intensity, last); }
  [[nodiscard]] double rmse_at(std::size_t last) const { return part(phase_rmse, last); }

 private:
  static double part(const std::vector<double>& of, std::size_t last) {
    return median(
        {of.begin() + static_cast<std::ptrdiff_t>(last) - 20, of.begin() + static_cast<std::ptrdiff_t>(last)});
  }
};

template <class Real = float>
Curve reconstruct(const V5& set, Schedule schedule) {
  const Measurement measurement(set.frames, ZeroFrequency::centre, {},
                                std::is_same_v<Real, float> ? AmplitudeStorage::f32 : AmplitudeStorage::f64);
  const auto run =
      Reconstruction::prepare(measurement, set.start<Real>(measurement.mean_counts()), {}, std::move(schedule));
  Curve curve;
  while (run->outcome().kind == Outcome::Kind::running) {
    curve.r_intensity.push_back(run->iterate().fit.r_intensity);
    curve.phase_rmse.push_back(set.phase_rmse<Real>(run->state()));
  }
  return curve;
}

/// reference.csv: medians over iterations [last - 19, last] of each of the three orders.
struct Reference {
  std::vector<double> r_intensity, phase_rmse;
};
Reference reference(const V5& set, const std::string& dose, const std::string& step, int last) {
  std::ifstream file(set.folder / "reference.csv");
  std::map<std::string, std::pair<std::vector<double>, std::vector<double>>> orders;
  std::string line;
  while (std::getline(file, line)) {
    std::stringstream cells(line);
    std::vector<std::string> cell;
    for (std::string text; std::getline(cells, text, ',');) cell.push_back(text);
    if (cell.size() != 8 || cell[0] != dose || cell[1] != step) continue;
    const int iteration = std::stoi(cell[3]);
    if (iteration <= last - 20 || iteration > last) continue;
    orders[cell[2]].first.push_back(std::stod(cell[4]));
    orders[cell[2]].second.push_back(std::stod(cell[6]));
  }
  Reference medians;
  for (const auto& [seed, values] : orders) {
    medians.r_intensity.push_back(median(values.first));
    medians.phase_rmse.push_back(median(values.second));
  }
  return medians;
}

class EpieOnV5 : public ::testing::TestWithParam<std::tuple<const char*, const char*>> {};

TEST_P(EpieOnV5, FollowsTheReferenceCurve) {
  SONDE_NEED_DATA(data);
  const auto& [dose, step] = GetParam();
  const V5 set(data, dose);
  const Curve curve = reconstruct(set, schedule_of("epie", 200, {{"step_object", step}, {"step_probe", step}}));
  for (const int last : {100, 200}) {
    SCOPED_TRACE(last);
    const Reference expected = reference(set, dose, step, last);
    ASSERT_EQ(expected.r_intensity.size(), 3u);
    // Orders of the frames differ by up to 5 %; the medians of R_I by less than 1 %.
    EXPECT_LE(curve.rmse_at(static_cast<std::size_t>(last)),
              1.05 * *std::max_element(expected.phase_rmse.begin(), expected.phase_rmse.end()));
    EXPECT_NEAR(curve.r_at(static_cast<std::size_t>(last)) / median(expected.r_intensity), 1, 0.01);
  }
}

INSTANTIATE_TEST_SUITE_P(AtEvery, EpieOnV5,
                         ::testing::Combine(::testing::Values("1e4", "1e6", "exact"), ::testing::Values("0.05", "0.2")),
                         [](const auto& tested) {
                           std::string name =
                               std::string(std::get<0>(tested.param)) + "_step_" + std::get<1>(tested.param);
                           std::replace(name.begin(), name.end(), '.', '_');
                           return name;
                         });

/// Settings with which an engine comes to its own convergence, and in how many iterations.
struct Converged {
  const char* engine;
  Index iterations;
  std::map<std::string, std::string> settings;
};
std::ostream& operator<<(std::ostream& out, const Converged& each) { return out << each.engine; }

const Converged converged[] = {
    {"rpie", 300, {{"step_object", "0.05"}, {"step_probe", "0.05"}, {"alpha_object", "0.8"}, {"alpha_probe", "0.8"}}},
    {"gd", 700, {}},
    {"adam", 700, {}},
    {"lsqml", 400, {}},
};

class EngineOnV5 : public ::testing::TestWithParam<std::tuple<Converged, const char*>> {};

/// As near to the truth as the reference with its small step, within the 5 % by which orders of the frames differ.
TEST_P(EngineOnV5, ReachesTheTruth) {
  SONDE_NEED_DATA(data);
  const auto& [each, dose] = GetParam();
  const std::map<std::string, double> mark{{"1e4", 0.0313}, {"1e6", 0.0039}, {"exact", 0.00072}};
  const V5 set(data, dose);
  const Curve curve = reconstruct(set, schedule_of(each.engine, each.iterations, each.settings));
  EXPECT_LE(curve.rmse_at(curve.phase_rmse.size()), mark.at(dose));
}

INSTANTIATE_TEST_SUITE_P(AtEvery, EngineOnV5,
                         ::testing::Combine(::testing::ValuesIn(converged), ::testing::Values("1e4", "1e6", "exact")),
                         [](const auto& tested) {
                           return std::string(std::get<0>(tested.param).engine) + "_" + std::get<1>(tested.param);
                         });

}  // namespace
}  // namespace sonde::ptycho
