// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/base/as_error.h"

#include <fmt/format.h>

#include <new>

namespace sonde {

Error as_error(const std::exception_ptr& thrown, const std::string& memory_hint) {
  try {
    std::rethrow_exception(thrown);
  } catch (const Error& error) {
    return error;
  } catch (const std::bad_alloc&) {
    return Error(ErrorKind::budget, "the system gave no more memory").hint(memory_hint);
  } catch (const std::exception& error) {
    return Error(ErrorKind::internal, fmt::format("unexpected: {}", error.what()));
  } catch (...) {
    return Error(ErrorKind::internal, "unexpected exception of unknown type");
  }
}

}  // namespace sonde
