// SPDX-License-Identifier: Apache-2.0
// Networks whose outputs another program computed: the reference arrays of test data, made by running the public
// TFC-TDF v3 network (ZFTurbo/Music-Source-Separation-Training) with PyTorch 1.13 and formula weights.
#pragma once

#include <filesystem>
#include <ostream>
#include <string>
#include <vector>

#include "sonde/instruments/separate/network/config.h"
#include "sonde/instruments/separate/network/layers.h"

namespace sonde::separate {

struct ReferenceCase {
  std::string folder;
  Config config;
  std::uint64_t seed = 0;
  Index parameters = 0;  ///< numbers in all, by PyTorch's count (running statistics are none)
};

inline void PrintTo(const ReferenceCase& each, std::ostream* out) { *out << each.folder; }

inline ReferenceCase case_a() {
  return {.folder = "a_instancenorm_gelu",
          .config = {.n_fft = 512,
                     .hop = 128,
                     .dim_f = 192,
                     .chunk = 3968,
                     .subbands = 4,
                     .scales = 2,
                     .blocks = 2,
                     .channels = 16,
                     .growth = 8,
                     .bottleneck = 4,
                     .norm = Norm::instance,
                     .activation = Activation::gelu,
                     .instruments = {"kick", "snare", "hh"},
                     .overlap = 4},
          .seed = 1,
          .parameters = 129184};
}
inline ReferenceCase case_b() {
  return {.folder = "b_batchnorm_relu_target",
          .config = {.n_fft = 256,
                     .hop = 64,
                     .dim_f = 128,
                     .chunk = 960,
                     .scales = 2,
                     .channels = 8,
                     .growth = 4,
                     .bottleneck = 4,
                     .scale_time = 1,
                     .norm = Norm::batch,
                     .target = "vocals",
                     .overlap = 4},
          .seed = 2,
          .parameters = 37736};
}
inline ReferenceCase case_c() {
  return {.folder = "c_groupnorm_elu",
          .config = {.n_fft = 384,
                     .hop = 96,
                     .dim_f = 96,
                     .chunk = 2208,
                     .subbands = 2,
                     .scales = 2,
                     .blocks = 2,
                     .channels = 8,
                     .growth = 4,
                     .bottleneck = 5,
                     .norm = Norm::group,
                     .groups = 4,
                     .activation = Activation::elu,
                     .alpha = 0.7,
                     .instruments = {"Vocals", "Drums", "Bass", "Other"},
                     .overlap = 4},
          .seed = 3,
          .parameters = 35720};
}
inline ReferenceCase case_d() {
  return {.folder = "d_nonorm_gelu",
          .config = {.n_fft = 512,
                     .hop = 256,
                     .dim_f = 256,
                     .chunk = 3840,
                     .subbands = 8,
                     .scales = 3,
                     .channels = 12,
                     .bottleneck = 2,
                     .activation = Activation::gelu,
                     .instruments = {"a", "b"},
                     .overlap = 4},
          .seed = 4,
          .parameters = 31312};
}
/// The drum network in its full size, 64 frames of it.
inline ReferenceCase case_e() {
  return {.folder = "e_drumsep_full_formula",
          .config = {.n_fft = 2048,
                     .hop = 512,
                     .dim_f = 1024,
                     .chunk = 32256,
                     .subbands = 4,
                     .scales = 5,
                     .blocks = 2,
                     .channels = 128,
                     .growth = 128,
                     .bottleneck = 4,
                     .norm = Norm::instance,
                     .activation = Activation::gelu,
                     .instruments = {"kick", "snare", "toms", "hh", "cymbals"},
                     .overlap = 4},
          .seed = 5,
          .parameters = 109376576};
}
inline std::vector<ReferenceCase> small_cases() { return {case_a(), case_b(), case_c(), case_d()}; }

}  // namespace sonde::separate
