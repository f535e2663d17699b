/// A buffer as a row of numbers.
#pragma once

#include "analysis/syntax/scalar_bytes.h"
#include "engine/execution/profile.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace kernelskill::engine {

/// The relative rounding error of `kind`: half the distance from 1 to the next value. 0 for
/// integers.
[[nodiscard]] double unitRoundoff(analysis::ScalarKind kind);
/// The number at `from`; 0 if `kind` is not floating.
[[nodiscard]] double floatingScalar(analysis::ScalarKind kind, const std::byte* from);

/// The whole buffer's name: "y" of a part "y[4096..]" that a run of some blocks wrote.
[[nodiscard]] std::string wholeName(const std::string& part);
/// The scale of a buffer, or of the one that it is a part of; 0 if `scales` lacks it.
[[nodiscard]] double usualScale(const std::map<std::string, double>& scales,
                                const std::string& buffer);

/// The buffer outlives the row.
struct ScalarRow {
    const BufferContents& buffer;
    std::uint32_t step; ///< Bytes of a scalar, or of an element that is no number.

    explicit ScalarRow(const BufferContents& contents)
        : buffer(contents), step(analysis::scalarBytes(contents.element) != 0
                                     ? analysis::scalarBytes(contents.element)
                                     : std::max(contents.elementBytes, 1u)) {}
    [[nodiscard]] std::size_t size() const { return buffer.bytes.size() / step; }
    /// How many numbers an element has: those of a vector or of an object of a class; 1 for a plain
    /// number.
    [[nodiscard]] std::size_t lanes() const;
    [[nodiscard]] std::span<const std::byte> bytes(std::size_t index) const {
        return std::span(buffer.bytes).subspan(index * step, step);
    }
    [[nodiscard]] double value(std::size_t index) const {
        return floatingScalar(buffer.element, bytes(index).data());
    }
};

/// Counts the finite numbers alone; 0 if there are none.
[[nodiscard]] double rootMeanSquare(const ScalarRow& row);
/// The root mean square of each lane.
[[nodiscard]] std::vector<double> rootMeanSquares(const ScalarRow& row);

/// The key of a lane's scale beside the buffer's own.
[[nodiscard]] std::string laneName(const std::string& buffer, std::size_t lane);

} // namespace kernelskill::engine
