// SPDX-License-Identifier: Apache-2.0
// Private to the room: the loading pass with its sums on the device of a stream.
#pragma once

#include <span>
#include <string>

#include "sonde/engine/device/stream.h"
#include "sonde/instruments/stem/load/load_pass.h"

namespace sonde::stem {

/// Why the pass cannot run on a GPU ("scan bins are summed on the CPU"); empty when it can.
[[nodiscard]] std::string why_not_on_gpu(const Source& source, const PassSettings& settings);
/// Why the frames of such a pass are decoded on the CPU first ("the frames are not bitshuffle chunks"); empty when the
/// GPU decodes them.
[[nodiscard]] std::string why_decoded_on_cpu(const Source& source);

/// What run_load_pass does, with the same results bit for bit, on the stream's device, where `destination` lies.
/// Compressed bytes go there through three pinned buffers; moments come back to the host. `settings` must suit a GPU
/// (why_not_on_gpu). StageSeconds::decode is all of the device's time. Frames that only the CPU decodes (filters that
/// were skipped, blocks beyond a GPU's shared memory) are decoded by the workers and uploaded. Holds about 150 MiB on
/// the device besides the destination and three batches. On a CPU stream the same logic runs on one thread, which is
/// there for tests.
[[nodiscard]] LoadResult run_device_pass(Stream& stream, Source& source, const PassSettings& settings,
                                         const ResidentSettings& resident, Array& destination);

/// Of zero_in_place the part that reads the array, for one on the stream's device: elements, T, Mr and Mc.
void zero_on_device(Stream& stream, std::span<const Index> pixels, Destination destination, Array& array,
                    Moments& moments);

}  // namespace sonde::stem
