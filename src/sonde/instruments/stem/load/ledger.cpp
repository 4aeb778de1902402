// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/load/ledger.h"

#include <fmt/format.h>

#include <limits>
#include <utility>

namespace sonde::stem {
namespace {

Value value_of(const LedgerSum& sum, bool counts) {
  if (!counts) return Value(sum.real());
  if (sum.whole() <= static_cast<WideCount>(std::numeric_limits<Index>::max()))
    return Value(static_cast<Index>(sum.whole()));
  return Value(sum.digits());
}

std::string text_of(const LedgerSum& sum, bool counts) {
  return counts ? sum.digits() : fmt::format("{:.10g}", sum.real());
}

}  // namespace

double Ledger::unexplained() const {
  LedgerSum before = stored, after = kept;
  before += interpolated;
  for (const LedgerSum& part : {masked, hot, clipped, cut}) after += part;
  if (!counts) return before.real() - after.real();
  return before.whole() >= after.whole() ? static_cast<double>(before.whole() - after.whole())
                                         : -static_cast<double>(after.whole() - before.whole());
}

Value Ledger::to_value() const {
  Value value;
  for (const auto& [key, sum] : {std::pair{"stored", stored},
                                 {"interpolated", interpolated},
                                 {"kept", kept},
                                 {"masked", masked},
                                 {"hot", hot},
                                 {"clipped", clipped},
                                 {"cut", cut},
                                 {"marked", marked}})
    value[key] = value_of(sum, counts);
  value["unexplained"] = counts ? Value(static_cast<Index>(unexplained())) : Value(unexplained());
  for (const auto& [key, number] : {std::pair{"frames_read", frames_read},
                                    {"frames_unread", frames_unread},
                                    {"frames_broken", frames_broken},
                                    {"empty_positions", empty_positions},
                                    {"no_data", no_data},
                                    {"no_data_pixels", no_data_pixels},
                                    {"no_data_frames", no_data_frames},
                                    {"masked_no_data", masked_no_data}})
    value[key] = number;
  return value;
}

std::string Ledger::text() const {
  const auto is_zero = [](const LedgerSum& sum) { return sum.whole() == 0 && sum.real() == 0; };
  std::string line = "stored " + text_of(stored, counts);
  if (!is_zero(interpolated)) line += " + interpolated " + text_of(interpolated, counts);
  line += " = kept " + text_of(kept, counts);
  for (const auto& [word, sum] :
       {std::pair{"masked", masked}, {"hot", hot}, {"clipped", clipped}, {"cut off by bins", cut}})
    if (!is_zero(sum)) line += fmt::format(" + {} {}", word, text_of(sum, counts));
  return line;
}

}  // namespace sonde::stem
