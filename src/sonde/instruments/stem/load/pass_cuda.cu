// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/device/team_cuda.h"
#include "sonde/instruments/stem/load/frame_device.h"

namespace sonde::stem::cuda {

using namespace sonde::stem::device;

template <class Body>
void run_body(Stream& stream, const LaunchSize& size, const Body& body) {
  sonde::cuda::launch(stream, size, body, "a step of the loading pass");
}

#define SONDE_RUN(...) template void run_body(Stream&, const LaunchSize&, const __VA_ARGS__&)
#define SONDE_RUN_STORED(T)  \
  SONDE_RUN(CleanFrames<T>); \
  SONDE_RUN(ZeroPixels<T>);  \
  SONDE_RUN(BinFrames<T, std::uint64_t>)
#define SONDE_RUN_SUMMED(T)                 \
  SONDE_RUN(PixelStatistics<T>);            \
  SONDE_RUN(PlaceFrames<T, std::uint8_t>);  \
  SONDE_RUN(PlaceFrames<T, std::uint16_t>); \
  SONDE_RUN(PlaceFrames<T, std::uint32_t>); \
  SONDE_RUN(PlaceFrames<T, float>)
SONDE_RUN_STORED(std::uint8_t);
SONDE_RUN_STORED(std::uint16_t);
SONDE_RUN_STORED(std::uint32_t);
SONDE_RUN(BinFrames<std::uint8_t, std::uint32_t>);
SONDE_RUN(BinFrames<std::uint16_t, std::uint32_t>);
SONDE_RUN_SUMMED(std::uint8_t);
SONDE_RUN_SUMMED(std::uint16_t);
SONDE_RUN_SUMMED(std::uint32_t);
SONDE_RUN_SUMMED(std::uint64_t);

}  // namespace sonde::stem::cuda
