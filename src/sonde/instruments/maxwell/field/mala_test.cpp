// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sonde/instruments/maxwell/field/field_files.h"
#include "sonde/instruments/maxwell/field/field_formats.h"
#include "sonde/instruments/maxwell/field/test_line.h"
#include "tests/support/errors.h"
#include "tests/support/files.h"

namespace sonde::maxwell {
namespace {

using sonde::testing::error_of;
using sonde::testing::TemporaryFolder;
using ::testing::DoubleNear;
using ::testing::ElementsAre;
using testing::FileBytes;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pointwise;
using testing::small_line;
using testing::with;

/// As a RAMAC control unit writes it, shortened; two traces of three samples.
const std::string rad =
    "SAMPLES:3\r\nFREQUENCY:2500.000000\r\nFREQUENCY STEPS:10\r\nSIGNAL POSITION:-0.000000\r\nTIME INTERVAL:0.1\r\n"
    "DISTANCE INTERVAL:0.050000\r\nANTENNAS:RTA 250 MHz\r\nANTENNA SEPARATION:0.310000\r\nTIMEWINDOW:1.2\r\n"
    "STACKS:4\r\nLAST TRACE:2\r\nSTOP POSITION:0.05\r\nSTART POSITION:0.0\r\n";

std::vector<std::byte> rd3() {
  FileBytes file;
  for (const int value : {-32768, 1, 2, 3, 4, 32767}) file.add(static_cast<std::int16_t>(value));
  return file.bytes;
}

FieldLine parse_rd3(const std::string& header, const std::vector<std::byte>& bytes, const FieldReading& reading = {}) {
  return parse_mala({header, "a.rad", bytes, "a.rd3"}, 2, reading);
}

std::string rad_error(const std::string& header, const std::vector<std::byte>& bytes = rd3()) {
  return error_of(ErrorKind::bad_file, [&] { (void)parse_rd3(header, bytes); });
}

TEST(Mala, ReadsRd3) {
  const FieldLine line = parse_rd3(rad, rd3());
  EXPECT_EQ(line.traces, 2);
  EXPECT_EQ(line.samples, 3);
  EXPECT_DOUBLE_EQ(line.dt, 0.4e-9);
  EXPECT_THAT(line.values, ElementsAre(-32768, 1, 2, 3, 4, 32767));
  EXPECT_THAT(line.positions, ElementsAre(0, 0.05));
  EXPECT_EQ(line.separation, 0.31);
  EXPECT_EQ(line.nominal_frequency, 250e6);
  EXPECT_THAT(line.warnings, IsEmpty());
}

TEST(Mala, ReadsRd7) {
  FileBytes file;
  for (const int value : {-100000, 1, 2, 3, 4, 8388607}) file.add(std::int32_t{value});
  const FieldLine line = parse_mala({rad, "a.rad", file.bytes, "a.rd7"}, 4, {});
  EXPECT_THAT(line.values, ElementsAre(-100000, 1, 2, 3, 4, 8388607));
}

TEST(Mala, WithoutSamplingFrequencyTheWindowCounts) {
  EXPECT_DOUBLE_EQ(parse_rd3(with(rad, "FREQUENCY:2500.000000\r\n", ""), rd3()).dt, 0.4e-9);
}

TEST(Mala, WhatContradictsItselfIsAWarning) {
  EXPECT_THAT(parse_rd3(with(rad, "TIMEWINDOW:1.2", "TIMEWINDOW:2.4"), rd3()).warnings,
              ElementsAre("a.rad: TIMEWINDOW 2.4 ns; SAMPLES and FREQUENCY are 1.2 ns, which is taken"));
  EXPECT_THAT(parse_rd3(with(rad, "DISTANCE INTERVAL:0.050000", "DISTANCE INTERVAL:0"), rd3()).warnings,
              ElementsAre("a.rad: no DISTANCE INTERVAL, so the traces have no positions"));
}

TEST(Mala, WhatIsWrittenIsRead) {
  const TemporaryFolder folder;
  for (const char* name : {"line.rd3", "line.rd7"}) {
    SCOPED_TRACE(name);
    write_field_line(folder.file(name), small_line());
    const FieldLine line = read_field_line(folder.file(name));
    EXPECT_EQ(line.values, small_line().values);
    EXPECT_DOUBLE_EQ(line.dt, small_line().dt);
    EXPECT_DOUBLE_EQ(line.time_zero, small_line().time_zero);
    EXPECT_THAT(line.positions, Pointwise(DoubleNear(1e-12), small_line().positions));
    EXPECT_DOUBLE_EQ(line.nominal_frequency, 250e6);
    EXPECT_EQ(line.history, small_line().history);
    EXPECT_THAT(line.warnings, IsEmpty());
  }
}

TEST(Mala, ALineWithoutPositionsStaysOne) {
  FieldLine line = small_line();
  line.positions.clear();
  const WrittenField files = mala_of(line, 2);
  EXPECT_THAT(parse_rd3(files.header, files.traces).positions, IsEmpty());
}

TEST(Mala, ThatIsCutOffNamesItsWholeTraces) {
  std::vector<std::byte> bytes = rd3();
  bytes.resize(bytes.size() - 1);
  EXPECT_THAT(rad_error(rad, bytes),
              HasSubstr("a.rd3: cut off: 1 whole trace, and 5 of the 6 bytes of another; a.rad says 2"));
  EXPECT_EQ(parse_rd3(rad, bytes, {.allow_truncated = true}).traces, 1);
}

TEST(Mala, HeadersThatMakeNoLineAreNamed) {
  EXPECT_THAT(rad_error(""), HasSubstr("a.rad: no SAMPLES"));
  EXPECT_THAT(rad_error("SAMPLES:3\n"), HasSubstr("a.rad: no TIMEWINDOW"));
  EXPECT_THAT(rad_error(with(rad, "FREQUENCY:2500.000000", "FREQUENCY:0")), HasSubstr("FREQUENCY 0; expected above 0"));
  EXPECT_THAT(rad_error(with(rad, "FREQUENCY:2500.000000", "FREQUENCY:1e-320")),
              HasSubstr("a sample interval of inf s; expected a finite number"));
  EXPECT_THAT(rad_error(with(rad, "DISTANCE INTERVAL:0.050000", "DISTANCE INTERVAL:nan")),
              HasSubstr("DISTANCE INTERVAL \"nan\"; expected a number"));
  EXPECT_THAT(rad_error(with(rad, "SAMPLES:3", "SAMPLES:30000")),
              HasSubstr("a.rd3: no whole trace; a trace of this file "
                        "has 60000 bytes, 12 follow the header"));
}

}  // namespace
}  // namespace sonde::maxwell
