#include "engine/execution/emulator/worker/fiber_stacks.h"

namespace kernelskill::engine::emulator {

namespace {

constexpr std::uint64_t stride = FiberStacks::stackBytes + pageBytes;

} // namespace

Result<FiberStacks> FiberStacks::make(std::uint32_t count) {
    FiberStacks stacks;
    auto memory = Reservation::make(count * stride, Reservation::Access::Writable);
    if (!memory)
        return std::unexpected(memory.error());
    stacks.memory_ = std::move(*memory);
    return stacks;
}

std::uint32_t FiberStacks::take() {
    if (free_.empty()) {
        // Without its guard page a stack still works; only an overflow would reach its neighbour.
        static_cast<void>(memory_.forbid(taken_ * stride, pageBytes));
        return taken_++;
    }
    const std::uint32_t stack = free_.back();
    free_.pop_back();
    return stack;
}

std::uint64_t FiberStacks::top(std::uint32_t stack) const {
    // Tops at multiples of the page size would all compete for the same sets of the cache.
    const std::uint64_t colour = std::uint64_t{stack % 32} * 128;
    return memory_.low() + (stack + 1) * stride - colour;
}

bool FiberStacks::isGuard(std::uint64_t address) const {
    return memory_.range().contains(address) && (address - memory_.low()) % stride < pageBytes;
}

} // namespace kernelskill::engine::emulator
