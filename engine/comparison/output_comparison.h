/// Compares the outputs of two runs of a kernel, and makes wrong outputs to test the comparison.
#pragma once

#include "engine/comparison/scalar_row.h"
#include "engine/execution/profile.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace kernelskill::engine {

/// The maximum difference between two results.
struct Tolerance {
    bool bitExact = true; ///< Every byte is equal. Two NaNs are equal, whatever their payload.
    /// Used if not bitExact, for floating point: the maximum of |actual - expected| /
    /// max(|expected|, scale), where scale is the buffer's root mean square, or its usual one if
    /// that is larger; the lane's own where elements have several. Integers are always compared bit
    /// by bit.
    double scaledError = 0;
    /// The root mean square that outputs have on usual inputs, by buffer, also for its parts
    /// ("y[4096..]"), and by lane (`laneName`). Inputs chosen to find mistakes may make all of an
    /// output cancel.
    std::map<std::string, double> usualScales = {};
};

/// The place where an output differs. Elements are counted as scalars.
struct Difference {
    std::string buffer;
    std::uint64_t elements = 0;  ///< Elements of the buffer.
    std::uint64_t differing = 0; ///< Elements that differ.
    std::uint64_t first = 0;     ///< Index of the first one that differs.
    std::uint64_t last = 0;
    std::uint64_t unwritten = 0; ///< Differing elements that still hold poison.
    std::string actual;          ///< The first differing element's value.
    std::string expected;
    /// The maximum over all elements, scaled as in Tolerance; nullopt for integers, and if one side
    /// is not finite.
    std::optional<double> maxError;
};

struct Comparison {
    bool agrees = true;
    double maxError = 0; ///< The maximum over all floating-point elements, scaled as in Tolerance.
    std::string detail;  ///< The first difference, or the maximum error and its place.
    /// The first output that differs; nullopt if all agree, or if one has another size.
    std::optional<Difference> difference;
};

/// Buffers are matched by name. A missing buffer, or one of another size, is a difference. A buffer
/// that `expected` has no contents of was not touched; its guards in `actual` are not compared.
/// `expected` may have a wider floating type than `actual` (a float64 reference), but not if
/// `tolerance` is exact.
[[nodiscard]] Comparison compareOutputs(const std::vector<BufferContents>& expected,
                                        const std::vector<BufferContents>& actual,
                                        const Tolerance& tolerance);

/// Returns `expected` with those elements of `actual` in it that are better: float's range made the
/// expected one infinite or NaN, `reference`, which has a wider type, is finite there, and the
/// actual one is within `relativeError` of it, or rounds to the same end of the range.
[[nodiscard]] std::vector<BufferContents> withinRange(std::vector<BufferContents> expected,
                                                      const std::vector<BufferContents>& reference,
                                                      const std::vector<BufferContents>& actual,
                                                      double relativeError);

/// The root mean square of each floating-point output, and of each lane where it has several.
[[nodiscard]] std::map<std::string, double> scalesOf(const std::vector<BufferContents>& outputs);

/// `outputs` with every byte zero, as if the candidate computed nothing.
[[nodiscard]] std::vector<BufferContents> zeroed(std::vector<BufferContents> outputs);
/// `outputs` with every element replaced by the first one of its buffer, as if the candidate
/// computed a constant.
[[nodiscard]] std::vector<BufferContents> constantFilled(std::vector<BufferContents> outputs);

} // namespace kernelskill::engine
