// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "sonde/engine/options/fields.h"
#include "sonde/instruments/stem/count/event_file.h"

namespace sonde::stem {

/// How a file of events is laid out.
enum class EventFormat { sonde, stempy };

/// The option --format.
void describe_event_format(EventFormat& format, Fields& fields);

/// Writes what event_contents() made, and more, in a format. Throws what write_contents() and write_stempy() throw.
void write_events(const std::string& path, EventFormat format, const Contents& events, const std::string& command);

/// Writes the events of such contents as version 3 of stempy's files: electron_events/frames, one list of u32 for each
/// position, with attributes Nx rows and Ny columns of the frame, and electron_events/scan_positions with Nx columns
/// and Ny rows of the scan (python/stempy/io/sparse_array.py of stempy). A position without a frame becomes an empty
/// list, as stempy has no other. Throws Error(io) when the file cannot be written.
void write_stempy(const std::string& path, const Contents& events, const std::string& command);

}  // namespace sonde::stem
