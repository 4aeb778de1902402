// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/separate/demix/demixer.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/data.h"
#include "tests/support/errors.h"

#include "sonde/engine/io/npy.h"
#include "sonde/instruments/separate/network/plan.h"
#include "sonde/instruments/separate/network/test_cases.h"

namespace sonde::separate {
namespace {

using sonde::testing::error_of;

std::vector<float> wave(Index count) {
  std::vector<float> samples(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const auto t = static_cast<double>(i);
    samples[i] = static_cast<float>(std::sin(0.7 * t + 0.003 * t * t));
  }
  return samples;
}

/// The network that gives each of its inputs back, times 1, 2, ... for each stem.
void copies(View<const float, 2> samples, View<float, 3> stems) {
  for (Index s = 0; s < stems.extent[0]; ++s) {
    for (Index c = 0; c < samples.extent[0]; ++c) {
      for (Index i = 0; i < samples.extent[1]; ++i) stems(s, c, i) = static_cast<float>(s + 1) * samples(c, i);
    }
  }
}

struct Separated {
  std::vector<float> stems;  ///< (stems, channels, samples)
  Index chunks = 0, unweighted = 0;
};

/// `samples` (channels, count) through a Demixer in pieces of `piece`.
Separated separate(const DemixSettings& settings, const Demixer::Network& network, const std::vector<float>& samples,
                   Index piece, Index known = 0) {
  const Index count = static_cast<Index>(samples.size()) / settings.channels;
  Separated result{.stems = std::vector<float>(static_cast<std::size_t>(settings.stems) * samples.size(), NAN)};
  Index done = known;
  const auto take = [&](View<const float, 2> mixture, View<const float, 3> part) {
    ASSERT_LE(done + part.extent[2], count);
    for (Index c = 0; c < settings.channels; ++c) {
      for (Index i = 0; i < part.extent[2]; ++i) {
        ASSERT_EQ(mixture(c, i), samples[static_cast<std::size_t>(c * count + done + i)]);
      }
    }
    for (Index row = 0; row < settings.stems * settings.channels; ++row) {
      const float* from = part.data + row * part.extent[2];
      std::copy_n(from, part.extent[2], result.stems.data() + row * count + done);
    }
    done += part.extent[2];
  };
  Demixer demixer(settings, network, take, known);
  for (Index i = 0; i < count; i += piece) {
    View<const float, 2> part(samples.data() + i, settings.channels, std::min(piece, count - i));
    part.stride[0] = count;
    demixer.push(part);
  }
  demixer.finish();
  EXPECT_EQ(done, count);
  result.chunks = demixer.chunks_done();
  result.unweighted = demixer.unweighted_samples();
  return result;
}

double largest_difference(const std::vector<float>& a, const std::vector<float>& b) {
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double difference = std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i]));
    if (!(difference <= largest)) largest = difference;  // NaN too
  }
  return largest;
}

void expect_identity(const DemixSettings& settings, Index count) {
  SCOPED_TRACE(::testing::Message() << "chunk " << settings.chunk << ", overlap " << settings.overlap << ", " << count
                                    << " samples");
  const auto samples = wave(count * settings.channels);
  const Separated got = separate(settings, copies, samples, 7);
  EXPECT_EQ(got.chunks, chunk_count(settings, count));
  // A mean with weights, in float32.
  const std::vector<float> first(got.stems.begin(), got.stems.begin() + static_cast<std::ptrdiff_t>(samples.size()));
  EXPECT_LE(largest_difference(first, samples), 5e-7);
}

TEST(Demixer, WithTheIdentityGivesTheSignalBackWhateverItsLength) {
  for (const Index chunk : {20, 21, 32}) {
    for (Index overlap = 1; overlap <= 8; ++overlap) {
      for (Index count = 1; count <= 4 * chunk + 7; ++count) {
        expect_identity({.channels = 1, .stems = 2, .chunk = chunk, .overlap = overlap}, count);
        if (::testing::Test::HasFailure()) return;
      }
    }
  }
}

TEST(Demixer, WithPlainMeansToo) {
  for (const auto& [chunk, overlap] : {std::pair<Index, Index>{20, 1}, {20, 2}, {20, 5}, {21, 3}, {24, 8}}) {
    for (Index count = 1; count <= 4 * chunk + 7; ++count) {
      expect_identity({.channels = 2, .chunk = chunk, .overlap = overlap, .policy = Policy::uniform}, count);
      if (::testing::Test::HasFailure()) return;
    }
  }
}

TEST(Demixer, GivesTheSameBitsForEveryCutOfTheInput) {
  const DemixSettings settings{.channels = 2, .stems = 2, .chunk = 40, .overlap = 4};
  const auto samples = wave(2 * 777);
  const Separated whole = separate(settings, copies, samples, 777);
  for (const Index piece : {1, 13, 40, 300}) EXPECT_EQ(separate(settings, copies, samples, piece).stems, whole.stems);
}

TEST(Demixer, ContinuesWithTheSameBitsWhereverItIsBegunAgain) {
  for (const Policy policy : {Policy::fade, Policy::uniform}) {
    for (const Index overlap : {1, 2, 5}) {
      const DemixSettings settings{.channels = 2, .stems = 2, .chunk = 40, .overlap = overlap, .policy = policy};
      const auto samples = wave(2 * 333);
      const Separated whole = separate(settings, copies, samples, 100);
      for (const Index known : {1, 39, 40, 41, 200, 300, 332, 333}) {
        SCOPED_TRACE(::testing::Message() << "overlap " << overlap << ", " << known << " samples are known");
        const Separated rest = separate(settings, copies, samples, 100, known);
        for (Index row = 0; row < 4; ++row) {
          for (Index i = known; i < 333; ++i) {
            const auto at = static_cast<std::size_t>(row * 333 + i);
            ASSERT_EQ(rest.stems[at], whole.stems[at]);
          }
        }
        // Those that later samples need, of a chunk that begins every `step`.
        EXPECT_LE(rest.chunks, whole.chunks - (known - (40 - settings.step())) / settings.step() + overlap);
      }
    }
  }
}

TEST(Demixer, CoversEverySampleInItsFirstPartAndHasEveryChunkInAllOfThem) {
  for (const Policy policy : {Policy::fade, Policy::uniform}) {
    for (const Index count : {1, 19, 40, 41, 60, 61, 100, 333}) {
      SCOPED_TRACE(count);
      DemixSettings settings{.channels = 1, .chunk = 40, .overlap = 4, .policy = policy};
      const auto samples = wave(count);
      const Index all = chunk_count(settings, count);
      Index chunks = 0;
      for (Index part = 0; part < 4; ++part) {
        settings.part = part;
        const Separated got = separate(settings, copies, samples, 7);
        EXPECT_EQ(got.chunks, chunk_count(settings, count));
        chunks += got.chunks;
        if (part > 0) continue;
        EXPECT_LE(largest_difference(got.stems, samples), 5e-7);  // a mean with weights, in float32
      }
      EXPECT_EQ(chunks, all);
    }
  }
}

TEST(Demixer, CountsTheSamplesOfJointsThatNothingWeighs) {
  const DemixSettings settings{.channels = 1, .chunk = 50, .overlap = 1};
  EXPECT_EQ(separate(settings, copies, wave(200), 200).unweighted, 2 * 3);
}

TEST(Demixer, TakesMeanAndDeviationOutAndPutsThemBack) {
  const DemixSettings settings{.channels = 1, .stems = 1, .chunk = 20, .overlap = 2, .mean = 3, .deviation = 0.5};
  const auto nothing = [](View<const float, 2>, View<float, 3> stems) { std::fill_n(stems.data, stems.count(), 0.0F); };
  for (const float x : separate(settings, nothing, wave(90), 90).stems) ASSERT_EQ(x, 3.0F);
}

TEST(Demixer, RefusesOverlapsThatLeaveNoStep) {
  EXPECT_EQ(error_of(ErrorKind::bad_input, [] { check(DemixSettings{.chunk = 40, .overlap = 41}); }),
            "error: --overlap = 41; expected 1 to 40, the samples of a chunk");
  EXPECT_EQ(error_of(ErrorKind::bad_input,
                     [] { check(DemixSettings{.chunk = 40, .overlap = 7, .policy = Policy::uniform}); }),
            "error: --overlap = 7 does not divide the chunk of 40 samples; expected a divisor\nhint: use 5 or 8");
  EXPECT_EQ(error_of(ErrorKind::bad_input, [] { check(DemixSettings{.chunk = 19}); }),
            "error: chunk = 19 samples; expected at least 20");
}

// What other programs made of the same mixtures with the same network: "fade" by Music-Source-Separation-Training (long
// also with batches of three, whose ends lie in the border), "uniform" as Ultimate Vocal Remover joins its chunks.
struct Stored {
  std::string name, mixture, result;
  Index overlap = 4;
  Policy policy = Policy::fade;
  bool normalised = false;
};

void PrintTo(const Stored& each, std::ostream* out) { *out << each.name; }

class DemixerOn : public ::testing::TestWithParam<Stored> {};

TEST_P(DemixerOn, GivesTheStoredStems) {
  SONDE_NEED_DATA(data);
  const Stored& stored = GetParam();
  const auto folder = data / "separation/reference/a_instancenorm_gelu";
  const Array mixture = read_npy((folder / ("demix_" + stored.mixture + "_mix.npy")).string());
  const Array expected = read_npy((folder / ("demix_" + stored.result + ".npy")).string());
  const auto* x = static_cast<const float*>(mixture.data());
  const auto* y = static_cast<const float*>(expected.data());
  const Index count = mixture.shape()[1];

  const ReferenceCase of = case_a();
  Plan plan = Plan::prepare(of.config, formula_values(of.config, of.seed));
  DemixSettings settings{
      .channels = 2, .stems = 3, .chunk = of.config.chunk, .overlap = stored.overlap, .policy = stored.policy};
  if (stored.normalised) {
    double sum = 0, squares = 0;
    for (Index i = 0; i < count; ++i) sum += (static_cast<double>(x[i]) + static_cast<double>(x[count + i])) / 2;
    settings.mean = sum / static_cast<double>(count);
    for (Index i = 0; i < count; ++i) {
      squares += std::pow((static_cast<double>(x[i]) + static_cast<double>(x[count + i])) / 2 - settings.mean, 2);
    }
    settings.deviation = std::sqrt(squares / static_cast<double>(count));
  }
  const auto network = [&](View<const float, 2> samples, View<float, 3> stems) { plan.run(samples, stems); };
  const Separated got = separate(settings, network, {x, x + 2 * count}, 1000);
  double difference = 0, size = 0, largest = 0;
  for (Index i = 0; i < expected.count(); ++i) {
    // With overlap 1 the other program gives zero at the four samples of two joints, where both weights are zero.
    const Index at = i % count;
    const bool joint = stored.overlap == 1 && (at % of.config.chunk == 0 || (at + 1) % of.config.chunk == 0) &&
                       at > 0 && at + 1 < count;
    if (joint) continue;
    const double d = static_cast<double>(got.stems[static_cast<std::size_t>(i)]) - static_cast<double>(y[i]);
    difference += d * d;
    size += static_cast<double>(y[i]) * static_cast<double>(y[i]);
    largest = std::max(largest, std::abs(d));
  }
  EXPECT_LT(std::sqrt(difference / size), 1e-5);  // as the network itself
  EXPECT_LT(largest, 1e-5);
}

INSTANTIATE_TEST_SUITE_P(
    Case, DemixerOn,
    ::testing::Values(Stored{"long_fade", "long", "long_msst"}, Stored{"exact_fade", "exact", "exact_msst", 2},
                      Stored{"border_fade", "border", "border_msst"}, Stored{"short_fade", "short", "short_msst"},
                      Stored{"tiny_fade", "tiny", "tiny_msst", 2}, Stored{"o1_fade", "o1", "o1_msst", 1},
                      Stored{"normalized_fade", "normalized", "normalized_msst", 2, Policy::fade, true},
                      Stored{"batch3_fade", "long", "batch3_msst"},
                      Stored{"long_uniform", "long", "long_uniform", 4, Policy::uniform},
                      Stored{"exact_uniform", "exact", "exact_uniform", 2, Policy::uniform},
                      Stored{"border_uniform", "border", "border_uniform", 4, Policy::uniform},
                      Stored{"short_uniform", "short", "short_uniform", 4, Policy::uniform},
                      Stored{"tiny_uniform", "tiny", "tiny_uniform", 2, Policy::uniform}),
    [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace sonde::separate
