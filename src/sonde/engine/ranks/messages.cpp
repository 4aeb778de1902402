// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/ranks/messages.h"

#include <atomic>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/module.h"
#include "sonde/engine/ranks/ranks.h"

namespace sonde {
namespace messages {
namespace {

std::atomic<const Functions*> in_use = nullptr;

const Functions& open() {
  if constexpr (!built) throw Error(ErrorKind::internal, "a message between ranks in a program without MPI");
  const auto& functions =
      functions_of<Functions>({.name = "mpi", .library = "MPI", .package = "libopenmpi3 and openmpi-bin"});
  in_use.store(&functions);
  return functions;
}

}  // namespace

const Functions& mpi() {
  static const Functions& opened = open();
  return opened;
}

}  // namespace messages

void end_all_ranks(int status) {
  // Without an open module nobody waits for this process.
  if (const messages::Functions* functions = messages::in_use.load()) functions->end_all(status);
}

const char* mpi_library() { return SONDE_MPI_LIBRARY; }

}  // namespace sonde
