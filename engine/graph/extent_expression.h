/// Expressions of dynamic extents: read from sympy's text, written plainly, evaluated.
#pragma once

#include "analysis/source/error.h"
#include "engine/graph/program.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace kernelskill::engine::graph {

/// Arithmetic over symbols. Division is exact where torch says so, and of rational numbers in
/// between; an extent's value is an integer.
struct ExtentExpression {
    enum class Kind : std::uint8_t {
        Integer,     ///< `integer`
        Symbol,      ///< `symbol`
        Sum,         ///< of all operands
        Product,     ///< of all operands
        Quotient,    ///< exact
        FloorDivide, ///< rounded towards minus infinity
        CeilDivide,  ///< rounded towards infinity
        Modulo,      ///< with the sign of the divisor
        Power,       ///< to an exponent of -64 … 64
        Min,
        Max,
    };
    Kind kind = Kind::Integer;
    std::int64_t integer = 0;
    std::string symbol;
    std::vector<ExtentExpression> operands;
};

/// Reads sympy's srepr ("Add(Mul(Integer(2), Symbol('s77', integer=True)), Integer(1))") and plain
/// text ("2*s77 + 1", "(s0 + 1)//2", "max(s0, 2)", "s0 % 2", "s0**2"). InvalidInput, at `where`,
/// for functions of another kind (they are named) and for text of more than 4096 bytes or 64
/// levels.
[[nodiscard]] Result<ExtentExpression> parseExtent(std::string_view text, const std::string& where);

/// Plain text, which parseExtent() reads: "2*s77 + 1".
[[nodiscard]] std::string textOf(const ExtentExpression& expression);

/// Failed if a symbol has no value, a divisor is 0, the value is no integer, or 63 bits do not do.
[[nodiscard]] Result<std::int64_t>
evaluateExtent(const ExtentExpression& expression,
               const std::map<std::string, std::int64_t>& symbols);

/// The same of an extent of a program; a static one has its value.
[[nodiscard]] Result<std::int64_t>
evaluateExtent(const Extent& extent, const std::map<std::string, std::int64_t>& symbols);

} // namespace kernelskill::engine::graph
