// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/verbs/viewing.h"

#include <string>
#include <vector>

#include "sonde/instruments/stem/load/series.h"
#include "sonde/instruments/stem/view/page.h"

namespace sonde::stem {
namespace {

class ScanViewing final : public Viewing {
 public:
  void describe(Fields& fields) override {
    load_.describe(fields);
    series_.describe(fields);
  }
  panel::Page page(const std::vector<std::string>& files, Run& run) override {
    return make_page(files, {.load = load_, .series = series_}, run.budget(), run.device());
  }
  void plan(const std::vector<std::string>& files, Run& run) override {
    for (const std::string& path : find_scans(files, series_))
      run.report().add_choice("load " + path, Value(preview_load(path, load_, run.budget()).estimate.because),
                              "the estimate before decoding");
  }

 private:
  LoadOptions load_;
  SeriesOptions series_;
};

}  // namespace

std::unique_ptr<Viewing> viewing() { return std::make_unique<ScanViewing>(); }

}  // namespace sonde::stem
