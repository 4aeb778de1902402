// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "sonde/app/join/frames.h"
#include "sonde/app/join/join.h"
#include "sonde/app/serve/server.h"

namespace sonde::join {
namespace {

class ServedPage final : public Shown {
 public:
  ServedPage(panel::Page page, Index port) : server_(std::move(page), serve::ServeOptions{.port = port}) {
    server_.start();
  }
  [[nodiscard]] std::string url() const override { return server_.url(); }

 private:
  serve::Server server_;
};

}  // namespace

Surroundings surroundings() {
  Surroundings joined;
  joined.show = [](panel::Page page, Index port) { return std::make_unique<ServedPage>(std::move(page), port); };
  joined.open_frames = frames_opener();
  return joined;
}

}  // namespace sonde::join
