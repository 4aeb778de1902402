// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/results/output_path.h"

#include <fmt/format.h>

#include <cctype>
#include <filesystem>
#include <map>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/paths.h"
#include "sonde/engine/base/text.h"

namespace sonde::stem {

namespace fs = std::filesystem;

namespace {

/// Whether `path` names a place inside `folder`, links followed.
bool lies_in(const fs::path& path, const fs::path& folder) {
  std::error_code failed;
  const fs::path root = fs::canonical(folder, failed);
  if (failed) return false;
  const fs::path place = fs::weakly_canonical(path, failed);
  if (failed) return false;
  const fs::path relative = place.lexically_relative(root);
  return !relative.empty() && relative != "." && *relative.begin() != "..";
}

/// The label of every scan, with the name of its folder where another scan has the same.
std::vector<std::string> distinct_labels(const std::vector<std::string>& scans) {
  std::map<std::string, int> counts;
  for (const std::string& path : scans) ++counts[scan_label(path)];
  std::vector<std::string> labels;
  for (const std::string& path : scans) {
    std::string label = scan_label(path);
    const std::string folder = fs::path(absolute_path(path)).parent_path().filename().string();
    if (counts[label] > 1 && !folder.empty()) label = folder + "_" + label;
    labels.push_back(std::move(label));
  }
  return labels;
}

}  // namespace

void require_not_input(const std::string& path, const Acquisition& acquisition, const LoadOptions& options) {
  const auto refuse_if = [&](const std::string& input, const char* what = "which the scan was read from") {
    std::error_code failed;
    const bool same = fs::equivalent(path, input, failed) && !failed;
    if (same || (fs::is_directory(input, failed) && lies_in(path, input)))
      throw Error(ErrorKind::bad_input, fmt::format("{}: would replace {}, {}; an output never replaces an input", path,
                                                    path == input ? "the file" : input, what))
          .hint("give the output another name");
  };
  refuse_if(acquisition.path);
  for (const std::string& file : acquisition.files) refuse_if(file);
  for (const std::string& file : {options.calibration, options.mask_file})
    if (!file.empty()) refuse_if(file, "which is another input");
}

std::string scan_label(const std::string& path) {
  const fs::path whole(path);
  std::string label = (whole.has_filename() ? whole : whole.parent_path()).filename().string();
  const std::string lower = to_lower(label);
  for (const std::string_view ending :
       {"_master.h5", "_000.tvips", ".h5",  ".hspy", ".zspy", ".npy", ".ndata", ".mib",   ".blo",  ".emd",
        ".zarr",      ".raw",       ".xml", ".mrc",  ".mrcs", ".dm3", ".dm4",   ".tvips", ".tiff", ".tif"})
    if (lower.ends_with(ending) && label.size() > ending.size()) {
      label.resize(label.size() - ending.size());
      break;
    }
  return label;
}

std::vector<std::vector<std::string>> image_names(const std::vector<std::string>& scans,
                                                  const std::vector<std::string>& detectors) {
  std::set<std::string> taken;  // in lower case: some file systems do not tell the cases apart
  std::vector<std::vector<std::string>> names;
  for (const std::string& label : distinct_labels(scans)) {
    names.emplace_back();
    for (const std::string& detector : detectors) {
      std::string word;
      for (const char c : detector)
        word += std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '.' ? c : '_';
      const std::string name = label.empty() ? word : detectors.size() > 1 ? label + "_" + word : label;
      std::string distinct = name;
      for (int number = 2; !taken.insert(to_lower(distinct)).second; ++number)
        distinct = fmt::format("{}_{}", name, number);
      names.back().push_back(std::move(distinct));
    }
  }
  return names;
}

}  // namespace sonde::stem
