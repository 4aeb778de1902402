// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/field/gprmax_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sonde/engine/io/hdf5_writer.h"
#include "tests/support/errors.h"
#include "tests/support/files.h"

namespace sonde::maxwell {
namespace {

using sonde::testing::error_of;
using sonde::testing::TemporaryFolder;
using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// Three runs of two samples; the second receiver has no Ex.
GprmaxOutput three_runs() {
  GprmaxOutput output{.title = "a line", .iterations = 2, .runs = 3, .dt = 1e-9, .cells = {40, 30, 1}};
  output.spacing = {0.01, 0.02, 0.03};
  output.src_steps = output.rx_steps = {2, 0, 0};
  output.sources.push_back({"HertzianDipole", {0.4, 0, 0}});
  output.receivers.push_back({"near",
                              {0.5, 0, 0},
                              {{Component::Ez, {1, 2, 3, -9, 5, 6}},
                               {Component::Ex, {0, 0, 1, 0, 0, 0}},
                               {Component::Hx, {1, 1, 1, 1, 1, 1}}}});
  output.receivers.push_back({"far", {0.6, 0, 0}, {{Component::Ez, {10, 20, 30, 40, 50, 60}}}});
  return output;
}

TEST(GprmaxLine, TakesTheStrongestComponentWithTimeFastest) {
  const FieldLine line = line_of(three_runs(), {});
  EXPECT_THAT(line.values, ElementsAre(1, -9, 2, 5, 3, 6));
  EXPECT_EQ(line.unit, "V/m");
  EXPECT_EQ(line.title, "a line");
  EXPECT_EQ(line.time_zero, 0);
}

TEST(GprmaxLine, APositionIsTheMiddleOfSourceAndReceiver) {
  const FieldLine line = line_of(three_runs(), {});
  EXPECT_THAT(line.positions, ElementsAre(0.45, DoubleNear(0.47, 1e-12), DoubleNear(0.49, 1e-12)));
  EXPECT_NEAR(line.separation, 0.1, 1e-12);
}

TEST(GprmaxLine, OfTheMagneticFieldBeginsHalfAStepEarly) {
  const FieldLine line = line_of(three_runs(), {.component = Component::Hx});
  EXPECT_EQ(line.time_zero, 0.5e-9);
  EXPECT_EQ(line.unit, "A/m");
}

TEST(GprmaxLine, OfOneRunIsOneTraceWithoutPosition) {
  GprmaxOutput output = three_runs();
  output.runs = 0;
  output.receivers.resize(1);
  output.receivers[0].fields = {{Component::Ez, {1, 2}}};
  const FieldLine line = line_of(output, {});
  EXPECT_EQ(line.traces, 1);
  EXPECT_THAT(line.positions, IsEmpty());
}

TEST(GprmaxLine, WhatTheFileDoesNotHaveIsNamed) {
  EXPECT_THAT(error_of(ErrorKind::bad_input, [] { (void)line_of(three_runs(), {.receiver = 4}); }),
              HasSubstr("receiver 5: the file has 2"));
  EXPECT_THAT(error_of(ErrorKind::bad_input, [] { (void)line_of(three_runs(), {.component = Component::Hy}); }),
              HasSubstr("receiver near has no Hy"));
  GprmaxOutput magnetic = three_runs();
  magnetic.receivers[0].fields = {{Component::Hx, {1, 1, 1, 1, 1, 1}}};
  EXPECT_THAT(error_of(ErrorKind::bad_input, [&] { (void)line_of(magnetic, {}); }),
              HasSubstr("receiver near has no component of E"));
}

/// As write_contents() stores them, one variable or attribute left out.
void write_without(const std::string& path, const std::string& absent = "") {
  const Contents contents = traces_contents(three_runs());
  Hdf5Writer file(path);
  for (const auto& variable : contents.variables())
    if (variable.name != absent) file.array("/" + variable.name, variable.values);
  for (const auto& [name, value] : contents.attributes()) {
    if (name == absent) continue;
    if (const auto* text = std::get_if<std::string>(&value))
      file.text_attribute("/", name, *text);
    else
      std::visit([&, &as = name](const auto& number) { file.attribute("/", as, number); }, value);
  }
  file.finish();
}

TEST(TracesContents, AreReadBackWhole) {
  const TemporaryFolder folder;
  write_without(folder.file("a.h5"));
  const GprmaxOutput read = read_traces(folder.file("a.h5")), wrote = three_runs();
  EXPECT_EQ(read.title, wrote.title);
  EXPECT_EQ(read.dt, wrote.dt);
  EXPECT_EQ(read.runs, 3);
  EXPECT_EQ(read.cells, wrote.cells);
  EXPECT_EQ(read.spacing, wrote.spacing);
  EXPECT_EQ(read.src_steps, wrote.src_steps);
  EXPECT_EQ(read.rx_steps, wrote.rx_steps);
  ASSERT_EQ(read.sources.size(), 1U);
  EXPECT_EQ(read.sources[0].type, "HertzianDipole");
  EXPECT_EQ(read.sources[0].position, wrote.sources[0].position);
  ASSERT_EQ(read.receivers.size(), 2U);
  for (std::size_t r = 0; r < 2; ++r) {
    EXPECT_EQ(read.receivers[r].name, wrote.receivers[r].name);
    EXPECT_EQ(read.receivers[r].position, wrote.receivers[r].position);
    EXPECT_EQ(read.receivers[r].fields, wrote.receivers[r].fields);
  }
}

TEST(TracesContents, ThatMissSomethingAreNamed) {
  const TemporaryFolder folder;
  const auto error = [&](const std::string& absent) {
    write_without(folder.file("a.h5"), absent);
    return error_of(ErrorKind::bad_file, [&] { (void)read_traces(folder.file("a.h5")); });
  };
  EXPECT_THAT(error("schema"), HasSubstr("a.h5: no attribute schema; expected sonde.maxwell.traces/1"));
  EXPECT_THAT(error("dt"), HasSubstr("a.h5: dt = nothing; expected 1 finite number"));
  EXPECT_THAT(error("cells"), HasSubstr("a.h5: cells = nothing; expected 3 finite numbers"));
  EXPECT_THAT(error("time"), HasSubstr("a.h5: no data set time"));
  EXPECT_THAT(error("receiver_position"), HasSubstr("a.h5: Ex is (2, 3, 2); expected (2, 3, 0)"));
}

}  // namespace
}  // namespace sonde::maxwell
