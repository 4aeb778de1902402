// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

// What is written beside a result without being named (records, logs, previews, pages, caches), and reports, may
// replace only what sonde wrote before. A file says so itself:
//   JSON         "schema": "sonde...." near its beginning
//   text         a first line that begins with sonde or # sonde, or with {"schema":"sonde.log of a log; scripts of
//                charts (# Draws), pages of `sonde help --markdown` and tables of sweeps by what they always said;
//                VTK files by the comment of drawn_mark
//   PNG          a text chunk Software: sonde; TIFF a tag Software; SVG and PDF the comment of drawn_mark
//   HTML         <meta name="generator" content="sonde">
//   HDF5         the seal of a checkpoint, or the attribute schema of a result

namespace sonde {

enum class FileMark { none, json, text, picture, page, hdf5 };

/// What PNG, TIFF and HTML files name as the program that made them.
inline constexpr std::string_view mark_software = "sonde";
/// The comment that marks drawings of other programs, made for sonde: in SVG <!--...-->, in PDF %... at the end.
inline constexpr std::string_view mark_comment = " made by sonde ";

/// The kind of file that carries the mark; none for files of others and for those that cannot be read. Reads a few
/// kilobytes, and small parts of an HDF5 file.
[[nodiscard]] FileMark mark_of(const std::string& path);

/// An empty file loses nothing.
[[nodiscard]] bool may_replace(const std::string& path, FileMark kind);

/// Marks a PNG, SVG or PDF that another program drew, given as its whole bytes.
[[nodiscard]] std::string marked_picture(std::string bytes);

}  // namespace sonde
