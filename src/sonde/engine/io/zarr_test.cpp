// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/io/zarr.h"

#include <blosc.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <lz4.h>
#include <zstd.h>

#include <cstring>
#include <filesystem>
#include <limits>

#include "tests/support/errors.h"
#include "tests/support/files.h"
#include "tests/support/python.h"

namespace sonde {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::TemporaryFolder;

/// Writes Zarr v2 as its specification says, with only NumPy and zlib. Element (i, j, k, l) is its C index.
constexpr const char* independent_writer =
    "import sys, os, json, zlib, gzip, itertools, numpy as np\n"
    "def write(name, shape, chunks, dtype, codec, separator, skip=None, fill=0):\n"
    "  folder = os.path.join(sys.argv[1], name); os.makedirs(folder)\n"
    "  a = np.arange(np.prod(shape)).reshape(shape).astype(dtype)\n"
    "  meta = dict(zarr_format=2, shape=shape, chunks=chunks, dtype=dtype, order='C', fill_value=fill, filters=None,\n"
    "              compressor=codec and {'id': codec, 'level': 1}, dimension_separator=separator)\n"
    "  json.dump(meta, open(folder + '/.zarray', 'w'))\n"
    "  for at in itertools.product(*(range(-(-s // c)) for s, c in zip(shape, chunks))):\n"
    "    if at == skip: continue\n"
    "    block = np.zeros(chunks, dtype)\n"
    "    part = a[tuple(slice(i * c, (i + 1) * c) for i, c in zip(at, chunks))]\n"
    "    block[tuple(slice(n) for n in part.shape)] = part\n"
    "    path = os.path.join(folder, separator.join(map(str, at))); os.makedirs(os.path.dirname(path), exist_ok=True)\n"
    "    pack = {None: bytes, 'zlib': zlib.compress, 'gzip': gzip.compress}[codec]\n"
    "    open(path, 'wb').write(pack(block.tobytes()))\n"
    "write('plain', [3, 4, 5, 6], [1, 1, 5, 6], '<u2', None, '.')\n"
    "write('edges', [3, 4, 5, 6], [2, 3, 2, 4], '<u2', 'zlib', '/')\n"
    "write('big', [3, 4, 5, 6], [2, 2, 5, 6], '>f4', 'gzip', '.')\n"
    "write('holes', [3, 4, 5, 6], [1, 2, 5, 6], '<i4', 'zlib', '.', skip=(1, 1, 0, 0), fill=-7)\n"
    "write('group/inner/scan', [4, 5], [4, 5], '|u1', None, '.')\n"
    "json.dump({'zarr_format': 2}, open(sys.argv[1] + '/group/.zgroup', 'w'))\n"
    "json.dump({'step': 0.5, 'unit': 'nm', 'list': [1]}, open(sys.argv[1] + '/group/.zattrs', 'w'))\n";

class ZarrFromPython : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new TemporaryFolder;
    testing::python(independent_writer, folder_->path().string());
  }
  static void TearDownTestSuite() { delete folder_; }

  template <class T>
  static std::vector<double> frames(const std::string& name, Index first, Index last) {
    const ZarrArray array(folder_->file(name));
    std::vector<T> elements(static_cast<std::size_t>((last - first) * array.metadata().shape.last(2).count()));
    array.read_frames(first, last, std::as_writable_bytes(std::span(elements)));
    return {elements.begin(), elements.end()};
  }
  static std::vector<double> counting(double first, std::size_t count) {
    std::vector<double> values(count);
    for (std::size_t i = 0; i < count; ++i) values[i] = first + static_cast<double>(i);
    return values;
  }
  static TemporaryFolder* folder_;
};
TemporaryFolder* ZarrFromPython::folder_ = nullptr;

TEST_F(ZarrFromPython, MetadataSayShapeAndType) {
  const ZarrArray array(folder_->file("edges"));
  EXPECT_EQ(array.metadata().shape, (Shape{3, 4, 5, 6}));
  EXPECT_EQ(array.metadata().dtype, DType::u16);
  EXPECT_EQ(array.frames(), 12);
}

TEST_F(ZarrFromPython, OneFramePerChunk) { EXPECT_EQ(frames<std::uint16_t>("plain", 0, 12), counting(0, 360)); }

TEST_F(ZarrFromPython, ChunksThatCrossEveryEdge) { EXPECT_EQ(frames<std::uint16_t>("edges", 0, 12), counting(0, 360)); }

TEST_F(ZarrFromPython, RangesOfFramesAreCut) {
  for (Index first = 0; first < 12; ++first)
    for (Index last = first; last <= 12; ++last) {
      SCOPED_TRACE(::testing::Message() << first << " to " << last);
      EXPECT_EQ(frames<std::uint16_t>("edges", first, last),
                counting(static_cast<double>(30 * first), static_cast<std::size_t>(30 * (last - first))));
    }
}

TEST_F(ZarrFromPython, BigEndianFloatsInGzip) { EXPECT_EQ(frames<float>("big", 2, 9), counting(60, 210)); }

TEST_F(ZarrFromPython, AbsentChunksHoldTheFillValue) {
  auto expected = counting(0, 360);
  std::fill(expected.begin() + 180, expected.begin() + 240, -7.0);  // frames (1, 2) and (1, 3)
  EXPECT_EQ(frames<std::int32_t>("holes", 0, 12), expected);
}

TEST_F(ZarrFromPython, KeptChunksAndFramesGiveTheSameFrames) {
  const ZarrArray kept(folder_->file("edges")), not_kept(folder_->file("edges"));
  for (const std::size_t limit :
       {kept.useful_cache_bytes(), kept.useful_cache_bytes() - 1, std::size_t{250}, std::size_t{60}}) {
    SCOPED_TRACE(limit);
    kept.set_cache_bytes(limit);
    for (const Index frame : {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 3, 4, 0, 11, 1, 2}) {
      std::vector<std::byte> a(60), b(60);
      kept.read_frames(frame, frame + 1, a);
      not_kept.read_frames(frame, frame + 1, b);
      EXPECT_EQ(a, b) << frame;
    }
  }
}

TEST_F(ZarrFromPython, ASmallerCacheIsFilledWithTheNextFrames) {
  const TemporaryFolder copy;
  std::filesystem::copy(folder_->file("edges"), copy.file("edges"), std::filesystem::copy_options::recursive);
  const ZarrArray array(copy.file("edges"));
  array.set_cache_bytes(4 * 60);  // four frames
  std::vector<std::byte> elements(60);
  array.read_frames(0, 1, elements);
  std::filesystem::remove_all(copy.file("edges/0"));
  for (Index frame = 1; frame < 4; ++frame) {
    array.read_frames(frame, frame + 1, elements);
    EXPECT_EQ(elements[0], static_cast<std::byte>(30 * frame)) << frame;
  }
  array.read_frames(4, 5, elements);
  EXPECT_EQ(elements[0], std::byte{0}) << "the fill value of chunks that have no file";
}

TEST_F(ZarrFromPython, ACacheOfTheUsefulSizeDecodesEveryChunkOnce) {
  // Chunks of (2, 3, 2, 4) in (3, 4, 5, 6): two rows of the scan share 2 x 3 x 2 chunks of 48 elements of u16.
  const TemporaryFolder copy;
  std::filesystem::copy(folder_->file("edges"), copy.file("edges"), std::filesystem::copy_options::recursive);
  const ZarrArray array(copy.file("edges"));
  EXPECT_EQ(array.useful_cache_bytes(), 2u * 3 * 2 * 48 * 2);
  EXPECT_EQ(ZarrArray(folder_->file("plain")).useful_cache_bytes(), 0u);
  array.set_cache_bytes(array.useful_cache_bytes());
  std::vector<std::byte> first(60), again(60);
  for (Index frame = 0; frame < 4; ++frame) array.read_frames(frame, frame + 1, first);
  std::filesystem::remove_all(copy.file("edges/0"));  // the chunks of both rows: what is kept is all there is
  for (Index frame = 4; frame < 8; ++frame) {
    array.read_frames(frame, frame + 1, again);
    EXPECT_EQ(again[0], static_cast<std::byte>(30 * frame)) << frame;  // below 256
  }
  array.set_cache_bytes(0);
  array.read_frames(7, 8, again);
  EXPECT_EQ(again[0], std::byte{0});  // the fill value of chunks that have no file
}

TEST_F(ZarrFromPython, GroupsNameTheirArrays) {
  EXPECT_THAT(find_zarr_arrays(folder_->file("group")), ElementsAre("inner/scan"));
  EXPECT_THAT(find_zarr_arrays(folder_->file("plain")), ElementsAre(""));
  EXPECT_THAT(testing::error_of(ErrorKind::bad_file, [] { const ZarrArray array(folder_->file("group")); }),
              HasSubstr("group: is a Zarr group that holds inner/scan\nhint: name one of its arrays"));
  EXPECT_EQ(frames<std::uint8_t>("group/inner/scan", 0, 1), counting(0, 20));
}

TEST_F(ZarrFromPython, AttributesAreScalarsAsText) {
  const auto attributes = read_zarr_attributes(folder_->file("group"));
  EXPECT_EQ(attributes.size(), 2u);
  EXPECT_EQ(attributes.at("step"), "0.5");
  EXPECT_EQ(attributes.at("unit"), "nm");
}

TEST(Zarr, FoldersWithoutArrayAreErrors) {
  const TemporaryFolder folder;
  EXPECT_THAT(testing::error_of(ErrorKind::bad_file, [&] { const ZarrArray array(folder.path().string()); }),
              HasSubstr("holds no Zarr array"));
  EXPECT_THAT(testing::error_of(ErrorKind::bad_file, [&] { const ZarrArray array(folder.file("none")); }),
              HasSubstr("none: no such folder"));
  testing::write_bytes(folder.file("zarr.json"), {'{', '}'});
  EXPECT_THAT(testing::error_of(ErrorKind::not_supported, [&] { const ZarrArray array(folder.path().string()); }),
              HasSubstr("is Zarr version 3"));
}

/// A valid text, in which a test replaces one part.
std::string metadata_with(const std::string& from = "", const std::string& to = "") {
  std::string text =
      R"({"zarr_format": 2, "shape": [4, 6], "chunks": [2, 3], "dtype": "<u2", "order": "C", "fill_value": 0,
          "filters": null, "compressor": null})";
  if (!from.empty()) text.replace(text.find(from), from.size(), to);
  return text;
}

std::string error_of_metadata(ErrorKind kind, const std::string& from, const std::string& to) {
  return testing::error_of(kind, [&] { (void)parse_zarr_metadata(metadata_with(from, to), "a/.zarray"); });
}

TEST(ZarrMetadata, NamesTheKeyThatIsWrong) {
  constexpr auto bad = ErrorKind::bad_file;
  EXPECT_EQ(error_of_metadata(bad, "[4, 6]", "[4, -6]"),
            "error: a/.zarray: key \"shape\": expected 1 to 8 integers of at least 0");
  EXPECT_THAT(error_of_metadata(bad, "[4, 6]", "[4, 18446744073709551615]"), HasSubstr("key \"shape\""));
  EXPECT_THAT(error_of_metadata(bad, "[2, 3]", "[2, 0]"), HasSubstr("key \"chunks\""));
  EXPECT_THAT(error_of_metadata(bad, "[2, 3]", "[2]"), HasSubstr("expected 2 integers like \"shape\""));
  EXPECT_THAT(error_of_metadata(bad, "\"dtype\"", "\"type\""), HasSubstr("has no key \"dtype\""));
  EXPECT_THAT(error_of_metadata(bad, "\"<u2\"", "\"u2\""), HasSubstr("\"u2\" is not a NumPy element type"));
  EXPECT_THAT(error_of_metadata(bad, "\"C\"", "7"), HasSubstr("key \"order\": expected \"C\""));
  EXPECT_THAT(error_of_metadata(bad, "\"fill_value\": 0", "\"fill_value\": 65536"), HasSubstr("key \"fill_value\""));
  EXPECT_THAT(error_of_metadata(bad, "\"compressor\": null", "\"compressor\": {\"id\": 3}"),
              HasSubstr("key \"compressor\""));
  EXPECT_THAT(error_of_metadata(bad, "\"filters\": null", "\"dimension_separator\": \"_\""),
              HasSubstr("key \"dimension_separator\""));
  EXPECT_THAT(error_of_metadata(bad, "}", ""), HasSubstr("a/.zarray: is not JSON"));
}

TEST(ZarrMetadata, WhatIsNotReadIsNamedWithTheRemedy) {
  constexpr auto unsupported = ErrorKind::not_supported;
  EXPECT_THAT(error_of_metadata(unsupported, "\"C\"", "\"F\""), AllOf(HasSubstr("Fortran"), HasSubstr("hint: ")));
  EXPECT_THAT(error_of_metadata(unsupported, "\"filters\": null", "\"filters\": [{\"id\": \"delta\"}]"),
              HasSubstr("filters are not read"));
  EXPECT_THAT(error_of_metadata(unsupported, "\"compressor\": null", "\"compressor\": {\"id\": \"lzma\"}"),
              HasSubstr("compressed with \"lzma\""));
  EXPECT_THAT(error_of_metadata(unsupported, "\"zarr_format\": 2", "\"zarr_format\": 3"),
              HasSubstr("not Zarr version 2"));
  EXPECT_THAT(error_of_metadata(unsupported, "\"<u2\"", "[[\"x\", \"<u2\"]]"), HasSubstr("structured"));
  EXPECT_THAT(error_of_metadata(unsupported, "[2, 3]", "[2000000000, 3]"), HasSubstr("at most 2.00 GiB"));
}

TEST(ZarrMetadata, FillValuesKeepTheirType) {
  const auto fill = [](const std::string& dtype, const std::string& value) {
    std::string text = metadata_with("\"<u2\"", dtype);
    const std::string from = "\"fill_value\": 0";
    text.replace(text.find(from), from.size(), "\"fill_value\": " + value);
    return parse_zarr_metadata(text, "a").fill;
  };
  const auto as = []<class T>(const std::array<std::byte, 16>& bytes, T) {
    T value;
    std::memcpy(&value, bytes.data(), sizeof value);
    return value;
  };
  EXPECT_EQ(as(fill("\"<u8\"", "18446744073709551615"), std::uint64_t{}), std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(as(fill("\">i2\"", "-5"), std::int16_t{}), -5);
  EXPECT_EQ(as(fill("\"<f4\"", "\"-Infinity\""), float{}), -std::numeric_limits<float>::infinity());
  EXPECT_EQ(as(fill("\"<f8\"", "0.1"), double{}), 0.1);
  EXPECT_EQ(as(fill("\"<c8\"", "[1, 2.5]"), complex64{}), complex64(1, 2.5f));
  EXPECT_EQ(as(fill("\"|b1\"", "true"), std::uint8_t{}), 1);
  EXPECT_EQ(as(fill("\"<u2\"", "null"), std::uint16_t{}), 0);
}

/// Chunks packed by the libraries themselves, in the framing of numcodecs.
class ZarrCodecs : public ::testing::Test {
 protected:
  ZarrCodecs() {
    for (std::size_t i = 0; i < values_.size(); ++i) values_[i] = static_cast<std::uint16_t>(i * i / 50);
  }
  [[nodiscard]] std::vector<std::byte> pack(ZarrCodec codec) const {
    const std::size_t bytes = 2 * values_.size();
    std::vector<std::byte> packed(4 * bytes + 1000);
    std::size_t size = 0;
    if (codec == ZarrCodec::lz4) {
      const auto prefix = static_cast<std::uint32_t>(bytes);
      std::memcpy(packed.data(), &prefix, 4);
      size = 4 + static_cast<std::size_t>(LZ4_compress_default(
                     reinterpret_cast<const char*>(values_.data()), reinterpret_cast<char*>(&packed[4]),
                     static_cast<int>(bytes), static_cast<int>(packed.size() - 4)));
    } else if (codec == ZarrCodec::zstd) {
      size = ZSTD_compress(packed.data(), packed.size(), values_.data(), bytes, 3);
    } else {
      size = static_cast<std::size_t>(
          blosc_compress_ctx(5, BLOSC_BITSHUFFLE, 2, bytes, values_.data(), packed.data(), packed.size(), "lz4", 0, 1));
    }
    packed.resize(size);
    return packed;
  }
  [[nodiscard]] std::vector<std::uint16_t> unpack(ZarrCodec codec, std::span<const std::byte> packed) const {
    ZarrMetadata metadata;
    metadata.codec = codec;
    metadata.dtype = DType::u16;
    metadata.chunks = {static_cast<Index>(values_.size())};
    std::vector<std::uint16_t> elements(values_.size());
    decode_zarr_chunk(metadata, packed, std::as_writable_bytes(std::span(elements)), "scan.zarr/0.0");
    return elements;
  }
  std::vector<std::uint16_t> values_ = std::vector<std::uint16_t>(1500);
};

TEST_F(ZarrCodecs, DecodeWhatTheLibrariesPack) {
  for (const ZarrCodec codec : {ZarrCodec::lz4, ZarrCodec::zstd, ZarrCodec::blosc}) {
    SCOPED_TRACE(static_cast<int>(codec));
    EXPECT_EQ(unpack(codec, pack(codec)), values_);
  }
}

TEST_F(ZarrCodecs, EveryCutIsAnError) {
  for (const ZarrCodec codec : {ZarrCodec::lz4, ZarrCodec::zstd, ZarrCodec::blosc}) {
    const auto packed = pack(codec);
    for (std::size_t size = 0; size < packed.size(); size += 7) {
      SCOPED_TRACE(::testing::Message() << static_cast<int>(codec) << " cut to " << size);
      EXPECT_THAT(testing::error_of(ErrorKind::bad_file, [&] { (void)unpack(codec, std::span(packed).first(size)); }),
                  HasSubstr("scan.zarr/0.0: the chunk of " + std::to_string(size) + " bytes does not decode to 3000"));
    }
  }
}

TEST_F(ZarrCodecs, AnotherSizeIsAnError) {
  const auto packed = pack(ZarrCodec::zstd);
  values_.resize(1400);
  (void)testing::error_of(ErrorKind::bad_file, [&] { (void)unpack(ZarrCodec::zstd, packed); });
  values_.resize(1600);
  (void)testing::error_of(ErrorKind::bad_file, [&] { (void)unpack(ZarrCodec::zstd, packed); });
}

}  // namespace
}  // namespace sonde
