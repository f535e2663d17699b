/// The values that index arithmetic of a kernel has over all threads of one launch.
#pragma once

#include "analysis/model/kernel_model.h"
#include "analysis/queries/code_map.h"
#include "analysis/queries/value_range.h"

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace kernelskill::analysis {

/// The numbers of a launch. Axes x, y, z.
struct LaunchNumbers {
    std::array<std::int64_t, 3> grid{1, 1, 1};
    std::array<std::int64_t, 3> block{1, 1, 1};
    std::vector<std::optional<std::int64_t>> arguments; ///< The arguments of integer parameters.
};

/// Beyond it a sum of the text may wrap around in 32 bits.
[[nodiscard]] constexpr bool isSmallIndex(std::int64_t value) {
    constexpr std::int64_t largest = (std::int64_t{1} << 31) - 1;
    return value >= -largest && value <= largest;
}

/// Only the head of the loop changes its index.
[[nodiscard]] bool leavesIndexAlone(const CodeMap& code, const Loop& loop);

/// Keeps references to all that it is given.
class LaunchIntervals {
public:
    LaunchIntervals(const KernelModel& kernel, const CodeMap& code, const LaunchNumbers& numbers)
        : kernel_(kernel), code_(code), numbers_(numbers) {}

    /// nullopt where a symbol is not known, and where a part is no small index.
    [[nodiscard]] std::optional<ValueRange> of(const IndexExpression& expr, int depth = 0) const;
    /// Symbols that are one number at this launch replaced by it.
    [[nodiscard]] IndexExpression withNumbers(const IndexExpression& expr) const;

private:
    [[nodiscard]] std::optional<std::int64_t> numberOf(const Symbol& symbol) const;
    [[nodiscard]] std::optional<ValueRange> rangeOf(const Symbol& symbol, int depth) const;
    [[nodiscard]] bool isPositive(const Loop& loop, int depth) const;

    const KernelModel& kernel_;
    const CodeMap& code_;
    const LaunchNumbers& numbers_;
};

} // namespace kernelskill::analysis
