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
  std::vector<double> r_intensity, phase_rmse;  // of every iteration; rmse only of those that end a mark
  std::vector<double> error;                    // phase, pixel by pixel, in the end

  [[nodiscard]] double r_at(std::size_t last) const { return part(r_intensity, last); }
  [[nodiscard]] double rmse_at(std::size_t last) const { return part(phase_rmse, last); }

 private:
  static double part(const std::vector<double>& of, std::size_t last) {
    return median(
        {of.begin() + static_cast<std::ptrdiff_t>(last) - 20, of.begin() + static_cast<std::ptrdiff_t>(last)});
  }
};

/// Marks are medians over the 20 iterations that end in one of `marks`, the last one of them that of the run.
Curve reconstruct(const V5& set, Schedule schedule, const std::vector<Index>& marks) {
  const Measurement measurement(set.frames, ZeroFrequency::centre, {}, AmplitudeStorage::f32);
  const auto run =
      Reconstruction::prepare(measurement, set.start<float>(measurement.mean_counts()), {}, std::move(schedule));
  Curve curve;
  while (run->outcome().kind == Outcome::Kind::running) {
    const IterationRecord& record = run->iterate();
    curve.r_intensity.push_back(record.fit.r_intensity);
    const bool counts = std::any_of(marks.begin(), marks.end(),
                                    [&](Index last) { return record.number > last - 20 && record.number <= last; });
    curve.phase_rmse.push_back(counts ? set.phase_rmse<float>(run->state()) : 0);
  }
  curve.error = set.phase_error<float>(run->state());
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

/// Orders of the frames differ by up to 5 %; the medians of R_I by less than 1 %.
Curve epie_follows_the_reference(const V5& set, const std::string& dose, const std::string& step) {
  Curve curve = reconstruct(set, schedule_of("epie", 200, {{"step_object", step}, {"step_probe", step}}), {100, 200});
  for (const int last : {100, 200}) {
    SCOPED_TRACE("epie " + step + ", iteration " + std::to_string(last));
    const Reference expected = reference(set, dose, step, last);
    EXPECT_EQ(expected.r_intensity.size(), 3u);
    EXPECT_LE(curve.rmse_at(static_cast<std::size_t>(last)),
              1.05 * *std::max_element(expected.phase_rmse.begin(), expected.phase_rmse.end()));
    EXPECT_NEAR(curve.r_at(static_cast<std::size_t>(last)) / median(expected.r_intensity), 1, 0.01);
  }
  return curve;
}

class EpieOnV5 : public ::testing::TestWithParam<const char*> {};

TEST_P(EpieOnV5, FollowsTheReferenceCurveWithLongerSteps) {
  SONDE_NEED_DATA(data);
  (void)epie_follows_the_reference(V5(data, GetParam()), GetParam(), "0.2");
}

INSTANTIATE_TEST_SUITE_P(AtEvery, EpieOnV5, ::testing::Values("1e4", "1e6", "exact"));

/// Settings with which an engine comes to its own convergence, and in how many iterations at 10^4 counts, at 10^6, and
/// without noise: the less noise there is, the further there is to go. 0: not run there, because it takes too long.
struct Converged {
  const char* engine;
  std::array<Index, 3> iterations;
  std::map<std::string, std::string> settings;
};

const Converged converged[] = {
    {"rpie",
     {120, 150, 225},
     {{"step_object", "0.05"}, {"step_probe", "0.05"}, {"alpha_object", "0.8"}, {"alpha_probe", "0.8"}}},
    {"gd", {280, 525, 500}, {}},
    {"adam", {450, 440, 350}, {}},
    {"lsqml", {160, 340, 0}, {}},
};

/// A dose, how near to the truth every engine comes (the reference with its small step, and the 5 % by which orders of
/// the frames differ), and how near to each other any two, as a multiple of the best engine's distance to the truth:
/// at few counts they share the noise (specification 11, V13).
struct Dose {
  std::size_t index;
  const char* name;
  double mark, apart;
};
std::ostream& operator<<(std::ostream& out, const Dose& dose) { return out << dose.name; }

class EnginesOnV5 : public ::testing::TestWithParam<Dose> {};

TEST_P(EnginesOnV5, ReachTheTruthAndEachOther) {
  SONDE_NEED_DATA(data);
  const V5 set(data, GetParam().name);
  std::vector<std::string> names{"epie"};
  std::vector<Curve> curves{epie_follows_the_reference(set, GetParam().name, "0.05")};
  double best = curves[0].rmse_at(200);
  for (const Converged& each : converged) {
    SCOPED_TRACE(each.engine);
    const Index iterations = each.iterations[GetParam().index];
    if (iterations == 0) continue;
    const Curve curve = reconstruct(set, schedule_of(each.engine, iterations, each.settings), {iterations});
    const double rmse = curve.rmse_at(curve.phase_rmse.size());
    EXPECT_LE(rmse, GetParam().mark);
    best = std::min(best, rmse);
    names.emplace_back(each.engine);
    curves.push_back(curve);
  }
  for (std::size_t a = 0; a < curves.size(); ++a)
    for (std::size_t b = 0; b < a; ++b) {
      std::vector<double> difference = curves[a].error;
      for (std::size_t i = 0; i < difference.size(); ++i) difference[i] -= curves[b].error[i];
      EXPECT_LE(V5::rms(difference), GetParam().apart * best) << names[a] << " and " << names[b];
    }
}

INSTANTIATE_TEST_SUITE_P(At, EnginesOnV5,
                         ::testing::Values(Dose{0, "1e4", 0.0313, 0.5}, Dose{1, "1e6", 0.0039, 2},
                                           Dose{2, "exact", 0.00072, 2}),
                         [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace sonde::ptycho
