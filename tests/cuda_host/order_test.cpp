// SPDX-License-Identifier: Apache-2.0
// Blocks, threads and streams in another order give the same bits: no sum is of whoever comes first.
#include <gtest/gtest.h>

#include <cstring>

#include "sonde/instruments/ptycho/model/test_scene.h"
#include "sonde/instruments/ptycho/reconstruct/reconstruction.h"
#include "tests/cuda_host/cuda_host.h"

namespace sonde::ptycho {
namespace {

/// Object and probe after two iterations by the kernels.
std::vector<std::byte> reconstructed(const EngineKind& kind, std::uint64_t seed) {
  cuda_host::set_seed(seed);
  testing::Scene scene{.modes = 2, .object_rows = 20, .object_cols = 22, .fractional = true, .masked = true};
  scene.build();
  const Measurement measurement(scene.frames, ZeroFrequency::corner, scene.mask, AmplitudeStorage::f64);
  Schedule schedule;
  schedule.engines.push_back({std::string(kind.name), 2, kind.setup()});
  schedule.stop.rule = StopRule::off;
  schedule.kernels = Device::parse("cuda").value;
  schedule.limits.groups.most = 2;
  const auto reconstruction = Reconstruction::prepare(measurement, std::move(scene.state), {}, std::move(schedule));
  while (reconstruction->outcome().kind == Outcome::Kind::running) reconstruction->iterate();
  const State& state = reconstruction->state();
  std::vector<std::byte> bits(state.object.allocated_bytes() + state.probe.allocated_bytes());
  std::memcpy(bits.data(), state.object.data(), state.object.allocated_bytes());
  std::memcpy(bits.data() + state.object.allocated_bytes(), state.probe.data(), state.probe.allocated_bytes());
  return bits;
}

TEST(Order, ChangesNoBitOfAReconstruction) {
  for (const EngineKind& kind : engine_kinds()) {
    if (!kind.setup()->traits().has_kernels) continue;
    const std::uint64_t launches = cuda_host::launches();
    const std::vector<std::byte> expected = reconstructed(kind, 1);
    EXPECT_GT(cuda_host::launches(), launches) << kind.name;
    for (const std::uint64_t seed : {2, 3}) {
      SCOPED_TRACE(::testing::Message() << kind.name << ", seed " << seed);
      EXPECT_TRUE(reconstructed(kind, seed) == expected);
    }
  }
}

}  // namespace
}  // namespace sonde::ptycho
