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

#include "sonde/engine/base/error.h"
#include "sonde/engine/device/pool.h"
#include "sonde/engine/math/fft_plans.h"

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
  static void run(Plan plan, std::complex<double>* data) { fftw_execute_dft(plan, raw(data), raw(data)); }
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
  static void run(Plan plan, std::complex<float>* data) { fftwf_execute_dft(plan, raw(data), raw(data)); }
  static void destroy(Plan plan) { fftwf_destroy_plan(plan); }
  static constexpr const char* name = "f32";
  static void forget() { fftwf_forget_wisdom(); }
  static char* wisdom() { return fftwf_export_wisdom_to_string(); }
  static bool import_wisdom(const char* text) { return fftwf_import_wisdom_from_string(text) != 0; }
};

/// Where planning measures: on a 64-byte boundary, like the data of those who care for speed.
template <class Real>
class Scratch {
 public:
  explicit Scratch(Index count) : bytes_(static_cast<std::size_t>(count) * sizeof(std::complex<Real>)) {
    data_ = Pool::of(Device::cpu()).allocate(bytes_);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() { Pool::of(Device::cpu()).deallocate(data_, bytes_); }
  [[nodiscard]] std::complex<Real>* data() const { return static_cast<std::complex<Real>*>(data_); }

 private:
  std::size_t bytes_;
  void* data_;
};

/// "f32 64 x 96": what a measured plan depends on.
template <class Real>
std::string title_of(const FftKey& key) {
  return fmt::format("{} {} x {}", Fftw<Real>::name, key.rows, key.cols);
}

/// What FFTW knows at present.
template <class Real>
std::string present_wisdom() {
  char* const text = Fftw<Real>::wisdom();
  const std::string copy = text == nullptr ? "" : text;
  std::free(text);
  return copy;
}

template <class Real>
struct PlansOfShape {
  typename Fftw<Real>::Plan forward{}, inverse{};
  std::string wisdom;  // of measured ones

  PlansOfShape() = default;
  PlansOfShape(const PlansOfShape&) = delete;
  PlansOfShape& operator=(const PlansOfShape&) = delete;
  ~PlansOfShape();
};

/// FFTW's planner keeps state of its own and lets one thread in at a time; executing plans does not. What it learns
/// from one shape changes the plans of others, measured or not, so it begins every plan with nothing but what is known
/// of that shape.
struct Planner {
  std::mutex mutex;
  std::map<std::string, std::string> known;  // title_of(): FFTW's text of what was measured
  // Those that somebody has: by title, effort and text.
  std::map<std::string, std::weak_ptr<PlansOfShape<float>>> singles;
  std::map<std::string, std::weak_ptr<PlansOfShape<double>>> doubles;

  template <class Real>
  std::weak_ptr<PlansOfShape<Real>>& there(const std::string& title, FftEffort effort, const std::string& wisdom) {
    const std::string name = fmt::format("{} {} {}", title, static_cast<int>(effort), wisdom);
    if constexpr (sizeof(Real) == sizeof(float))
      return singles[name];
    else
      return doubles[name];
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

/// FFTW begins with `wisdom` alone; whether it understands it. The planner is locked.
template <class Real>
bool begin_with(const std::string& wisdom) {
  Fftw<Real>::forget();
  return !wisdom.empty() && Fftw<Real>::import_wisdom(wisdom.c_str());
}

template <class Real>
std::shared_ptr<PlansOfShape<Real>> plans_of(const FftKey& key, const std::string& wisdom) {
  const Scratch<Real> scratch(key.rows * key.cols);
  // Where transforms follow each other (a batch, the modes of a probe), the next one lies on a 16-byte boundary again
  // only when the elements of one are a multiple of 16 bytes: FFTW_UNALIGNED for float transforms of odd size.
  const bool aligned = static_cast<std::size_t>(key.rows * key.cols) * sizeof(std::complex<Real>) % 16 == 0;
  const bool measured = key.effort == FftEffort::measured;
  const unsigned flags = (measured ? FFTW_MEASURE : FFTW_ESTIMATE) | (aligned ? 0u : FFTW_UNALIGNED);
  const auto rows = static_cast<int>(key.rows), cols = static_cast<int>(key.cols);
  const std::string title = title_of<Real>(key);
  auto made = std::make_shared<PlansOfShape<Real>>();  // before the lock, which its end asks for
  const std::lock_guard lock(planner().mutex);
  if (measured) {
    const auto known = planner().known.find(title);
    for (const std::string& text : {wisdom, known == planner().known.end() ? std::string() : known->second})
      if (made->wisdom.empty() && begin_with<Real>(text)) made->wisdom = text;
  }
  if (auto there = planner().there<Real>(title, key.effort, made->wisdom).lock()) return there;
  (void)begin_with<Real>(made->wisdom);
  made->forward = Fftw<Real>::plan(rows, cols, scratch.data(), FFTW_FORWARD, flags);
  made->inverse = Fftw<Real>::plan(rows, cols, scratch.data(), FFTW_BACKWARD, flags);
  if (measured) {
    made->wisdom = present_wisdom<Real>();
    planner().known.try_emplace(title, made->wisdom);
  }
  Fftw<Real>::forget();
  planner().there<Real>(title, key.effort, made->wisdom) = made;
  return made;
}

}  // namespace

/// Plans of one transform in place; a batch is many of them, each on one thread.
template <class Real>
struct cpu::FftPlans<Real>::Tables {
  std::shared_ptr<PlansOfShape<Real>> plans;
};

template <class Real>
cpu::FftPlans<Real>::FftPlans(const FftKey& key, const std::string& wisdom)
    : tables_(std::make_unique<Tables>(Tables{plans_of<Real>(key, wisdom)})) {
  if (tables_->plans->forward == nullptr || tables_->plans->inverse == nullptr)
    throw Error(ErrorKind::internal, fmt::format("FFTW made no plan for {} x {}", key.rows, key.cols));
}

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

template class cpu::FftPlans<float>;
template class cpu::FftPlans<double>;

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
