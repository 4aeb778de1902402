// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/view/page.h"

#include <memory>
#include <utility>

#include "sonde/instruments/stem/view/catalogue.h"
#include "sonde/instruments/stem/view/session.h"
#include "sonde/instruments/stem/view/shape_text.h"

namespace sonde::stem {
namespace {

/// Owns what a client looks at, and keeps the catalogue alive for as long.
class OpenSession final : public panel::Session {
 public:
  OpenSession(std::shared_ptr<Catalogue> catalogue, std::shared_ptr<panel::Outlet> outlet)
      : catalogue_(std::move(catalogue)), client_(std::make_shared<ClientSession>(*catalogue_, std::move(outlet))) {
    catalogue_->listen(client_);
  }
  ~OpenSession() override { client_->close(); }
  void run(const panel::Command& command) override { client_->run(command); }
  [[nodiscard]] panel::File export_file(const Value& request) override { return client_->export_file(request); }

 private:
  std::shared_ptr<Catalogue> catalogue_;
  std::shared_ptr<ClientSession> client_;
};

/// What a page of scans shows, in the order of each place.
std::vector<panel::Panel> layout() {
  const auto one = [](const char* type, const char* title, const char* place = "") {
    return panel::Panel{.id = type, .type = type, .title = title, .place = place};
  };
  panel::Panel pattern = one("pattern", "Diffraction");
  pattern.options["shapes"] = described_shapes();
  return {one("datasets", "Data set", "title"),
          one("memory", "Memory", "top"),
          one("image", "Real space"),
          std::move(pattern),
          one("spectrum", "FFT"),
          one("profile", "Line profile"),
          one("compare", "Data sets", "side"),
          one("detectors", "Detectors", "side"),
          one("centre", "Beam", "side"),
          one("region", "Region of the scan", "side"),
          one("arrangement", "Images and contrast", "side"),
          one("data", "Data", "side"),
          one("series", "Series", "bottom"),
          one("export", "Export", "dialog"),
          one("keys", "Help", "dialog")};
}

panel::Page page_of(const std::shared_ptr<Catalogue>& catalogue) {
  panel::Page page;
  page.title = "sonde";
  page.view = "stem";
  page.panels = layout();
  page.actions = view_actions();
  page.state = [catalogue] { return catalogue->state(); };
  page.open = [catalogue](std::shared_ptr<panel::Outlet> outlet) {
    return std::make_unique<OpenSession>(catalogue, std::move(outlet));
  };
  return page;
}

}  // namespace

panel::Page make_page(const std::vector<std::string>& paths, const ViewOptions& options, Budget budget, Device device) {
  return page_of(std::make_shared<Catalogue>(paths, options, std::move(budget), device));
}

panel::Page make_page(std::shared_ptr<const Dataset> dataset, Budget budget) {
  return make_page({std::make_shared<Series>(Series::of(std::move(dataset)))}, std::move(budget));
}

panel::Page make_page(std::shared_ptr<Series> series) {
  Budget budget = series->budget();
  return page_of(
      std::make_shared<Catalogue>(std::vector<std::shared_ptr<Series>>{std::move(series)}, std::move(budget), false));
}

panel::Page make_page(std::vector<std::shared_ptr<Series>> series, Budget budget) {
  return page_of(std::make_shared<Catalogue>(std::move(series), std::move(budget), true));
}

}  // namespace sonde::stem
