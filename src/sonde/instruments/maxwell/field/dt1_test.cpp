// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numeric>

#include "sonde/instruments/maxwell/field/field_files.h"
#include "sonde/instruments/maxwell/field/field_formats.h"
#include "sonde/instruments/maxwell/field/test_line.h"
#include "tests/support/data.h"
#include "tests/support/errors.h"
#include "tests/support/files.h"

namespace sonde::maxwell {
namespace {

using sonde::testing::error_of;
using sonde::testing::TemporaryFolder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::small_line;
using testing::with;

FieldLine parse(const WrittenField& files, const FieldReading& reading = {}) {
  return parse_dt1({files.header, "a.HD", files.traces, "a.DT1"}, reading);
}

std::string dt1_error(const WrittenField& files, ErrorKind kind = ErrorKind::bad_file) {
  return error_of(kind, [&] { (void)parse(files); });
}

/// The small line with one value of its second trace's header changed.
WrittenField with_value(std::size_t which, float value) {
  WrittenField files = dt1_of(small_line());
  std::memcpy(files.traces.data() + (128 + 8) + 4 * which, &value, sizeof value);
  return files;
}

// The numbers of the next two tests were read by a few lines of Python's struct and NumPy.
TEST(Dt1, ReadsALineOfSensorsAndSoftware) {
  SONDE_NEED_DATA(data);
  const FieldLine line = read_field_line((data / "maxwell/field/SnS/ComOffs/XLINE00.DT1").string());
  EXPECT_EQ(line.traces, 531);
  EXPECT_EQ(line.samples, 1500);
  EXPECT_DOUBLE_EQ(line.dt, 0.8e-9);
  EXPECT_NEAR(line.time_zero, 3.18 * 0.8e-9, 1e-20);
  EXPECT_EQ(line.nominal_frequency, 50e6);
  EXPECT_DOUBLE_EQ(line.separation, 3 * 0.3048);
  EXPECT_DOUBLE_EQ(line.positions.back(), 1060 * 0.3048);
  EXPECT_THAT(line.warnings, IsEmpty());
  EXPECT_THAT(std::vector<float>(line.trace(0), line.trace(0) + 5), ElementsAre(-279, -286, -143, 557, 2158));
  EXPECT_EQ(line.trace(10)[50], -1848);
  EXPECT_EQ(std::accumulate(line.values.begin(), line.values.end(), 0.0), -119481918);
  EXPECT_EQ(*std::min_element(line.values.begin(), line.values.end()), -32768);
}

TEST(Dt1, WarnsThatAGatherContradictsItsHeader) {
  SONDE_NEED_DATA(data);
  const FieldLine line = read_field_line((data / "maxwell/field/SnS/WARR/XLINE00.HD").string());
  EXPECT_EQ(line.traces, 164);
  EXPECT_EQ(line.samples, 1900);
  EXPECT_DOUBLE_EQ(line.dt, 0.4e-9);
  EXPECT_EQ(line.separation, 0.75);
  EXPECT_EQ(line.positions.front(), 0);
  EXPECT_NEAR(line.positions.back(), 16.3, 2e-6);  // float32 there
  EXPECT_EQ(std::accumulate(line.values.begin(), line.values.end(), 0.0), -39916442);
  ASSERT_EQ(line.warnings.size(), 1U);
  EXPECT_THAT(line.warnings[0], HasSubstr("XLINE00.HD: positions from 0.6 to 16.3 in steps of 0.1 are 158 traces; "));
  EXPECT_THAT(line.warnings[0], HasSubstr("XLINE00.DT1 has 164 from 0 to 16.3, which are taken"));
}

TEST(Dt1, WhatIsWrittenIsRead) {
  const TemporaryFolder folder;
  write_field_line(folder.file("LINE.DT1"), small_line());
  EXPECT_TRUE(std::filesystem::exists(folder.file("LINE.HD")));
  const FieldLine line = read_field_line(folder.file("LINE.DT1"));
  EXPECT_EQ(line.title, "LINE");
  EXPECT_EQ(line.values, small_line().values);
  EXPECT_DOUBLE_EQ(line.dt, small_line().dt);
  EXPECT_DOUBLE_EQ(line.time_zero, small_line().time_zero);
  EXPECT_EQ(line.positions, small_line().positions);  // of few digits, which float32 holds
  EXPECT_DOUBLE_EQ(line.separation, 0.36);
  EXPECT_DOUBLE_EQ(line.nominal_frequency, 250e6);
  EXPECT_EQ(line.history, small_line().history);
  EXPECT_THAT(line.warnings, IsEmpty());
}

TEST(Dt1, SamplesThatAreNoCountsAreScaledToTheRangeAndBack) {
  FieldLine line = small_line();
  line.unit = "V/m";
  for (float& value : line.values) value *= 1.7e-6F;
  const FieldLine read = parse(dt1_of(line));
  EXPECT_EQ(read.unit, "V/m");
  for (std::size_t i = 0; i < line.values.size(); ++i)
    EXPECT_NEAR(read.values[i], line.values[i], 0.51 * 1.7e-6) << i;  // half a count of 16 bits
}

TEST(Dt1, ThatIsCutOffNamesItsWholeTraces) {
  WrittenField files = dt1_of(small_line());
  files.traces.resize(files.traces.size() - 10);
  EXPECT_THAT(dt1_error(files),
              HasSubstr("a.DT1: cut off: 2 whole traces, and 126 of the 136 bytes of another; a.HD says 3"));
  EXPECT_EQ(parse(files, {.allow_truncated = true}).traces, 2);
}

TEST(Dt1, WithFewerTracesThanItsHeaderSaysIsCutOff) {
  WrittenField files = dt1_of(small_line());
  files.traces.resize(2 * 136);
  EXPECT_THAT(dt1_error(files), HasSubstr("a.DT1: 2 traces; a.HD says 3"));
  EXPECT_EQ(parse(files, {.allow_truncated = true}).traces, 2);
}

TEST(Dt1, WithMoreTracesThanItsHeaderSaysIsReadWithAWarning) {
  WrittenField files = dt1_of(small_line());
  files.header = with(files.header, "NUMBER OF TRACES   = 3", "NUMBER OF TRACES   = 2");
  const FieldLine line = parse(files);
  EXPECT_EQ(line.traces, 3);
  EXPECT_THAT(line.warnings, ElementsAre("a.DT1: 3 traces, all of which are read; a.HD says 2"));
}

TEST(Dt1, ATimeStepThatDiffersFromTheHeadersIsAWarning) {
  WrittenField files = dt1_of(small_line());
  files.header = with(files.header, "TOTAL TIME WINDOW  = 1", "TOTAL TIME WINDOW  = 2");
  EXPECT_THAT(parse(files).warnings,
              ElementsAre("a.DT1: a sample interval of 2.5e-10 s; a.HD says 5e-10 s, which is taken"));
}

TEST(Dt1, ThatContradictsItselfIsNamed) {
  EXPECT_THAT(dt1_error(with_value(2, 5)), HasSubstr("a.DT1: trace 2 has 5 samples in its header; a.HD says 4"));
  EXPECT_THAT(dt1_error(with_value(5, 3)), HasSubstr("a.DT1: trace 2 has samples of 3 bytes; expected 2"));
  EXPECT_THAT(dt1_error(with_value(5, 4), ErrorKind::not_supported),
              HasSubstr("samples of 4 bytes are not supported yet"));
  EXPECT_THAT(dt1_error(with_value(1, NAN)), HasSubstr("a.DT1: trace 2 has a position that is not a number"));
  const WrittenField files = dt1_of(small_line());
  const auto header = [&](const std::string& part, const std::string& by) {
    return dt1_error({with(files.header, part, by), files.traces});
  };
  EXPECT_THAT(header("PTS/TRC", "POINTS"), HasSubstr("a.HD: no NUMBER OF PTS/TRC"));
  EXPECT_THAT(header("PTS/TRC  = 4", "PTS/TRC  = four"), HasSubstr("NUMBER OF PTS/TRC \"four\"; expected a number"));
  EXPECT_THAT(header("PTS/TRC  = 4", "PTS/TRC  = 4.5"), HasSubstr("NUMBER OF PTS/TRC 4.5; expected a whole number"));
  EXPECT_THAT(header("WINDOW  = 1", "WINDOW  = -1"), HasSubstr("a.HD: TOTAL TIME WINDOW -1; expected above 0"));
  EXPECT_THAT(header("PTS/TRC  = 4", "PTS/TRC  = 4000000"), HasSubstr("a.DT1: no whole trace"));
  EXPECT_THAT(header("AMPLITUDE SCALE = 1", "AMPLITUDE SCALE = 1e300"),
              HasSubstr("a.HD: sample 1 of trace 1 is inf; expected a finite number"));
}

TEST(Dt1, WithoutItsHeaderIsNamed) {
  const TemporaryFolder folder;
  sonde::testing::write_bytes(folder.file("line.dt1"), {1, 2, 3});
  EXPECT_THAT(error_of(ErrorKind::bad_file, [&] { (void)read_field_line(folder.file("line.dt1")); }),
              HasSubstr("line.dt1: no line.hd beside it"));
  EXPECT_THAT(error_of(ErrorKind::bad_file, [&] { (void)read_field_line(folder.file("none.dt1")); }),
              HasSubstr("none.dt1: no such file"));
  EXPECT_THAT(error_of(ErrorKind::bad_file, [&] { (void)read_field_line(folder.file("line.xyz")); }),
              HasSubstr("line.xyz: no field format; expected .dzt, .dt1, .hd, .rd3, .rd7, .rad, .sgy or .segy"));
}

}  // namespace
}  // namespace sonde::maxwell
