// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

// Questions and changes to the file system, in place of the calls of std::filesystem that throw: those end a run with a
// text that names neither what was done nor what helps (a home folder that may not be read, a ring of links, a name of
// 300 characters). A question is answered with no; a change that fails is an Error(io) with path and reason.
// tools/check_layers keeps the throwing calls out of all other rooms.

namespace sonde {

/// Links are followed. False also for what may not be looked at.
[[nodiscard]] bool path_exists(const std::filesystem::path& path) noexcept;
[[nodiscard]] bool is_folder(const std::filesystem::path& path) noexcept;
[[nodiscard]] bool is_plain_file(const std::filesystem::path& path) noexcept;
/// Nothing for what is no regular file, or may not be looked at.
[[nodiscard]] std::optional<std::uint64_t> file_bytes(const std::filesystem::path& path) noexcept;

/// As seen from the working folder, without "." and ".."; the path itself when the working folder is gone.
[[nodiscard]] std::filesystem::path absolute_path(const std::filesystem::path& path);
/// The same with all links followed. Throws Error(bad_file) for what is not there, Error(io) for what may not be looked
/// at.
[[nodiscard]] std::filesystem::path canonical_path(const std::filesystem::path& path);

/// $TMPDIR, else /tmp, whether it is there or not.
[[nodiscard]] std::filesystem::path temporary_folder();

/// Makes a folder and those above it. Throws Error(io) where it is not a folder afterwards.
void make_folders(const std::filesystem::path& path);
/// Removes a file, an empty folder or nothing. Throws Error(io).
void remove_path(const std::filesystem::path& path);

/// What is in a folder, in no order. Throws Error(bad_file) for what is no folder, Error(io) when it may not be read.
[[nodiscard]] std::vector<std::filesystem::path> entries_of(const std::filesystem::path& folder);
/// The same with all folders below; links to folders are not followed, and folders that may not be read are left out.
[[nodiscard]] std::vector<std::filesystem::path> entries_below(const std::filesystem::path& folder);

}  // namespace sonde
