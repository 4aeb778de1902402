// SPDX-License-Identifier: Apache-2.0
// From the names in a master to opened and compared data sets.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <optional>

#include "sonde/engine/base/setting.h"
#include "sonde/engine/base/text.h"
#include "sonde/instruments/stem/read/arina.h"
#include "sonde/instruments/stem/read/channels.h"

namespace sonde::stem::arina {
namespace {

namespace fs = std::filesystem;

/// What lies between the base name and the number: "_data_000001.h5".
std::optional<std::string> data_ending(const std::string& file_name) {
  const std::size_t at = file_name.rfind("_data_");
  return at == std::string::npos ? std::nullopt : std::optional(file_name.substr(at));
}

/// Where the file of an external link may be, the most likely place first.
std::vector<std::string> candidates(const std::string& master, const std::string& link_file) {
  const fs::path folder = fs::path(master).parent_path();
  std::vector<std::string> paths = {(folder / link_file).string()};  // an absolute link stays as it is
  const std::string name = fs::path(link_file).filename().string();
  paths.push_back((folder / name).string());
  // The acquisition was renamed: its files keep their endings.
  if (const auto ending = data_ending(name)) paths.push_back((folder / (base_name(master) + *ending)).string());
  return paths;
}

Hdf5Dataset follow(const Hdf5File& master, const Hdf5Link& link, Files& files) {
  const std::string place = fmt::format("{}/{}", data_group, link.name);
  if (link.kind != Hdf5Link::Kind::external) return master.dataset(place);
  const std::vector<std::string> paths = candidates(master.path(), link.file);
  const auto found = std::find_if(paths.begin(), paths.end(), [](const std::string& path) {
    std::error_code ignored;
    return fs::exists(path, ignored);
  });
  if (found == paths.end())
    throw Error(ErrorKind::bad_file, fmt::format("{}: no such file; {} of {} names it", paths[0], place, master.path()))
        .hint("put the data files beside their master");
  if (*found != paths[0])
    files.notes.push_back({fmt::format("{} instead of {}", *found, link.file),
                           fmt::format("{} names a file that is not there; this one has the same number", place)});
  const Hdf5File file = Hdf5File::open(*found);
  if (!file.is_dataset(link.object))
    throw Error(ErrorKind::bad_file,
                fmt::format("{}: no data set {}; {} of {} names it", *found, link.object, place, master.path()))
        .hint("this is not a data file of this acquisition");
  return file.dataset(link.object);
}

std::string filters_text(const Hdf5DatasetInfo& info) {
  if (info.filters.empty()) return "no filter";
  std::vector<std::string> ids;
  for (const Hdf5Filter& filter : info.filters) ids.push_back(fmt::format("filter {}", filter.id));
  return join_words(ids);
}

/// Adds what distinguishes a part from the first one.
void compare(const Hdf5Frames& first, const Hdf5Frames& part, Problems& problems) {
  const Hdf5DatasetInfo &a = first.info(), &b = part.info();
  const auto differ = [&](const std::string& here, const std::string& there) {
    problems.add(Error(ErrorKind::bad_file, fmt::format("{}: {}, but {} has {}", part.file_path(), here,
                                                        fs::path(first.file_path()).filename().string(), there))
                     .hint("all data files of an acquisition have one type, shape and filter"));
  };
  const auto frame = [](const Hdf5Frames& x) { return fmt::format("frames of {} x {}", x.rows(), x.cols()); };
  if (part.rows() != first.rows() || part.cols() != first.cols()) differ(frame(part), frame(first));
  if (part.dtype() != first.dtype() || a.big_endian != b.big_endian)
    differ("elements of type " + b.type_text, a.type_text);
  if (filters_text(a) != filters_text(b)) differ(filters_text(b), filters_text(a));
}

/// The images that a data file says it holds, counted from 1 over the whole acquisition.
struct ImageNumbers {
  std::int64_t low = 0, high = 0;
  std::size_t part = 0;
};

std::optional<ImageNumbers> numbers_of(const Hdf5Frames& frames, std::size_t part) {
  const Hdf5File file = Hdf5File::open(frames.file_path());
  const auto number = [&](const char* name) {
    const auto value = file.attribute(frames.path(), name);
    return value ? value->integer() : std::nullopt;
  };
  const auto low = number("image_nr_low"), high = number("image_nr_high");
  if (!low || !high || *low < 0 || *high < *low) return std::nullopt;
  return ImageNumbers{*low, *high, part};
}

/// Each continues where the one before ends.
bool continuous(const std::vector<ImageNumbers>& numbers) {
  return std::adjacent_find(numbers.begin(), numbers.end(), [](const ImageNumbers& a, const ImageNumbers& b) {
           return b.low != a.high + 1;
         }) == numbers.end();
}

}  // namespace

void check_image_numbers(const std::vector<Hdf5Frames>& parts, bool allow_incomplete, Problems& problems) {
  std::vector<ImageNumbers> numbers;
  for (std::size_t i = 0; i < parts.size(); ++i)
    if (const auto stated = numbers_of(parts[i], i)) numbers.push_back(*stated);
  for (const ImageNumbers& stated : numbers) {
    const Hdf5Frames& part = parts[stated.part];
    if (stated.high - stated.low + 1 > part.frames() && !allow_incomplete)
      problems.add(Error(ErrorKind::bad_file, fmt::format("{}: {} frames, but it states images {} to {}",
                                                          part.file_path(), part.frames(), stated.low, stated.high))
                       .hint("copy the file again, or give " + setting("allow_incomplete")));
  }
  // Some numberings begin anew in every file. Only when another order makes them continuous were files exchanged.
  std::vector<ImageNumbers> ascending = numbers;
  std::sort(ascending.begin(), ascending.end(), [](const auto& a, const auto& b) { return a.low < b.low; });
  if (numbers.size() < parts.size() || continuous(numbers) || !continuous(ascending)) return;
  const auto wrong = std::mismatch(numbers.begin(), numbers.end(), ascending.begin(),
                                   [](const auto& a, const auto& b) { return a.part == b.part; });
  problems.add(
      Error(ErrorKind::bad_file, fmt::format("{}: states images {} to {}, those of {} belong there",
                                             parts[wrong.first->part].file_path(), wrong.first->low, wrong.first->high,
                                             fs::path(parts[wrong.second->part].file_path()).filename().string()))
          .hint("the data files were exchanged; give them the names they had"));
}

bool is_numbered(const std::string& name) {
  constexpr std::string_view start = "data_";
  return name.size() > start.size() && name.starts_with(start) &&
         std::all_of(name.begin() + start.size(), name.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::string base_name(const std::string& path) {
  std::string name = fs::path(path).stem().string();
  if (const std::size_t at = name.rfind("_master"); at != std::string::npos && at + 7 == name.size())
    return name.substr(0, at);
  if (const std::size_t at = name.rfind("_data_"); at != std::string::npos && is_numbered(name.substr(at + 1)))
    return name.substr(0, at);
  return name;
}

Files open_files(const Hdf5File& master, std::size_t memory_bytes, Problems& problems) {
  Files files;
  std::vector<Hdf5Link> links;
  for (Hdf5Link& link : master.list(data_group))
    if (is_numbered(link.name)) links.push_back(std::move(link));
  // nimages_per_file = 0: the frames are in the master; a data file opened by itself looks the same.
  if (links.empty()) links.push_back({"data", Hdf5Link::Kind::hard, "", ""});

  for (const Hdf5Link& link : links) {
    const bool opened = problems.collect([&] {
      Hdf5Frames part(follow(master, link, files), memory_bytes);
      require_no_channels(master, fmt::format("{}/{}", data_group, link.name), part.info().shape);
      if (part.info().shape.rank() != 3)
        throw Error(ErrorKind::bad_file, fmt::format("{}, {}: shape {}, expected frames (n, rows, cols)",
                                                     part.file_path(), part.path(), part.info().shape.text()));
      part.check_ranges(problems);
      const std::string& path = part.file_path();
      if (std::find(files.paths.begin(), files.paths.end(), path) == files.paths.end()) files.paths.push_back(path);
      files.parts.push_back(std::move(part));
    });
    files.complete = files.complete && opened;
  }
  for (std::size_t i = 1; i < files.parts.size(); ++i) compare(files.parts[0], files.parts[i], problems);
  return files;
}

}  // namespace sonde::stem::arina
