// SPDX-License-Identifier: Apache-2.0
// Vacuum outside of a mask; without one, further than a margin from the field of view, the bounding box of the
// positions.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sonde/engine/base/error.h"
#include "sonde/instruments/ptycho/constrain/kinds.h"
#include "sonde/instruments/ptycho/constrain/object_values.h"

namespace sonde::ptycho::constrain {
namespace {

struct SupportSettings {
  double margin = 0;

  void describe(Fields& fields) {
    fields.add("margin", margin,
               {.help = "without a mask: how far around the positions the specimen may reach",
                .unit = "A",
                .min = 0,
                .changeable = true});
  }
};

template <class Real>
class Support final : public Constraint<Real> {
 public:
  Support(const SupportSettings& settings, const ConstraintContext& context, const State& state) {
    rows_ = state.object.shape()[1];
    cols_ = state.object.shape()[2];
    if (context.object_support.empty())
      around_positions(settings, context.sampling, state);
    else
      from_mask(context.object_support);
    if (std::none_of(inside_.begin(), inside_.end(), [](std::uint8_t in) { return in != 0; }))
      throw Error(ErrorKind::bad_input, "the support of the object is empty");
  }

  void apply(State& state, const ConstraintContext&) override {
    change_values<Real>(state, [&]<class T>(View<T, 3> values) {
      for_lines(values, [&](Index, Index row, T* line) {
        const std::uint8_t* inside = inside_.data() + row * cols_;
        for (Index i = 0; i < cols_; ++i)
          if (inside[i] == 0) line[i] = vacuum<T>;
      });
    });
  }

 private:
  void from_mask(const Array& mask) {
    if (mask.shape() != Shape{rows_, cols_})
      throw Error(ErrorKind::bad_input,
                  fmt::format("a support of {} for an object of {} x {} pixels", mask.shape().text(), rows_, cols_));
    const auto from = mask.view<std::uint8_t, 2>();
    for (Index row = 0; row < rows_; ++row)
      for (Index col = 0; col < cols_; ++col) inside_.push_back(from(row, col));
  }

  void around_positions(const SupportSettings& settings, const Sampling& sampling, const State& state) {
    const Box seen = field_of_view(state.positions);
    const auto margin_rows = static_cast<Index>(settings.margin / sampling.pixel_row());
    const auto margin_cols = static_cast<Index>(settings.margin / sampling.pixel_col());
    for (Index row = 0; row < rows_; ++row)
      for (Index col = 0; col < cols_; ++col)
        inside_.push_back(row >= seen.row - margin_rows && row < seen.row + seen.rows + margin_rows &&
                          col >= seen.col - margin_cols && col < seen.col + seen.cols + margin_cols);
  }

  Index rows_ = 0, cols_ = 0;
  std::vector<std::uint8_t> inside_;  // (Y, X)
};

}  // namespace

std::unique_ptr<ConstraintSetup> support() { return std::make_unique<ConstraintSetupOf<Support, SupportSettings>>(); }

}  // namespace sonde::ptycho::constrain
