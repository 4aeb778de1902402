// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sonde/engine/options/fields.h"
#include "sonde/engine/options/tables.h"
#include "sonde/engine/panel/page.h"
#include "sonde/engine/run/run.h"

namespace sonde {

/// One use of a verb: its settings, bound to what runs them.
class Invocation {
 public:
  virtual ~Invocation() = default;
  virtual void describe(Fields& fields) = 0;
  /// Makes all choices first. A dry run (Run::dry_run) ends behind them, before any work.
  virtual void run(Run& run) = 0;
};

struct Example {
  std::string line;     ///< "sonde stem load scan_master.h5 --det-bin 2"
  std::string meaning;  ///< one sentence
};

/// A reference page that is no verb's own: the format of a file that verbs read.
struct ReferencePage {
  std::string name{};   ///< of the file, without .md
  std::string title{};  ///< "The run file of ptychography"
  std::string (*text)() = nullptr;
};

/// How a long verb is watched in the browser while it works (`live`). Without more words the page shows its progress
/// (ProgressMeter), what it works with and its settings, and can pause and stop it.
struct Watched {
  std::vector<panel::Panel> panels{};  ///< more of that page, filled by Run::live()
  bool own_page = false;               ///< the verb shows a page of its own on Run::live_port()
};

/// One thing that an instrument, or the program, can do: its words, its settings and its function. Program, Python and
/// the reference pages are made from this description.
struct Verb {
  std::string name{};     ///< "stem load"
  std::string summary{};  ///< one line, imperative, without a full stop
  std::string details{};  ///< paragraphs for help, separated by empty lines
  std::vector<Example> examples{};
  std::vector<ReferencePage> pages{};  ///< written beside the verb's own
  bool own_config = false;             ///< `config` names a file that the verb reads itself (Run::config_file)
  std::vector<Tables::Name> (*tables)() = nullptr;  ///< of the run file that it reads (Run::tables)
  bool plans = false;                ///< the verb honours a dry run; otherwise that only shows the resolved settings
  std::optional<Watched> watched{};  ///< long work; others have no `live`
  bool ranks = false;                ///< several processes share its work; others refuse to do it several times
  std::unique_ptr<Invocation> (*invoke)() = nullptr;
};

/// Binds an options struct (with describe(Fields&)) and `void run_verb(const Options&, Run&)`.
template <class Options, void (*run_verb)(const Options&, Run&)>
std::unique_ptr<Invocation> invocation() {
  class Bound final : public Invocation {
   public:
    void describe(Fields& fields) override { options_.describe(fields); }
    void run(Run& run) override { run_verb(options_, run); }

   private:
    Options options_;
  };
  return std::make_unique<Bound>();
}

/// Settings of a verb that has none of its own.
struct NoOptions {
  void describe(Fields&) {}
};

}  // namespace sonde
