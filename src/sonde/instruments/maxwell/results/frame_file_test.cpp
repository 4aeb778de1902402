// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/results/frame_file.h"

#include <gtest/gtest.h>

#include <cmath>

#include "sonde/instruments/maxwell/grid/stability.h"
#include "sonde/instruments/maxwell/results/snapshot_chart.h"
#include "sonde/instruments/maxwell/run/gprmax_run.h"
#include "tests/support/errors.h"
#include "tests/support/files.h"

namespace sonde::maxwell {
namespace {

using sonde::testing::error_of;
using sonde::testing::TemporaryFolder;

/// Vacuum without layers.
Problem empty_box(const Triple& cells) {
  Problem problem{Grid({.mode = Mode::em3d, .cells = cells, .spacing = {0.1, 0.2, 0.3}}), {}, {}, 0};
  const auto count = static_cast<std::size_t>(problem.grid.count());
  for (std::size_t e = 0; e < 3; ++e) {
    problem.medium.eps_r[e].assign(count, 1);
    problem.medium.sigma[e].assign(count, 0);
    problem.medium.mu_r[e].assign(count, 1);
  }
  problem.dt = 0.9 * largest_time_step(problem.grid, problem.medium);
  problem.pml = pml_profiles(problem.grid, problem.medium, {}, problem.dt, 0);
  return problem;
}

/// A linear function of the place x, y, z in cells, another one for each component.
double linear(Component c, const Xyz& at) {
  const auto which = static_cast<double>(c);
  return 1 + which + (2 + which) * at[0] - 3 * at[1] + (0.5 + which) * at[2];
}

Xyz place_of_node(Component c, const XyzIndex& index) {
  Xyz made{};
  for (std::size_t u = 0; u < 3; ++u)
    made[u] = static_cast<double>(index[u]) + (is_half(c, static_cast<Axis>(2 - u)) ? 0.5 : 0.0);
  return made;
}

Propagator<double> linear_fields(const Problem& problem) {
  State state = make_state(problem);
  for_each_node(problem.grid, [&](const Triple& at, std::size_t node) {
    for (const Component c : all_components)
      state.fields[static_cast<std::size_t>(c)][node] = linear(c, place_of_node(c, {at[2], at[1], at[0]}));
  });
  Propagator<double> fields(problem);
  fields.set_state(state);
  return fields;
}

TEST(SampledFields, OfCellsAreTheMeanAtTheirCentres) {
  const Problem problem = empty_box({8, 7, 9});
  Propagator<double> propagator = linear_fields(problem);
  const LiveFields fields(propagator);
  const Sampling sampling{.first = {1, 2, 3}, .count = {4, 3, 2}, .centred = true};
  for (const Component c : all_components)
    for (Index z = 0; z < 2; ++z) {
      const Array plane = sampled_plane(fields, sampling, c, z);
      for (Index y = 0; y < 3; ++y)
        for (Index x = 0; x < 4; ++x) {
          const Xyz centre{1.5 + static_cast<double>(x), 2.5 + static_cast<double>(y), 3.5 + static_cast<double>(z)};
          // The mean of a linear function at the corners is the function at the centre.
          EXPECT_NEAR((plane.view<double, 2>()(y, x)), linear(c, centre), 1e-13 * 100) << name(c);
        }
    }
}

TEST(SampledFields, OfCoarserCellsAreMeansOfTheNodesAtTheirCorners) {
  const Problem problem = empty_box({8, 7, 9});
  Propagator<double> propagator = linear_fields(problem);
  const LiveFields fields(propagator);
  const Sampling sampling{.first = {1, 1, 1}, .step = {2, 3, 2}, .count = {3, 1, 3}, .centred = true};
  // Along its own axis the node of Ex behind the lower plane counts, across it the two planes of the cell.
  const Array plane = sampled_plane(fields, sampling, Component::Ex, 1);
  EXPECT_NEAR((plane.view<double, 2>()(0, 2)), linear(Component::Ex, {5.5, 2.5, 4}), 1e-13 * 100);
}

TEST(SampledFields, AreZeroBehindTheWalls) {
  const Problem problem = empty_box({4, 4, 4});
  Propagator<double> propagator = linear_fields(problem);
  const LiveFields fields(propagator);
  const Sampling sampling{.first = {3, 3, 3}, .count = {1, 1, 1}, .centred = true};
  // Three of the four edges of Ez are on the walls x = 4 and y = 4.
  EXPECT_NEAR((sampled_plane(fields, sampling, Component::Ez, 0).view<double, 2>()(0, 0)),
              linear(Component::Ez, {3, 3, 3.5}) / 4, 1e-13 * 100);
}

const char* const line_in_vacuum =
    "#title: A line\n#domain: 0.06 0.05 0.002\n#dx_dy_dz: 0.002 0.002 0.002\n#time_window: 60\n#pml_cells: 5\n"
    "#waveform: ricker 1 5e9 pulse\n#hertzian_dipole: z 0.03 0.024 0 pulse\n#rx: 0.022 0.034 0\n";

/// A run of a model of gprMax whose frames are written.
struct RecordedFrames {
  TemporaryFolder folder;
  std::string path = folder.file("frames.h5");
  GprmaxRecord record;

  explicit RecordedFrames(const Sampling& sampling, Index every, const GprmaxRunOptions& options = {}) {
    const GprmaxInput input = parse_gprmax_input(line_in_vacuum, "line.in");
    GprmaxRun run(input, make_gprmax_model(input), options);
    FrameSpec spec{.title = "A line",
                   .sampling = sampling,
                   .grid = run.model().grid,
                   .spacing = run.model().spacing,
                   .frames = (run.model().iterations - 2) / every + 1,
                   .precision = options.precision,
                   .magnetic_delay = run.plan().dt / 2,
                   .energy = true};
    spec.sampling.axes = run.model().axes;
    FrameFile file(path, spec);
    record = run.run(0, {},
                     {.look =
                          [&](Index step, LiveFields& fields) {
                            if (step % every == 0 && step / every < spec.frames)
                              file.add(step / every, static_cast<double>(step) * run.model().dt, fields);
                          },
                      .energy = [&](Index step, const FieldEnergy& found) { file.add_energy(step / every, found); },
                      .energy_every = every});
    file.finish();
  }
};

TEST(FrameFile, HoldsWhatAReceiverRecordsAtThatNode) {
  // The receiver is at node 11, 17: sample 4, 5 of every second or third node from 3, 2 on.
  const RecordedFrames made({.first = {3, 2, 0}, .step = {2, 3, 1}, .count = {12, 7, 1}}, 7,
                            {.precision = Precision::f64});
  const FrameReader read(made.path);
  EXPECT_EQ(read.components, (std::vector<Component>{Component::Ez, Component::Hx, Component::Hy}));
  EXPECT_EQ(read.frames, 9);
  EXPECT_NEAR(read.positions[0][4], 0.022, 1e-12);
  EXPECT_NEAR(read.positions[1][5], 0.034, 1e-12);
  double most = 0;
  for (const GprmaxTrace& trace : made.record.traces.front())
    for (Index frame = 0; frame < read.frames && trace.component != Component::Ex; ++frame) {
      if (trace.component == Component::Ey || trace.component == Component::Hz) continue;
      const double seen = read.plane(trace.component, frame, 2, 0)[5 * 12 + 4];
      EXPECT_EQ(seen, trace.samples[static_cast<std::size_t>(7 * frame)]) << name(trace.component) << ' ' << frame;
      most = std::max(most, std::abs(seen));
    }
  EXPECT_GT(most, 0);
}

TEST(FrameFile, HasTimesAndEnergiesOfItsFrames) {
  const RecordedFrames made({.count = {30, 25, 1}}, 10);
  const FrameReader read(made.path);
  const Hdf5File file = Hdf5File::open(made.path);
  const auto series = [&](const char* path) {
    const Array values = file.dataset(path).read();
    const auto* first = static_cast<const double*>(values.data());
    return std::vector<double>(first, first + values.count());
  };
  const double dt = 0.002 / (299792458 * std::sqrt(2));
  EXPECT_NEAR(read.times[3] / (30 * dt), 1, 1e-9);
  EXPECT_NEAR((read.times[3] - series("/time_of_h")[3]) / (dt / 2), 1, 1e-6);
  EXPECT_EQ(series("/energy_electric")[0], 0);
  for (const char* kind : {"/energy_electric", "/energy_magnetic"}) EXPECT_GT(series(kind)[5], 0) << kind;
  EXPECT_EQ(file.dataset("/energy_electric").attribute("units")->text(), "J/m");
  EXPECT_EQ(file.dataset("/Hx").attribute("offset_cells")->printed(), "[0.5, 0.5, 0]");
}

TEST(SnapshotChart, HasUpToSixFramesOfOneScale) {
  const RecordedFrames made({.count = {30, 25, 1}}, 5);
  const Chart chart = snapshot_chart(FrameReader(made.path), {});
  ASSERT_EQ(chart.facets.size(), 6U);
  EXPECT_EQ(chart.facets[0].map->title, "Ez (V/m)");
  for (const Facet& facet : chart.facets) EXPECT_EQ(facet.map->both_signs, chart.facets[0].map->both_signs);
  EXPECT_EQ(chart.facets.back().map->z.size(), 30U * 25U);
  EXPECT_EQ(snapshot_chart(FrameReader(made.path), {.component = Component::Hx, .frame = 3}).facets.size(), 1U);
}

TEST(SnapshotChart, NamesWhatTheFileDoesNotHave) {
  const RecordedFrames made({.count = {30, 25, 1}}, 20);
  const FrameReader read(made.path);
  EXPECT_EQ(error_of(ErrorKind::bad_input, [&] { (void)snapshot_chart(read, {.frame = 3}); }),
            "error: frame 3: the file has 0 to 2");
  EXPECT_EQ(error_of(ErrorKind::bad_input, [&] { (void)snapshot_chart(read, {.component = Component::Hz}); }),
            "error: the file has no Hz");
  const RecordedFrames thin({.count = {30, 1, 1}}, 20);
  EXPECT_EQ(error_of(ErrorKind::bad_input, [&] { (void)snapshot_chart(FrameReader(thin.path), {}); }),
            "error: 30 x 1 x 1 samples; expected two or more along two axes");
}

TEST(FrameReader, RefusesOtherFiles) {
  const TemporaryFolder folder;
  const std::string path = folder.file("other.h5");
  const auto write = [&](const Shape& shape, const char* schema) {
    Hdf5Writer file(path);
    file.text_attribute("/", "schema", schema);
    if (shape.rank() > 0) file.array("/Ez", Array::zeros(Device::cpu(), shape, DType::f32));
    file.finish();
  };
  const auto said = [&] { return error_of(ErrorKind::bad_file, [&] { FrameReader read(path); }); };
  write({1, 2, 2, 2}, "other");
  EXPECT_EQ(said(), "error: " + path + ": not a file of snapshots");
  EXPECT_FALSE(FrameReader::recognises(path));
  write({2, 2}, "sonde.maxwell.snapshots/1");
  EXPECT_EQ(said(), "error: " + path + ": /Ez is f32 (2, 2); expected numbers [frame][z][y][x], all of one shape");
  EXPECT_TRUE(FrameReader::recognises(path));
  write({}, "sonde.maxwell.snapshots/1");
  EXPECT_EQ(said(), "error: " + path + ": no component of a field");
}

}  // namespace
}  // namespace sonde::maxwell
