// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "sonde/engine/memory/budget.h"
#include "sonde/engine/panel/page.h"

namespace sonde::separate {

/// Kinds of the frames of this page; `dataset` is the song, `channel` the track.
constexpr panel::FrameKind peaks_frame{110};    ///< (3, columns) f32: smallest, largest, root mean square
constexpr panel::FrameKind levels_frame{111};   ///< (bands, columns) u8, the lowest band first
constexpr panel::FrameKind samples_frame{112};  ///< (channels, samples) f32

/// The songs of a folder as a page that draws them, plays them, finds the events of drums and gives them as a MIDI file
/// ("The page of stems" in docs/viewer-protocol.md); nothing for a folder without audio files. What is drawn of a track
/// is reserved in the budget when it is first asked for; samples are sent in parts of some seconds. Throws what
/// find_songs() throws.
[[nodiscard]] std::optional<panel::Page> stems_page(const std::string& folder, const Budget& budget);

}  // namespace sonde::separate
