// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sonde/engine/bench/case.h"
#include "sonde/engine/panel/page.h"
#include "sonde/engine/panel/page_viewer.h"
#include "sonde/engine/panel/result_page.h"
#include "sonde/engine/run/verb.h"

namespace sonde {

/// What `sonde demo` gives to each instrument.
struct Demonstration {
  std::filesystem::path folder;                       ///< for everything that is made
  std::string scan_shape;                             ///< of simulated 4D-STEM acquisitions, "128,128"
  std::function<void(const std::string& what)> step;  ///< begins a numbered step
};

/// What an instrument shows of files in the browser, for `sonde view`.
class Viewing {
 public:
  virtual ~Viewing() = default;
  /// The settings of how they are opened.
  virtual void describe(Fields& fields) = 0;
  /// Opens the files and returns their page. Throws what opening throws.
  virtual panel::Page page(const std::vector<std::string>& files, Run& run) = 0;
  /// The choices that page() would make.
  virtual void plan(const std::vector<std::string>& files, Run& run) = 0;
};

/// An instrument as the program, Python and the tests see it. Each has one, `sonde::<name>::instrument`.
struct Instrument {
  std::string name;              ///< "ptycho", the first word of its verbs
  std::vector<Verb> (*verbs)();  ///< in the order of the overview
  /// Its cases of `sonde bench`, whose names begin with its own. `show` is for those that somebody looks at.
  std::vector<BenchCase> (*bench_cases)(ShowPage show);
  /// Its part of `sonde demo`: simulates, works, and compares with the truth (Report::check). nullptr: none.
  void (*demonstrate)(const Demonstration& demo, Run& run) = nullptr;
  /// Throws where its part would refuse this folder; asked of all before any works. nullptr: it refuses none.
  void (*check_demo_folder)(const std::filesystem::path& folder) = nullptr;
  std::unique_ptr<Viewing> (*viewing)() = nullptr;  ///< nullptr: it shows no files
  /// The panels that come first on the page of one of its results; nullptr: those that fit the arrays.
  std::vector<panel::ResultPanel> (*arrange)(const panel::StoredResult& result) = nullptr;
  /// What a person may change on that page; nullptr: nothing.
  panel::ResultAdjustment (*adjustment)(const panel::StoredResult& result) = nullptr;
  /// The page of a folder that its verbs wrote, which needs no settings; nothing for another folder. Throws where it is
  /// one that cannot be shown. nullptr: it shows no folders.
  std::optional<panel::Page> (*folder_page)(const std::string& folder, Run& run) = nullptr;
};

/// Those of this build, in their order. Written by CMake.
[[nodiscard]] const std::vector<const Instrument*>& instruments();

}  // namespace sonde
