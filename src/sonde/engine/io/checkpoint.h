// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "sonde/engine/array/array.h"
#include "sonde/engine/io/atomic_file.h"
#include "sonde/engine/io/hdf5.h"
#include "sonde/engine/io/hdf5_writer.h"
#include "sonde/engine/math/random.h"

// A checkpoint is one HDF5 file from which a long run goes on with the same bits: what it is of, the options it was
// started with, the iteration, and the state as arrays, texts and random numbers. All of it is in the group /state:
//   /state            attributes kind, schema, version (of the program), iteration
//   /state/options    the resolved options as TOML
//   /state/<name>     arrays (complex numbers as pairs r, i), texts, and for random numbers u64 (seed, stream, drawn)
//   /state/run/<name> what belongs to the moment, times for instance: the rest of equal runs is equal
// The file ends in the CRC-32 of everything before, behind what HDF5 knows of. An instrument may write more beside it,
// so that the same file can be opened as a result.

namespace sonde {

/// Whose state it is. The schema counts the forms that state has had; a reader knows those up to its own.
struct CheckpointKind {
  std::string name;  ///< "ptycho"
  std::int64_t schema = 1;
};

/// What a checkpoint is to the run that writes it: it may replace the one that the run continues.
[[nodiscard]] OutputRole checkpoint_role();

/// Writes a checkpoint that appears under its name, in place of an older one, only when finish() has succeeded, and
/// outlives a power failure from then on. Throws Error(io).
class CheckpointWriter {
 public:
  CheckpointWriter(std::string path, const CheckpointKind& kind, Index iteration, const std::string& options);

  /// A contiguous array of the state, from any device.
  void array(const std::string& name, const Array& values);
  void text(const std::string& name, const std::string& value);
  void random(const std::string& name, const Random::State& state);
  /// For what is written beside the state, and for arrays that do not fit into memory at once ("/state/<name>" by
  /// declare and write_box).
  [[nodiscard]] Hdf5Writer& file() { return file_; }

  void finish();

 private:
  Hdf5Writer file_;
};

/// Reads a checkpoint, which the run then continues (base/run_files.h). Everything that does not fit is an
/// Error(bad_file) that names the file: no HDF5, cut off, changed by so much as a bit (all of it is read once), no
/// checkpoint, one of something else, a schema newer than `kind.schema`, a name that is not there, another type or
/// shape.
class CheckpointReader {
 public:
  CheckpointReader(const std::string& path, const CheckpointKind& kind);

  [[nodiscard]] const std::string& path() const { return file_.path(); }
  [[nodiscard]] std::int64_t schema() const { return schema_; }
  [[nodiscard]] Index iteration() const { return iteration_; }
  [[nodiscard]] std::string options() const { return text("options"); }

  [[nodiscard]] bool has(const std::string& name) const;
  /// A host array; the second form requires its type and shape.
  [[nodiscard]] Array array(const std::string& name) const;
  [[nodiscard]] Array array(const std::string& name, DType dtype, const Shape& shape) const;
  /// The same without reading it: for arrays that do not fit into memory at once.
  [[nodiscard]] Hdf5Dataset dataset(const std::string& name, DType dtype, const Shape& shape) const;
  [[nodiscard]] std::string text(const std::string& name) const;
  [[nodiscard]] Random::State random(const std::string& name) const;
  [[nodiscard]] const Hdf5File& file() const { return file_; }

 private:
  [[nodiscard]] std::string place(const std::string& name) const;

  Hdf5File file_;
  std::int64_t schema_ = 0;
  Index iteration_ = 0;
};

/// When a checkpoint is due: every `every_s` seconds, and at once when the program was asked to stop (SIGTERM, SIGINT;
/// base/interrupt.h). A loop asks after each iteration, writes, restarts, and then checks for the interrupt:
///   if (timer.due()) { write_checkpoint(); timer.restart(); }
///   check_interrupt();
class CheckpointTimer {
 public:
  /// 0 or less: only when asked to stop. `now_s` stands in for the clock in tests.
  explicit CheckpointTimer(double every_s, std::function<double()> now_s = {});
  [[nodiscard]] bool due() const;
  void restart();

 private:
  double every_s_, last_s_;
  std::function<double()> now_s_;
};

}  // namespace sonde
