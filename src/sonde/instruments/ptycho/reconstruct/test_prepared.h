// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <utility>

#include "sonde/instruments/ptycho/model/test_scene.h"
#include "sonde/instruments/ptycho/reconstruct/reconstruction.h"

namespace sonde::ptycho::testing {

/// A reconstruction of a simulated scene, with what it reads.
struct Prepared {
  Scene scene;
  Measurement measurement;
  std::unique_ptr<Reconstruction> reconstruction;

  Prepared(Scene from, Schedule schedule)
      : scene(std::move(from.build())),
        measurement(scene.frames, ZeroFrequency::corner, scene.mask, AmplitudeStorage::f64),
        reconstruction(Reconstruction::prepare(measurement, std::move(scene.state), {}, std::move(schedule))) {}

  /// To its end.
  [[nodiscard]] State& run() const {
    while (reconstruction->outcome().kind == Outcome::Kind::running) reconstruction->iterate();
    return reconstruction->state();
  }
};

}  // namespace sonde::ptycho::testing
