// SPDX-License-Identifier: Apache-2.0
#include "scan.h"

#include <fmt/format.h>

#include <utility>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/text.h"

namespace sonde::python {

const char* const how_to_let_go =
    "delete the arrays (del) or work on copies of them (.copy()); stop viewers, delete imagers";

Scan::Scan(stem::Dataset dataset) {
  auto owned = std::make_shared<stem::Dataset>(std::move(dataset));
  own_ = owned.get();
  dataset_ = std::move(owned);
}

const stem::Dataset& Scan::dataset() const {
  if (released()) throw Error(ErrorKind::bad_input, "the data set was released").hint("load it again");
  return *dataset_;
}

void Scan::release() {
  if (released()) return;
  if (users().any())
    throw Error(ErrorKind::bad_input,
                fmt::format("the data set cannot be released: it is in use by {}", users().text()))
        .hint(how_to_let_go);
  const std::shared_ptr<const stem::Dataset> last = std::exchange(dataset_, nullptr);
  const py::gil_scoped_release unlocked;
  if (own_ != nullptr) own_->release();
}

Scan::Use::Use(std::shared_ptr<Scan> scan, Kind kind) : scan_(std::move(scan)), dataset_(scan_->dataset_), kind_(kind) {
  (void)scan_->dataset();
  if (scan_->mapped_ && kind != Kind::array)
    throw Error(ErrorKind::bad_input, "the data set is being read by map()")
        .hint("use the frames that the function is given, or another data set of the same file");
  ++scan_->uses_[static_cast<std::size_t>(kind_)];
}

Scan::Mapping::Mapping(Scan& scan) : scan_(scan) {
  if (scan_.mapped_) throw Error(ErrorKind::internal, "a data set is mapped twice");
  scan_.mapped_ = true;
}

py::capsule Scan::owner() {
  return py::capsule(new Use(shared_from_this(), Use::Kind::array), [](void* use) { delete static_cast<Use*>(use); });
}

std::string Scan::Users::text() const {
  std::vector<std::string> words;
  const auto add = [&](int count, const char* what) {
    if (count > 0) words.push_back(fmt::format("{} {}{}", count, what, count == 1 ? "" : "s"));
  };
  add(arrays, "array");
  add(calls, "running call");
  add(viewers, "viewer");
  add(imagers, "imager");
  return join_words(words);
}

std::vector<Index> strides_of(const stem::Dataset& dataset) {
  const Shape shape = dataset.shape();
  const Array& array = dataset.array();
  if (dataset.layout() == stem::LayoutChoice::frame)
    return {shape[1] * array.stride(0), array.stride(0), array.stride(1), array.stride(2)};
  return {shape[1], 1, shape[3] * array.stride(0), array.stride(0)};
}

}  // namespace sonde::python
