#include "engine/execution/emulator/worker/fiber_stacks.h"

#include <cstring>
#include <utility>

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
    // A thread that was ended before its functions returned leaves rooms closed.
    if (closed_.bytes() > 0 && std::exchange(rooms_[stack], 0) > 0)
        mark(memory_.low() + stack * stride, stride, false);
    return stack;
}

std::uint64_t FiberStacks::top(std::uint32_t stack) const {
    // Tops at multiples of the page size would all compete for the same sets of the cache.
    const std::uint64_t colour = std::uint64_t{stack % 32} * 128;
    return memory_.low() + (stack + 1) * stride - colour;
}

void FiberStacks::close(std::uint64_t address, unsigned bytes) {
    if (!memory_.range().contains(address) || !memory_.range().contains(address + bytes))
        return;
    if (closed_.bytes() == 0) {
        auto closed = Reservation::make(memory_.bytes(), Reservation::Access::Writable);
        if (!closed)
            return; // Without them no access into a room is seen.
        closed_ = std::move(*closed);
        rooms_.resize(memory_.bytes() / stride);
    }
    mark(address, bytes, true);
    ++rooms_[(address - memory_.low()) / stride];
}

void FiberStacks::open(std::uint64_t address, unsigned bytes) {
    if (closed_.bytes() == 0 || !memory_.range().contains(address) ||
        !memory_.range().contains(address + bytes))
        return;
    mark(address, bytes, false);
    --rooms_[(address - memory_.low()) / stride];
}

bool FiberStacks::hasClosed(std::uint64_t address) const {
    // NOLINTNEXTLINE(performance-no-int-to-ptr)
    const auto* const marks = reinterpret_cast<const std::uint8_t*>(closed_.low());
    return memory_.range().contains(address) && marks[address - memory_.low()] != 0;
}

void FiberStacks::mark(std::uint64_t address, unsigned bytes, bool isClosed) {
    // NOLINTNEXTLINE(performance-no-int-to-ptr)
    std::memset(reinterpret_cast<void*>(closed_.low() + (address - memory_.low())),
                isClosed ? 1 : 0, bytes);
}

bool FiberStacks::isGuard(std::uint64_t address) const {
    return memory_.range().contains(address) && (address - memory_.low()) % stride < pageBytes;
}

} // namespace kernelskill::engine::emulator
