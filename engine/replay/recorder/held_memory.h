/// The memory that a held kernel may write: saved, restored and compared.
#pragma once

#include "engine/replay/recorder/memory_copies.h"
#include "engine/replay/recorder/program_memory.h"
#include "engine/replay/replay_target.h"
#include "engine/replay/replay_wire.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace kernelskill::engine::replay {

/// A candidate's copies of the module's variables: by name, where they are.
using VariablePlaces = std::map<std::string, CUdeviceptr, std::less<>>;

/// Copies for single parts, by their number, that take the place of the original's results.
using OtherResults = std::map<std::size_t, MemoryCopy>;

class HeldMemory {
public:
    /// Saves all parts. `passed` are the launch's arguments that may be addresses. Unsupported if
    /// that takes more memory than `target` allows.
    [[nodiscard]] static Result<std::unique_ptr<HeldMemory>>
    save(DeviceWork& work, const std::vector<Allocation>& allocations, const CubinSymbols& symbols,
         CUmodule module, std::span<const std::uint64_t> passed, const ReplayTarget& target);

    /// Puts back what any run so far has changed. Asynchronous.
    [[nodiscard]] Result<void> restore();
    /// Puts everything back, and waits.
    [[nodiscard]] Result<void> restoreAll();
    /// Gives a candidate's variables the values that the module's had. Asynchronous.
    [[nodiscard]] Result<void> seed(const VariablePlaces& variables);

    /// Keeps what the kernel has just written as the result to compare with. Returns the bytes of
    /// the pages that it changed. Unsupported if page-locked memory of the host has changed.
    [[nodiscard]] Result<std::uint64_t> keepResult();

    /// Lists how the memory differs from the result. Waits. A variable that the module and the
    /// candidate both have counts as written where either of the two was.
    [[nodiscard]] Result<std::vector<MemoryDifference>>
    differences(std::span<const TypedRange> elements, const VariablePlaces& variables,
                const OtherResults& others = {});

    /// The part that holds the address.
    [[nodiscard]] std::optional<std::size_t> partAt(std::uint64_t address) const;
    /// Writes other contents from the address to the end of its part. Asynchronous.
    [[nodiscard]] Result<void> poison(std::size_t part, std::uint64_t address);
    /// A copy of what is in the part.
    [[nodiscard]] Result<MemoryCopy> copyOf(std::size_t part);

    [[nodiscard]] std::uint64_t allocations() const { return allocations_; }
    [[nodiscard]] std::uint64_t allocatedBytes() const { return allocatedBytes_; }
    [[nodiscard]] std::uint64_t variables() const { return parts_.size() - allocations_; }
    [[nodiscard]] const CopyStore& store() const { return store_; }

private:
    struct Part {
        std::string where;
        std::uint64_t address = 0;
        std::uint64_t bytes = 0;
        std::string variable; ///< Empty for an allocation.
        MemoryCopy before;
        std::optional<MemoryCopy> after; ///< Set if the original changes it.
        bool isTouched = false;          ///< Whether any run has changed it.
    };
    struct HostPart {
        std::uint64_t address = 0;
        std::vector<std::byte> before;
        /// Whether the launch's arguments point to it. Then a change is the kernel's: a thread of
        /// the host that writes there meanwhile would race with the program's own launch.
        bool isPassed = false;
    };

    HeldMemory(DeviceWork& work, std::uint64_t deviceLimit, std::uint64_t hostLimit)
        : work_(work), store_(work, deviceLimit, hostLimit) {}

    [[nodiscard]] Result<void> add(std::string where, std::uint64_t address, std::uint64_t bytes,
                                   std::string variable);
    /// The pages of each part that differ from what they were (`after`: from the result).
    [[nodiscard]] Result<std::vector<std::vector<std::uint64_t>>>
    changedPages(bool after, const OtherResults& others);
    [[nodiscard]] Result<std::optional<MemoryDifference>>
    differenceOf(const Part& part, const std::vector<std::uint64_t>& pages,
                 std::span<const TypedRange> elements, const MemoryCopy& expected);
    [[nodiscard]] Result<std::optional<MemoryDifference>>
    variableDifference(const Part& part, CUdeviceptr candidates, const MemoryCopy& expected);
    /// Lists how page-locked memory has changed since the last call. Puts back what the launch's
    /// arguments point to; the rest may be what the host is about to use, so it stays.
    [[nodiscard]] std::vector<MemoryDifference> hostChanges();

    DeviceWork& work_;
    CopyStore store_;
    std::vector<Part> parts_; ///< Allocations by address, then variables.
    std::vector<HostPart> hostParts_;
    std::uint64_t allocations_ = 0;
    std::uint64_t allocatedBytes_ = 0;
};

} // namespace kernelskill::engine::replay
