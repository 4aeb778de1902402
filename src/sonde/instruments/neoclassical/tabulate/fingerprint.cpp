// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/neoclassical/tabulate/fingerprint.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <filesystem>
#include <memory>
#include <vector>

#include "sonde/engine/io/file.h"

namespace sonde::neoclassical {
namespace {

class Digest {
 public:
  Digest() : state_(XXH3_createState(), &XXH3_freeState) { XXH3_128bits_reset(state_.get()); }

  void add(const void* bytes, std::size_t count) { XXH3_128bits_update(state_.get(), bytes, count); }
  void add(double number) { add(&number, sizeof number); }
  void add(const std::vector<double>& numbers) {
    add(static_cast<double>(numbers.size()));
    add(numbers.data(), numbers.size() * sizeof(double));
  }
  void add(const Series& series) {
    for (const Mode& mode : series.modes) {
      add(mode.m);
      add(mode.n);
    }
    add(series.cosine);
    add(series.sine);
  }
  void add(const BoozerField& field) {
    for (const double value : {field.b_theta, field.b_zeta, field.jacobian_b2, field.flux}) add(value);
  }
  void add(const GeneralField& field) {
    for (const Series* series :
         {&field.jacobian, &field.b_sub_theta, &field.b_sub_zeta, &field.b_sup_theta, &field.b_sup_zeta})
      add(*series);
  }

  [[nodiscard]] std::string text() const {
    const XXH128_hash_t hash = XXH3_128bits_digest(state_.get());
    return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
  }

 private:
  std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)> state_;
};

}  // namespace

std::string fingerprint(const Surface& surface) {
  Digest digest;
  for (const double value : {static_cast<double>(surface.periods), surface.iota, surface.psi_scale, surface.s})
    digest.add(value);
  digest.add(surface.b);
  std::visit([&](const auto& field) { digest.add(field); }, surface.field);
  return digest.text();
}

std::string fingerprint_of_file(const std::string& path) {
  const std::string bytes = read_text(path, std::size_t{1} << 30U);
  Digest digest;
  digest.add(bytes.data(), bytes.size());
  return digest.text();
}

std::string geometry_source(const std::string& path) {
  std::error_code none;
  const auto bytes = std::filesystem::file_size(path, none);
  if (none) return path;
  return fmt::format("{}, {} bytes, XXH3 {}", std::filesystem::path(path).filename().string(), bytes,
                     fingerprint_of_file(path));
}

}  // namespace sonde::neoclassical
