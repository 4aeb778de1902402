// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/separate/weights/safetensors_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <string>

#include "sonde/engine/base/small_float.h"
#include "sonde/instruments/separate/network/test_cases.h"
#include "sonde/instruments/separate/weights/test_checkpoints.h"
#include "tests/support/data.h"
#include "tests/support/errors.h"
#include "tests/support/files.h"
#include "tests/support/python.h"

namespace sonde::separate {
namespace {

using sonde::testing::error_of;
using sonde::testing::TemporaryFolder;
using ::testing::EndsWith;
using ::testing::HasSubstr;

class SafetensorsFault : public ::testing::Test {
 protected:
  std::string failure_of(const std::string& header, std::size_t data_bytes = 24, ErrorKind kind = ErrorKind::bad_file) {
    std::string bytes;
    for (int i = 0; i < 8; ++i) bytes += static_cast<char>(header.size() >> (8 * i));
    bytes += header + std::string(data_bytes, '\0');
    sonde::testing::write_bytes(path_, {bytes.begin(), bytes.end()});
    const std::string text = error_of(kind, [&] { static_cast<void>(read_checkpoint(path_)); });
    const std::string begin = "error: " + path_ + ": not a valid safetensors file: ",
                      hint = "\nhint: the copy may be incomplete";
    EXPECT_TRUE(kind != ErrorKind::bad_file || (text.starts_with(begin) && text.ends_with(hint))) << text;
    return kind != ErrorKind::bad_file ? text : text.substr(begin.size(), text.size() - begin.size() - hint.size());
  }
  static std::string tensor(const std::string& dtype, const std::string& shape, const std::string& offsets) {
    return R"("w":{"dtype":")" + dtype + R"(","shape":)" + shape + R"(,"data_offsets":)" + offsets + "}";
  }
  TemporaryFolder folder_;
  std::string path_ = folder_.file("model.safetensors");
};

TEST_F(SafetensorsFault, EachIsNamed) {
  EXPECT_EQ(failure_of("{" + tensor("F32", "[2,3]", "[0,20]") + "}"), "w: 20 bytes for shape (2, 3) of F32");
  EXPECT_EQ(failure_of("{" + tensor("F32", "[2,3]", "[8,32]") + "}"),
            "w: data_offsets 8 to 32; the file has 24 bytes of data");
  EXPECT_EQ(failure_of("{" + tensor("F32", "[2,3]", "[24,0]") + "}"),
            "w: data_offsets 24 to 0; the file has 24 bytes of data");
  EXPECT_EQ(failure_of("{" + tensor("F32", "[2,3]", "[0]") + "}"), "w: data_offsets are not two numbers");
  EXPECT_EQ(failure_of("{" + tensor("F32", "[4294967296,4294967296,4294967296]", "[0,24]") + "}"),
            "w: 24 bytes for shape (4294967296, 4294967296, 4294967296) of F32");
  EXPECT_EQ(failure_of("{" + tensor("F32", "[18446744073709551615]", "[0,24]") + "}"), "w: an extent beyond 2^63");
  EXPECT_EQ(failure_of("{" + tensor("F32", "[1,1,1,1,1,1,1,1,6]", "[0,24]") + "}"),
            "more than eight dimensions in the header after \"shape\"");
  EXPECT_EQ(failure_of("{" + tensor("F32", "[2,-3]", "[0,24]") + "}"),
            "a negative number in the header after \"shape\"");
  EXPECT_EQ(failure_of("{" + tensor("F32", "[2,[3]]", "[0,24]") + "}"), "a list in the header after \"shape\"");
  EXPECT_EQ(failure_of("{" + tensor("F32", "{\"a\":1}", "[0,24]") + "}"),
            "an object too deep in the header after \"shape\"");
  EXPECT_EQ(failure_of(R"({"w":3})"), "a number in the header after \"w\"");
  EXPECT_EQ(failure_of(R"({"w":null})"), "null in the header after \"w\"");
  EXPECT_EQ(failure_of("{" + tensor("F32", "[2,3]", "[0,24]")), "its header is not JSON at byte 57");
}

TEST_F(SafetensorsFault, TwoTensorsInOnePlaceAreNamed) {
  const std::string both = tensor("F32", "[4]", "[0,16]") + R"(,"v":{"dtype":"F32","shape":[4],"data_offsets":[8,24]})";
  EXPECT_EQ(failure_of("{" + both + "}"), "two tensors share the byte 8");
  EXPECT_EQ(failure_of("{" + tensor("F32", "[1]", "[0,4]") + "," + tensor("F32", "[1]", "[4,8]") + "}"),
            "two tensors have the name w");
}

TEST_F(SafetensorsFault, AnUnknownTypeIsNamed) {
  EXPECT_EQ(failure_of("{" + tensor("F8_E5M2", "[24]", "[0,24]") + "}", 24, ErrorKind::not_supported),
            "error: " + path_ + ": w has elements of type \"F8_E5M2\"\nhint: store it as F32, F16, BF16, F64 or I64");
}

TEST_F(SafetensorsFault, DeepNestingIsRefused) {
  EXPECT_THAT(failure_of("{" + std::string(1000000, '[')), HasSubstr("JSON"));
}

TEST(SafetensorsWriting, KeepsEachBitOfF32) {
  SONDE_NEED_DATA(data);
  const TemporaryFolder folder;
  const auto source = data / "separation/reference/b_batchnorm_relu_target";
  write_safetensors(folder.file("out.safetensors"), read_checkpoint((source / "model.ckpt").string()), Stored::f32);
  const Checkpoint written = read_checkpoint(folder.file("out.safetensors"));
  const Checkpoint theirs = read_checkpoint((source / "model.safetensors").string());
  ASSERT_EQ(written.tensors.size(), theirs.tensors.size());
  for (const auto& [name, tensor] : theirs.tensors) {
    const StoredTensor& ours = written.tensors.at(name);
    EXPECT_EQ(ours.shape, tensor.shape) << name;
    EXPECT_EQ(ours.type, tensor.type) << name;
    EXPECT_EQ(
        std::memcmp(ours.first, tensor.first, static_cast<std::size_t>(tensor.shape.count()) * size_bytes(tensor.type)),
        0)
        << name;
  }
}

// Read by a few lines of NumPy, and the checkpoint itself by PyTorch where it is installed.
TEST(SafetensorsWriting, IsReadByNumPyAsPyTorchReadsTheCheckpoint) {
  SONDE_NEED_DATA(data);
  const TemporaryFolder folder;
  const std::string source = (data / "separation/reference/checkpoints/wrapped_state_dict.ckpt").string();
  for (const Stored type : {Stored::f32, Stored::f16, Stored::bf16})
    write_safetensors(folder.file(std::string(name(type))), read_checkpoint(source), type);
  EXPECT_EQ(sonde::testing::python(
                "import json, sys, numpy as np\n"
                "folder, source = sys.argv[1].split()\n"
                "def read(path):\n"
                "  raw = open(path, 'rb').read()\n"
                "  n = int.from_bytes(raw[:8], 'little')\n"
                "  assert n % 8 == 0\n"
                "  kinds = {'F32': '<f4', 'F16': '<f2', 'BF16': '<u2', 'I64': '<i8'}\n"
                "  out = {}\n"
                "  for key, t in json.loads(raw[8:8 + n]).items():\n"
                "    if key == '__metadata__': continue\n"
                "    b, e = t['data_offsets']\n"
                "    a = np.frombuffer(raw[8 + n + b:8 + n + e], kinds[t['dtype']]).reshape(t['shape'])\n"
                "    out[key] = (a.astype('<u4') << 16).view('<f4') if t['dtype'] == 'BF16' else a\n"
                "  return out\n"
                "try:\n"
                "  import torch\n"
                "except ImportError:\n"
                "  print('equal'); sys.exit()\n"
                "state = torch.load(source, map_location='cpu')['state_dict']\n"
                "types = {'F32': torch.float32, 'F16': torch.float16, 'BF16': torch.bfloat16}\n"
                "for word, dtype in types.items():\n"
                "  found = read(folder + '/' + word)\n"
                "  assert found.keys() == state.keys()\n"
                "  for key, t in state.items():\n"
                "    want = t if t.dtype == torch.int64 else t.to(dtype).float()\n"
                "    assert np.array_equal(want.numpy(), found[key].astype(want.numpy().dtype)), (word, key)\n"
                "    assert list(t.shape) == list(found[key].shape)\n"
                "print('equal')\n",
                folder.path().string() + " " + source),
            "equal\n");
}

TEST(SafetensorsWriting, RefusesWhatHalfPrecisionCannotHold) {
  const TemporaryFolder folder;
  ParameterValues values;
  values.emplace("a", Array::from<float>({1, 65505, 7e4F}, {3}));
  write_torch(folder.file("a.ckpt"), values);
  const Checkpoint checkpoint = read_checkpoint(folder.file("a.ckpt"));
  EXPECT_EQ(
      error_of(ErrorKind::bad_input, [&] { write_safetensors(folder.file("a.safetensors"), checkpoint, Stored::f16); }),
      "error: a has the value 70000; f16 holds at most 65504\nhint: choose --dtype bf16");
  EXPECT_FALSE(std::filesystem::exists(folder.file("a.safetensors")));
}

TEST(SafetensorsWriting, KeepsWholeNumbersExactly) {
  const TemporaryFolder folder;
  PickleText pickle;
  pickle.op("}").text("n.num_batches_tracked").tensor("LongStorage", "0", {1}).op("s.");
  const std::int64_t steps = (std::int64_t{1} << 40) + 1;
  ZipText zip(folder.file("a.ckpt"));
  zip.add("x/data.pkl", pickle.out);
  zip.add("x/data/0", {reinterpret_cast<const char*>(&steps), 8});
  zip.close();
  write_safetensors(folder.file("a.safetensors"), read_checkpoint(folder.file("a.ckpt")), Stored::bf16);
  const Checkpoint written = read_checkpoint(folder.file("a.safetensors"));
  EXPECT_EQ(std::memcmp(written.tensors.at("n.num_batches_tracked").first, &steps, 8), 0);
}

}  // namespace
}  // namespace sonde::separate
