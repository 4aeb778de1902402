// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/read/direction.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "sonde/engine/base/error.h"
#include "sonde/engine/io/hdf5.h"
#include "sonde/instruments/maxwell/read/number_array.h"

namespace sonde::maxwell {
namespace {

class DirectionReader {
 public:
  DirectionReader(const std::string& path, const Experiment& experiment)
      : file_(Hdf5File::open(path)), experiment_(experiment) {}

  Direction read() {
    const std::string group = file_.exists("/direction") ? "/direction" : "/gradient";
    if (!file_.exists(group)) throw bad("neither of the groups direction and gradient");
    Shape model;
    for (const Axis axis : axes_of(experiment_.grid.mode)) model.append(experiment_.grid.cells[dimension(axis)]);
    Direction made;
    for (const auto& [name, values] : {std::pair("eps_r", &made.model.eps_r), std::pair("sigma", &made.model.sigma),
                                       std::pair("mu_r", &made.model.mu_r)})
      take(fmt::format("{}/{}", group, name), model, *values);
    take_poles(group + "/debye/", model, made.model.poles);
    take_sources(group + "/source", made.sources);
    if (!any_) throw bad(group + " has none of eps_r, sigma, mu_r, debye and source");
    return made;
  }

 private:
  [[nodiscard]] Error bad(const std::string& what) const {
    return {ErrorKind::bad_file, fmt::format("{}: {}", file_.path(), what)};
  }

  void take(const std::string& dataset, const Shape& shape, std::vector<double>& to) {
    if (!file_.exists(dataset)) return;
    NumberArray numbers = read_numbers(file_, dataset);
    if (numbers.shape != shape)
      throw bad(fmt::format("{}: shape {}; expected {}", dataset, numbers.shape.text(), shape.text()));
    const auto wrong =
        std::find_if(numbers.values.begin(), numbers.values.end(), [](double v) { return !std::isfinite(v); });
    if (wrong != numbers.values.end())
      throw bad(fmt::format("{}: element {} is {}", dataset, wrong - numbers.values.begin(), *wrong));
    to = std::move(numbers.values);
    any_ = true;
  }

  void take_poles(const std::string& group, const Shape& model, std::vector<ModelPole>& to) {
    Shape shape{static_cast<Index>(experiment_.poles.size())};
    for (int axis = 0; axis < model.rank(); ++axis) shape.append(model[axis]);
    std::vector<ModelPole> made(experiment_.poles.size());
    for (const auto& [name, part] : {std::pair("deps", &ModelPole::deps), std::pair("tau", &ModelPole::tau)}) {
      std::vector<double> all;
      take(group + name, shape, all);
      for (std::size_t p = 0; !all.empty() && p < made.size(); ++p)
        (made[p].*part)
            .assign(all.begin() + static_cast<Index>(p) * model.count(),
                    all.begin() + static_cast<Index>(p + 1) * model.count());
      if (!all.empty()) to = made;
    }
  }

  void take_sources(const std::string& dataset, std::vector<std::vector<double>>& to) {
    const auto shots = static_cast<Index>(experiment_.shots.size());
    const auto sources = static_cast<Index>(experiment_.shots.front().sources.size());
    std::vector<double> all;
    take(dataset, {shots, sources, experiment_.steps}, all);
    const Index each = sources * experiment_.steps;
    for (Index s = 0; !all.empty() && s < shots; ++s)
      to.emplace_back(all.begin() + s * each, all.begin() + (s + 1) * each);
  }

  Hdf5File file_;
  const Experiment& experiment_;
  bool any_ = false;
};

}  // namespace

Direction read_direction(const std::string& path, const Experiment& experiment) {
  return DirectionReader(path, experiment).read();
}

}  // namespace sonde::maxwell
