// SPDX-License-Identifier: Apache-2.0
// How device logic (team.h) is run on a stream's device: by thread blocks on a GPU, by one thread of the CPU, which is
// there for tests.
#pragma once

#include "sonde/engine/device/dispatch.h"
#include "sonde/engine/device/team.h"
#ifdef __CUDACC__
#include "sonde/engine/device/team_cuda.h"
#endif

namespace sonde {

namespace cpu {
template <class Body>
void run_body(const LaunchSize& size, const Body& body) {
  run_serially(size, body);
}
}  // namespace cpu

namespace cuda {
/// Instantiated in the .cu file of the room that the body belongs to.
template <class Body>
void run_body(Stream& stream, const LaunchSize& size, const Body& body);
#ifdef __CUDACC__
template <class Body>
void run_body(Stream& stream, const LaunchSize& size, const Body& body) {
  launch(stream, size, body, "a kernel");
}
#endif
}  // namespace cuda

/// Queues a body to a stream.
template <class Body>
void run_on(Stream& stream, const LaunchSize& size, const Body& body) {
  SONDE_DISPATCH(stream, run_body, size, body);
}

}  // namespace sonde
