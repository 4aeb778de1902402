// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sonde/engine/io/hdf5/open_file.h"

namespace sonde::hdf5 {

/// An object and the file that holds it, which may be another than the one where the search began.
struct Object {
  std::shared_ptr<const OpenFile> file;
  std::shared_ptr<const ObjectHeader> header;
};

/// What a path leads to; without an object, `why_not` says where it ended.
struct Found {
  std::optional<Object> object;
  std::string why_not;
};

/// Follows a path from the root of a file through groups, soft links and external links, at most 16 of them. Files of
/// external links are searched beside the file that names them, then in the working folder. A file that external links
/// lead to and that is no sound HDF5 file is an absent object with that reason.
[[nodiscard]] Found find_object(const std::shared_ptr<const OpenFile>& file, std::string_view path);

/// The link at the end of a path, not followed; nothing when there is none.
[[nodiscard]] std::optional<Hdf5Link> find_link_at(const std::shared_ptr<const OpenFile>& file, std::string_view path);

/// Where a file that `beside` names is: an absolute name as it is (else its last part beside), a relative one beside
/// the file, beside the file that a link stands for, or in the working folder. Returns the first choice when none is
/// there.
[[nodiscard]] std::string locate(const std::string& beside, const std::string& name);

}  // namespace sonde::hdf5
