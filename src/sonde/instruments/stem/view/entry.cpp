// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/view/entry.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <utility>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/log.h"
#include "sonde/engine/base/paths.h"
#include "sonde/instruments/stem/load/trusted.h"
#include "sonde/instruments/stem/results/detector_images.h"
#include "sonde/instruments/stem/results/save_image.h"

namespace sonde::stem {
namespace {

/// Whether all that is wrong with a folder is that no scan in it is finished.
bool may_be_finished_later(const std::string& folder, const ViewOptions& options, const Budget& budget) {
  std::error_code failed;
  const std::filesystem::directory_iterator readable(folder, failed);
  if (failed) return false;
  try {
    for (const std::string& path : find_scans({folder}, options.series)) try {
        (void)preview_load(path, options.load, budget);
        return false;
      } catch (const Error& error) {
        if (error.kind() != ErrorKind::bad_file) return false;
      }
  } catch (const Error&) {  // without any
  }
  return true;
}

/// A scan that cannot be opened says so itself, a folder lists what is wrong with each. nullptr for one that waits for
/// its first scan.
std::shared_ptr<Series> open_series(const std::string& path, const ViewOptions& options, const Budget& budget,
                                    Device device) {
  if (!is_series_folder(path)) (void)preview_load(path, options.load, budget);
  try {
    return std::make_shared<Series>(Series::open({path}, options.series, options.load, budget, device));
  } catch (const Error& error) {
    if (options.watch_s <= 0 || error.kind() != ErrorKind::bad_file || !is_series_folder(path) ||
        !may_be_finished_later(path, options, budget))
      throw;
    log_note(fmt::format("waiting for the first scan: {}; {}", error.message(), error.hint()));
    return nullptr;
  }
}

Value pair(Index rows, Index cols) {
  Value both = Value::list();
  both.push_back(rows);
  both.push_back(cols);
  return both;
}

void add_scales(Value& facts, const Calibration& calibration, Index scan_bin, Index det_bin) {
  if (const ImageScale scan = scan_scale(calibration, scan_bin); scan.unit == "nm") {
    facts["scan_step_nm"] = Value::list();
    facts["scan_step_nm"].push_back(*scan.row_step);
    facts["scan_step_nm"].push_back(*scan.col_step);
  }
  if (const ImageScale detector = detector_scale(calibration, det_bin); detector.unit == "mrad")
    facts["pixel_mrad"] = *detector.row_step;
  if (calibration.detector_step_inv_a)
    facts["pixel_per_angstrom"] = calibration.detector_step_inv_a->value * static_cast<double>(det_bin);
}

std::string folder_of(const std::string& path) { return absolute_path(path).parent_path().string(); }

/// The last part of a path, also of one that ends in a slash.
std::string name_of(const std::filesystem::path& path) {
  return (path.filename().empty() ? path.parent_path() : path).filename().string();
}

BeamFound find_beam(const Dataset& dataset) {
  BeamFound found;
  try {
    const Array mean = mean_pattern(dataset);
    found.centre = find_disk(mean.view<double, 2>(), trusted_pixels(dataset), CentreMethod::edge);
  } catch (const Error& error) {  // a scan without a beam can be looked at all the same
    if (error.kind() == ErrorKind::interrupted || error.kind() == ErrorKind::terminated) throw;
    found.error = Error(error.kind(), error.message())
                      .hint("give its centre and radius under Beam, or choose a detector in pixels");
  }
  return found;
}

}  // namespace

std::string in_words(const Error& error, const std::string& path) {
  std::string text = error.message();
  for (const Error& problem : error.problems()) text += "; " + problem.message();
  for (const std::string& activity : error.activities()) text += ", while " + activity;
  return text.find(name_of(path)) == std::string::npos ? path + ": " + text : text;
}

Entry::Entry(Index id, const std::string& path, const ViewOptions& options, const Budget& budget, Device device)
    : id_(id),
      source_(absolute_path(path).string()),
      load_(options.load),
      which_(options.series),
      budget_(budget),
      device_(device),
      series_(open_series(path, options, budget, device)) {
  if (series_)
    for (const SeriesItem& item : series_->items()) add(item);
  label_ = is_series_folder(path) ? name_of(source_) : items_.front().label;
  if (series_) expect(preview_load(items_.front().path, load_, budget));
}

Entry::Entry(Index id, std::shared_ptr<Series> series, const Budget& budget)
    : id_(id),
      source_(series->size() == 1 ? series->items().front().path : folder_of(series->items().front().path)),
      load_(series->options()),
      budget_(budget),
      device_(Device::cpu()),
      series_(std::move(series)) {
  for (const SeriesItem& item : series_->items()) {
    add(item);
    items_.back().files.clear();  // whoever opened them looks after their files
  }
  label_ = items_.size() == 1 ? items_.front().label : name_of(source_);
  if (const auto dataset = series_->peek(0))
    describe(*dataset);
  else
    expect(preview_load(items_.front().path, load_, budget));
}

void Entry::add(const SeriesItem& item) {
  items_.push_back(
      {item.label, item.path, static_cast<double>(item.sizes.stored_bytes), {}, {}, false, {item.path}, {}});
}

void Entry::expect(const LoadPreview& preview) {
  const LoadEstimate& estimate = preview.estimate;
  shape_ = {preview.sizes.scan_rows, preview.sizes.scan_cols, estimate.rows, estimate.cols};
  facts_["det_bin"] = estimate.det_bin;
  facts_["scan_bin"] = load_.scan_bin;
  add_scales(facts_, preview.acquisition.calibration, load_.scan_bin, estimate.det_bin);
}

std::shared_ptr<Series> Entry::series() const {
  const std::lock_guard lock(mutex_);
  return series_;
}

std::shared_ptr<const Dataset> Entry::held(Index item) const {
  const auto series = this->series();
  return series ? series->held_item(item) : nullptr;
}

std::shared_ptr<const Dataset> Entry::peek(Index item) const {
  const auto series = this->series();
  return series ? series->peek(item) : nullptr;
}

Index Entry::size() const {
  const std::lock_guard lock(mutex_);
  return static_cast<Index>(items_.size());
}

void Entry::require_scan() const {
  if (size() == 0)
    throw Error(ErrorKind::bad_input, fmt::format("{}: no scan is finished yet", source_))
        .hint("the first one is shown as soon as it is");
}

std::string Entry::item_path(Index item) const {
  const std::lock_guard lock(mutex_);
  return items_.at(static_cast<std::size_t>(item)).path;
}

std::string Entry::item_label(Index item) const {
  const std::lock_guard lock(mutex_);
  return items_.at(static_cast<std::size_t>(item)).label;
}

double Entry::stored_bytes(Index item) const {
  const std::lock_guard lock(mutex_);
  return items_.at(static_cast<std::size_t>(item)).stored_bytes;
}

Shape Entry::shape() const {
  const std::lock_guard lock(mutex_);
  return shape_;
}

std::shared_ptr<const Dataset> Entry::load(Index item) {
  try {
    std::shared_ptr<const Dataset> dataset = series()->item(item);
    (void)beam(item);
    const std::lock_guard lock(mutex_);
    Item& loaded = items_.at(static_cast<std::size_t>(item));
    loaded.error.reset();
    preview_.reset();
    first_look_.reset();
    preview_item_ = -1;
    if (std::exchange(loaded.described, true)) return dataset;
    loaded.files = dataset->acquisition().files;
    if (!loaded.files.empty() && std::find(loaded.files.begin(), loaded.files.end(), loaded.path) == loaded.files.end())
      loaded.files.push_back(loaded.path);
    std::sort(loaded.files.begin(), loaded.files.end());
    describe(*dataset);
    return dataset;
  } catch (const Error& error) {
    const std::lock_guard lock(mutex_);
    items_.at(static_cast<std::size_t>(item)).error = error;
    throw;
  }
}

std::shared_ptr<PatternPreview> Entry::preview_of(Index item) {
  const std::lock_guard lock(mutex_);
  if (preview_item_ != item) {
    preview_ = std::make_shared<PatternPreview>(items_.at(static_cast<std::size_t>(item)).path, load_,
                                                facts_.find("det_bin")->as_whole());
    first_look_.reset();
    preview_item_ = item;
  }
  return preview_;
}

Array Entry::preview_pattern(Index item, Index scan_row, Index scan_col) {
  return preview_of(item)->pattern(scan_row, scan_col);
}

std::shared_ptr<const FirstLook> Entry::first_look(Index item) {
  const std::lock_guard one_at_a_time(looking_);
  const std::shared_ptr<PatternPreview> preview = preview_of(item);
  {
    const std::lock_guard lock(mutex_);
    if (preview_ == preview && first_look_) return first_look_;
  }
  auto look = std::make_shared<const FirstLook>(*preview, shape());
  const std::lock_guard lock(mutex_);
  if (preview_ == preview) first_look_ = look;  // else the item is there by now, or another one is looked at
  return look;
}

void Entry::describe(const Dataset& dataset) {
  shape_ = dataset.shape();
  facts_ = Value::object();
  facts_["dtype"] = name(dataset.dtype());
  facts_["layout"] = layout_name(dataset.layout());
  facts_["det_bin"] = dataset.det_bin();
  facts_["scan_bin"] = dataset.scan_bin();
  add_scales(facts_, dataset.calibration(), dataset.scan_bin(), dataset.det_bin());
  facts_["bad_pixels"] = Value::list();
  const std::vector<std::uint8_t> trusted = trusted_pixels(dataset);
  for (std::size_t q = 0; q < trusted.size(); ++q)
    if (trusted[q] == 0)
      facts_["bad_pixels"].push_back(
          pair(static_cast<Index>(q) / dataset.shape()[3], static_cast<Index>(q) % dataset.shape()[3]));
  facts_["largest"] = dataset.exactness().largest;
  facts_["choices"] = Value::list();
  for (const Choice<std::string>& choice : dataset.choices()) {
    // "what: value", as loading words them
    const std::size_t colon = choice.value.find(": ");
    Value& entry = facts_["choices"].push_back(Value::object());
    entry["what"] = colon == std::string::npos ? "" : choice.value.substr(0, colon);
    entry["value"] = colon == std::string::npos ? choice.value : choice.value.substr(colon + 2);
    entry["because"] = choice.because;
  }
}

std::optional<double> Entry::pixel_mrad() const {
  const std::lock_guard lock(mutex_);
  const Value* known = facts_.find("pixel_mrad");
  return known == nullptr ? std::nullopt : std::optional(known->as_real());
}

BeamFound Entry::beam(Index item) {
  {
    const std::lock_guard lock(mutex_);
    if (const auto& known = items_.at(static_cast<std::size_t>(item)).beam) return *known;
  }
  const auto dataset = peek(item);
  if (!dataset) return {};
  BeamFound found = find_beam(*dataset);
  const std::lock_guard lock(mutex_);
  items_.at(static_cast<std::size_t>(item)).beam = found;
  return found;
}

std::optional<Error> Entry::problem(Index item) const {
  const std::lock_guard lock(mutex_);
  return items_.at(static_cast<std::size_t>(item)).error;
}

void Entry::forget_problem(Index item) {
  const std::lock_guard lock(mutex_);
  items_.at(static_cast<std::size_t>(item)).error.reset();
}

void Entry::set_loading(std::optional<Value> progress) {
  const std::lock_guard lock(mutex_);
  loading_ = std::move(progress);
}

void Entry::append(const std::string& path) {
  const auto series = this->series();
  if (!series) return begin(path);
  series->append(path);
  const std::lock_guard lock(mutex_);
  add(series->items().back());
}

void Entry::begin(const std::string& path) {
  // First by itself: a series that cannot be opened writes to the log what it left out, and this is tried again and
  // again.
  const LoadPreview preview = preview_load(path, load_, Budget(budget_.limit_bytes(), budget_.because()));
  std::shared_ptr<Series> series;
  try {
    series = std::make_shared<Series>(Series::open({path}, which_, load_, budget_, device_));
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::bad_file) throw;
    throw Error(ErrorKind::bad_input, error.message());  // finished, but of another shape than was asked for
  }
  const std::lock_guard lock(mutex_);
  expect(preview);
  add(series->items().front());
  series_ = std::move(series);
}

std::vector<std::string> Entry::look_for_files(Index item) {
  std::vector<std::string> files, before;
  {
    const std::lock_guard lock(mutex_);
    files = items_.at(static_cast<std::size_t>(item)).files;
    before = items_.at(static_cast<std::size_t>(item)).gone;
  }
  std::vector<std::string> gone, news;
  for (const std::string& file : files)
    if (std::error_code failed; !std::filesystem::exists(file, failed)) gone.push_back(file);
  std::set_difference(gone.begin(), gone.end(), before.begin(), before.end(), std::back_inserter(news));
  const std::lock_guard lock(mutex_);
  items_.at(static_cast<std::size_t>(item)).gone = std::move(gone);
  return news;
}

void Entry::release(std::optional<Index> item) {
  const auto series = this->series();
  if (!series) return;
  if (item)
    series->release(*item);
  else
    series->release();
  const std::lock_guard lock(mutex_);
  for (std::size_t i = 0; i < items_.size(); ++i)
    if (!item || i == static_cast<std::size_t>(*item)) items_[i].error.reset();
}

Value Entry::state() const {
  const std::lock_guard lock(mutex_);
  Value state;
  state["id"] = id_;
  state["label"] = label_;
  state["source"] = source_;
  if (!items_.empty() &&
      std::all_of(items_.begin(), items_.end(), [](const Item& item) { return item.error.has_value(); }))
    state["error"] = in_words(*items_.front().error, items_.front().path);
  state["loading"] = loading_.value_or(Value());
  state["items"] = Value::list();
  for (std::size_t i = 0; i < items_.size(); ++i) {
    Value& entry = state["items"].push_back(Value::object());
    entry["label"] = items_[i].label;
    entry["path"] = items_[i].path;
    entry["held"] = series_->held(static_cast<Index>(i));
    if (items_[i].error) entry["error"] = in_words(*items_[i].error, items_[i].path);
    if (!items_[i].gone.empty()) entry["missing"] = true;
  }
  if (!series_) {
    state["waiting"] = true;
    return state;
  }
  state["scan"] = pair(shape_[0], shape_[1]);
  state["detector"] = pair(shape_[2], shape_[3]);
  for (const auto& [key, value] : facts_.members()) state[key] = value;
  for (const Item& item : items_)
    if (item.beam && item.beam->centre) {
      state["centre"]["row"] = item.beam->centre->row;
      state["centre"]["col"] = item.beam->centre->col;
      state["centre"]["radius"] = item.beam->centre->radius;
      break;
    }
  return state;
}

}  // namespace sonde::stem
