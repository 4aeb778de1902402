// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/separate/weights/checkpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "sonde/engine/base/small_float.h"
#include "sonde/instruments/separate/network/test_cases.h"
#include "sonde/instruments/separate/weights/test_checkpoints.h"
#include "tests/support/data.h"
#include "tests/support/errors.h"
#include "tests/support/files.h"

namespace sonde::separate {
namespace {

using sonde::testing::error_of;
using sonde::testing::TemporaryFolder;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<Parameter> parameters_of(const ReferenceCase& each) {
  return parameters(each.config, layer_list(each.config));
}

/// Of values that are not the formula's bit by bit, the names.
template <class Rounded>
std::vector<std::string> different(const ReferenceCase& each, const ParameterValues& values, Rounded rounded) {
  std::vector<std::string> names;
  for (const Parameter& parameter : parameters_of(each)) {
    const Array wanted = formula_values(parameter, each.seed);
    const auto at = values.find(parameter.name);
    bool same = at != values.end() && at->second.shape() == wanted.shape() && at->second.contiguous();
    for (Index i = 0; same && i < wanted.count(); ++i) {
      const float value = static_cast<const float*>(at->second.data())[i];
      const float expected = rounded(static_cast<const float*>(wanted.data())[i]);
      same = std::memcmp(&value, &expected, sizeof value) == 0;
    }
    if (!same) names.push_back(parameter.name);
  }
  return names;
}
std::vector<std::string> different(const ReferenceCase& each, const ParameterValues& values) {
  return different(each, values, [](float x) { return x; });
}

std::string checkpoint_file(const std::filesystem::path& data, const std::string& name) {
  return (data / "separation/reference/checkpoints" / name).string();
}

// The arrays of these files are the formula weights, by another program: their README.

class GoodCheckpoint : public ::testing::TestWithParam<const char*> {};

TEST_P(GoodCheckpoint, HoldsTheValuesOfTheFormula) {
  SONDE_NEED_DATA(data);
  const Checkpoint checkpoint = read_checkpoint(checkpoint_file(data, GetParam()));
  EXPECT_THAT(different(case_b(), match(checkpoint, parameters_of(case_b()))), IsEmpty());
  EXPECT_THAT(checkpoint.warnings, IsEmpty());
  EXPECT_THAT(checkpoint.opaque_globals, IsEmpty());
  EXPECT_THAT(checkpoint.unverified, IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(, GoodCheckpoint,
                         ::testing::Values("wrapped_state_dict.ckpt", "wrapped_model_state_dict.ckpt",
                                           "legacy_format.ckpt", "module_prefix.ckpt", "parameters.ckpt",
                                           "shared_strided_storage.ckpt"),
                         [](const auto& each) { return std::filesystem::path(each.param).stem().string(); });

TEST(GoodCheckpoints, OfHalfPrecisionHoldRoundedValues) {
  SONDE_NEED_DATA(data);
  const Checkpoint half = read_checkpoint(checkpoint_file(data, "half.ckpt"));
  EXPECT_THAT(different(case_b(), match(half, parameters_of(case_b())), [](float x) { return from_fp16(to_fp16(x)); }),
              IsEmpty());
  const Checkpoint brain = read_checkpoint(checkpoint_file(data, "bfloat16.safetensors"));
  EXPECT_THAT(different(case_b(), match(brain, parameters_of(case_b())), [](float x) { return from_bf16(to_bf16(x)); }),
              IsEmpty());
}

class CheckpointOfCase : public ::testing::TestWithParam<ReferenceCase> {};

TEST_P(CheckpointOfCase, HoldsTheSameValuesInBothFormats) {
  SONDE_NEED_DATA(data);
  for (const char* name : {"model.ckpt", "model.safetensors"}) {
    const Checkpoint checkpoint = read_checkpoint((data / "separation/reference" / GetParam().folder / name).string());
    EXPECT_THAT(different(GetParam(), match(checkpoint, parameters_of(GetParam()))), IsEmpty()) << name;
    EXPECT_EQ(checkpoint.state_key, "") << name;
  }
}

INSTANTIATE_TEST_SUITE_P(, CheckpointOfCase, ::testing::ValuesIn(small_cases()),
                         [](const auto& each) { return each.param.folder; });

TEST(GoodCheckpoints, SayWhereTheirParametersWere) {
  SONDE_NEED_DATA(data);
  EXPECT_EQ(read_checkpoint(checkpoint_file(data, "wrapped_state_dict.ckpt")).state_key, "state_dict");
  EXPECT_EQ(read_checkpoint(checkpoint_file(data, "wrapped_model_state_dict.ckpt")).state_key, "model_state_dict");
  EXPECT_EQ(read_checkpoint(checkpoint_file(data, "legacy_format.ckpt")).format, "PyTorch before 1.6");
}

TEST(GoodCheckpoints, AreMappedAndNotCopied) {
  SONDE_NEED_DATA(data);
  const Checkpoint checkpoint =
      read_checkpoint((data / "separation/reference" / case_a().folder / "model.ckpt").string());
  const auto mapped = checkpoint.file->bytes();
  const ParameterValues values = match(checkpoint, parameters_of(case_a()));
  for (const auto& [name, array] : values) {
    const auto* at = static_cast<const std::byte*>(array.data());
    EXPECT_TRUE(at >= mapped.data() && at < mapped.data() + mapped.size()) << name;
  }
}

TEST(GoodCheckpoints, LiveAsLongAsTheirArrays) {
  SONDE_NEED_DATA(data);
  ParameterValues values;
  {
    const Checkpoint checkpoint =
        read_checkpoint((data / "separation/reference" / case_a().folder / "model.ckpt").string());
    values = match(checkpoint, parameters_of(case_a()));
  }
  EXPECT_THAT(different(case_a(), values), IsEmpty());
}

std::string checkpoint_failure(const std::string& path, ErrorKind kind = ErrorKind::bad_file) {
  return error_of(kind, [&] { static_cast<void>(match(read_checkpoint(path), parameters_of(case_b()))); });
}

struct BadFile {
  const char* name;
  std::string text;  // behind the path
};
class BadCheckpoint : public ::testing::TestWithParam<BadFile> {};

TEST_P(BadCheckpoint, IsNamedPrecisely) {
  SONDE_NEED_DATA(data);
  const std::string path = checkpoint_file(data, GetParam().name);
  EXPECT_EQ(checkpoint_failure(path), "error: " + path + GetParam().text);
}

INSTANTIATE_TEST_SUITE_P(
    , BadCheckpoint,
    ::testing::Values(
        BadFile{"hostile_tensor_entry.ckpt", ": first_conv.weight: unsupported object posix.getpid"},
        BadFile{"bad_missing_key.ckpt",
                ": bottleneck_block.blocks.0.tdf.2.weight is missing; expected shape (8, 32), by audio.dim_f, "
                "model.num_subbands or model.bottleneck_factor"},
        BadFile{"bad_wrong_shape.ckpt",
                ": first_conv.weight has shape (7, 4, 1, 1); expected (8, 4, 1, 1), by audio.num_channels, "
                "model.num_subbands or model.num_channels"},
        BadFile{"bad_truncated.ckpt",
                ": not a valid ZIP archive: it has no end record\nhint: the copy may be incomplete"},
        BadFile{"bad_short_storage.ckpt",
                ": storage 0 has 124 bytes; expected 32 elements of 4 bytes\nhint: the copy may be incomplete"},
        BadFile{"bad_offsets.safetensors",
                ": not a valid safetensors file: bottleneck_block.blocks.0.shortcut.weight: data_offsets 0 to "
                "1000001024; the file has 4096 bytes of data\nhint: the copy may be incomplete"},
        BadFile{"bad_header_length.safetensors",
                ": not a valid safetensors file: a header of 4611686018427387904 bytes in a file of 10\n"
                "hint: the copy may be incomplete"}),
    [](const auto& each) { return std::filesystem::path(each.param.name).stem().string(); });

TEST(HostileCheckpoint, WithACallElsewhereIsReadWithAWarning) {
  SONDE_NEED_DATA(data);
  const std::string path = checkpoint_file(data, "hostile_extra_entry.ckpt");
  const Checkpoint checkpoint = read_checkpoint(path);
  EXPECT_THAT(different(case_b(), match(checkpoint, parameters_of(case_b()))), IsEmpty());
  EXPECT_THAT(checkpoint.opaque_globals, ElementsAre("posix.getpid"));
  EXPECT_THAT(checkpoint.warnings,
              ElementsAre(path + ": the checkpoint contains code references (posix.getpid); nothing was executed"));
}

TEST(HostileCheckpoint, RunsNothing) {
  const TemporaryFolder folder;
  const std::string canary = folder.file("canary"), path = folder.file("model.ckpt");
  PickleText pickle;
  pickle.op("}(").text("state_dict").op("}(").text("first_conv.weight").tensor("FloatStorage", "0", {1}).op("u");
  pickle.text("hook").global("os", "system").text("touch " + canary).op("\x85R");
  pickle.text("other").global("builtins", "exec").text("open('" + canary + "', 'w')").op("\x85R");
  pickle.text("built").global("os", "system").text("touch " + canary).op("\x85\x62");  // BUILD
  pickle.op("u.");
  ZipText zip(path);
  zip.add("x/data.pkl", pickle.out);
  zip.add("x/data/0", std::string(4, '\0'));
  zip.close();
  const Checkpoint checkpoint = read_checkpoint(path);
  EXPECT_FALSE(std::filesystem::exists(canary));
  EXPECT_THAT(checkpoint.opaque_globals, ElementsAre("builtins.exec", "os.system"));
  EXPECT_EQ(checkpoint.tensors.size(), 1u);
}

// Written as PyTorch 1.x and 2.x would.

class WrittenCheckpoint : public ::testing::Test {
 protected:
  std::string write(const TorchStyle& style) {
    write_torch(path_, formula_values(case_d().config, 9), style);
    return path_;
  }
  TemporaryFolder folder_;
  std::string path_ = folder_.file("model.ckpt");
  ReferenceCase case_ = {.folder = "", .config = case_d().config, .seed = 9};
};

TEST_F(WrittenCheckpoint, OfPyTorch2MayHaveEntriesThatAreNotKnown) {
  const Checkpoint checkpoint = read_checkpoint(write({.two = true}));
  EXPECT_THAT(different(case_, match(checkpoint, parameters_of(case_))), IsEmpty());
  EXPECT_THAT(checkpoint.unverified, IsEmpty());
}

TEST_F(WrittenCheckpoint, WithoutChecksumsIsReadAndReported) {
  const Checkpoint checkpoint = read_checkpoint(write({.two = true, .sums = false}));
  EXPECT_THAT(different(case_, match(checkpoint, parameters_of(case_))), IsEmpty());
  // data.pkl, byteorder, and each tensor.
  EXPECT_EQ(checkpoint.unverified.size(), 2 + parameters_of(case_).size());
}

TEST_F(WrittenCheckpoint, InATrainingStateIsFoundAmongOptimiserAndNumPyScalars) {
  const Checkpoint checkpoint = read_checkpoint(write({.two = true, .training = true}));
  EXPECT_THAT(different(case_, match(checkpoint, parameters_of(case_))), IsEmpty());
  EXPECT_EQ(checkpoint.state_key, "state_dict");
  EXPECT_THAT(checkpoint.opaque_globals, ElementsAre("_codecs.encode", "numpy.core.multiarray.scalar", "numpy.dtype"));
  EXPECT_THAT(checkpoint.warnings, IsEmpty());
}

TEST_F(WrittenCheckpoint, WithAWrongChecksumIsAnError) {
  std::vector<std::uint8_t> bytes = sonde::testing::read_bytes(write({}));
  bytes[bytes.size() / 2] ^= 1u;
  sonde::testing::write_bytes(path_, bytes);
  EXPECT_THAT(error_of(ErrorKind::bad_file, [&] { static_cast<void>(read_checkpoint(path_)); }),
              HasSubstr(": its checksum is wrong\nhint: the copy may be incomplete"));
}

TEST_F(WrittenCheckpoint, WithAValueThatIsNotFiniteIsNamed) {
  ParameterValues values = formula_values(case_.config, 9);
  static_cast<float*>(values.at("first_conv.weight").data())[7] = std::numeric_limits<float>::quiet_NaN();
  write_torch(path_, values);
  EXPECT_EQ(
      error_of(ErrorKind::bad_file, [&] { static_cast<void>(match(read_checkpoint(path_), parameters_of(case_))); }),
      "error: " + path_ +
          ": first_conv.weight has the value nan at element 7\n"
          "hint: the training of this checkpoint diverged: use an earlier one");
}

TEST_F(WrittenCheckpoint, WithManyMisfitsShowsTen) {
  ParameterValues values;
  values.emplace("first_conv.weight", Array::zeros(Device::cpu(), {3, 1, 1, 1}, DType::f32));
  values.emplace("head.weight", Array::zeros(Device::cpu(), {2}, DType::f32));
  write_torch(path_, values);
  const std::string text = checkpoint_failure(path_);
  EXPECT_THAT(text, HasSubstr("error: " + path_ + ": the tensors are not those of the configuration"));
  EXPECT_THAT(text, HasSubstr("first_conv.weight has shape (3, 1, 1, 1); expected (8, 4, 1, 1), by "
                              "audio.num_channels, model.num_subbands or model.num_channels"));
  EXPECT_THAT(text, ::testing::ContainsRegex("and [0-9]+ more"));
}

TEST_F(WrittenCheckpoint, GivesTheStateThatIsAskedFor) {
  write({.training = true});
  EXPECT_EQ(read_checkpoint(path_, "state_dict").state_key, "state_dict");
  EXPECT_EQ(
      error_of(ErrorKind::usage, [&] { static_cast<void>(read_checkpoint(path_, "ema")); }),
      "error: " + path_ +
          ": has no \"ema\"\nhint: the file has epoch, best_metric, state_dict and optimizer: give one of them as "
          "--state-key");
  EXPECT_THAT(error_of(ErrorKind::usage, [&] { static_cast<void>(read_checkpoint(path_, "epoch")); }),
              HasSubstr(": \"epoch\" holds no tensors"));
}

// Archives that are no checkpoints, and pickles that reach beyond them.

class CheckpointFault : public ::testing::Test {
 protected:
  /// A checkpoint of one tensor "w" of (2, 3) with another description of it.
  std::string with_tensor(const PickleText& tensor, std::size_t storage_bytes = 24) {
    ZipText zip(path_);
    zip.add("x/data.pkl", PickleText().op("}").text("w").op(tensor.out.substr(2)).op("s.").out);
    zip.add("x/data/0", std::string(storage_bytes, '\0'));
    zip.close();
    return failure();
  }
  /// _rebuild_tensor_v2 by hand.
  static PickleText tensor(const std::string& type, Index count, Index offset, const std::vector<Index>& sizes,
                           const std::vector<Index>& strides) {
    PickleText text;
    text.global("torch._utils", "_rebuild_tensor_v2").op("((").text("storage").global("torch", type).text("0");
    text.text("cpu").whole(count).op("tQ").whole(offset).tuple(sizes).tuple(strides).op("\x89NtR");
    return text;
  }
  std::string failure(ErrorKind kind = ErrorKind::bad_file) {
    const std::string text = error_of(kind, [&] { static_cast<void>(read_checkpoint(path_)); });
    const std::string begin = "error: " + path_ + ": ";
    EXPECT_TRUE(text.starts_with(begin)) << text;
    return text.substr(std::min(begin.size(), text.size()));
  }
  void write(const std::string& bytes) { sonde::testing::write_bytes(path_, {bytes.begin(), bytes.end()}); }

  TemporaryFolder folder_;
  std::string path_ = folder_.file("model.ckpt");
};

TEST_F(CheckpointFault, ATensorBeyondItsStorageIsNamed) {
  const std::string beyond = "w: a tensor (2, 3) reaches beyond its storage of 6 elements\nhint: the file is damaged";
  EXPECT_EQ(with_tensor(tensor("FloatStorage", 6, 1, {2, 3}, {3, 1})), beyond);
  EXPECT_EQ(with_tensor(tensor("FloatStorage", 6, 0, {2, 3}, {4, 1})), beyond);
  EXPECT_EQ(with_tensor(tensor("FloatStorage", 6, 0, {2, 3}, {1, 0x7fffffff})), beyond);
}

TEST_F(CheckpointFault, AnExpandedTensorIsRefused) {
  EXPECT_THAT(with_tensor(tensor("FloatStorage", 6, 0, {0x7fffffff, 0x7fffffff}, {0, 0})),
              HasSubstr("reaches beyond its storage"));
}

TEST_F(CheckpointFault, AStorageThatIsTooShortIsNamed) {
  EXPECT_EQ(with_tensor(tensor("FloatStorage", 7, 0, {2, 3}, {3, 1})),
            "storage 0 has 24 bytes; expected 7 elements of 4 bytes\nhint: the copy may be incomplete");
}

TEST_F(CheckpointFault, NegativeNumbersAreRefused) {
  const std::string wrong =
      "w: size, stride or offset of a tensor are not whole numbers that fit each other\nhint: the file is damaged";
  EXPECT_EQ(with_tensor(tensor("FloatStorage", 6, -1, {2, 3}, {3, 1})), wrong);
  EXPECT_EQ(with_tensor(tensor("FloatStorage", 6, 0, {2, 3}, {-3, 1})), wrong);
  EXPECT_EQ(with_tensor(tensor("FloatStorage", 6, 0, {2, 3}, {1})), wrong);
}

TEST_F(CheckpointFault, NineDimensionsAreRefused) {
  const std::vector<Index> ones(9, 1);
  EXPECT_THAT(with_tensor(tensor("FloatStorage", 6, 0, ones, ones)), HasSubstr("w: 9 dimensions; expected at most 8"));
}

TEST_F(CheckpointFault, AnUnknownStorageIsNamed) {
  ZipText zip(path_);
  zip.add("x/data.pkl",
          PickleText().op("}").text("w").op(tensor("QUInt8Storage", 6, 0, {6}, {1}).out.substr(2)).op("s.").out);
  zip.close();
  EXPECT_EQ(failure(ErrorKind::not_supported), "w: unsupported object torch.QUInt8Storage");
}

TEST_F(CheckpointFault, AMissingStorageIsNamed) {
  ZipText zip(path_);
  zip.add("x/data.pkl", PickleText().op("}").text("w").tensor("FloatStorage", "0", {6}).op("s.").out);
  zip.close();
  EXPECT_EQ(failure(), "has no entry x/data/0\nhint: the copy may be incomplete");
}

TEST_F(CheckpointFault, AnArchiveWithoutAPickleIsNamed) {
  ZipText zip(path_);
  zip.add("arr_0.npy", "x");
  zip.close();
  EXPECT_EQ(failure(), "a ZIP archive without data.pkl; expected a checkpoint of PyTorch");
}

TEST_F(CheckpointFault, TwoEntriesOfOneNameAreRefused) {
  ZipText zip(path_);
  zip.add("x/data.pkl", "N.");
  zip.add("x/data.pkl", "N.");
  zip.close();
  EXPECT_EQ(failure(), "two entries have the name x/data.pkl");
}

TEST_F(CheckpointFault, ABigEndianCheckpointIsRefused) {
  ZipText zip(path_);
  zip.add("x/data.pkl", "N.");
  zip.add("x/byteorder", "big");
  zip.close();
  EXPECT_EQ(failure(ErrorKind::not_supported),
            "was written on a big-endian machine\nhint: load it with PyTorch on this machine and save it again");
}

TEST_F(CheckpointFault, APickleOfSomethingElseIsDescribed) {
  ZipText zip(path_);
  zip.add("x/data.pkl", PickleText().op("}(").text("epoch").whole(3).text("name").text("x").op("u.").out);
  zip.close();
  EXPECT_THAT(failure(), HasSubstr("holds no tensors under the names of parameters, but the keys epoch and name\n"
                                   "hint: a whole model that was pickled cannot be read without its program"));
}

TEST_F(CheckpointFault, OtherFilesAreNamed) {
  write("hello");
  EXPECT_EQ(failure(), "unknown file format; expected a checkpoint of PyTorch or safetensors");
  write("");
  EXPECT_EQ(failure(), "the file is empty");
  write(std::string("\x08\x07\x12\x07pytorch", 11));
  EXPECT_EQ(failure(ErrorKind::not_supported),
            "is an ONNX file; expected a checkpoint of PyTorch or safetensors\n"
            "hint: use the checkpoint (.ckpt, .pth or .safetensors) that it was exported from");
}

TEST_F(CheckpointFault, AZipBombIsRefusedWithoutUnpacking) {
  // A gigabyte of zeros in a megabyte: made by Python, because what is here writes no deflated entries.
  ASSERT_EQ(std::system(("/usr/bin/python3 -c \"import sys, zipfile\n"
                         "z = zipfile.ZipFile(sys.argv[1], 'w', zipfile.ZIP_DEFLATED)\n"
                         "z.writestr('x/data.pkl', bytes(1 << 26))\nz.close()\" '" +
                         path_ + "'")
                            .c_str()),
            0);
  EXPECT_EQ(failure(ErrorKind::not_supported), "x/data.pkl is deflated; expected a stored entry");
}

TEST_F(CheckpointFault, EntriesThatOverlapAreRefused) {
  // One storage of 24 bytes under many names in the directory: all lead to the same bytes.
  PickleText pickle;
  pickle.op("}(");
  for (const char* key : {"0", "1", "2", "3"}) pickle.text(key).tensor("FloatStorage", key, {100000});
  ZipText zip(path_);
  zip.add("x/data.pkl", pickle.op("u.").out);
  zip.add("x/data/0", std::string(400000, '\0'));
  for (const char* key : {"1", "2", "3"}) zip.add(std::string("x/data/") + key, "");
  zip.close();
  auto bytes = sonde::testing::read_bytes(path_);
  // In the directory the sizes and places of the last three become those of the first.
  std::size_t first = 0;
  for (std::size_t i = 0; i + 46 < bytes.size(); ++i) {
    if (std::memcmp(bytes.data() + i, "PK\x01\x02", 4) != 0) continue;
    const std::string name(bytes.begin() + static_cast<std::ptrdiff_t>(i) + 46,
                           bytes.begin() + static_cast<std::ptrdiff_t>(i) + 46 + bytes[i + 28]);
    if (name == "x/data/0") first = i;
    if (name == "x/data/1" || name == "x/data/2" || name == "x/data/3") {
      std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(first) + 16, 12,
                  bytes.begin() + static_cast<std::ptrdiff_t>(i) + 16);
      std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(first) + 42, 4,
                  bytes.begin() + static_cast<std::ptrdiff_t>(i) + 42);
    }
  }
  sonde::testing::write_bytes(path_, bytes);
  EXPECT_EQ(failure(), "its entries overlap");
}

// Every file of the folder, cut and changed anywhere: an Error or a checkpoint, never more.

class DamagedCheckpoint : public ::testing::TestWithParam<const char*> {};

TEST_P(DamagedCheckpoint, IsAnErrorOrACheckpoint) {
  SONDE_NEED_DATA(data);
  const TemporaryFolder folder;
  const std::string path = folder.file(std::filesystem::path(GetParam()).filename().string());
  const auto whole = sonde::testing::read_bytes(data / "separation/reference" / GetParam());
  std::mt19937 random(7);
  int read = 0;
  for (int i = 0; i < 150; ++i) {
    auto bytes = whole;
    if (i % 5 == 0) {
      bytes.resize(random() % bytes.size());
    } else {
      // Where what describes the arrays is: at the front of safetensors and pickles, at the end of archives.
      for (unsigned k = 1 + random() % 4; k > 0; --k) {
        const std::size_t at = random() % std::min<std::size_t>(bytes.size(), 30000);
        bytes[random() % 3 == 0 ? bytes.size() - 1 - at : at] = static_cast<std::uint8_t>(random());
      }
    }
    sonde::testing::write_bytes(path, bytes);
    try {
      const Checkpoint checkpoint = read_checkpoint(path);
      for (const auto& [name, tensor] : checkpoint.tensors) static_cast<void>(values_of(checkpoint, tensor));
      ++read;
    } catch (const Error& error) {
      EXPECT_NE(exit_status(error.kind()), exit_status(ErrorKind::internal)) << error.what();
    }
  }
  EXPECT_LT(read, 150);
}

INSTANTIATE_TEST_SUITE_P(, DamagedCheckpoint,
                         ::testing::Values("b_batchnorm_relu_target/model.ckpt", "checkpoints/legacy_format.ckpt",
                                           "b_batchnorm_relu_target/model.safetensors",
                                           "checkpoints/shared_strided_storage.ckpt"),
                         [](const auto& each) {
                           const std::filesystem::path path(each.param);
                           return path.stem().string() + path.extension().string().substr(1);
                         });

}  // namespace
}  // namespace sonde::separate
