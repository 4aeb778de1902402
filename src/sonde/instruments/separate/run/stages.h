// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>

#include "sonde/instruments/separate/run/separation.h"

namespace sonde::separate {

/// One of two networks that work in turn.
struct Stage {
  const Config& config;
  const SeparationSettings& settings;
  /// separate_files() of this task with these settings, which are those above but for SeparationSettings::keep.
  std::function<void(const SeparationTask& task, const SeparationSettings& settings,
                     const std::function<void(const SeparationResult&)>& finished)>
      separate{};
};

/// Separates a song by the first network, and then a stem of it by the second one: the stem is that of `stem.source`,
/// as stem_of() gives it. The same bits as of two separations with a file of float32 between them. `finished` is called
/// for both, with 0 and 1. An interrupt leaves what a later run needs to resume, in each of the stages; what is kept of
/// the song is removed when the stems of the stem have their names. A stage that an earlier run has completed is not
/// computed again; the first one only if what is kept of it is there, or the second one is complete too.
void separate_in_stages(const Stage& first, const Stage& second, const SeparationTask& song, const SeparationTask& stem,
                        const std::function<void(std::size_t stage, const SeparationResult&)>& finished);

}  // namespace sonde::separate
