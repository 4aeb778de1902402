// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "sonde/instruments/maxwell/field/field_files.h"
#include "sonde/instruments/maxwell/field/field_formats.h"
#include "sonde/instruments/maxwell/field/test_line.h"
#include "tests/support/data.h"
#include "tests/support/errors.h"

namespace sonde::maxwell {
namespace {

using sonde::testing::error_of;
using ::testing::ElementsAre;
using testing::FileBytes;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// Two scans of four samples for each channel, 10 c + n in the first, 10 more in the second, about the middle.
FileBytes dzt_of(int bits, std::uint16_t channels = 1) {
  FileBytes file(std::size_t{1024} * channels);
  for (std::size_t c = 0; c < channels; ++c) {
    const std::size_t at = 1024 * c;
    file.put(at, std::uint16_t{0x00ff});
    file.put(at + 2, std::uint16_t{1024});
    file.put(at + 4, std::uint16_t{4});
    file.put(at + 6, static_cast<std::uint16_t>(bits));
    file.put(at + 14, 4.0F);
    file.put(at + 22, -1.5F);
    file.put(at + 26, static_cast<float>(8 * (c + 1)));
    file.put(at + 52, channels);
    std::memcpy(file.bytes.data() + at + 98, "270MHz", 6);
  }
  for (int scan = 0; scan < 2; ++scan)
    for (int c = 0; c < channels; ++c)
      for (int n = 0; n < 4; ++n) {
        const int value = 10 * scan + 20 * c + n;
        if (bits == 8) file.add(static_cast<std::uint8_t>(128 + value));
        if (bits == 16) file.add(static_cast<std::uint16_t>(32768 + value));
        if (bits == 32) file.add(static_cast<std::int32_t>(-value));
      }
  return file;
}

std::string dzt_error(const FileBytes& file, const FieldReading& reading = {}, ErrorKind kind = ErrorKind::bad_file) {
  return error_of(kind, [&] { (void)parse_dzt(file.bytes, "a.DZT", reading); });
}

// The numbers of this test were read by a few lines of Python's struct and NumPy.
TEST(Dzt, ReadsALineOfGssi) {
  SONDE_NEED_DATA(data);
  const FieldLine line = read_field_line((data / "maxwell/field/GSSI/FILE____032.DZT").string());
  EXPECT_EQ(line.format, "GSSI DZT");
  EXPECT_EQ(line.title, "FILE____032");
  EXPECT_EQ(line.traces, 1040);
  EXPECT_EQ(line.samples, 512);
  EXPECT_EQ(line.channels, 1);
  EXPECT_DOUBLE_EQ(line.dt, 48e-9 / 512);
  EXPECT_EQ(line.nominal_frequency, 400e6);
  EXPECT_EQ(line.time_zero, 0);
  EXPECT_NEAR(line.positions.back(), 1039 / 50.0, 1e-9);
  EXPECT_THAT(line.warnings, IsEmpty());
  EXPECT_THAT(std::vector<float>(line.trace(100) + 255, line.trace(100) + 260),
              ElementsAre(1092, 371, -206, -575, -882));
  EXPECT_EQ(std::accumulate(line.values.begin(), line.values.end(), 0.0), -1654383);
}

TEST(Dzt, SamplesAreAboutTheMiddleOfTheirRangeAndCountersAreNone) {
  EXPECT_THAT(parse_dzt(dzt_of(8).bytes, "a", {}).values, ElementsAre(0, 0, 2, 3, 0, 0, 12, 13));
  EXPECT_THAT(parse_dzt(dzt_of(16).bytes, "a", {}).values, ElementsAre(0, 0, 2, 3, 0, 0, 12, 13));
  EXPECT_THAT(parse_dzt(dzt_of(32).bytes, "a", {}).values, ElementsAre(0, 0, -2, -3, 0, 0, -12, -13));
}

TEST(Dzt, TimeZeroIsWhereTheHeaderPutsTheFirstSample) {
  EXPECT_DOUBLE_EQ(parse_dzt(dzt_of(16).bytes, "a", {}).time_zero, 1.5e-9);
}

TEST(Dzt, AChannelHasItsOwnHeaderAndEverySecondScan) {
  const FieldLine line = parse_dzt(dzt_of(16, 2).bytes, "a", {.channel = 2});
  EXPECT_THAT(line.values, ElementsAre(0, 0, 22, 23, 0, 0, 32, 33));
  EXPECT_DOUBLE_EQ(line.dt, 4e-9);
  EXPECT_THAT(line.positions, ElementsAre(0, 0.25));
  EXPECT_EQ(line.channels, 2);
}

TEST(Dzt, ASmallOffsetCountsHeaders) {
  FileBytes file = dzt_of(16);
  file.put(2, std::uint16_t{2});
  file.bytes.insert(file.bytes.begin() + 1024, 1024, std::byte{7});
  EXPECT_THAT(parse_dzt(file.bytes, "a", {}).values, ElementsAre(0, 0, 2, 3, 0, 0, 12, 13));
}

TEST(Dzt, WithoutScansPerMetreThereAreNoPositions) {
  FileBytes file = dzt_of(16);
  file.put(14, 0.0F);
  const FieldLine line = parse_dzt(file.bytes, "a.DZT", {});
  EXPECT_THAT(line.positions, IsEmpty());
  EXPECT_THAT(line.warnings, ElementsAre("a.DZT: no scans per metre, so the traces have no positions"));
}

TEST(Dzt, ThatIsCutOffNamesItsWholeTraces) {
  FileBytes file = dzt_of(16);
  file.bytes.pop_back();
  const std::string error = dzt_error(file);
  EXPECT_THAT(error, HasSubstr("a.DZT: cut off: 1 whole trace, and 7 of the 8 bytes of another"));
  EXPECT_THAT(error, HasSubstr("--allow-truncated reads the whole traces"));
  const FieldLine line = parse_dzt(file.bytes, "a.DZT", {.allow_truncated = true});
  EXPECT_EQ(line.traces, 1);
  EXPECT_THAT(line.warnings, ElementsAre(HasSubstr("cut off: 1 whole trace")));
}

TEST(Dzt, ThatContradictsItselfIsNamed) {
  const auto changed = [](std::size_t at, auto value, int bits = 16, std::uint16_t channels = 1) {
    FileBytes file = dzt_of(bits, channels);
    file.put(at, value);
    return file;
  };
  EXPECT_THAT(dzt_error(FileBytes(12)), HasSubstr("a.DZT: 12 bytes; the header of a DZT file has 1024"));
  EXPECT_THAT(dzt_error(FileBytes(1024)), HasSubstr("a.DZT: 0 channels; expected 1 to 16"));
  EXPECT_THAT(dzt_error(changed(6, std::uint16_t{12})), HasSubstr("samples of 12 bits; expected 8, 16 or 32"));
  EXPECT_THAT(dzt_error(changed(4, std::uint16_t{2})), HasSubstr("2 samples in a scan; expected at least 3"));
  EXPECT_THAT(dzt_error(changed(26, 0.0F)), HasSubstr("a range of 0 ns; expected above 0"));
  EXPECT_THAT(dzt_error(changed(22, std::numeric_limits<float>::infinity())),
              HasSubstr("a first sample at inf ns; expected a time"));
  EXPECT_THAT(dzt_error(changed(14, -1.0F)), HasSubstr("-1 scans per metre; expected 0 or more"));
  EXPECT_THAT(dzt_error(changed(2, std::uint16_t{60000})), HasSubstr("no whole trace"));
  EXPECT_THAT(dzt_error(changed(52, std::uint16_t{9})), HasSubstr("cut off in the headers of its 9 channels"));
  EXPECT_THAT(dzt_error(changed(1024 + 4, std::uint16_t{5}, 16, 2), {.channel = 2}),
              HasSubstr("channel 2 has 5 samples of 16 bits, channel 1 has 4 of 16; expected the same"));
  EXPECT_THAT(dzt_error(dzt_of(16), {.channel = 3}, ErrorKind::bad_input), HasSubstr("channel 3; a.DZT has 1"));
}

}  // namespace
}  // namespace sonde::maxwell
