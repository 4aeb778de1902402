// SPDX-License-Identifier: Apache-2.0
#include "sonde/app/cli/bench_cases.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "sonde/app/serve/reader.h"
#include "sonde/app/serve/server.h"
#include "sonde/engine/base/text.h"
#include "sonde/engine/bench/fft_case.h"
#include "sonde/engine/device/parallel.h"
#include "sonde/engine/device/pinned.h"
#include "sonde/engine/run/instrument.h"

namespace sonde::cli {
namespace {

PreparedCase prepare_copy(const BenchPoint& point) {
  struct Blocks {
    PinnedBlock from, to;
  };
  const std::size_t bytes = parse_bytes(point.size);
  auto blocks = std::make_shared<Blocks>(Blocks{{Device::cpu(), bytes}, {Device::cpu(), bytes}});
  for (std::size_t i = 0; i < bytes; ++i) blocks->from.data()[i] = static_cast<std::byte>(i * 31 >> 3);
  const auto count = static_cast<Index>(bytes);
  const Index piece = std::max<Index>(65536, count / point.workers);

  PreparedCase prepared;
  prepared.input = format_bytes(static_cast<double>(bytes));
  prepared.operations.push_back({
      .name = "copy",
      .run =
          [=] {
            parallel_for(count, piece, [&](Index first, Index last, Worker&) {
              std::memcpy(blocks->to.data() + first, blocks->from.data() + first,
                          static_cast<std::size_t>(last - first));
            });
          },
      .bytes = 2 * static_cast<double>(bytes),
      .difference =
          [=] {
            const int order = std::memcmp(blocks->to.data(), blocks->from.data(), blocks->to.size());
            return order == 0 ? 0.0 : 1.0;
          },
  });
  return prepared;
}

/// A page in its server, and a client on the same machine that reads all of it.
class RemoteViewer final : public PageViewer {
 public:
  explicit RemoteViewer(panel::Page page) : server_(std::move(page), serve::ServeOptions{.port = 0}) {
    server_.start();
    reader_.emplace(server_.url());
  }
  [[nodiscard]] Index pictures() const override { return reader_->frames(); }

 private:
  serve::Server server_;
  std::optional<serve::Reader> reader_;  // gone before its server
};

}  // namespace

BenchCase copy_bench_case() {
  return {.name = "copy",
          .summary = "Copy memory: the measure of all others",
          .sizes = {"64M", "128M", "256M"},  // beyond the caches, where the limit holds
          .devices = {DeviceKind::cpu},
          .prepare = prepare_copy};
}

const std::vector<BenchCase>& bench_cases() {
  static const std::vector<BenchCase> cases = [] {
    std::vector<BenchCase> all = {copy_bench_case(), fft_bench_case()};
    for (const Instrument* instrument : instruments())
      for (BenchCase& each :
           instrument->bench_cases([](panel::Page page) { return std::make_unique<RemoteViewer>(std::move(page)); }))
        all.push_back(std::move(each));
    return all;
  }();
  return cases;
}

}  // namespace sonde::cli
