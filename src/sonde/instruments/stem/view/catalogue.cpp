// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/view/catalogue.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <utility>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/log.h"
#include "sonde/engine/base/paths.h"
#include "sonde/engine/base/run_files.h"
#include "sonde/engine/device/pool.h"
#include "sonde/engine/memory/host_memory.h"
#include "sonde/engine/panel/payload.h"

namespace sonde::stem {
namespace {

namespace fs = std::filesystem;

/// Frames that are kept: a sixteenth of the budget, enough for some hundred images of 512 x 512.
std::size_t cache_limit(const Budget& budget) {
  return std::min<std::size_t>(std::size_t{256} << 20, budget.limit_bytes() / 16);
}

constexpr std::chrono::milliseconds rest_before_trim(1000);

bool lies_below(const fs::path& path, const fs::path& root) {
  const auto [rest, ignored] = std::mismatch(root.begin(), root.end(), path.begin(), path.end());
  return rest == root.end();
}

}  // namespace

Catalogue::Catalogue(const std::vector<std::string>& paths, const ViewOptions& options, Budget budget, Device device)
    : options_(options),
      budget_(std::move(budget)),
      device_(device),
      cache_reservation_(budget_.reserve(cache_limit(budget_), "images that were shown")),
      cache_(cache_limit(budget_)),
      watch_(options.series) {
  if (paths.empty()) throw Error(ErrorKind::usage, "no scan was named").hint("give a master file or a folder");
  for (const std::string& path : paths) {
    entries_.push_back(std::make_shared<Entry>(static_cast<Index>(entries_.size()), path, options_, budget_, device_));
    roots_.push_back(canonical_path(path).string());
  }
  start();
}

Catalogue::Catalogue(std::vector<std::shared_ptr<Series>> series, Budget budget, bool held_elsewhere)
    : options_{.load = series.empty() ? LoadOptions() : series.front()->options(), .series = {}, .watch_s = 0},
      budget_(std::move(budget)),
      device_(Device::cpu()),
      held_elsewhere_(held_elsewhere),
      cache_reservation_(budget_.reserve(cache_limit(budget_), "images that were shown")),
      cache_(cache_limit(budget_)),
      watch_(options_.series) {
  if (series.empty()) throw Error(ErrorKind::usage, "no scan was named").hint("give a data set or a series");
  for (std::shared_ptr<Series>& each : series)
    entries_.push_back(std::make_shared<Entry>(static_cast<Index>(entries_.size()), std::move(each), budget_));
  start();
}

void Catalogue::start() {
  application_ = set_progress_sink({});
  set_progress_sink(application_);
  for (const auto& entry : entries_)
    if (entry->size() > 0) requests_.push_back({entry->id(), 0});
  news_ = true;
  worker_ = std::jthread(in_this_run([this](const std::stop_token& stop) { work(stop); }));
}

Index Catalogue::size() const {
  const std::lock_guard lock(mutex_);
  return static_cast<Index>(entries_.size());
}

std::shared_ptr<Entry> Catalogue::entry(Index id) const {
  const std::lock_guard lock(mutex_);
  if (id < 0 || id >= static_cast<Index>(entries_.size()))
    throw Error(ErrorKind::bad_input, fmt::format("no data set has the number {}", id))
        .hint(fmt::format("there are {}, the first is 0", entries_.size()));
  return entries_[static_cast<std::size_t>(id)];
}

Index Catalogue::open(const std::string& path) {
  const auto refuse = [&] {
    // One text for what is not there and what is elsewhere: a client learns nothing of other folders.
    throw Error(ErrorKind::bad_input, fmt::format("{}: not below a path that was given at start", path))
        .hint("start the viewer with it");
  };
  fs::path found;
  for (const std::string& root : roots_) {
    const fs::path folder = is_folder(root) ? fs::path(root) : fs::path(root).parent_path();
    std::error_code failed;
    const fs::path candidate = fs::canonical(folder / path, failed);  // symbolic links are followed before judging
    if (!failed && lies_below(candidate, root)) {
      found = candidate;
      break;
    }
  }
  if (found.empty()) refuse();
  {
    const std::lock_guard lock(mutex_);
    for (const auto& entry : entries_)
      if (std::error_code failed; fs::canonical(entry->source(), failed) == found && !failed) return entry->id();
  }
  // Opening takes a while: not under the lock. Two clients that open one path at once get two data sets.
  const Index id = size();
  auto made = std::make_shared<Entry>(id, found.string(), options_, budget_, device_);
  {
    const std::lock_guard lock(mutex_);
    if (static_cast<Index>(entries_.size()) != id)
      throw Error(ErrorKind::bad_input, fmt::format("{}: another data set was opened at the same time", path))
          .hint("open it again");
    if (made->size() > 0) requests_.push_front({id, 0});
    entries_.push_back(std::move(made));
    news_ = true;
  }
  changed_.notify_all();
  tell("datasets", datasets());
  return id;
}

std::shared_ptr<const Dataset> Catalogue::want(Entry& entry, Index item) {
  if (auto dataset = entry.held(item)) return dataset;
  {
    const std::lock_guard lock(mutex_);
    std::erase_if(requests_,
                  [&](const LoadRequest& request) { return request.dataset == entry.id() && request.item == item; });
    requests_.push_front({entry.id(), item});
    news_ = true;
  }
  changed_.notify_all();
  return nullptr;
}

void Catalogue::when_idle(std::function<void()> job, std::chrono::milliseconds rest) {
  {
    const std::lock_guard lock(mutex_);
    idle_.push_back({std::chrono::steady_clock::now() + rest, std::move(job)});
    news_ = true;
  }
  changed_.notify_all();
}

void Catalogue::release(Index dataset, std::optional<Index> item) {
  const auto released = entry(dataset);
  {
    const std::lock_guard lock(mutex_);
    std::erase_if(requests_, [&](const LoadRequest& request) {
      return request.dataset == dataset && (!item || request.item == *item);
    });
  }
  released->release(item);
  cache_.drop(item ? fmt::format("{}/{}/", dataset, *item) : fmt::format("{}/", dataset));
  tell("memory", memory());
  tell("datasets", datasets());
}

void Catalogue::listen(const std::weak_ptr<Listener>& listener) {
  const std::lock_guard lock(mutex_);
  std::erase_if(listeners_, [](const auto& each) { return each.expired(); });
  listeners_.push_back(listener);
}

void Catalogue::for_each_listener(const std::function<void(Listener&)>& body) {
  std::vector<std::weak_ptr<Listener>> all;
  {
    const std::lock_guard lock(mutex_);
    all = listeners_;
  }
  for (const auto& each : all)
    if (const auto listener = each.lock()) body(*listener);
}

void Catalogue::tell(std::string_view event, const Value& what) {
  for_each_listener([&](Listener& listener) { listener.event(event, what); });
}

std::vector<std::shared_ptr<Entry>> Catalogue::entries() const {
  const std::lock_guard lock(mutex_);
  return entries_;
}

Value Catalogue::datasets() const {
  Value list = Value::list();
  for (const auto& entry : entries()) list.push_back(entry->state());
  Value what;
  what["datasets"] = std::move(list);
  return what;
}

std::size_t Catalogue::elsewhere_bytes() const {
  std::size_t bytes = 0;
  if (held_elsewhere_)
    for (const auto& entry : entries())
      for (Index item = 0; item < entry->size(); ++item)
        if (const auto dataset = entry->peek(item)) bytes += dataset->held_bytes();
  return bytes;
}

std::size_t Catalogue::resident_bytes() const {
  // Frames that wait for clients count too, in other pages' of this process as well.
  const panel::PayloadMemory frames = panel::payload_memory();
  return elsewhere_bytes() + budget_.reserved_bytes() - cache_reservation_.bytes() +
         std::max(cache_.bytes(), frames.in_use) + frames.kept;
}

void Catalogue::used() {
  {
    const std::lock_guard lock(mutex_);
    last_use_ = std::chrono::steady_clock::now();
    if (std::exchange(will_trim_, true)) return;
  }
  trim_at_rest(rest_before_trim);
}

void Catalogue::trim_at_rest(std::chrono::milliseconds rest) {
  when_idle(
      [this] {
        std::chrono::steady_clock::duration rested;
        {
          const std::lock_guard lock(mutex_);
          rested = std::chrono::steady_clock::now() - last_use_;
          will_trim_ = rested < rest_before_trim;
        }
        if (rested < rest_before_trim)
          return trim_at_rest(std::chrono::ceil<std::chrono::milliseconds>(rest_before_trim - rested));
        // Temporary arrays of every thread that computes lie in arenas of its own, which keep what they once had.
        Pool::of(Device::cpu()).release();
      },
      rest);
}

Value Catalogue::memory() const {
  Value memory;
  memory["resident"] = resident_bytes();
  memory["budget"] = budget_.limit_bytes() + elsewhere_bytes();
  memory["peak"] = budget_.peak_bytes();
  memory["process"] = resident_memory().now;
  memory["items"] = Value::list();
  for (const auto& entry : entries())
    for (Index item = 0; item < entry->size(); ++item)
      if (const auto dataset = entry->peek(item)) {
        Value& held = memory["items"].push_back(Value::object());
        held["dataset"] = entry->id();
        held["item"] = item;
        held["label"] = entry->item_label(item);
        held["resident"] = dataset->held_bytes();
      }
  return memory;
}

Value Catalogue::state() const {
  Value state = datasets();
  state["memory"] = memory();
  return state;
}

void Catalogue::work(const std::stop_token& stop) {
  const ProgressScope scope([this](const Progress& progress) { show_progress(progress); });
  const CancelScope until_the_end(&cancel_);
  const auto pause = std::chrono::duration_cast<std::chrono::steady_clock::duration>(
      std::chrono::duration<double>(options_.watch_s > 0 ? options_.watch_s : 3600.0));
  auto next_look = std::chrono::steady_clock::now() + pause;
  while (!stop.stop_requested()) {
    std::optional<LoadRequest> request;
    std::function<void()> job;
    {
      std::unique_lock lock(mutex_);
      auto until = next_look;
      for (const Job& each : idle_) until = std::min(until, each.due);
      changed_.wait_until(lock, stop, until, [&] { return std::exchange(news_, false); });
      if (stop.stop_requested()) return;
      const auto now = std::chrono::steady_clock::now();
      const auto due = std::find_if(idle_.begin(), idle_.end(), [&](const Job& each) { return each.due <= now; });
      if (!requests_.empty()) {
        request = requests_.front();
        requests_.pop_front();
        news_ = true;  // there may be more
      } else if (due != idle_.end()) {
        job = std::move(due->run);
        idle_.erase(due);
      }
    }
    if (request) load(*request);
    if (job) job();
    if (options_.watch_s > 0 && std::chrono::steady_clock::now() >= next_look) {
      look_at_folders();
      next_look = std::chrono::steady_clock::now() + pause;
    }
  }
}

void Catalogue::load(const LoadRequest& request) {
  const std::shared_ptr<Entry> entry = this->entry(request.dataset);
  const bool was_held = entry->held(request.item) != nullptr;
  loading_ = request;
  if (!was_held) {
    Value begun;
    begun["item"] = request.item;
    begun["stage"] = "opening";
    begun["fraction"] = 0;
    entry->set_loading(begun);
  }
  std::optional<Error> problem;
  try {
    (void)entry->load(request.item);
  } catch (const Error& error) {
    problem = error;
  } catch (const std::bad_alloc&) {
    problem = Error(ErrorKind::budget, "the system gave no more memory").hint("release other data sets");
  }
  loading_.reset();
  // First the frames, then the word that all is done: who has seen that finds nothing still on its way.
  for_each_listener(
      [&](Listener& listener) { listener.loaded(request.dataset, request.item, problem ? &*problem : nullptr); });
  entry->set_loading(std::nullopt);
  if (!was_held) {
    tell("datasets", datasets());
    tell("memory", memory());
  }
  if (problem && problem->kind() != ErrorKind::interrupted && problem->kind() != ErrorKind::terminated) {
    log_warning(problem->what());
    Value notice;
    notice["message"] = in_words(*problem, entry->item_path(request.item));
    notice["hint"] = problem->hint();
    notice["dataset"] = request.dataset;
    notice["item"] = request.item;
    tell("notice", notice);
  }
}

void Catalogue::show_progress(const Progress& progress) {
  if (!loading_) return;  // decoding a few patterns is not worth a bar
  if (application_) application_(progress);
  const std::shared_ptr<Entry> entry = this->entry(loading_->dataset);
  Value what;
  what["dataset"] = loading_->dataset;
  what["item"] = loading_->item;
  what["stage"] = progress.stage;
  const double total = std::max(1.0, static_cast<double>(progress.total));
  what["fraction"] = std::min(1.0, static_cast<double>(progress.done) / total);
  what["bytes_per_s"] = progress.rate / total * entry->stored_bytes(loading_->item);
  what["remaining_s"] =
      progress.rate > 0 ? Value(static_cast<double>(progress.total - progress.done) / progress.rate) : Value();
  entry->set_loading(what);
  tell("progress", what);
}

void Catalogue::look_at_folders() {
  bool items = false;
  for (const auto& entry : entries()) {
    const bool waited = entry->size() == 0;
    const FolderWatch::Changes changes = watch_.look(*entry);
    items |= changes.items;
    if (waited && entry->size() > 0) {
      const std::lock_guard lock(mutex_);
      requests_.push_back({entry->id(), 0});
      news_ = true;
    }
    for (const std::string& file : changes.gone) {
      Value notice;
      notice["dataset"] = entry->id();
      notice["message"] = file + " has disappeared";
      notice["hint"] = "what is in memory can still be looked at";
      tell("notice", notice);
    }
  }
  if (items) tell("datasets", datasets());
}

}  // namespace sonde::stem
