// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <type_traits>
#include <utility>

namespace sonde {

/// Which file it is, whatever it is called: symbolic and hard links lead to the same.
struct FileIdentity {
  std::uint64_t device = 0, inode = 0;
  friend auto operator<=>(const FileIdentity&, const FileIdentity&) = default;
};

/// Links followed; nothing for what is not there or cannot be looked at.
[[nodiscard]] std::optional<FileIdentity> file_identity(const std::string& path) noexcept;

/// The files of one run (a command of the program, a call from Python): no output ever takes the place of an input.
/// What opens files for reading names them here (io/file.h and the readers that do not use it), what writes asks here
/// (io/atomic_file.h), so that no verb can forget. Outputs that are known before the work are declared, and the input
/// that is one of them is an error as soon as both are known.
///
/// Not inputs in this sense: a file that the run itself has made, and the checkpoint or part file that it continues.
/// Thread-safe. A run belongs to a thread and is inherited by the threads that work for it (InRun).
class RunFiles : public std::enable_shared_from_this<RunFiles> {
 public:
  RunFiles() = default;
  /// A later call on data that an earlier one has read: its inputs are inputs still.
  RunFiles(const RunFiles& earlier);
  RunFiles& operator=(const RunFiles&) = delete;
  ~RunFiles() = default;

  /// `path` is being read. Throws Error(bad_input) when it is a declared output.
  void add_input(const std::string& path, FileIdentity file);
  /// The same for a name; nothing where there is no such file.
  void add_input(const std::string& path);
  /// The run continues this file: an output of the kind that continues may take its place, no other.
  void add_continued(const std::string& path);
  /// `path` will be written by this run, as `what` ("the report"). Throws Error(bad_input) when it is an input, or
  /// was declared as something else.
  void declare_output(const std::string& path, const std::string& what, bool continues = false);
  /// From now on the outputs that have no role of their own are under names that the program made up (a default name, a
  /// folder of results): they replace only files that sonde wrote (io/mark.h).
  void make_up_names() noexcept { made_up_names_ = true; }
  [[nodiscard]] bool makes_up_names() const noexcept { return made_up_names_; }
  /// The run has made this file, in place of `before` where there was one.
  void add_made(FileIdentity file, std::optional<FileIdentity> before = std::nullopt);

 private:
  struct Input {
    std::string path;  // the name under which it was opened
    bool continued = false;
  };
  struct Declared {
    std::string path, what;
    bool continues = false;
  };
  static void refuse(const Declared& output, const Input& input);

  mutable std::mutex mutex_;
  std::atomic<bool> made_up_names_ = false;
  std::map<FileIdentity, Input> inputs_;
  std::set<FileIdentity> made_;
  std::map<FileIdentity, Declared> replaced_;                         // outputs that were there when they were declared
  std::map<std::pair<FileIdentity, std::string>, Declared> outputs_;  // by folder and name
};

/// The files of the run that the calling thread works for; nullptr outside of all runs.
[[nodiscard]] RunFiles* run_files() noexcept;

/// While it lives, the calling thread works for this run; with nullptr for none, so that what it reads is no input.
class InRun {
 public:
  explicit InRun(RunFiles* files) noexcept;
  InRun(const InRun&) = delete;
  InRun& operator=(const InRun&) = delete;
  ~InRun();

 private:
  RunFiles* before_;
};

/// `body` as work for the run of the thread that calls this: for threads that are started beside it.
template <class Body>
[[nodiscard]] auto in_this_run(Body body) {
  std::shared_ptr<RunFiles> files = run_files() != nullptr ? run_files()->shared_from_this() : nullptr;
  return [ files = std::move(files), body = std::move(body) ]<class... Arguments>(
      Arguments && ... arguments) mutable requires std::is_invocable_v<Body&, Arguments...> {
    const InRun joined(files.get());
    return body(std::forward<Arguments>(arguments)...);
  };
}

/// Names a file that is about to be read by a library of its own; see RunFiles::add_input.
void note_input(const std::string& path);
/// Names a file that this run continues; see RunFiles::add_continued.
void note_continued(const std::string& path);
/// Nobody has named what this run writes; see RunFiles::make_up_names.
void note_made_up_names();

}  // namespace sonde
