// SPDX-License-Identifier: Apache-2.0
// Streams, events, graphs and memory. Work that is queued waits, as it may on a GPU, until someone waits for it or the
// seed says that it is done now.
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include "cuda_runtime.h"
#include "tests/cuda_host/cuda_host.h"
#include "tests/cuda_host/machine.h"
#include "tests/cuda_host/memory.h"

using Work = std::function<void()>;

struct CUgraph_st {
  std::vector<Work> nodes;
};
struct CUgraphExec_st {
  std::shared_ptr<const std::vector<Work>> nodes;
};

namespace cuda_host {
namespace {

constexpr std::size_t most_queued = 256;  // launches; a GPU's queue is not endless either
constexpr int usual_shared_bytes = 48 << 10;
constexpr unsigned most_block_threads = 1024;

class StreamOnHost;

struct Device {
  std::recursive_mutex mutex;
  std::set<StreamOnHost*> streams;
  std::map<const void*, int> shared_bytes;  ///< that kernels were allowed beyond the usual
  std::string failure;
  Draw draw{1};
  std::uint64_t launches = 0;

  static Device& the();
};
using Guard = std::lock_guard<std::recursive_mutex>;

/// Streams whose work this thread of the host records.
thread_local int recording = 0;

class StreamOnHost : public CUstream_st {
 public:
  StreamOnHost() { Device::the().streams.insert(this); }
  ~StreamOnHost() override { Device::the().streams.erase(this); }

  void add(Work work) override {
    Device& device = Device::the();
    const Guard guard(device.mutex);
    if (graph_) {
      graph_->nodes.push_back(std::move(work));
      return;
    }
    queue_.push_back(std::move(work));
    ++added_;
    if (queue_.size() > most_queued || device.draw(4) == 0) finish();
  }
  [[nodiscard]] std::uint64_t added() const { return added_; }
  /// Does the work up to the n-th that was added.
  void finish(std::uint64_t n) {
    const device_memory::Open open;
    while (done_ < n && !queue_.empty()) {
      const Work work = std::move(queue_.front());
      queue_.pop_front();
      ++done_;
      if (Device::the().failure.empty()) work();
    }
  }
  void finish() {
    if (!queue_.empty()) finish(added_);
  }
  void record() { graph_ = std::make_unique<CUgraph_st>(); }
  [[nodiscard]] bool records() const { return graph_ != nullptr; }
  std::unique_ptr<CUgraph_st> recorded() { return std::move(graph_); }

 private:
  std::deque<Work> queue_;
  std::uint64_t added_ = 0, done_ = 0;
  std::unique_ptr<CUgraph_st> graph_;
};

/// A signal inside of a kernel is a finding about its thread; outside it is the host's fault.
void on_signal(int number, siginfo_t* info, void* /*context*/) {
  if (number == SIGILL)
    if (Machine* const machine = Machine::at_work(); machine != nullptr)
      machine->fail("computes what C++ leaves undefined: an index outside of an array, a shift, or a division by zero");
  if (number == SIGSEGV && device_memory::contains(info->si_addr)) {
    constexpr char text[] = "cuda_host: code of the host touches device memory\n";
    (void)!write(STDERR_FILENO, text, sizeof text - 1);
  }
  signal(number, SIG_DFL);  // happens again, and ends the program
}

Device& Device::the() {
  static Device* const device = [] {
    auto* const made = new Device;  // outlives what is freed late
    if (const char* seed = std::getenv("SONDE_CUDA_HOST_SEED")) made->draw = Draw(std::strtoull(seed, nullptr, 10));
    struct sigaction action {};
    action.sa_sigaction = on_signal;
    action.sa_flags = SA_SIGINFO | SA_NODEFER;
    sigaction(SIGILL, &action, nullptr);
    sigaction(SIGSEGV, &action, nullptr);
    return made;
  }();
  return *device;
}

StreamOnHost& of(cudaStream_t stream) { return *static_cast<StreamOnHost*>(stream); }

cudaError_t status() { return Device::the().failure.empty() ? cudaSuccess : cudaErrorLaunchFailure; }

void finish_all() {
  for (StreamOnHost* const each : Device::the().streams) each->finish();
}

void fail(const std::string& what) {
  if (Device::the().failure.empty()) Device::the().failure = what;
}

/// What a copy or a fill touches has to be there in full.
void check_range(const char* what, const void* address, std::size_t bytes) {
  if (device_memory::contains(address) && !device_memory::covers(address, bytes))
    fail(fmt::format("a {} of {} bytes at {} is out of bounds", what, bytes, address));
}

bool is_pageable(const void* address) {
  return !device_memory::contains(address) && !pinned_memory::covers(address, 1);
}

}  // namespace

void set_seed(std::uint64_t seed) {
  Device& device = Device::the();
  const Guard guard(device.mutex);
  device.draw = Draw(seed);
}

void finish() {
  const Guard guard(Device::the().mutex);
  finish_all();
}

std::string failure() {
  Device& device = Device::the();
  const Guard guard(device.mutex);
  return device.failure;
}

void reset() {
  Device& device = Device::the();
  const Guard guard(device.mutex);
  finish_all();
  device.failure.clear();
}

std::uint64_t launches() { return Device::the().launches; }

cudaError_t allow_shared_bytes(const void* kernel, int bytes) {
  if (bytes < 0 || static_cast<std::size_t>(bytes) > most_shared_bytes) return cudaErrorInvalidValue;
  const Guard guard(Device::the().mutex);
  Device::the().shared_bytes[kernel] = bytes;
  return cudaSuccess;
}

cudaError_t check_shape(const cudaLaunchConfig_t& config, const void* kernel) {
  Device& device = Device::the();
  const Guard guard(device.mutex);
  const dim3 blocks = config.gridDim, threads = config.blockDim;
  const auto allowed = device.shared_bytes.find(kernel);
  const int bytes = allowed == device.shared_bytes.end() ? usual_shared_bytes : allowed->second;
  const bool grid =
      blocks.x > 0 && blocks.x <= 0x7fffffffu && blocks.y > 0 && blocks.y < 65536 && blocks.z > 0 && blocks.z < 65536;
  const bool block = threads.x > 0 && threads.y > 0 && threads.z > 0 && threads.z <= 64 &&
                     std::uint64_t{threads.x} * threads.y * threads.z <= most_block_threads;
  if (!grid || !block || config.dynamicSmemBytes > static_cast<std::size_t>(std::max(bytes, usual_shared_bytes)))
    return cudaErrorInvalidConfiguration;
  return status();
}

void play_grid(const dim3& grid, const dim3& block, std::size_t shared_bytes, const Call& call) {
  Device& device = Device::the();
  ++device.launches;
  const std::string wrong = Machine::of_thread().play(grid, block, shared_bytes, call, device.draw);
  if (!wrong.empty()) fail(wrong);
}

}  // namespace cuda_host

using namespace cuda_host;

/// A place in a stream, and when the stream came past it.
struct CUevent_st {
  struct Mark {
    StreamOnHost* stream = nullptr;
    std::uint64_t place = 0;
    std::chrono::steady_clock::time_point passed;
  };
  std::shared_ptr<Mark> mark;
};

cudaError_t cudaGetDeviceCount(int* count) {
  *count = 1;
  return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int /*device*/) {
  *properties = {};
  std::snprintf(properties->name, sizeof properties->name, "CUDA played by the CPU");
  properties->totalGlobalMem = device_memory::total_bytes();
  properties->sharedMemPerBlockOptin = most_shared_bytes;
  properties->major = 9;
  properties->multiProcessorCount = 1;
  return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr /*attribute*/, int /*device*/) {
  *value = 1;
  return cudaSuccess;
}

cudaError_t cudaDriverGetVersion(int* version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}

cudaError_t cudaSetDevice(int device) { return device == 0 ? cudaSuccess : cudaErrorInvalidValue; }

cudaError_t cudaGetLastError() { return status(); }

const char* cudaGetErrorString(cudaError_t error) {
  switch (error) {
    case cudaSuccess:
      return "no error";
    case cudaErrorInvalidValue:
      return "invalid argument";
    case cudaErrorMemoryAllocation:
      return "out of memory";
    case cudaErrorInvalidConfiguration:
      return "invalid configuration argument";
    case cudaErrorInsufficientDriver:
      return "the driver is older than the runtime";
    case cudaErrorNoDevice:
      return "no device";
    case cudaErrorStreamCaptureUnsupported:
      return "operation not permitted when stream is capturing";
    case cudaErrorLaunchFailure:
      break;
  }
  thread_local std::string text;
  text = failure();
  return text.c_str();
}

cudaError_t cudaMemGetInfo(std::size_t* free_bytes, std::size_t* total_bytes) {
  const Guard guard(cuda_host::Device::the().mutex);
  *total_bytes = device_memory::total_bytes();
  *free_bytes = device_memory::total_bytes() - device_memory::used_bytes();
  return status();
}

cudaError_t cudaMalloc(void** block, std::size_t bytes) {
  if (recording > 0) return cudaErrorStreamCaptureUnsupported;
  const Guard guard(cuda_host::Device::the().mutex);
  *block = device_memory::allocate(bytes);
  return *block == nullptr && bytes > 0 ? cudaErrorMemoryAllocation : status();
}

cudaError_t cudaFree(void* block) {
  if (recording > 0) return cudaErrorStreamCaptureUnsupported;
  const Guard guard(cuda_host::Device::the().mutex);
  finish_all();
  if (block != nullptr && !device_memory::deallocate(block)) return cudaErrorInvalidValue;
  return status();
}

cudaError_t cudaMallocHost(void** block, std::size_t bytes) {
  const Guard guard(cuda_host::Device::the().mutex);
  *block = pinned_memory::allocate(bytes);
  return status();
}

cudaError_t cudaFreeHost(void* block) {
  const Guard guard(cuda_host::Device::the().mutex);
  finish_all();
  return block == nullptr || pinned_memory::deallocate(block) ? status() : cudaErrorInvalidValue;
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind /*kind*/,
                            cudaStream_t stream) {
  const Guard guard(cuda_host::Device::the().mutex);
  check_range("copy", to, bytes);
  check_range("copy", from, bytes);
  if (status() != cudaSuccess) return status();
  stream->add([=] { std::memcpy(to, from, bytes); });
  // Pageable memory is copied before the call returns.
  if (!of(stream).records() && (is_pageable(to) || is_pageable(from))) of(stream).finish();
  return status();
}

cudaError_t cudaMemsetAsync(void* to, int byte, std::size_t bytes, cudaStream_t stream) {
  const Guard guard(cuda_host::Device::the().mutex);
  check_range("fill", to, bytes);
  if (!device_memory::contains(to)) return cudaErrorInvalidValue;
  if (status() != cudaSuccess) return status();
  stream->add([=] { std::memset(to, byte, bytes); });
  return status();
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned /*flags*/) {
  const Guard guard(cuda_host::Device::the().mutex);
  *stream = new StreamOnHost;
  return status();
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  const Guard guard(cuda_host::Device::the().mutex);
  of(stream).finish();
  delete &of(stream);
  return status();
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  const Guard guard(cuda_host::Device::the().mutex);
  if (of(stream).records()) return cudaErrorStreamCaptureUnsupported;
  of(stream).finish();
  return status();
}

namespace {
void pass(const std::shared_ptr<CUevent_st::Mark>& mark) {
  if (mark && cuda_host::Device::the().streams.count(mark->stream) > 0) mark->stream->finish(mark->place);
}
}  // namespace

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned /*flags*/) {
  const Guard guard(cuda_host::Device::the().mutex);
  stream->add([mark = event->mark] { pass(mark); });
  return status();
}

cudaError_t cudaEventCreate(cudaEvent_t* event) {
  *event = new CUevent_st;
  return status();
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  delete event;
  return status();
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  const Guard guard(cuda_host::Device::the().mutex);
  if (of(stream).records()) return cudaErrorStreamCaptureUnsupported;  // sonde has none in its graphs
  const auto mark = std::make_shared<CUevent_st::Mark>();
  mark->stream = &of(stream);
  mark->place = of(stream).added() + 1;
  event->mark = mark;
  stream->add([mark] { mark->passed = std::chrono::steady_clock::now(); });
  return status();
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  const Guard guard(cuda_host::Device::the().mutex);
  pass(event->mark);
  return status();
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t first, cudaEvent_t second) {
  const Guard guard(cuda_host::Device::the().mutex);
  if (!first->mark || !second->mark) return cudaErrorInvalidValue;
  *milliseconds = std::chrono::duration<float, std::milli>(second->mark->passed - first->mark->passed).count();
  return status();
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode /*mode*/) {
  const Guard guard(cuda_host::Device::the().mutex);
  if (of(stream).records()) return cudaErrorStreamCaptureUnsupported;
  of(stream).record();
  ++recording;
  return status();
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  const Guard guard(cuda_host::Device::the().mutex);
  if (!of(stream).records()) return cudaErrorInvalidValue;
  *graph = of(stream).recorded().release();
  --recording;
  return status();
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* ready, cudaGraph_t graph, unsigned long long /*flags*/) {
  *ready = new CUgraphExec_st{std::make_shared<const std::vector<Work>>(graph->nodes)};
  return status();
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t stream) {
  const Guard guard(cuda_host::Device::the().mutex);
  stream->add([nodes = graph->nodes] {
    for (const Work& each : *nodes)
      if (status() == cudaSuccess) each();
  });
  return status();
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  delete graph;
  return status();
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t graph) {
  delete graph;
  return status();
}
