// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/separate/audio/resampler.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/module.h"
#include "sonde/instruments/separate/audio/soxr_functions.h"

namespace sonde::separate {
namespace {

const SoxrFunctions& soxr() {
  static const auto& opened =
      functions_of<SoxrFunctions>({.name = "soxr", .library = "the SoX Resampler library", .package = "libsoxr0"});
  return opened;
}

unsigned long recipe(ResampleQuality quality) {
  constexpr std::array<unsigned long, 5> recipes = {SOXR_QQ, SOXR_LQ, SOXR_MQ, SOXR_HQ, SOXR_VHQ};
  return recipes[static_cast<std::size_t>(quality)];
}

// Frames that one call of the library may give.
constexpr std::size_t frames_of_call = 16384;

}  // namespace

struct Resampler::Stream {
  soxr_t handle = nullptr;
  std::size_t channels = 1;
  std::vector<float> made;

  Stream(Index from_rate, Index to_rate, Index channel_count, ResampleQuality quality)
      : channels(static_cast<std::size_t>(channel_count)), made(frames_of_call * channels) {
    const auto spec = soxr().quality(recipe(quality), 0);
    const auto layout = soxr().layout(SOXR_FLOAT32_I, SOXR_FLOAT32_I);
    const auto runtime = soxr().runtime(1);
    soxr_error_t error = nullptr;
    handle = soxr().create(static_cast<double>(from_rate), static_cast<double>(to_rate),
                           static_cast<unsigned>(channels), &error, &layout, &spec, &runtime);
    if (error != nullptr) {
      throw Error(ErrorKind::internal,
                  fmt::format("the SoX Resampler library, {} to {} Hz: {}", from_rate, to_rate, error));
    }
  }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream() { soxr().destroy(handle); }
};

Resampler::Resampler(Index from_rate, Index to_rate, Index channels, ResampleQuality quality) {
  for (const Index rate : {from_rate, to_rate}) {
    if (rate < 1 || rate > 1000000) {
      throw Error(ErrorKind::bad_input, fmt::format("sample rate {} Hz; expected 1 to 1000000", rate));
    }
  }
  stream_ = std::make_unique<Stream>(from_rate, to_rate, channels, quality);
}
Resampler::Resampler(Resampler&&) noexcept = default;
Resampler& Resampler::operator=(Resampler&&) noexcept = default;
Resampler::~Resampler() = default;

void Resampler::process(std::span<const float> interleaved, std::vector<float>& out) {
  Stream& stream = *stream_;
  const bool ends = interleaved.empty();
  std::size_t used = 0;
  const std::size_t frames = interleaved.size() / stream.channels;
  for (;;) {
    std::size_t taken = 0, given = 0;
    const soxr_error_t error =
        soxr().process(stream.handle, ends ? nullptr : interleaved.data() + used * stream.channels, frames - used,
                       &taken, stream.made.data(), frames_of_call, &given);
    if (error != nullptr) throw Error(ErrorKind::internal, fmt::format("the SoX Resampler library: {}", error));
    out.insert(out.end(), stream.made.begin(),
               stream.made.begin() + static_cast<std::ptrdiff_t>(given * stream.channels));
    used += taken;
    if (given < frames_of_call && used == frames) break;
  }
}

}  // namespace sonde::separate
