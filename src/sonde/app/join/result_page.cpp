// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <utility>

#include "sonde/app/join/join.h"
#include "sonde/engine/panel/result_page.h"
#include "sonde/engine/run/instrument.h"

namespace sonde::join {

panel::Page page_of_result(panel::StoredResult result) {
  const auto shown = std::make_shared<const panel::StoredResult>(std::move(result));
  for (const Instrument* instrument : instruments())
    if (instrument->arrange != nullptr && shown->schema().starts_with("sonde." + instrument->name + "."))
      return panel::result_page(
          shown, instrument->arrange(*shown),
          instrument->adjustment != nullptr ? instrument->adjustment(*shown) : panel::ResultAdjustment{});
  return panel::result_page(shown);
}

}  // namespace sonde::join
