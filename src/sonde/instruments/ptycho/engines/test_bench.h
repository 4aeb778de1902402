// SPDX-License-Identifier: Apache-2.0
// A small scene that is ready for engines, in double precision.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "sonde/engine/device/parallel.h"
#include "sonde/instruments/ptycho/engines/engine.h"
#include "sonde/instruments/ptycho/engines/workbench.h"
#include "sonde/instruments/ptycho/model/test_scene.h"

namespace sonde::ptycho::testing {

inline const std::vector<Index> everyone{0, 1, 2, 3, 4};

struct Bench {
  Scene scene;
  Measurement measurement;
  Model<double> model;
  Workbench<double> workbench;

  /// Builds a scene that is not built yet.
  explicit Bench(Scene from, Loss loss = Loss::amplitude)
      : scene(std::move(from.state.object.empty() ? from.build() : from)),
        measurement(scene.frames, ZeroFrequency::corner, scene.mask, AmplitudeStorage::f64),
        model(measurement, scene.slices, scene.modes, scene.propagators, loss, FftEffort::quick),
        workbench(model, scene.state, everyone, 3) {}
};

/// Moves every frame by some part of a pixel, some across the edge of one, as a correction of positions does.
inline void move_positions(State& state) {
  for (std::size_t j = 0; j < state.positions.size(); ++j) {
    const auto i = static_cast<double>(j);
    Point& at = state.positions[j];
    // Towards the middle of the object, where there is room.
    at.row += (at.row > static_cast<double>(state.object.shape()[1]) / 2 ? -1 : 1) * (0.3 + 0.1 * i);
    at.col += (at.col > static_cast<double>(state.object.shape()[2]) / 2 ? -1 : 1) * (0.7 - 0.1 * i);
  }
  state.placements = place_all(state.positions, state.window());
}

/// The largest difference of two complex arrays, relative to the largest element.
inline double difference(const Array& a, const Array& b) {
  double most = 0, size = 0;
  for (Index i = 0; i < a.count(); ++i) {
    most = std::max(most, std::abs(a.view<complex128, 3>().data[i] - b.view<complex128, 3>().data[i]));
    size = std::max(size, std::abs(b.view<complex128, 3>().data[i]));
  }
  return most / size;
}

/// Three iterations of an engine on a scene that `make` describes have the same bits on 1, 2 and 4 threads.
template <class MakeScene>
void expect_same_bits_on_all_threads(const EngineKind& kind, const MakeScene& make) {
  std::vector<Array> objects, probes;
  for (const int threads : {1, 2, 4}) {
    set_thread_count(threads);
    const auto setup = kind.setup();
    Bench bench(make(), setup->loss());
    const auto engine = setup->make(bench.workbench);
    for (Index n = 1; n <= 3; ++n) engine->iterate(bench.workbench, {.number = n});
    objects.push_back(bench.scene.state.object.clone());
    probes.push_back(bench.scene.state.probe.clone());
  }
  set_thread_count(0);
  for (std::size_t i = 1; i < objects.size(); ++i) {
    EXPECT_EQ(std::memcmp(objects[i].data(), objects[0].data(), objects[0].allocated_bytes()), 0);
    EXPECT_EQ(std::memcmp(probes[i].data(), probes[0].data(), probes[0].allocated_bytes()), 0);
  }
}

// Some hundred operations in double precision, in another order: 1e-12 leaves three digits.
constexpr double rounding = 1e-12;

}  // namespace sonde::ptycho::testing
