/// Sums up how a part of memory differs from what it should be.
#pragma once

#include "engine/replay/replay_wire.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace kernelskill::engine {

/// Tallies one part of memory, which is given in pieces.
class DifferenceTally {
public:
    /// `elements` are the types of memory at device addresses. Where several ranges hold a byte,
    /// the one that begins last counts.
    DifferenceTally(std::string where, std::uint64_t address, std::uint64_t bytes,
                    std::span<const TypedRange> elements);

    /// A piece at `offset`: what is there, what should be there, and what was there before the
    /// launch; all of one size. The numbers that should be there give the scale of a difference,
    /// which may be between two numbers near 0 that are sums of larger ones.
    void add(std::uint64_t offset, std::span<const std::byte> found,
             std::span<const std::byte> expected, std::span<const std::byte> before);
    /// Says that there are more differences than were given: their numbers are not known.
    void leaveOut();

    /// nullopt if nothing differs.
    [[nodiscard]] std::optional<MemoryDifference> result() const;

private:
    /// A stretch of one type, up to the next one.
    struct Stretch {
        std::uint64_t offset = 0;
        MemoryElement element = MemoryElement::Bytes;
    };
    /// A piece of memory as add() gets it.
    struct Piece {
        std::uint64_t offset = 0;
        std::span<const std::byte> found;
        std::span<const std::byte> expected;
        std::span<const std::byte> before;

        [[nodiscard]] Piece part(std::size_t from, std::size_t size) const;
        [[nodiscard]] bool differs() const;
        /// Counts the bytes that differ.
        [[nodiscard]] std::uint64_t differingBytes() const;
    };
    void addStretch(const Piece& piece, MemoryElement element, std::uint64_t begin);
    void addNumber(const Piece& number, MemoryElement element, double scale);
    void addPart(const Piece& part);
    void addStrayBytes(const Piece& bytes);

    MemoryDifference difference_;
    std::vector<Stretch> stretches_; ///< Sorted by offset; the first one begins at 0.
    bool differs_ = false;
    bool isOfOneType_ = true;
};

} // namespace kernelskill::engine
