/// Which bytes behind its parameters a kernel touches, at a launch whose numbers are known.
#pragma once

#include "analysis/model/kernel_model.h"
#include "analysis/queries/code_map.h"
#include "analysis/queries/launch_intervals.h"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace kernelskill::analysis {

/// From an address on; the end excluded. Empty where `end` is not above `begin`.
struct ByteRange {
    std::int64_t begin = 0;
    std::int64_t end = 0;
    bool operator==(const ByteRange&) const = default;
};

[[nodiscard]] inline bool areApart(const ByteRange& a, const ByteRange& b) {
    return a.end <= b.begin || b.end <= a.begin;
}

/// Offsets and lengths beyond it, either way, are not followed: sums of some of them fit 64 bits.
inline constexpr std::int64_t maxByteOffset = std::int64_t{1} << 50;

/// `from` plus or minus `index` elements of `size` bytes; nullopt where that is too far.
[[nodiscard]] constexpr std::optional<std::int64_t>
steppedBytes(std::int64_t from, std::string_view op, std::int64_t index, std::int64_t size) {
    constexpr std::int64_t maxElements = std::int64_t{1} << 40;
    constexpr std::int64_t maxElementSize = 1 << 10;
    if (index < -maxElements || index > maxElements || size < 1 || size > maxElementSize)
        return std::nullopt;
    const std::int64_t offset = op == "-" ? from - index * size : from + index * size;
    return offset < -maxByteOffset || offset > maxByteOffset ? std::nullopt : std::optional(offset);
}

/// So many bytes; nullopt where that is no length, or too many.
[[nodiscard]] constexpr std::optional<ByteRange> firstBytes(std::int64_t count) {
    return count < 0 || count > maxByteOffset ? std::nullopt : std::optional(ByteRange{0, count});
}

[[nodiscard]] inline ByteRange movedBy(const ByteRange& range, std::int64_t bytes) {
    return {range.begin + bytes, range.end + bytes};
}

/// Reads the kernel's text once: index arithmetic, the loops and the conditions around accesses.
/// Keeps a reference to the kernel.
class KernelReach {
public:
    explicit KernelReach(const KernelModel& kernel);

    /// No thread of the launch touches a byte behind this parameter outside of that range, counted
    /// from where the argument points to. nullopt: not known.
    [[nodiscard]] std::optional<ByteRange> of(std::size_t parameter,
                                              const LaunchNumbers& numbers) const;

private:
    /// Holds where an access is made: `excess` is at most 0. `larger`, the side that is not
    /// below the other, must not be negative where the comparison is of unsigned numbers.
    struct Bound {
        IndexExpression excess;
        IndexExpression larger;
        bool isUnsigned = false;
    };
    struct Access {
        IndexExpression index; ///< In elements of `width` bytes.
        std::uint32_t width = 0;
        std::vector<Bound> bounds;
    };

    [[nodiscard]] std::optional<std::vector<Access>> accessesOf(VariableId base) const;
    [[nodiscard]] std::vector<Bound> boundsAt(ExprId place) const;
    void addBounds(ExprId condition, bool holds, ExprId place, std::vector<Bound>& bounds) const;
    [[nodiscard]] std::optional<IndexExpression> polynomial(ExprId expr, ExprId place) const;

    const KernelModel& kernel_;
    CodeMap code_;
    std::vector<std::optional<std::vector<Access>>> parameters_; ///< In the kernel's order.
};

} // namespace kernelskill::analysis
