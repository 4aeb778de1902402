// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/reconstruct/history.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <limits>

#include "sonde/engine/base/error.h"

namespace sonde::ptycho {
namespace {

constexpr Index columns = 24;
constexpr double none = std::numeric_limits<double>::quiet_NaN();

/// Calls visit(member) for every number of a record, in the order of the columns.
template <class Record, class Visit>
void each(Record& record, Visit&& visit) {
  visit(record.fit.loss);
  visit(record.fit.r_intensity);
  visit(record.fit.r_amplitude);
  visit(record.fit.nmse);
  visit(record.fit.deviance);
  visit(record.object_change);
  visit(record.probe_change);
  visit(record.power_ratio);
  visit(record.power_total);
  visit(record.phase_roughness);
  visit(record.opr_share);
}

template <class Report, class Visit>
void each_of_positions(Report& report, Visit&& visit) {
  visit(report.largest_move);
  visit(report.affine.row_row);
  visit(report.affine.row_col);
  visit(report.affine.col_row);
  visit(report.affine.col_col);
  visit(report.affine.centre.row);
  visit(report.affine.centre.col);
  visit(report.affine.offset.row);
  visit(report.affine.offset.col);
}

}  // namespace

Array table_of(const std::vector<IterationRecord>& history) {
  Array table(Device::cpu(), Shape{static_cast<Index>(history.size()), columns}, DType::f64);
  auto* to = static_cast<double*>(table.data());
  for (const IterationRecord& record : history) {
    *to++ = static_cast<double>(record.number);
    *to++ = static_cast<double>(record.engine);
    each(record, [&](double value) { *to++ = value; });
    *to++ = record.r_free.value_or(none);
    *to++ = record.positions ? static_cast<double>(record.positions->at_limit) : none;
    each_of_positions(record.positions ? *record.positions : PositionReport{}, [&](double value) { *to++ = value; });
  }
  return table;
}

Array seconds_of(const std::vector<IterationRecord>& history) {
  std::vector<double> seconds;
  for (const IterationRecord& record : history) seconds.push_back(record.seconds);
  return Array::from(seconds, Shape{static_cast<Index>(seconds.size())});
}

std::vector<IterationRecord> history_of(const Array& table, const Array& seconds) {
  if (table.shape().rank() != 2 || table.shape()[1] != columns || table.dtype() != DType::f64)
    throw Error(ErrorKind::bad_file, fmt::format("a history of shape {} is not of this version", table.shape().text()));
  if (seconds.shape() != Shape{table.shape()[0]} || seconds.dtype() != DType::f64)
    throw Error(ErrorKind::bad_file, fmt::format("seconds of shape {} beside a history of {} iterations",
                                                 seconds.shape().text(), table.shape()[0]));
  std::vector<IterationRecord> history(static_cast<std::size_t>(table.shape()[0]));
  const auto* from = static_cast<const double*>(table.data());
  for (IterationRecord& record : history) {
    record.seconds = static_cast<const double*>(seconds.data())[&record - history.data()];
    record.number = static_cast<Index>(*from++);
    record.engine = static_cast<Index>(*from++);
    each(record, [&](double& value) { value = *from++; });
    if (const double r_free = *from++; !std::isnan(r_free)) record.r_free = r_free;
    const double at_limit = *from++;
    PositionReport report;
    each_of_positions(report, [&](double& value) { value = *from++; });
    if (std::isnan(at_limit)) continue;
    report.at_limit = static_cast<Index>(at_limit);
    record.positions = report;
  }
  return history;
}

}  // namespace sonde::ptycho
