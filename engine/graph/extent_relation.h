/// Conditions on dynamic extents: read from sympy's text, written plainly, evaluated.
#pragma once

#include "analysis/source/error.h"
#include "engine/graph/program.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kernelskill::engine::graph {

/// Reads sympy's srepr of a condition, "LessThan(Symbol('s0', integer=True), Integer(8))"; of
/// several that hold together, "And(...)", one each. nullopt for conditions of other kinds and for
/// operands that are no extents.
[[nodiscard]] std::optional<std::vector<ExtentRelation>> parseRelations(std::string_view text);

/// "s0 <= 8".
[[nodiscard]] std::string textOf(const ExtentRelation& relation);
/// "<=", in Python and in C.
[[nodiscard]] std::string_view operatorOf(ExtentRelation::Kind kind);

/// Whether the condition holds. Failed if a side has no value.
[[nodiscard]] Result<bool> holds(const ExtentRelation& relation,
                                 const std::map<std::string, std::int64_t>& symbols);

} // namespace kernelskill::engine::graph
