// SPDX-License-Identifier: Apache-2.0
// Constraints and diagnoses on reconstructions of the simulated reference set
// (docs/ptycho-theory.md#the-reference-set).
#include <gtest/gtest.h>

#include <string>

#include "sonde/instruments/ptycho/constrain/constraints.h"
#include "sonde/instruments/ptycho/constrain/modes.h"
#include "sonde/instruments/ptycho/quality/diagnose.h"
#include "sonde/instruments/ptycho/quality/image.h"
#include "sonde/instruments/ptycho/quality/phase_rmse.h"
#include "sonde/instruments/ptycho/quality/ring_correlation.h"
#include "sonde/instruments/ptycho/reconstruct/reconstruction.h"
#include "sonde/instruments/ptycho/reconstruct/test_v5.h"

namespace sonde::ptycho {
namespace {

using testing::V5;

constexpr Box view{36, 36, 31, 31};

Array transmission(const V5& set) {
  Array truth(Device::cpu(), set.phase.shape(), DType::c128);
  for (Index i = 0; i < truth.count(); ++i)
    truth.view<complex128, 2>().data[i] = std::polar(1.0, set.phase.view<double, 2>().data[i]);
  return truth;
}

/// The one slice as an image.
Array image_of(const State& state) {
  Array object = in_double_precision(state.object);
  return std::move(object).reshaped(object.shape().last(2));
}

/// Twenty iterations of ePIE with steps of 0.2, constraints after each.
struct Trial {
  Measurement measurement;
  std::unique_ptr<Reconstruction> run;
  ConstraintContext context;
  std::vector<double> r_intensity;

  Trial(const V5& set, const std::vector<ChosenConstraint>& chosen)
      : measurement(set.frames, ZeroFrequency::centre, {}, AmplitudeStorage::f32) {
    std::shared_ptr<EngineSetup> setup = engine_kind("epie").setup();
    Fields fields;
    setup->describe(fields);
    fields.assign_text("step_object", "0.2", "step_object");
    fields.assign_text("step_probe", "0.2", "step_probe");
    Schedule schedule;
    schedule.engines.push_back({"epie", 20, setup});
    schedule.stop.rule = StopRule::off;
    schedule.holdout = 0.0;
    run = Reconstruction::prepare(measurement, set.start<float>(measurement.mean_counts()), {}, schedule);
    context.sampling = electron_sampling(64, 64, 200, 1.875);
    context.semiangle = 0.020;
    context.mean_counts = measurement.mean_counts();
    Constraints<float> constraints(chosen, context, run->state());
    while (run->outcome().kind == Outcome::Kind::running) {
      const IterationRecord& record = run->iterate();
      r_intensity.push_back(record.fit.r_intensity);
      constraints.apply(run->state(), context, record.number);
    }
  }
  [[nodiscard]] State& state() const { return run->state(); }
};

TEST(QualityOnV5, PhaseRmseIsThatOfTheSetsDefinition) {
  SONDE_NEED_DATA(data);
  const V5 set(data, "1e6");
  const Trial run(set, {});
  const double expected = set.phase_rmse<float>(run.state());
  EXPECT_NEAR(phase_rmse(image_of(run.state()), transmission(set), view).rmse / expected, 1, 1e-9);
  // Looking for a shift that is not there changes the answer by what interpolation leaves.
  EXPECT_NEAR(phase_rmse(image_of(run.state()), transmission(set), view, Start::blind).rmse / expected, 1, 0.05);
}

TEST(QualityOnV5, ProbeConstraintsKeepThePowerAndTheFit) {
  SONDE_NEED_DATA(data);
  const V5 set(data, "1e6");
  const Value none = Value::object();
  const Trial without(set, {});
  const Trial with(set, {chosen_constraint("probe_power", none, "power"),
                         chosen_constraint("probe_fourier_support", none, "support"),
                         chosen_constraint("probe_centre", none, "centre")});
  EXPECT_NEAR(total_power(with.state().probe) / with.measurement.mean_counts(), 1, 1e-6);
  EXPECT_LT(with.r_intensity.back(), 1.02 * without.r_intensity.back());
}

TEST(QualityOnV5, MoreCountsResolveMore) {
  SONDE_NEED_DATA(data);
  const auto correlation = [&](const char* dose) {
    const V5 set(data, dose);
    const Trial run(set, {});
    const Array truth = transmission(set);
    const Array object = aligned(image_of(run.state()), truth, view, Start::near);
    const auto part_of = [](const Array& image) {
      View<const complex128, 2> part = image.view<complex128, 2>();
      part.data += view.row * part.stride[0] + view.col;
      part.extent[0] = view.rows;
      part.extent[1] = view.cols;
      return part;
    };
    return ring_correlation(part_of(object), part_of(truth));
  };
  const double few = correlation("1e4").crossing().value_or(0.5), many = correlation("1e6").crossing().value_or(0.5);
  EXPECT_GT(many, 1.1 * few);
}

TEST(QualityOnV5, ASoundReconstructionHasNoSymptoms) {
  SONDE_NEED_DATA(data);
  const V5 set(data, "1e6");
  const Trial run(set, {});
  Evidence evidence;
  evidence.state = &run.state();
  evidence.sampling = run.context.sampling;
  evidence.semiangle = run.context.semiangle;
  evidence.acquisition = acquisition_of(run.state(), run.measurement, run.context.sampling);
  evidence.r_intensity = run.r_intensity;
  evidence.r_floor = r_intensity_floor(run.run->counts());
  for (const Diagnosis& diagnosis : diagnose(evidence))
    EXPECT_NE(diagnosis.verdict, Verdict::suspect) << diagnosis.name << " " << diagnosis.value;
}

}  // namespace
}  // namespace sonde::ptycho
