// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/separate/view/stem_growth.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

namespace sonde::separate {
namespace {

constexpr double lowest_db = -80;  // of full scale

}  // namespace

std::vector<panel::Panel> StemGrowth::panels() { return {{.id = "stems", .type = "curves", .title = "Stems so far"}}; }

StemGrowth::StemGrowth(std::vector<std::string> stems, Index rate) : names_(std::move(stems)), rate_(rate) {}

void StemGrowth::begin(const std::string& file, Index samples) {
  file_ = file;
  samples_ = samples;
  pass_ = 0;
  now_.assign(names_.size() * static_cast<std::size_t>(columns), {});
  before_ = now_;
}

void StemGrowth::add(Index pass, Index passes, Index first, View<const float, 3> stems) {
  if (samples_ == 0) return;
  passes_ = passes;
  if (pass != pass_) {
    // Where the pass before has not been, an earlier one was.
    for (std::size_t i = 0; i < now_.size(); ++i) {
      if (now_[i].count > 0) before_[i] = std::exchange(now_[i], {});
    }
    pass_ = pass;
  }
  for (Index s = 0; s < stems.extent[0]; ++s) {
    for (Index i = 0; i < stems.extent[2]; ++i) {
      const Index column = (first + i) % samples_ * columns / samples_;
      Column& to = now_[static_cast<std::size_t>(s * columns + column)];
      for (Index c = 0; c < stems.extent[1]; ++c) {
        const auto x = static_cast<double>(stems(s, c, i));
        to.squares += x * x;
      }
      to.count += static_cast<double>(stems.extent[1]);
    }
  }
}

Value StemGrowth::options() const {
  Value told;
  told["x"]["name"] = "time";
  told["x"]["unit"] = "s";
  told["y"]["unit"] = "level (dB)";
  told["curves"] = Value::list();
  if (samples_ == 0) return told;
  const double seconds = static_cast<double>(samples_) / static_cast<double>(rate_);
  told["x"]["first"] = 0;
  told["x"]["last"] = seconds;
  told["places"] = Value::list();
  for (Index i = 0; i < columns; ++i) {
    told["places"].push_back((static_cast<double>(i) + 0.5) * seconds / static_cast<double>(columns));
  }
  told["hint"] = passes_ > 1 ? fmt::format("{}, pass {} of {}", file_, pass_ + 1, passes_) : file_;
  for (std::size_t s = 0; s < names_.size(); ++s) {
    Value& curve = told["curves"].push_back(Value::object());
    curve["name"] = names_[s];
    curve["y"] = Value::list();
    for (std::size_t i = 0; i < static_cast<std::size_t>(columns); ++i) {
      const std::size_t at = s * static_cast<std::size_t>(columns) + i;
      const Column& column = now_[at].count > 0 ? now_[at] : before_[at];
      if (column.count == 0) {
        curve["y"].push_back(Value());
      } else {
        curve["y"].push_back(std::max(lowest_db, 10 * std::log10(column.squares / column.count + 1e-30)));
      }
    }
  }
  return told;
}

}  // namespace sonde::separate
