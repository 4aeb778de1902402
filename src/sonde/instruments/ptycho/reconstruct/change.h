// SPDX-License-Identifier: Apache-2.0
// Private to the room: how much an iteration has changed.
#pragma once

#include "sonde/engine/array/array.h"
#include "sonde/instruments/ptycho/share/share.h"

namespace sonde::ptycho {

/// sum |now - before|^2 over sum |before|^2 of complex arrays; the same on any number of threads.
template <class Real>
[[nodiscard]] double relative_change(const Array& now, const Array& before);

/// The same of the object of all processes; one process has no share.
template <class Real>
[[nodiscard]] double object_change(const Array& now, const Array& before, const Share* share);

}  // namespace sonde::ptycho
