/// The value of a host variable while its function is followed.
#pragma once

#include "analysis/syntax/syntax.h"

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kernelskill::engine {

inline constexpr std::int64_t wholeVariable = -1;

/// A number where it is known, else a term: equal terms are equal values, whatever they are.
struct HostValue {
    std::string term;
    std::optional<std::int64_t> integer;
    std::vector<HostValue> extents;                ///< The x, y, z of a dim3.
    analysis::VariableId pointee = analysis::noId; ///< The variable whose address it is: `&local`.
    std::int64_t element = wholeVariable; ///< The element whose address it is: `&streams[2]`.
    /// The object that a pointer leads into, see MemoryUse; empty: not known.
    std::string object = {};
    std::optional<std::int64_t> offset = {}; ///< Bytes from the start of that object.
    /// The number follows from values that a scenario chose; it may differ.
    bool isAssumed = false;
};

/// A local, or an element of one.
struct HostPlace {
    analysis::VariableId variable = analysis::noId;
    std::int64_t element = wholeVariable;
    auto operator<=>(const HostPlace&) const = default;
};

[[nodiscard]] inline HostPlace placeOf(const HostValue& pointer) {
    return {pointer.pointee, pointer.element};
}

[[nodiscard]] HostValue integerValue(std::int64_t value);
/// The number if it is the same in all scenarios.
[[nodiscard]] inline std::optional<std::int64_t> certainNumber(const HostValue& value) {
    return value.isAssumed ? std::nullopt : value.integer;
}
/// Long terms are shortened to a hash.
[[nodiscard]] HostValue termValue(std::string term);
/// The number, or its term; a dim3 as its three extents.
[[nodiscard]] std::string textOf(const HostValue& value);
/// The value as an object of `type` holds it: integers wrap around.
[[nodiscard]] HostValue converted(HostValue value, const analysis::Type& type);
/// `left op right` for arithmetic, comparisons and bits; a term where it is not known.
[[nodiscard]] HostValue combined(const std::string& op, const HostValue& left,
                                 const HostValue& right);

} // namespace kernelskill::engine
