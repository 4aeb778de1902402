// SPDX-License-Identifier: Apache-2.0
#include <fftw3.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "sonde/engine/base/error.h"
#include "sonde/engine/math/fft_plans.h"
#include "sonde/engine/math/room.h"
#include "sonde/engine/memory/plan_cache.h"

namespace sonde {
namespace {

/// The two libraries behind one set of names.
template <class Real>
struct Fftw;
template <>
struct Fftw<double> {
  using Plan = fftw_plan;
  static fftw_complex* raw(std::complex<double>* data) { return reinterpret_cast<fftw_complex*>(data); }
  static Plan plan(int rows, int cols, std::complex<double>* data, int sign, unsigned flags) {
    return fftw_plan_dft_2d(rows, cols, raw(data), raw(data), sign, flags);
  }
  static Plan real_plan(int length, double* real, std::complex<double>* half, unsigned flags) {
    return fftw_plan_dft_r2c_1d(length, real, raw(half), flags);
  }
  static Plan real_plan(int length, std::complex<double>* half, double* real, unsigned flags) {
    return fftw_plan_dft_c2r_1d(length, raw(half), real, flags);
  }
  static void run(Plan plan, std::complex<double>* data) { fftw_execute_dft(plan, raw(data), raw(data)); }
  static void run(Plan plan, double* from, std::complex<double>* to) { fftw_execute_dft_r2c(plan, from, raw(to)); }
  static void run(Plan plan, std::complex<double>* from, double* to) { fftw_execute_dft_c2r(plan, raw(from), to); }
  static void destroy(Plan plan) { fftw_destroy_plan(plan); }
  static constexpr const char* name = "f64";
  static void forget() { fftw_forget_wisdom(); }
  static char* wisdom() { return fftw_export_wisdom_to_string(); }
  static bool import_wisdom(const char* text) { return fftw_import_wisdom_from_string(text) != 0; }
};
template <>
struct Fftw<float> {
  using Plan = fftwf_plan;
  static fftwf_complex* raw(std::complex<float>* data) { return reinterpret_cast<fftwf_complex*>(data); }
  static Plan plan(int rows, int cols, std::complex<float>* data, int sign, unsigned flags) {
    return fftwf_plan_dft_2d(rows, cols, raw(data), raw(data), sign, flags);
  }
  static Plan real_plan(int length, float* real, std::complex<float>* half, unsigned flags) {
    return fftwf_plan_dft_r2c_1d(length, real, raw(half), flags);
  }
  static Plan real_plan(int length, std::complex<float>* half, float* real, unsigned flags) {
    return fftwf_plan_dft_c2r_1d(length, raw(half), real, flags);
  }
  static void run(Plan plan, std::complex<float>* data) { fftwf_execute_dft(plan, raw(data), raw(data)); }
  static void run(Plan plan, float* from, std::complex<float>* to) { fftwf_execute_dft_r2c(plan, from, raw(to)); }
  static void run(Plan plan, std::complex<float>* from, float* to) { fftwf_execute_dft_c2r(plan, raw(from), to); }
  static void destroy(Plan plan) { fftwf_destroy_plan(plan); }
  static constexpr const char* name = "f32";
  static void forget() { fftwf_forget_wisdom(); }
  static char* wisdom() { return fftwf_export_wisdom_to_string(); }
  static bool import_wisdom(const char* text) { return fftwf_import_wisdom_from_string(text) != 0; }
};

/// What FFTW knows at present.
template <class Real>
std::string present_wisdom() {
  char* const text = Fftw<Real>::wisdom();
  const std::string copy = text == nullptr ? "" : text;
  std::free(text);
  return copy;
}

/// What plans depend on: the element type and shape ("f32 64 x 96", "f32 real 64"), the effort and, of measured ones,
/// what was measured.
struct PlansKey {
  std::string title;
  FftEffort effort;
  std::string wisdom;
  friend bool operator==(const PlansKey&, const PlansKey&) = default;
};

/// Both directions of one shape.
template <class Real>
struct PlansOfShape {
  typename Fftw<Real>::Plan forward{}, inverse{};
  std::string wisdom;  // of measured ones
  std::size_t table_bytes = 0;

  PlansOfShape() = default;
  PlansOfShape(const PlansOfShape&) = delete;
  PlansOfShape& operator=(const PlansOfShape&) = delete;
  ~PlansOfShape();
  [[nodiscard]] std::size_t bytes() const { return table_bytes; }
};

/// FFTW's planner keeps state of its own and lets one thread in at a time; executing plans does not. What it learns
/// from one shape changes the plans of others, measured or not, so it begins every plan with nothing but what is known
/// of that shape. Plans that nobody has any more are kept for the next one who asks: to plan 64 x 64 anew takes as long
/// as four of its transforms (EPYC), and 50 the first time.
struct Planner {
  static constexpr std::size_t kept_bytes = 32u << 20;

  std::recursive_mutex mutex;                // plans that leave the cache end while another one is made
  std::map<std::string, std::string> known;  // title: FFTW's text of what was measured
  PlanCache<PlansKey, PlansOfShape<float>> singles{kept_bytes};
  PlanCache<PlansKey, PlansOfShape<double>> doubles{kept_bytes};

  template <class Real>
  auto& kept() {
    if constexpr (sizeof(Real) == sizeof(float))
      return singles;
    else
      return doubles;
  }
};

Planner& planner() {
  static auto* made = new Planner;  // never destroyed: plans of static objects may outlive it
  return *made;
}

template <class Real>
PlansOfShape<Real>::~PlansOfShape() {
  const std::lock_guard lock(planner().mutex);
  if (forward != nullptr) Fftw<Real>::destroy(forward);
  if (inverse != nullptr) Fftw<Real>::destroy(inverse);
}

/// FFTW begins only with `wisdom`; whether it understands it. The planner is locked.
template <class Real>
bool begin_with(const std::string& wisdom) {
  Fftw<Real>::forget();
  return !wisdom.empty() && Fftw<Real>::import_wisdom(wisdom.c_str());
}

template <class Real>
using SharedPlans = std::shared_ptr<const PlansOfShape<Real>>;

/// The plans of `key`, whose wisdom may be foreign. plan(PlansOfShape&, flags) asks FFTW for both directions.
template <class Real, class Plan>
SharedPlans<Real> plans_of(PlansKey key, std::size_t table_bytes, Plan&& plan) {
  const bool measured = key.effort == FftEffort::measured;
  const std::lock_guard lock(planner().mutex);
  if (measured) {
    const auto known = planner().known.find(key.title);
    const std::string of_process = known == planner().known.end() ? "" : known->second;
    if (!begin_with<Real>(key.wisdom)) key.wisdom = begin_with<Real>(of_process) ? of_process : "";
  } else {
    key.wisdom.clear();
  }
  const auto make = [&] {
    auto made = std::make_shared<PlansOfShape<Real>>();
    (void)begin_with<Real>(key.wisdom);
    plan(*made, measured ? FFTW_MEASURE : FFTW_ESTIMATE);
    made->table_bytes = table_bytes;
    if (measured) {
      made->wisdom = present_wisdom<Real>();
      planner().known.try_emplace(key.title, made->wisdom);
    }
    Fftw<Real>::forget();
    if (made->forward == nullptr || made->inverse == nullptr)
      throw Error(ErrorKind::internal, fmt::format("FFTW made no plan for {}", key.title));
    return SharedPlans<Real>(std::move(made));
  };
  const bool measures = measured && key.wisdom.empty();
  SharedPlans<Real> plans = measures ? make() : planner().kept<Real>().get(key, make);
  if (measures) {
    key.wisdom = plans->wisdom;
    plans = planner().kept<Real>().get(key, [&] { return plans; });
  }
  return plans;
}

/// Where plans are made, with the flags for data of transforms that follow each other: the next one is located on a
/// 16-byte boundary again only when the elements of one are a multiple of 16 bytes.
template <class Real>
SharedPlans<Real> plans_of(const FftKey& key, const std::string& wisdom) {
  const Room<std::complex<Real>> room(key.rows * key.cols);
  const bool aligned = static_cast<std::size_t>(key.rows * key.cols) * sizeof(std::complex<Real>) % 16 == 0;
  const auto rows = static_cast<int>(key.rows), cols = static_cast<int>(key.cols);
  return plans_of<Real>({fmt::format("{} {} x {}", Fftw<Real>::name, rows, cols), key.effort, wisdom},
                        fft_table_bytes<Real>(key.rows + key.cols), [&](PlansOfShape<Real>& made, unsigned flags) {
                          flags |= aligned ? 0u : FFTW_UNALIGNED;
                          made.forward = Fftw<Real>::plan(rows, cols, room.data(), FFTW_FORWARD, flags);
                          made.inverse = Fftw<Real>::plan(rows, cols, room.data(), FFTW_BACKWARD, flags);
                        });
}

template <class Real>
SharedPlans<Real> real_plans_of(Index length, FftEffort effort, const std::string& wisdom) {
  const Room<Real> real(length);
  const Room<std::complex<Real>> half(length / 2 + 1);
  return plans_of<Real>({fmt::format("{} real {}", Fftw<Real>::name, length), effort, wisdom},
                        fft_table_bytes<Real>(length), [&](PlansOfShape<Real>& made, unsigned flags) {
                          const auto n = static_cast<int>(length);
                          made.forward = Fftw<Real>::real_plan(n, real.data(), half.data(), flags);
                          made.inverse = Fftw<Real>::real_plan(n, half.data(), real.data(), flags);
                        });
}

}  // namespace

/// Plans of one transform in place; a batch is many of them, each on one thread.
template <class Real>
struct cpu::FftPlans<Real>::Tables {
  SharedPlans<Real> plans;
};

template <class Real>
cpu::FftPlans<Real>::FftPlans(const FftKey& key, const std::string& wisdom)
    : tables_(std::make_unique<Tables>(Tables{plans_of<Real>(key, wisdom)})) {}
template <class Real>
cpu::FftPlans<Real>::~FftPlans() = default;

template <class Real>
const std::string& cpu::FftPlans<Real>::wisdom() const {
  return tables_->plans->wisdom;
}

template <class Real>
void cpu::FftPlans<Real>::run(std::complex<Real>* data, FftDirection direction) const {
  const PlansOfShape<Real>& plans = *tables_->plans;
  Fftw<Real>::run(direction == FftDirection::forward ? plans.forward : plans.inverse, data);
}

template <class Real>
struct cpu::RealFftPlans<Real>::Tables {
  SharedPlans<Real> plans;
};

template <class Real>
cpu::RealFftPlans<Real>::RealFftPlans(Index length, FftEffort effort, const std::string& wisdom)
    : tables_(std::make_unique<Tables>(Tables{real_plans_of<Real>(length, effort, wisdom)})) {}
template <class Real>
cpu::RealFftPlans<Real>::~RealFftPlans() = default;

template <class Real>
const std::string& cpu::RealFftPlans<Real>::wisdom() const {
  return tables_->plans->wisdom;
}

template <class Real>
void cpu::RealFftPlans<Real>::forward(Real* in, std::complex<Real>* out) const {
  Fftw<Real>::run(tables_->plans->forward, in, out);
}

template <class Real>
void cpu::RealFftPlans<Real>::inverse(std::complex<Real>* in, Real* out) const {
  Fftw<Real>::run(tables_->plans->inverse, in, out);
}

template class cpu::FftPlans<float>;
template class cpu::FftPlans<double>;
template class cpu::RealFftPlans<float>;
template class cpu::RealFftPlans<double>;

Index fft_plans_made() { return planner().singles.prepared() + planner().doubles.prepared(); }

const char* fft_library() { return "fftw"; }

// Shape after shape: a line "plans of f32 64 x 96" and FFTW's own text.
namespace {
constexpr std::string_view heading = "plans of ";
}

std::string fft_wisdom() {
  const std::lock_guard lock(planner().mutex);
  std::string text;
  for (const auto& [title, wisdom] : planner().known) text += fmt::format("{}{}\n{}", heading, title, wisdom);
  return text;
}

bool import_fft_wisdom(const std::string& text) {
  if (!text.starts_with(heading)) return false;
  const std::lock_guard lock(planner().mutex);
  std::map<std::string, std::string> told;
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t end = std::min(text.find("\n" + std::string(heading), from), text.size() - 1) + 1;
    const std::size_t line = text.find('\n', from);
    if (line >= end) return false;
    const std::string title = text.substr(from + heading.size(), line - from - heading.size());
    const std::string wisdom = text.substr(line + 1, end - line - 1);
    const bool known = title.starts_with(Fftw<float>::name)    ? begin_with<float>(wisdom)
                       : title.starts_with(Fftw<double>::name) ? begin_with<double>(wisdom)
                                                               : false;
    if (!known) return false;
    told[title] = wisdom;
    from = end;
  }
  planner().known.merge(told);
  return true;
}

void forget_fft_wisdom() {
  const std::lock_guard lock(planner().mutex);
  planner().known.clear();
}

}  // namespace sonde
