// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/memory/store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <cmath>
#include <filesystem>
#include <random>
#include <vector>

#include "sonde/engine/array/array.h"
#include "sonde/engine/base/small_float.h"
#include "sonde/engine/device/parallel.h"
#include "tests/support/child.h"
#include "tests/support/devices.h"
#include "tests/support/errors.h"
#include "tests/support/files.h"

namespace sonde {
namespace {

using ::testing::HasSubstr;

constexpr std::size_t plenty = std::size_t{64} << 20;

TierBudgets budgets(Device device, const std::string& folder, std::size_t host = plenty) {
  return {device.is_cpu() ? std::nullopt : std::optional(Budget(plenty, "test")), Budget(host, "test"),
          Budget(plenty, "test"), folder};
}

std::vector<float> slot_values(Index slot, Index count) {
  std::mt19937 random(static_cast<unsigned>(slot) + 100);
  std::normal_distribution<float> normal;
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& value : values) value = normal(random);
  return values;
}

float rounded(float value, Encoding encoding) {
  if (encoding == Encoding::bf16) return from_bf16(to_bf16(value));
  if (encoding == Encoding::fp16) return from_fp16(to_fp16(value));
  return value;
}

void put(Store& store, Index slot, const std::vector<float>& values, Stream& stream) {
  const Array there = Array::from(values, {static_cast<Index>(values.size())}).copy_to(stream.device(), stream);
  store.put(slot, there.view<float, 1>(), stream);
  stream.synchronise();  // the array goes
}

std::vector<float> get(Store& store, Index slot, Stream& stream) {
  Array there(stream.device(), {store.options().slot_size}, DType::f32);
  store.get(slot, there.view<float, 1>(), stream);
  const Array here = there.copy_to(Device::cpu(), stream);
  const auto* first = static_cast<const float*>(here.data());
  return {first, first + here.count()};
}

class StoreOnEachDevice : public testing::EachDevice {};
INSTANTIATE_EACH_DEVICE(StoreOnEachDevice);

TEST_P(StoreOnEachDevice, EveryTierGivesBackWhatWasPutInAnyOrder) {
  const testing::TemporaryFolder folder;
  for (const Tier tier : {Tier::device, Tier::host, Tier::disk})
    for (const Encoding encoding : {Encoding::raw, Encoding::bf16, Encoding::fp16}) {
      if (tier == Tier::device && device().is_cpu()) continue;
      SCOPED_TRACE(::testing::Message() << name(tier) << ", " << name(encoding));
      Stream stream(device());
      const Index count = 7, size = 1237;  // no multiple of a cache line or a page
      Store store(budgets(device(), folder.path().string()), stream,
                  {.count = count, .slot_size = size, .encoding = encoding, .tier = tier});
      const auto expect_slot = [&](Index slot, Index source) {
        std::vector<float> expected = slot_values(source, size);
        for (float& value : expected) value = rounded(value, encoding);
        EXPECT_EQ(get(store, slot, stream), expected) << "slot " << slot;
      };
      for (Index slot = 0; slot < count; ++slot) put(store, slot, slot_values(slot, size), stream);
      for (Index slot = 0; slot < count; ++slot) expect_slot(slot, slot);         // forwards, read ahead
      for (Index slot = count - 1; slot >= 0; --slot) expect_slot(slot, slot);    // backwards
      for (const Index slot : {3, 3, 0, 6, 2, 5, 1, 4}) expect_slot(slot, slot);  // neither
      // A slot that is put again while the next is being read ahead, and read at once.
      expect_slot(2, 2);
      expect_slot(3, 3);
      put(store, 4, slot_values(40, size), stream);
      expect_slot(4, 40);
      put(store, 5, slot_values(50, size), stream);
      put(store, 5, slot_values(51, size), stream);
      put(store, 6, slot_values(60, size), stream);
      put(store, 0, slot_values(70, size), stream);
      expect_slot(5, 51);
      expect_slot(0, 70);
      expect_slot(6, 60);
    }
}

TEST_P(StoreOnEachDevice, TheCallerMayWriteOverWhatItHasPut) {
  const testing::TemporaryFolder folder;
  for (const Tier tier : {Tier::host, Tier::disk}) {
    Stream stream(device());
    const Index size = 100000;
    Store store(budgets(device(), folder.path().string()), stream, {.count = 3, .slot_size = size, .tier = tier});
    Array field(device(), {size}, DType::f32);
    for (Index slot = 0; slot < 3; ++slot) {
      const std::vector<float> values = slot_values(slot, size);
      stream.copy(field.data(), values.data(), values.size() * sizeof(float));
      store.put(slot, field.view<float, 1>(), stream);
      stream.fill_zero(field.data(), values.size() * sizeof(float));
      stream.synchronise();
    }
    for (Index slot = 0; slot < 3; ++slot) EXPECT_EQ(get(store, slot, stream), slot_values(slot, size));
  }
}

TEST(Store, ThreadsPutAndGetDifferentSlotsOfTheHost) {
  const testing::TemporaryFolder folder;
  Stream stream;
  const Index count = 64, size = 500;
  Store store(budgets(Device::cpu(), folder.path().string()), stream,
              {.count = count, .slot_size = size, .encoding = Encoding::bf16});
  ASSERT_EQ(store.tier().value, Tier::host);
  std::vector<int> wrong(static_cast<std::size_t>(count), -1);
  for (int round = 0; round < 2; ++round)
    parallel_for(count, 1, [&](Index first, Index last, Worker&) {
      for (Index slot = first; slot < last; ++slot) {
        std::vector<float> values = slot_values(slot + round, size), back(values.size());
        store.put(slot, View<const float, 1>(values.data(), size), stream);
        store.get(slot, View<float, 1>(back.data(), size), stream);
        for (float& value : values) value = rounded(value, Encoding::bf16);
        wrong[static_cast<std::size_t>(slot)] = back == values ? 0 : 1;
      }
    });
  EXPECT_THAT(wrong, ::testing::Each(0));
}

TEST(Store, ThreadsPutAndGetDifferentSlotsOfAFile) {
  const testing::TemporaryFolder folder;
  Stream stream;
  const Index count = 64, size = 500;
  for (const Encoding encoding : {Encoding::raw, Encoding::fp16}) {
    Store store(budgets(Device::cpu(), folder.path().string()), stream,
                {.count = count, .slot_size = size, .encoding = encoding, .tier = Tier::disk});
    std::vector<int> wrong(static_cast<std::size_t>(count), -1);
    std::vector<Index> order(static_cast<std::size_t>(count));
    for (Index slot = 0; slot < count; ++slot) order[static_cast<std::size_t>(slot)] = slot * 7 % count;
    for (int round = 0; round < 2; ++round)
      parallel_for(count, 1, [&](Index first, Index last, Worker&) {
        for (Index i = first; i < last; ++i) {
          const Index slot = order[static_cast<std::size_t>(i)];
          std::vector<float> values = slot_values(slot + round, size), back(values.size());
          store.put(slot, View<const float, 1>(values.data(), size), stream);
          store.will_read(std::span<const Index>(order).subspan(static_cast<std::size_t>(i)));
          store.get(slot, View<float, 1>(back.data(), size), stream);
          for (float& value : values) value = rounded(value, encoding);
          wrong[static_cast<std::size_t>(slot)] = back == values ? 0 : 1;
        }
      });
    EXPECT_THAT(wrong, ::testing::Each(0));
  }
}

TEST(Store, RawSlotsOfTheHostAreReadAndWrittenInPlace) {
  const testing::TemporaryFolder folder;
  Stream stream;
  const TierBudgets all = budgets(Device::cpu(), folder.path().string());
  Store store(all, stream, {.count = 3, .slot_size = 5, .tier = Tier::host});
  EXPECT_FALSE(store.filled(1));
  float* place = store.in_place<float>(1);
  ASSERT_NE(place, nullptr);
  std::fill_n(place, 5, 2.5f);
  EXPECT_EQ(get(store, 1, stream), std::vector<float>(5, 2.5f));
  Store rounding(all, stream, {.count = 3, .slot_size = 5, .encoding = Encoding::bf16, .tier = Tier::host});
  EXPECT_EQ(rounding.in_place<float>(1), nullptr);
  Store file(all, stream, {.count = 3, .slot_size = 5, .tier = Tier::disk});
  EXPECT_EQ(file.in_place<float>(1), nullptr);
}

TEST(Store, ComplexNumbersOfAnyRankAreStoredInPairs) {
  const testing::TemporaryFolder folder;
  Stream stream;
  Store store(budgets(Device::cpu(), folder.path().string()), stream,
              {.count = 2, .slot_size = 6, .dtype = DType::c64, .encoding = Encoding::bf16});
  EXPECT_EQ(store.stored_bytes(), 48u);
  std::vector<complex64> values, back(6);
  for (int i = 0; i < 6; ++i) values.emplace_back(1.f / static_cast<float>(i + 3), -100.3f * static_cast<float>(i));
  store.put(1, View<const complex64, 2>(values.data(), 2, 3), stream);
  store.get(1, View<complex64, 2>(back.data(), 3, 2), stream);
  for (std::size_t i = 0; i < 6; ++i)
    EXPECT_EQ(back[i], complex64(rounded(values[i].real(), Encoding::bf16), rounded(values[i].imag(), Encoding::bf16)));
}

TEST(Store, GoesToTheDiskWhenTheHostIsShortAndReservesWhatItHolds) {
  const testing::TemporaryFolder folder;
  Stream stream;
  const TierBudgets all = budgets(Device::cpu(), folder.path().string(), 40000);
  {
    const Store store(all, stream, {.count = 10, .slot_size = 2000});
    EXPECT_EQ(store.tier().value, Tier::disk);
    EXPECT_THAT(store.tier().because, HasSubstr("host has 39.1 KiB left"));
    EXPECT_EQ(all.disk.reserved_bytes(), 10u * 8192);  // slots begin on pages
    EXPECT_EQ(all.host.reserved_bytes(), 0u);          // nothing is converted on the way
    EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
  }
  EXPECT_EQ(all.disk.reserved_bytes() + all.host.reserved_bytes(), 0u);
  const Store store(all, stream, {.count = 4, .slot_size = 2000});
  EXPECT_EQ(store.tier().value, Tier::host);
  EXPECT_EQ(all.host.reserved_bytes(), 4u * 8000);
}

TEST(Store, WhatFitsNowhereIsAnErrorBeforeAnythingIsMade) {
  const testing::TemporaryFolder folder;
  const Stream stream;
  const TierBudgets all{std::nullopt, Budget(1000, "test"), Budget(2000, "test"), folder.path().string()};
  const auto text = testing::error_of(ErrorKind::budget, [&] {
    const Store store(all, stream, {.count = 100, .slot_size = 1000, .what = "exit waves", .remedy = "--storage bf16"});
  });
  EXPECT_THAT(text, HasSubstr("exit waves needs 400 KiB, but host has 1000 B and disk has 1.95 KiB left"));
  EXPECT_THAT(text, HasSubstr("hint: --storage bf16"));
  testing::error_of(ErrorKind::budget,
                    [&] { const Store store(all, stream, {.count = 100, .slot_size = 10, .tier = Tier::host}); });
  EXPECT_EQ(all.host.reserved_bytes() + all.disk.reserved_bytes(), 0u);
}

TEST(Store, WrongSlotsAndSizesAreErrors) {
  const testing::TemporaryFolder folder;
  Stream stream;
  const TierBudgets all = budgets(Device::cpu(), folder.path().string());
  Store store(all, stream, {.count = 2, .slot_size = 4, .what = "waves"});
  std::vector<float> four(4), five(5);
  const auto error = [](auto&& body) { return testing::error_of(ErrorKind::internal, body); };
  EXPECT_THAT(error([&] { store.put(2, View<float, 1>(four.data(), 4), stream); }),
              HasSubstr("waves: slot 2 with 4 f32 asked for, it has 2 slots of 4 f32"));
  EXPECT_THAT(error([&] { store.put(0, View<float, 1>(five.data(), 5), stream); }), HasSubstr("slot 0 with 5 f32"));
  EXPECT_THAT(error([&] { store.get(1, View<float, 1>(four.data(), 4), stream); }), HasSubstr("slot 1 is empty"));
  testing::error_of(ErrorKind::bad_input, [&] { const Store none(all, stream, {.count = 0, .slot_size = 4}); });
}

TEST(Store, AKilledProcessLeavesNoFile) {
  const testing::TemporaryFolder folder;
  const pid_t child = fork();
  if (child == 0) {
    Stream stream;
    Store store(budgets(Device::cpu(), folder.path().string()), stream,
                {.count = 2, .slot_size = 100, .tier = Tier::disk});
    const std::vector<float> values(100, 1.0f);
    for (const Index slot : {0, 1, 0, 1}) store.put(slot, View<const float, 1>(values.data(), 100), stream);
    raise(SIGKILL);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

}  // namespace
}  // namespace sonde
