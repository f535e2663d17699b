// This macro declares the arguments of the driver's functions, including old versions.
#define __CUDA_API_VERSION_INTERNAL
#include "engine/replay/recorder/program_memory.h"

#include <cupti_callbacks.h>
#include <cupti_driver_cbid.h>
#include <generated_cuda_meta.h>
#include <iterator>
#include <utility>

namespace kernelskill::engine::replay {
namespace {

template <typename Arguments>
const Arguments& as(const void* arguments) {
    return *static_cast<const Arguments*>(arguments);
}

constexpr const char* memoryOfGraphs = "memory that a graph allocates";

/// Names the memory that cannot be saved, if the call makes any; else null.
const char* obstacleOf(std::uint32_t function, const void* arguments) {
    const auto ofNode = [](const CUgraphNodeParams& node) {
        return node.type == CU_GRAPH_NODE_TYPE_MEM_ALLOC ? memoryOfGraphs : nullptr;
    };
    switch (function) {
    case CUPTI_DRIVER_TRACE_CBID_cuMemMap:
        return "virtual memory management (cuMemMap)";
    case CUPTI_DRIVER_TRACE_CBID_cuGraphAddMemAllocNode:
        return memoryOfGraphs;
    case CUPTI_DRIVER_TRACE_CBID_cuGraphAddNode:
        return ofNode(*as<cuGraphAddNode_params>(arguments).nodeParams);
    case CUPTI_DRIVER_TRACE_CBID_cuGraphAddNode_v2:
        return ofNode(*as<cuGraphAddNode_v2_params>(arguments).nodeParams);
    case CUPTI_DRIVER_TRACE_CBID_cuSurfObjectCreate:
        return "surfaces (cuSurfObjectCreate)";
    case CUPTI_DRIVER_TRACE_CBID_cuIpcOpenMemHandle:
    case CUPTI_DRIVER_TRACE_CBID_cuIpcOpenMemHandle_v2:
        return "memory of another process (cuIpcOpenMemHandle)";
    case CUPTI_DRIVER_TRACE_CBID_cuImportExternalMemory:
        return "external memory (cuImportExternalMemory)";
    case CUPTI_DRIVER_TRACE_CBID_cuCtxEnablePeerAccess:
        return "memory of another GPU (cuCtxEnablePeerAccess)";
    default:
        return nullptr;
    }
}

/// Whether the function ends the capture of a stream, which it also does if it fails.
bool endsCapture(std::uint32_t function) {
    return function == CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture ||
           function == CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture_ptsz;
}

std::uint64_t ofHost(const void* pointer) {
    return reinterpret_cast<std::uint64_t>(pointer);
}

} // namespace

std::optional<FreeCall> freeCallOf(std::uint32_t function, const void* arguments) {
    switch (function) {
    case CUPTI_DRIVER_TRACE_CBID_cuMemFree_v2:
        return FreeCall{as<cuMemFree_v2_params>(arguments).dptr, std::nullopt};
    case CUPTI_DRIVER_TRACE_CBID_cuMemFreeAsync: {
        const auto& given = as<cuMemFreeAsync_params>(arguments);
        return FreeCall{given.dptr, given.hStream};
    }
    case CUPTI_DRIVER_TRACE_CBID_cuMemFreeAsync_ptsz: {
        const auto& given = as<cuMemFreeAsync_ptsz_params>(arguments);
        return FreeCall{given.dptr, given.hStream};
    }
    case CUPTI_DRIVER_TRACE_CBID_cuMemFreeHost:
        return FreeCall{ofHost(as<cuMemFreeHost_params>(arguments).p), std::nullopt};
    case CUPTI_DRIVER_TRACE_CBID_cuMemHostUnregister:
        return FreeCall{ofHost(as<cuMemHostUnregister_params>(arguments).p), std::nullopt};
    default:
        return std::nullopt;
    }
}

void ProgramMemory::add(std::uint64_t address, std::uint64_t bytes, CUcontext context,
                        bool isHost) {
    if (address != 0 && bytes != 0)
        allocations_[address] = {address, bytes, context, isHost, ++count_};
}

void ProgramMemory::addInOrder(std::uint64_t address, std::uint64_t bytes, CUcontext context) {
    if (captures_ > 0)
        noteObstacle(memoryOfGraphs);
    else
        add(address, bytes, context, false);
}

void ProgramMemory::noteObstacle(const char* name) {
    if (obstacle_.empty())
        obstacle_ = name;
}

void ProgramMemory::noteCall(std::uint32_t function, const void* arguments, CUcontext context,
                             CUresult result) {
    if (result != CUDA_SUCCESS && !endsCapture(function))
        return;
    const std::scoped_lock lock(mutex_);
    if (const auto freed = freeCallOf(function, arguments)) {
        allocations_.erase(freed->address);
        return;
    }
    switch (function) {
    case CUPTI_DRIVER_TRACE_CBID_cuMemAlloc_v2: {
        const auto& given = as<cuMemAlloc_v2_params>(arguments);
        return add(*given.dptr, given.bytesize, context, false);
    }
    case CUPTI_DRIVER_TRACE_CBID_cuMemAllocPitch_v2: {
        const auto& given = as<cuMemAllocPitch_v2_params>(arguments);
        return add(*given.dptr, *given.pPitch * given.Height, context, false);
    }
    case CUPTI_DRIVER_TRACE_CBID_cuMemAllocManaged: {
        const auto& given = as<cuMemAllocManaged_params>(arguments);
        return add(*given.dptr, given.bytesize, context, false);
    }
    case CUPTI_DRIVER_TRACE_CBID_cuMemAllocAsync: {
        const auto& given = as<cuMemAllocAsync_params>(arguments);
        return addInOrder(*given.dptr, given.bytesize, context);
    }
    case CUPTI_DRIVER_TRACE_CBID_cuMemAllocAsync_ptsz: {
        const auto& given = as<cuMemAllocAsync_ptsz_params>(arguments);
        return addInOrder(*given.dptr, given.bytesize, context);
    }
    case CUPTI_DRIVER_TRACE_CBID_cuMemAllocFromPoolAsync: {
        const auto& given = as<cuMemAllocFromPoolAsync_params>(arguments);
        return addInOrder(*given.dptr, given.bytesize, context);
    }
    case CUPTI_DRIVER_TRACE_CBID_cuMemAllocFromPoolAsync_ptsz: {
        const auto& given = as<cuMemAllocFromPoolAsync_ptsz_params>(arguments);
        return addInOrder(*given.dptr, given.bytesize, context);
    }
    case CUPTI_DRIVER_TRACE_CBID_cuMemHostAlloc:
    case CUPTI_DRIVER_TRACE_CBID_cuMemHostAlloc_v2: {
        const auto& given = as<cuMemHostAlloc_params>(arguments);
        return add(ofHost(*given.pp), given.bytesize, context, true);
    }
    case CUPTI_DRIVER_TRACE_CBID_cuMemAllocHost_v2: {
        const auto& given = as<cuMemAllocHost_v2_params>(arguments);
        return add(ofHost(*given.pp), given.bytesize, context, true);
    }
    case CUPTI_DRIVER_TRACE_CBID_cuMemHostRegister_v2: {
        const auto& given = as<cuMemHostRegister_v2_params>(arguments);
        return add(ofHost(given.p), given.bytesize, context, true);
    }
    case CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture:
    case CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_ptsz:
    case CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2:
    case CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2_ptsz:
    case CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCaptureToGraph:
    case CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCaptureToGraph_ptsz:
        ++captures_;
        return;
    case CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture:
    case CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture_ptsz:
        if (captures_ > 0) // The call also comes, and fails, without a capture.
            --captures_;
        return;
    default:
        if (const char* found = obstacleOf(function, arguments); found != nullptr)
            noteObstacle(found);
        return;
    }
}

void ProgramMemory::noteModule(std::span<const std::byte> cubin) {
    auto symbols = cubinSymbols(cubin);
    if (!symbols)
        return;
    const auto shared = std::make_shared<const CubinSymbols>(std::move(*symbols));
    const std::scoped_lock lock(mutex_);
    for (const auto& [kernel, called] : shared->kernels)
        modules_.insert_or_assign(kernel, shared);
}

void ProgramMemory::noteEnd(CUcontext context) {
    const std::scoped_lock lock(mutex_);
    std::erase_if(allocations_, [&](const auto& each) { return each.second.context == context; });
}

std::vector<Allocation> ProgramMemory::allocationsOf(CUcontext context) const {
    const std::scoped_lock lock(mutex_);
    std::vector<Allocation> result;
    for (const auto& [address, allocation] : allocations_) {
        if (allocation.context == context || allocation.isHost)
            result.push_back(allocation);
    }
    return result;
}

std::vector<Allocation> ProgramMemory::allocations() const {
    const std::scoped_lock lock(mutex_);
    std::vector<Allocation> result;
    for (const auto& [address, allocation] : allocations_)
        result.push_back(allocation);
    return result;
}

std::optional<Allocation> ProgramMemory::allocationAt(std::uint64_t address) const {
    const std::scoped_lock lock(mutex_);
    const auto next = allocations_.upper_bound(address);
    if (next == allocations_.begin())
        return std::nullopt;
    const Allocation& found = std::prev(next)->second;
    return address - found.address < found.bytes ? std::optional(found) : std::nullopt;
}

std::shared_ptr<const CubinSymbols> ProgramMemory::moduleOf(const std::string& kernel) const {
    const std::scoped_lock lock(mutex_);
    const auto found = modules_.find(kernel);
    return found == modules_.end() ? nullptr : found->second;
}

std::optional<std::string> ProgramMemory::obstacle() const {
    const std::scoped_lock lock(mutex_);
    return obstacle_.empty() ? std::nullopt : std::optional(obstacle_);
}

bool ProgramMemory::isCapturing() const {
    const std::scoped_lock lock(mutex_);
    return captures_ > 0;
}

} // namespace kernelskill::engine::replay
