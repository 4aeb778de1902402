// SPDX-License-Identifier: Apache-2.0
// Private to the room: what device_cuda.cu provides. Nothing here is referred to in a build without CUDA.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "sonde/engine/device/device.h"

namespace sonde::cuda {

/// Usable GPUs; when there is none, `why_none` says why in words.
std::vector<DeviceInfo> find_devices(std::string& why_none);
std::size_t memory_free(int ordinal);

void* allocate(int ordinal, std::size_t bytes);  ///< nullptr when the device is full
void deallocate(int ordinal, void* pointer);

/// Page-locked host memory for asynchronous copies; throws Error(budget) when the host refuses.
void* allocate_pinned(int ordinal, std::size_t bytes);
void deallocate_pinned(void* pointer);

void* create_stream(int ordinal);
void destroy_stream(int ordinal, void* stream);
void synchronise(int ordinal, void* stream);
void copy(int ordinal, void* stream, void* to, const void* from, std::size_t bytes);
void fill(int ordinal, void* stream, void* to, int byte, std::size_t bytes);

void* create_event(int ordinal);
void destroy_event(int ordinal, void* event);
void record(int ordinal, void* event, void* stream);
void wait(int ordinal, void* stream, void* event);
double seconds_between(int ordinal, void* first, void* second);

/// What `work` queues to the stream, recorded instead of run.
void* record_graph(int ordinal, void* stream, const std::function<void()>& work);
void launch_graph(int ordinal, void* graph, void* stream);
void destroy_graph(int ordinal, void* graph);

}  // namespace sonde::cuda
