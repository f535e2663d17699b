/// Tracks the program's memory on the GPU by its calls of the driver.
#pragma once

#include "engine/replay/cubin_symbols.h"

#include <cstdint>
#include <cuda.h>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace kernelskill::engine::replay {

struct Allocation {
    std::uint64_t address = 0;
    std::uint64_t bytes = 0;
    CUcontext context = nullptr;
    bool isHost = false; ///< Page-locked memory of the host, which kernels can write to as well.
    std::uint64_t number = 0; ///< Counts the program's allocations up to this one.
};

/// A call that gives an allocation back.
struct FreeCall {
    std::uint64_t address = 0;
    std::optional<CUstream> stream; ///< The stream in whose order it is given back, if in one's.
};

/// nullopt if the driver function with this CUPTI callback identifier frees nothing.
[[nodiscard]] std::optional<FreeCall> freeCallOf(std::uint32_t function, const void* arguments);

/// Thread-safe. May throw std::bad_alloc.
class ProgramMemory {
public:
    /// Called after the driver function with this CUPTI callback identifier.
    void noteCall(std::uint32_t function, const void* arguments, CUcontext context,
                  CUresult result);
    /// Called with the code of each module that the program loads.
    void noteModule(std::span<const std::byte> cubin);
    /// Called before a context ends, and its memory with it.
    void noteEnd(CUcontext context);

    /// The memory of a context, and all page-locked memory, by address.
    [[nodiscard]] std::vector<Allocation> allocationsOf(CUcontext context) const;
    /// All memory, by address.
    [[nodiscard]] std::vector<Allocation> allocations() const;
    /// The allocation that holds the address.
    [[nodiscard]] std::optional<Allocation> allocationAt(std::uint64_t address) const;
    /// The newest module with the kernel; null if there is none.
    [[nodiscard]] std::shared_ptr<const CubinSymbols> moduleOf(const std::string& kernel) const;
    /// The use of memory that cannot be saved, if the program has made any: a name for users.
    [[nodiscard]] std::optional<std::string> obstacle() const;
    /// Whether a stream is being captured into a graph.
    [[nodiscard]] bool isCapturing() const;

private:
    void add(std::uint64_t address, std::uint64_t bytes, CUcontext context, bool isHost);
    /// Adds memory that is allocated in a stream's order. During a capture it may be a graph's,
    /// which is there only while that graph runs.
    void addInOrder(std::uint64_t address, std::uint64_t bytes, CUcontext context);
    void noteObstacle(const char* name);

    mutable std::mutex mutex_; ///< Guards all members below.
    std::map<std::uint64_t, Allocation> allocations_;
    std::uint64_t count_ = 0; ///< Allocations that the program has made.
    std::map<std::string, std::shared_ptr<const CubinSymbols>, std::less<>>
        modules_; ///< The key is the kernel's symbol.
    std::string obstacle_;
    std::uint64_t captures_ = 0; ///< Streams that are being captured.
};

} // namespace kernelskill::engine::replay
