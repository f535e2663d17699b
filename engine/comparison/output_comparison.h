/// Compares what two runs of a kernel left in memory, and proves that the comparison can fail.
#pragma once

#include "engine/execution/profile.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kernelskill::engine {

/// How far two results may be apart.
struct Tolerance {
    bool bitExact = true; ///< Every byte; two NaNs are equal whatever their payload.
    /// Otherwise for floating point: largest |actual - expected| / max(|expected|, scale), where
    /// scale is the buffer's root mean square. Integers are always compared bit by bit.
    double scaledError = 0;
};

/// Where one output is not what is expected. Elements are counted as scalars.
struct Difference {
    std::string buffer;
    std::uint64_t elements = 0;  ///< That it has.
    std::uint64_t differing = 0; ///< Of them.
    std::uint64_t first = 0;     ///< Of the differing ones.
    std::uint64_t last = 0;
    std::uint64_t unwritten = 0; ///< Of the differing ones: they still hold poison.
    std::string actual;          ///< Of the first.
    std::string expected;
    /// The largest of all, scaled as in Tolerance; nullopt for integers and where one side is not
    /// finite.
    std::optional<double> maxError;
};

struct Comparison {
    bool agrees = true;
    double maxError = 0; ///< Scaled as in Tolerance, over all floating-point elements.
    std::string detail;  ///< The first difference, or the largest error and where.
    /// Of the first output that differs; nullopt where all agree, or one has another size.
    std::optional<Difference> difference;
};

/// Buffers are matched by name. A buffer that one side lacks, or of another size, is a difference.
/// One that `expected` holds nothing of was not touched; what guards it in `actual` is not looked
/// at. `expected` may be of a wider floating type than `actual` (a float64 reference), never when
/// `tolerance` is exact.
[[nodiscard]] Comparison compareOutputs(const std::vector<BufferContents>& expected,
                                        const std::vector<BufferContents>& actual,
                                        const Tolerance& tolerance);

/// `outputs` with every byte zero: a candidate that computes nothing.
[[nodiscard]] std::vector<BufferContents> zeroed(std::vector<BufferContents> outputs);
/// `outputs` with every element replaced by the first one of its buffer: a candidate that computes
/// one thing.
[[nodiscard]] std::vector<BufferContents> constantFilled(std::vector<BufferContents> outputs);

/// Bytes of one scalar of `kind`; 0 when it is not a number.
[[nodiscard]] std::uint32_t scalarBytes(analysis::ScalarKind kind);
[[nodiscard]] bool isFloating(analysis::ScalarKind kind);
/// Distance from 1 to the next value, halved: the relative rounding error of `kind`. 0 for
/// integers.
[[nodiscard]] double unitRoundoff(analysis::ScalarKind kind);

} // namespace kernelskill::engine
