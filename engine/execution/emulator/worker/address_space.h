/// Reserved ranges of addresses, which cost nothing until they are used.
#pragma once

#include "analysis/source/error.h"

#include <cstddef>
#include <cstdint>

namespace kernelskill::engine::emulator {

/// Bytes beside a variable of an image that nothing uses: assembly is given them, so that a kernel
/// that overruns a variable is detected.
inline constexpr std::uint64_t variableRoom = 32768;

struct AddressRange {
    std::uint64_t low = 0;
    std::uint64_t bytes = 0;
    [[nodiscard]] bool contains(std::uint64_t address) const { return address - low < bytes; }
};

/// Owns a mapping without backing pages.
class Reservation {
public:
    enum class Access : std::uint8_t {
        None,     ///< Any access faults until grant().
        Writable, ///< Zeroed pages appear on access.
    };
    [[nodiscard]] static Result<Reservation> make(std::uint64_t bytes, Access access);

    Reservation() = default;
    Reservation(Reservation&& other) noexcept;
    Reservation& operator=(Reservation&& other) noexcept;
    Reservation(const Reservation&) = delete;
    Reservation& operator=(const Reservation&) = delete;
    ~Reservation();

    [[nodiscard]] std::uint64_t low() const { return low_; }
    [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
    [[nodiscard]] AddressRange range() const { return {low_, bytes_}; }

    /// Changes the protection of whole pages. Async-signal-safe. Returns false if the system
    /// refuses.
    [[nodiscard]] bool grant(std::uint64_t offset, std::uint64_t bytes) const;
    /// Makes all pages appear at once instead of one fault at a time. Only a hint.
    void populate(std::uint64_t offset, std::uint64_t bytes) const;
    [[nodiscard]] bool forbid(std::uint64_t offset, std::uint64_t bytes) const;

private:
    std::uint64_t low_ = 0;
    std::uint64_t bytes_ = 0;
};

inline constexpr std::uint64_t pageBytes = 4096;

} // namespace kernelskill::engine::emulator
