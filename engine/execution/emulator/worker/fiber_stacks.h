/// Stacks for the fibers that run CUDA threads, in one range of addresses, each above a guard page.
#pragma once

#include "engine/execution/emulator/worker/address_space.h"

#include <cstdint>
#include <vector>

namespace kernelskill::engine::emulator {

class FiberStacks {
public:
    /// A thread's local memory: what its arrays and frames may take.
    static constexpr std::uint64_t stackBytes = 256 << 10;

    /// Room for `count` stacks; those never taken cost nothing.
    [[nodiscard]] static Result<FiberStacks> make(std::uint32_t count);

    /// Index of a free stack. The one given back last comes first: its pages are warm.
    /// Precondition: one is free.
    [[nodiscard]] std::uint32_t take();
    void giveBack(std::uint32_t stack) { free_.push_back(stack); }

    /// The address the stack grows down from.
    [[nodiscard]] std::uint64_t top(std::uint32_t stack) const;
    [[nodiscard]] AddressRange range() const { return memory_.range(); }
    /// Whether a fault at `address` is a stack that ran over.
    [[nodiscard]] bool isGuard(std::uint64_t address) const;

private:
    Reservation memory_;
    std::vector<std::uint32_t> free_;
    std::uint32_t taken_ = 0; ///< Stacks from here on were never taken.
};

} // namespace kernelskill::engine::emulator
