// SPDX-License-Identifier: Apache-2.0
// Private to the room.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "sonde/engine/base/interrupt.h"
#include "sonde/engine/memory/budget.h"
#include "sonde/engine/report/progress.h"
#include "sonde/instruments/stem/view/entry.h"
#include "sonde/instruments/stem/view/folder_watch.h"
#include "sonde/instruments/stem/view/frame_cache.h"

namespace sonde::stem {

/// Who wants to hear of the catalogue. Calls come from its worker and from other clients' threads.
class Listener {
 public:
  virtual ~Listener() = default;
  /// An event for the client as it is.
  virtual void event(std::string_view name, const Value& what) = 0;
  /// An item is there now (or failed, then `error` says why).
  virtual void loaded(Index dataset, Index item, const Error* error) = 0;
};

/// The data sets of a page, shared by all clients. One worker thread loads what is wanted, newest request first, does
/// idle work in between, and looks for new scans in the folders. Thread-safe.
class Catalogue {
 public:
  /// Opens and validates all; loading begins with the first. Folders that are watched may be without a scan yet.
  Catalogue(const std::vector<std::string>& paths, const ViewOptions& options, Budget budget, Device device);
  /// Scans that others have opened; nothing else can be opened here. `held_elsewhere`: what the scans take is not
  /// reserved in this budget (data sets that Python loaded), and is reported beside it.
  Catalogue(std::vector<std::shared_ptr<Series>> series, Budget budget, bool held_elsewhere);
  Catalogue(const Catalogue&) = delete;
  Catalogue& operator=(const Catalogue&) = delete;
  /// Cancels what is being loaded or made.
  ~Catalogue() { cancel_.request(); }

  [[nodiscard]] Index size() const;
  [[nodiscard]] std::shared_ptr<Entry> entry(Index id) const;
  [[nodiscard]] Budget& budget() { return budget_; }
  [[nodiscard]] FrameCache& cache() { return cache_; }
  [[nodiscard]] const ViewOptions& options() const { return options_; }

  /// A path below one of those given at start: its data set, opened now unless it is open. Throws Error(bad_input) for
  /// other places, and what opening throws.
  Index open(const std::string& path);
  /// The item when it is in memory; else nullptr, and it is loaded before all that was wanted earlier.
  std::shared_ptr<const Dataset> want(Entry& entry, Index item);
  /// Runs when no load is wanted, and not before `rest` is over. Jobs of equal rest run in their order.
  void when_idle(std::function<void()> job, std::chrono::milliseconds rest = {});
  /// A command was carried out. What it took and gave back goes to the system a moment after the last one.
  void used();
  /// Lets go of an item, or of all of a data set, and of what was shown of it.
  void release(Index dataset, std::optional<Index> item);

  void listen(const std::weak_ptr<Listener>& listener);
  void tell(std::string_view event, const Value& what);
  /// {"datasets": [...], "memory": {...}}
  [[nodiscard]] Value state() const;
  /// What data sets, histories and frames take now. What the budget sets aside for frames counts as far as there are
  /// any.
  [[nodiscard]] std::size_t resident_bytes() const;
  [[nodiscard]] Value memory() const;

 private:
  struct LoadRequest {
    Index dataset = 0, item = 0;
  };
  struct Job {
    std::chrono::steady_clock::time_point due;
    std::function<void()> run;
  };
  void start();
  void work(const std::stop_token& stop);
  void load(const LoadRequest& request);
  void look_at_folders();
  void trim_at_rest(std::chrono::milliseconds rest);
  [[nodiscard]] std::size_t elsewhere_bytes() const;
  void show_progress(const Progress& progress);
  void for_each_listener(const std::function<void(Listener&)>& body);
  [[nodiscard]] std::vector<std::shared_ptr<Entry>> entries() const;
  [[nodiscard]] Value datasets() const;

  const ViewOptions options_;
  Budget budget_;
  const Device device_;
  std::vector<std::string> roots_;  // canonical
  const bool held_elsewhere_ = false;
  Reservation cache_reservation_;
  FrameCache cache_;

  mutable std::mutex mutex_;  // of entries, requests, idle work and listeners
  std::condition_variable_any changed_;
  std::vector<std::shared_ptr<Entry>> entries_;
  std::deque<LoadRequest> requests_;
  std::deque<Job> idle_;
  std::chrono::steady_clock::time_point last_use_;
  bool will_trim_ = false;  // a job will give memory back
  bool news_ = false;       // for the worker, which may be waiting for the wrong time
  std::vector<std::weak_ptr<Listener>> listeners_;

  std::optional<LoadRequest> loading_;  // the worker's own
  FolderWatch watch_;                   // the worker's own
  ProgressSink application_;            // hears of loads too
  Cancel cancel_;                       // of the worker
  std::jthread worker_;                 // last: it ends before the rest goes
};

}  // namespace sonde::stem
