// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "sonde/instruments/maxwell/field/field_bytes.h"
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
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pointwise;
using testing::small_line;

/// Two traces of two samples, 100 ps, as another program would write them; the samples are given as words.
template <class T>
std::vector<std::byte> segy_file(std::int16_t format, const std::vector<T>& samples) {
  std::vector<std::byte> made(3600 + 2 * (240 + 2 * sizeof(T)));
  const auto put = [&](std::size_t place, auto value) { store(made, place - 1, value, ByteOrder::big); };
  put(3217, std::int16_t{100});
  put(3221, std::int16_t{2});
  put(3225, format);
  for (std::size_t i = 0; i < 2; ++i) {
    const std::size_t at = 3600 + i * (240 + 2 * sizeof(T));
    put(at + 71, std::int16_t{-100});
    put(at + 73, static_cast<std::int32_t>(100 * i));
    put(at + 81, static_cast<std::int32_t>(100 * i + 50));
    put(at + 109, std::int16_t{-3});
    for (std::size_t n = 0; n < 2; ++n) put(at + 241 + n * sizeof(T), samples[2 * i + n]);
  }
  return made;
}

std::vector<std::byte> changed(std::size_t place, std::int16_t value) {
  std::vector<std::byte> bytes = segy_file<std::int16_t>(3, {1, 2, 3, 4});
  store(bytes, place - 1, value, ByteOrder::big);
  return bytes;
}

std::string segy_error(const std::vector<std::byte>& bytes, ErrorKind kind = ErrorKind::bad_file) {
  return error_of(kind, [&] { (void)parse_segy(bytes, "a.sgy", {}); });
}

TEST(SegY, ReadsEveryFormatOfSamples) {
  EXPECT_THAT(parse_segy(segy_file<std::int32_t>(2, {-70000, 2, 3, 4}), "a", {}).values, ElementsAre(-70000, 2, 3, 4));
  EXPECT_THAT(parse_segy(segy_file<std::int16_t>(3, {-7, 2, 3, 4}), "a", {}).values, ElementsAre(-7, 2, 3, 4));
  EXPECT_THAT(parse_segy(segy_file<float>(5, {-0.5, 2, 3, 4}), "a", {}).values, ElementsAre(-0.5, 2, 3, 4));
  EXPECT_THAT(parse_segy(segy_file<std::int8_t>(8, {-7, 2, 3, 4}), "a", {}).values, ElementsAre(-7, 2, 3, 4));
}

TEST(SegY, ReadsFloatsOfSystem360) {
  // -118.625 is the example of the Principles of Operation: sign 1, exponent 66, fraction 0x76a000.
  EXPECT_THAT(parse_segy(segy_file<std::uint32_t>(1, {0xc276a000U, 0x41100000U, 0, 0x40800000U}), "a", {}).values,
              ElementsAre(-118.625, 1, 0, 0.5));
}

TEST(SegY, TimesArePicosecondsAndNanoseconds) {
  const FieldLine line = parse_segy(segy_file<std::int16_t>(3, {1, 2, 3, 4}), "a", {});
  EXPECT_DOUBLE_EQ(line.dt, 100e-12);
  EXPECT_DOUBLE_EQ(line.time_zero, 3e-9);
}

TEST(SegY, APlaceIsTheMiddleOfSourceAndReceiver) {
  const FieldLine line = parse_segy(segy_file<std::int16_t>(3, {1, 2, 3, 4}), "a", {});
  EXPECT_THAT(line.positions, ElementsAre(0.25, 1.25));
  EXPECT_EQ(line.separation, 0.5);
}

TEST(SegY, AlongAnObliqueLineTheWayCounts) {
  std::vector<std::byte> bytes = segy_file<std::int16_t>(3, {1, 2, 3, 4});
  const std::size_t second = 3600 + 244;
  store(bytes, second + 76, std::int32_t{100}, ByteOrder::big);
  store(bytes, second + 84, std::int32_t{100}, ByteOrder::big);
  EXPECT_THAT(parse_segy(bytes, "a", {}).positions, ElementsAre(0, DoubleNear(std::sqrt(2), 1e-12)));
}

TEST(SegY, WhatIsWrittenIsRead) {
  const TemporaryFolder folder;
  FieldLine whole = small_line();
  whole.unit = "V/m";
  whole.values[3] = 1.25e-7F;
  whole.dt = 4.7173e-12;
  write_field_line(folder.file("line.sgy"), whole);
  const FieldLine line = read_field_line(folder.file("line.sgy"));
  EXPECT_EQ(line.values, whole.values);
  EXPECT_EQ(line.unit, "V/m");
  EXPECT_DOUBLE_EQ(line.dt, whole.dt);
  EXPECT_DOUBLE_EQ(line.time_zero, whole.time_zero);
  EXPECT_THAT(line.positions, Pointwise(DoubleNear(0.5e-3), whole.positions));  // mm
  EXPECT_DOUBLE_EQ(line.separation, 0.36);
  EXPECT_DOUBLE_EQ(line.nominal_frequency, 250e6);
  EXPECT_EQ(line.history, whole.history);
}

TEST(SegY, WhatItCannotHoldIsRefused) {
  FieldLine line = small_line();
  line.dt = 1e-13;
  EXPECT_THAT(error_of(ErrorKind::bad_input, [&] { (void)segy_of(line); }),
              HasSubstr("SEG-Y: a sample interval of 1e-13 s; a file holds 1 to 32767 ps"));
  line = small_line();
  line.positions[1] = 3e6;
  EXPECT_THAT(error_of(ErrorKind::bad_input, [&] { (void)segy_of(line); }),
              HasSubstr("SEG-Y: a position of 3e+06 m; a file holds up to 2000 km"));
  line = small_line();
  line.samples = 40000;
  EXPECT_THAT(error_of(ErrorKind::bad_input, [&] { (void)segy_of(line); }),
              HasSubstr("SEG-Y: 40000 samples of a trace; a file holds up to 32767"));
}

TEST(SegY, ThatContradictsItselfIsNamed) {
  EXPECT_THAT(segy_error(std::vector<std::byte>(3600)), HasSubstr("a.sgy: 3600 bytes; a SEG-Y file has 3840"));
  EXPECT_THAT(segy_error(changed(3225, 0)), HasSubstr("a.sgy: samples of format 0; 1, 2, 3, 5 and 8 are read"));
  EXPECT_THAT(segy_error(changed(3225, 4), ErrorKind::not_supported), HasSubstr("samples of format 4"));
  EXPECT_THAT(segy_error(changed(3505, -1), ErrorKind::not_supported), HasSubstr("text headers without their number"));
  EXPECT_THAT(segy_error(changed(3505, 1)), HasSubstr("cut off in its 1 further text headers"));
  EXPECT_THAT(segy_error(changed(3217, 0)), HasSubstr("a sample interval of 0; expected at least 1"));
  EXPECT_THAT(segy_error(changed(3221, 0)), HasSubstr("0 samples of a trace; expected at least 1"));
  EXPECT_THAT(segy_error(changed(3600 + 244 + 115, 7)),
              HasSubstr("trace 2 has 7 samples, the file header says 2; expected the same"));
  EXPECT_THAT(segy_error(segy_file<float>(5, {1, 2, NAN, 4})), HasSubstr("a.sgy: sample 1 of trace 2 is nan"));
}

TEST(SegY, ThatIsCutOffNamesItsWholeTraces) {
  std::vector<std::byte> bytes = segy_file<std::int16_t>(3, {1, 2, 3, 4});
  bytes.pop_back();
  EXPECT_THAT(segy_error(bytes), HasSubstr("a.sgy: cut off: 1 whole trace, and 243 of the 244 bytes of another"));
  EXPECT_EQ(parse_segy(bytes, "a", {.allow_truncated = true}).traces, 1);
}

}  // namespace
}  // namespace sonde::maxwell
