// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/load/series.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <thread>
#include <utility>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/log.h"
#include "sonde/engine/base/paths.h"
#include "sonde/engine/base/run_files.h"
#include "sonde/engine/base/text.h"
#include "sonde/instruments/stem/load/parse_numbers.h"
#include "sonde/instruments/stem/read/recognise.h"

namespace sonde::stem {
namespace {

namespace fs = std::filesystem;
constexpr std::string_view master_ending = "_master.h5";

/// Whether `name` contains `pattern`, in which * matches anything.
bool matches(std::string_view name, std::string_view pattern) {
  std::size_t at = 0;
  for (const std::string& part : split(pattern, '*')) {
    const std::size_t found = name.find(part, at);
    if (found == std::string_view::npos) return false;
    at = found + part.size();
  }
  return true;
}

/// What a loaded scan holds: elements, index and moments.
std::size_t held_bytes(const LoadEstimate& estimate, const LoadSizes& sizes) {
  const Index sums = sizes.scan_rows * sizes.scan_cols + estimate.rows * estimate.cols;
  const std::size_t cache = estimate.layout == LayoutChoice::file ? estimate.cache_bytes : 0;
  return estimate.resident_bytes + cache + 24 * static_cast<std::size_t>(sizes.frames + sums);
}

std::string label_of(const std::string& path) {
  const fs::path whole(path);
  // The name of a Zarr folder may end in a slash.
  std::string name = (whole.has_filename() ? whole : whole.parent_path()).filename().string();
  if (name.ends_with(master_ending)) name.resize(name.size() - master_ending.size());
  return name;
}

/// Opened and validated, nothing decoded.
SeriesItem examine(const std::string& path, const LoadOptions& options, const Budget& budget) {
  const LoadPreview preview = preview_load(path, options, budget);
  const Acquisition& a = preview.acquisition;
  return {path, label_of(path), Shape{a.scan.rows, a.scan.cols, a.rows, a.cols}, preview.sizes};
}

template <class Iterator>
void collect(const fs::path& folder, const SeriesOptions& options, std::vector<std::string>& found) {
  std::error_code failed;
  for (Iterator each(folder, failed), end; !failed && each != end; each.increment(failed)) {
    const std::string name = each->path().filename().string();
    if (name.ends_with(master_ending) && matches(name, options.pattern)) found.push_back(each->path().string());
  }
  if (failed)
    throw Error(ErrorKind::bad_file,
                fmt::format("{}: the folder cannot be read: {}", folder.string(), failed.message()))
        .hint("check its permissions");
}

/// What is wrong with a scan, without the path that its problems begin with: the message around it names the scan.
std::string reason_of(const Error& error, const std::string& path) {
  const auto told = [&](const Error& one) {
    return one.message().starts_with(path + ": ") ? one.message().substr(path.size() + 2) : one.message();
  };
  std::string reason = told(error);
  for (const Error& problem : error.problems()) reason += "; " + told(problem);
  return reason;
}

}  // namespace

void SeriesOptions::describe(Fields& fields) {
  describe_names(fields);
  fields.heading("Which scans of a folder");
  fields.add("series_shape", shape,
             {.help = "take scans of this stored shape; else that of the first", .metavar = "RY,RX,QY,QX"});
  fields.heading("");
}

void SeriesOptions::describe_names(Fields& fields) {
  fields.heading("Which scans of a folder");
  fields.add("pattern", pattern,
             {.help = "take scans whose name contains this; * matches anything", .metavar = "TEXT"});
  fields.add("recursive", recursive, {.help = "look into sub-folders too"});
  fields.add("max_files", max_files, {.help = "take at most this many scans; 0 takes all", .min = 0});
  fields.heading("");
}

bool is_series_folder(const std::string& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored) && !is_scan_folder(path);
}

std::vector<std::string> find_scans(const std::vector<std::string>& paths, const SeriesOptions& options) {
  std::vector<std::string> found;
  for (const std::string& path : paths) {
    if (!is_series_folder(path)) {
      found.push_back(path);
      continue;
    }
    std::vector<std::string> inside;
    if (options.recursive)
      collect<fs::recursive_directory_iterator>(path, options, inside);
    else
      collect<fs::directory_iterator>(path, options, inside);
    std::sort(inside.begin(), inside.end(), natural_less);
    if (inside.empty())
      throw Error(ErrorKind::bad_file,
                  fmt::format("{}: the folder holds no *_master.h5{}", path,
                              options.pattern.empty() ? "" : fmt::format(" with \"{}\" in its name", options.pattern)))
          .hint(options.recursive ? "name the files themselves"
                                  : "name the files themselves, or give " + setting("recursive"));
    found.insert(found.end(), inside.begin(), inside.end());
  }
  if (options.max_files > 0 && static_cast<Index>(found.size()) > options.max_files)
    found.resize(static_cast<std::size_t>(options.max_files));
  return found;
}

/// The items in memory, most recently used first, and the thread that loads ahead.
struct Series::Held {
  Held(Budget limit, Device where) : budget(std::move(limit)), device(where) {}

  Budget budget;
  Device device;
  mutable std::mutex mutex;
  std::list<std::pair<Index, std::shared_ptr<const Dataset>>> recent;
  std::mutex loading;  // one load at a time: the budget is shared
  std::optional<std::jthread> background;
  Index background_item = -1;
  std::size_t capacity = 1;    // items that fit at once
  std::size_t peak_bytes = 0;  // of the largest load

  std::shared_ptr<const Dataset> kept;  // of a series of() one, instead of all else

  std::shared_ptr<const Dataset> find(Index i) {
    if (kept) return i == 0 ? kept : nullptr;
    const std::lock_guard lock(mutex);
    for (auto each = recent.begin(); each != recent.end(); ++each)
      if (each->first == i) {
        recent.splice(recent.begin(), recent, each);
        return recent.front().second;
      }
    return nullptr;
  }

  /// Makes room for one more, whose load needs `bytes` at its peak; the least recently used go first, `keep` stay.
  void make_room(std::size_t bytes, std::size_t keep) {
    const std::lock_guard lock(mutex);
    while (recent.size() > keep && (recent.size() >= capacity || budget.available_bytes() < bytes)) recent.pop_back();
  }

  std::shared_ptr<const Dataset> load_item(Index i, const std::string& path, const LoadOptions& options,
                                           std::size_t keep) {
    const std::lock_guard lock(loading);
    if (auto held = find(i)) return held;
    make_room(peak_bytes, keep);
    auto dataset = std::make_shared<const Dataset>(load(path, options, budget, device));
    // Counts that need a wider type than was assumed: the next item of the series is likely to need it as well.
    peak_bytes = std::max(peak_bytes, dataset->estimate().predicted_peak_bytes);
    const std::lock_guard guard(mutex);
    recent.emplace_front(i, dataset);
    return dataset;
  }
};

Series::Series() = default;
Series::Series(Series&&) noexcept = default;
Series& Series::operator=(Series&&) noexcept = default;

Series::~Series() {
  if (held_) wait();
}

ScanSelection select_scans(const std::vector<std::string>& paths, const SeriesOptions& series,
                           const LoadOptions& options, const Budget& budget) {
  ScanSelection made;
  std::vector<SeriesItem> candidates;
  for (const std::string& path : paths) {
    try {
      candidates.push_back(examine(path, options, budget));
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::budget) throw;
      made.skipped.push_back({path, reason_of(error, path)});
    }
  }

  Shape wanted;
  if (!series.shape.empty())
    for (const Index extent : parse_list(series.shape, 4, setting("series_shape"), "256,256,192,192"))
      wanted.append(extent);
  else if (!candidates.empty())
    wanted = candidates.front().shape;
  std::map<std::string, Index> shapes;
  for (SeriesItem& candidate : candidates) {
    ++shapes[candidate.shape.text()];
    if (candidate.shape == wanted)
      made.items.push_back(std::move(candidate));
    else
      made.skipped.push_back(
          {candidate.path, fmt::format("shape {}, the series has {}", candidate.shape.text(), wanted.text())});
  }
  for (const SkippedScan& scan : made.skipped) log_warning(fmt::format("left out {}: {}", scan.path, scan.reason));
  if (made.items.empty()) {
    std::vector<std::string> found;
    found.reserve(shapes.size());
    for (const auto& [shape, count] : shapes) found.push_back(fmt::format("{} of {}", count, shape));
    std::vector<Error> problems;
    for (const SkippedScan& scan : made.skipped)
      problems.emplace_back(ErrorKind::bad_file, fmt::format("{}: {}", scan.path, scan.reason));
    const std::string summary = found.empty()
                                    ? "no scan could be opened"
                                    : fmt::format("no scan has shape {}; found {}", wanted.text(), join_words(found));
    throw Error::several(summary, std::move(problems))
        .hint(found.empty() ? "`sonde stem validate` checks one scan in detail"
                            : "give " + setting("series_shape") + " with one of the shapes found");
  }
  return made;
}

void require_named(const ScanSelection& selected, const std::vector<std::string>& named) {
  Problems problems;
  for (const SkippedScan& scan : selected.skipped)
    if (std::find(named.begin(), named.end(), scan.path) != named.end())
      problems.add(Error(ErrorKind::bad_file, fmt::format("{}: {}", scan.path, scan.reason))
                       .hint("scans of one command have one shape: give it to a command of its own"));
  problems.throw_if_any(fmt::format("{} scans cannot be taken together with the others", problems.errors().size()));
}

Series Series::open(const std::vector<std::string>& paths, const SeriesOptions& series, const LoadOptions& options,
                    Budget budget, Device device) {
  Series made;
  made.options_ = options;
  ScanSelection selected = select_scans(find_scans(paths, series), series, options, budget);
  made.items_ = std::move(selected.items);
  made.skipped_ = std::move(selected.skipped);

  // An item is loaded beside those that are held: its load takes its peak, they what is left of theirs.
  std::size_t largest = 1, peak = 0;
  for (const SeriesItem& item : made.items_) {
    const LoadEstimate estimate = choose_load(item.sizes, options.detector_bin(), options.edge, options.scan_bin,
                                              options.layout, options.dtype, budget.available_bytes())
                                      .value;
    largest = std::max(largest, held_bytes(estimate, item.sizes));
    peak = std::max(peak, estimate.predicted_peak_bytes);
  }
  const std::size_t available = budget.available_bytes();
  made.held_ = std::make_unique<Held>(std::move(budget), device);
  made.held_->peak_bytes = peak;
  made.held_->capacity = 1 + (available - std::min(available, peak)) / largest;
  made.eager_ = made.held_->capacity >= made.items_.size();
  made.eager_because_ = fmt::format(
      "{} scans need {}, the budget is {}{}", made.items_.size(),
      format_bytes(static_cast<double>(made.items_.size() * largest)), format_bytes(static_cast<double>(available)),
      made.eager_ ? "" : fmt::format(": the {} most recently used are held", made.held_->capacity));
  return made;
}

Series Series::of(std::shared_ptr<const Dataset> dataset) {
  Series made;
  made.options_ = dataset->options();
  const Acquisition& a = dataset->acquisition();
  SeriesItem item{a.path, label_of(a.path), Shape{a.scan.rows, a.scan.cols, a.rows, a.cols}, {}};
  item.sizes.stored_bytes = dataset->stored_bytes();
  made.items_.push_back(std::move(item));
  made.held_ = std::make_unique<Held>(Budget(0, "one scan that is loaded"), Device::cpu());
  made.held_->kept = std::move(dataset);
  made.eager_because_ = "one scan that is loaded";
  return made;
}

std::shared_ptr<const Dataset> Series::item(Index i) {
  if (i < 0 || i >= size()) throw Error(ErrorKind::bad_input, fmt::format("item {} of a series of {}", i, size()));
  std::shared_ptr<const Dataset> dataset = held_->find(i);
  if (!dataset) dataset = held_->load_item(i, items_[static_cast<std::size_t>(i)].path, options_, 0);
  return dataset;
}

Budget Series::budget() const { return held_->budget; }

std::shared_ptr<const Dataset> Series::held_item(Index i) { return held_->find(i); }

bool Series::held(Index i) const { return peek(i) != nullptr; }

std::shared_ptr<const Dataset> Series::peek(Index i) const {
  if (held_->kept) return i == 0 ? held_->kept : nullptr;
  const std::lock_guard lock(held_->mutex);
  const auto found =
      std::find_if(held_->recent.begin(), held_->recent.end(), [i](const auto& each) { return each.first == i; });
  return found == held_->recent.end() ? nullptr : found->second;
}

void Series::append(const std::string& path) {
  // What is held now does not count: the least recently used makes room when the item is loaded.
  SeriesItem item = examine(path, options_, Budget(held_->budget.limit_bytes(), held_->budget.because()));
  if (item.shape != items_.front().shape)
    throw Error(ErrorKind::bad_input,
                fmt::format("{}: shape {}, the series has {}", path, item.shape.text(), items_.front().shape.text()));
  items_.push_back(std::move(item));
}

void Series::prefetch(Index i) {
  if (i < 0 || i >= size() || held(i) || held_->capacity < 2) return;
  wait();
  held_->background_item = i;
  held_->background.emplace(
      in_this_run([held = held_.get(), i, path = items_[static_cast<std::size_t>(i)].path, options = options_] {
        try {
          (void)held->load_item(i, path, options, 1);
        } catch (const Error& error) {
          log_note(fmt::format("loading ahead failed: {}", error.message()));  // item() tries again and throws
        }
      }));
}

void Series::wait() { held_->background.reset(); }

void Series::release() {
  wait();
  const std::lock_guard lock(held_->mutex);
  held_->recent.clear();
}

void Series::release(Index i) {
  wait();
  const std::lock_guard lock(held_->mutex);
  held_->recent.remove_if([i](const auto& each) { return each.first == i; });
}

}  // namespace sonde::stem
