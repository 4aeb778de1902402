// SPDX-License-Identifier: Apache-2.0
#include <cuda_runtime.h>

#include "sonde/engine/device/cuda_check.h"
#include "sonde/engine/device/device_kernels.h"

namespace sonde::cuda {
namespace {

cudaStream_t as_stream(void* stream) { return static_cast<cudaStream_t>(stream); }
cudaEvent_t as_event(void* event) { return static_cast<cudaEvent_t>(event); }
void use(int ordinal) { check(cudaSetDevice(ordinal), "choosing the device"); }

std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

}  // namespace

std::vector<DeviceInfo> find_devices(std::string& why_none) {
  std::vector<DeviceInfo> found;
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);  // leaves the count untouched when it fails
  if (status != cudaSuccess) {
    cudaGetLastError();
    why_none = status == cudaErrorInsufficientDriver
                   ? "no NVIDIA driver is installed, or it is older than CUDA " + version_text(CUDART_VERSION)
               : status == cudaErrorNoDevice ? "the NVIDIA driver sees no GPU"
                                             : std::string("CUDA answers: ") + cudaGetErrorString(status);
    return found;
  }
  int driver = 0;
  cudaDriverGetVersion(&driver);
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    cudaDeviceProp properties{};
    if (cudaGetDeviceProperties(&properties, ordinal) != cudaSuccess) {
      cudaGetLastError();
      continue;
    }
    if (properties.major * 10 + properties.minor < 75) {
      why_none = std::string(properties.name) + " has compute capability below 7.5";
      continue;
    }
    DeviceInfo info;
    info.kind = DeviceKind::cuda;
    info.ordinal = ordinal;
    info.name = properties.name;
    info.memory_bytes = properties.totalGlobalMem;
    info.compute_units = properties.multiProcessorCount;
    info.shared_memory_bytes = properties.sharedMemPerBlockOptin;
    info.driver = version_text(driver);
    info.can.bf16 = properties.major >= 8;
    info.can.fp16 = true;
    info.can.graphs = true;
    int pools = 0;
    cudaDeviceGetAttribute(&pools, cudaDevAttrMemoryPoolsSupported, ordinal);
    info.can.async_alloc = pools != 0;
    info.can.unified_memory = properties.integrated != 0;
    found.push_back(info);
  }
  if (found.empty() && why_none.empty()) why_none = "the NVIDIA driver sees no usable GPU";
  if (!found.empty()) why_none.clear();
  return found;
}

std::size_t memory_free(int ordinal) {
  use(ordinal);
  std::size_t free_bytes = 0, total_bytes = 0;
  check(cudaMemGetInfo(&free_bytes, &total_bytes), "asking for free memory");
  return free_bytes;
}

void* allocate(int ordinal, std::size_t bytes) {
  use(ordinal);
  void* block = nullptr;
  const cudaError_t status = cudaMalloc(&block, bytes);
  if (status == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    return nullptr;
  }
  check(status, "allocating device memory");
  return block;
}

void deallocate(int ordinal, void* pointer) {
  cudaSetDevice(ordinal);
  cudaFree(pointer);
}

void* allocate_pinned(int ordinal, std::size_t bytes) {
  use(ordinal);  // in a new thread it would be the first device that is woken for it
  void* block = nullptr;
  check(cudaMallocHost(&block, bytes), "allocating pinned memory");
  return block;
}

void deallocate_pinned(void* pointer) { cudaFreeHost(pointer); }

void* create_stream(int ordinal) {
  use(ordinal);
  cudaStream_t stream = nullptr;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "creating a stream");
  return stream;
}

void destroy_stream(int ordinal, void* stream) {
  cudaSetDevice(ordinal);
  cudaStreamSynchronize(as_stream(stream));
  cudaStreamDestroy(as_stream(stream));
}

void synchronise(int ordinal, void* stream) {
  use(ordinal);
  check(cudaStreamSynchronize(as_stream(stream)), "waiting for a stream");
}

void copy(int ordinal, void* stream, void* to, const void* from, std::size_t bytes) {
  use(ordinal);
  check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, as_stream(stream)), "copying memory");
}

void fill(int ordinal, void* stream, void* to, int byte, std::size_t bytes) {
  use(ordinal);
  check(cudaMemsetAsync(to, byte, bytes, as_stream(stream)), "filling memory");
}

void* create_event(int ordinal) {
  use(ordinal);
  cudaEvent_t event = nullptr;
  check(cudaEventCreate(&event), "creating an event");
  return event;
}

void destroy_event(int ordinal, void* event) {
  cudaSetDevice(ordinal);
  cudaEventDestroy(as_event(event));
}

void record(int ordinal, void* event, void* stream) {
  use(ordinal);
  check(cudaEventRecord(as_event(event), as_stream(stream)), "recording an event");
}

void wait(int ordinal, void* stream, void* event) {
  use(ordinal);
  check(cudaStreamWaitEvent(as_stream(stream), as_event(event)), "waiting for an event");
}

double seconds_between(int ordinal, void* first, void* second) {
  use(ordinal);
  check(cudaEventSynchronize(as_event(second)), "waiting for an event");
  float milliseconds = 0;
  check(cudaEventElapsedTime(&milliseconds, as_event(first), as_event(second)), "timing events");
  return 1e-3 * milliseconds;
}

void* record_graph(int ordinal, void* stream, const std::function<void()>& work) {
  use(ordinal);
  // Thread-local: what other threads do meanwhile, on other streams, is no part of it.
  check(cudaStreamBeginCapture(as_stream(stream), cudaStreamCaptureModeThreadLocal), "recording a graph");
  cudaGraph_t graph = nullptr;
  try {
    work();
  } catch (...) {
    cudaStreamEndCapture(as_stream(stream), &graph);
    if (graph != nullptr) cudaGraphDestroy(graph);
    throw;
  }
  check(cudaStreamEndCapture(as_stream(stream), &graph), "recording a graph");
  cudaGraphExec_t ready = nullptr;
  const cudaError_t status = cudaGraphInstantiate(&ready, graph, 0);
  cudaGraphDestroy(graph);
  check(status, "preparing a graph");
  return ready;
}

void launch_graph(int ordinal, void* graph, void* stream) {
  use(ordinal);
  check(cudaGraphLaunch(static_cast<cudaGraphExec_t>(graph), as_stream(stream)), "queueing a graph");
}

void destroy_graph(int ordinal, void* graph) {
  cudaSetDevice(ordinal);
  cudaGraphExecDestroy(static_cast<cudaGraphExec_t>(graph));
}

}  // namespace sonde::cuda
