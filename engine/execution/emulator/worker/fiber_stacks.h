/// The stacks of fibers that run CUDA threads, in one address range, each above a guard page.
#pragma once

#include "engine/execution/emulator/worker/address_space.h"

#include <cstdint>
#include <vector>

namespace kernelskill::engine::emulator {

class FiberStacks {
public:
    /// The maximum size of a thread's local memory: its arrays and frames.
    static constexpr std::uint64_t stackBytes = 256 << 10;

    /// Makes room for `count` stacks; unused ones cost nothing.
    [[nodiscard]] static Result<FiberStacks> make(std::uint32_t count);

    /// The index of a free stack. Prefers the one returned last, because its pages are warm.
    /// Precondition: one is free.
    [[nodiscard]] std::uint32_t take();
    void giveBack(std::uint32_t stack) { free_.push_back(stack); }

    /// The address from which the stack grows down.
    [[nodiscard]] std::uint64_t top(std::uint32_t stack) const;
    [[nodiscard]] AddressRange range() const { return memory_.range(); }
    /// Whether a fault at `address` is a stack overflow.
    [[nodiscard]] bool isGuard(std::uint64_t address) const;

    /// Nothing may access these bytes, which are room beside a variable, until open() or until a
    /// new fiber gets the stack. Bytes outside of the stacks are ignored.
    void close(std::uint64_t address, unsigned bytes);
    void open(std::uint64_t address, unsigned bytes);
    /// Whether an access reaches into closed bytes.
    [[nodiscard]] bool isClosed(std::uint64_t address, unsigned bytes) const {
        return closed_.bytes() > 0 && (hasClosed(address) || hasClosed(address + bytes - 1));
    }

private:
    [[nodiscard]] bool hasClosed(std::uint64_t address) const;
    void mark(std::uint64_t address, unsigned bytes, bool isClosed);

    Reservation memory_;
    /// A byte for each of the stacks' bytes, 1 if it is closed. Made for the first one that is.
    Reservation closed_;
    std::vector<std::uint32_t> rooms_; ///< By stack, those that are closed.
    std::vector<std::uint32_t> free_;
    std::uint32_t taken_ = 0; ///< Stacks from this index on were never used.
};

} // namespace kernelskill::engine::emulator
