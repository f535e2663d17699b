#include "engine/execution/emulator/worker/address_space.h"

#include <spdlog/fmt/fmt.h>

#include <sys/mman.h>
#include <utility>

namespace kernelskill::engine::emulator {

namespace {

// Mappings are primarily addresses here: rows of lanes, buffers and shadows are computed, not
// typed.
void* pointerTo(std::uint64_t address) {
    return reinterpret_cast<void*>(address); // NOLINT(performance-no-int-to-ptr)
}

} // namespace

Result<Reservation> Reservation::make(std::uint64_t bytes, Access access) {
    const int protection = access == Access::None ? PROT_NONE : PROT_READ | PROT_WRITE;
    void* const memory =
        mmap(nullptr, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
        return std::unexpected(Error{
            ErrorKind::Missing, fmt::format("cannot reserve {} MiB of addresses", bytes >> 20),
            "emulator worker", "raise the limit on virtual memory (ulimit -v)"});
    }
    Reservation reservation;
    reservation.low_ = reinterpret_cast<std::uint64_t>(memory);
    reservation.bytes_ = bytes;
    return reservation;
}

Reservation::Reservation(Reservation&& other) noexcept
    : low_(std::exchange(other.low_, 0)), bytes_(std::exchange(other.bytes_, 0)) {}

Reservation& Reservation::operator=(Reservation&& other) noexcept {
    std::swap(low_, other.low_);
    std::swap(bytes_, other.bytes_);
    return *this;
}

Reservation::~Reservation() {
    if (bytes_ != 0)
        munmap(pointerTo(low_), bytes_);
}

bool Reservation::grant(std::uint64_t offset, std::uint64_t bytes) const {
    return mprotect(pointerTo(low_ + offset), bytes, PROT_READ | PROT_WRITE) == 0;
}

void Reservation::populate([[maybe_unused]] std::uint64_t offset,
                           [[maybe_unused]] std::uint64_t bytes) const {
#ifdef MADV_POPULATE_WRITE // Linux 5.14
    static_cast<void>(madvise(pointerTo(low_ + offset), bytes, MADV_POPULATE_WRITE));
#endif
}

bool Reservation::forbid(std::uint64_t offset, std::uint64_t bytes) const {
    return mprotect(pointerTo(low_ + offset), bytes, PROT_NONE) == 0;
}

} // namespace kernelskill::engine::emulator
