/// The one reader of integers and grids in the code of a function. It answers from constants and
/// from the text alone: nothing is run, and the order of statements does not count.
#pragma once

#include "analysis/syntax/syntax.h"

#include <array>
#include <cstdint>
#include <optional>

namespace kernelskill::analysis {

/// x, y, z of a grid or a block; nullopt on an axis that is not known.
using KnownExtents = std::array<std::optional<std::int64_t>, 3>;

/// True for a dim3, also behind a reference.
[[nodiscard]] bool isDim3(const Type& type);

/// Evaluates constants, casts, operators, min and max, and numbers that are rounded to integers, as
/// in `(int)ceil((float)n / 256)`. Subclasses add the values of names. For one thread.
class IntegerValues {
public:
    /// Keeps the reference.
    explicit IntegerValues(const FunctionBody& body) : body_(body) {}
    virtual ~IntegerValues() = default;

    /// The value of an integral expression; nullopt where it is not known, or where it does not fit
    /// its type. `depth` counts the definitions and operators around it.
    [[nodiscard]] std::optional<std::int64_t> value(ExprId expr, int depth = 0) const;
    /// The axes of a dim3; an integer is one along x.
    [[nodiscard]] KnownExtents extents(ExprId expr, int depth = 0) const;

protected:
    /// The initialiser of a variable that holds it wherever it is read; noId for other variables.
    [[nodiscard]] virtual ExprId fixedValue(VariableId variable) const = 0;
    /// The axes of a dim3 without fixed value whose members are set one by one; unknown otherwise.
    [[nodiscard]] virtual KnownExtents extentsByMember(VariableId variable, int depth) const;
    /// The value of an expression that no constant or operator gives: a variable without fixed
    /// value, a built-in index, a call.
    [[nodiscard]] virtual std::optional<std::int64_t> leaf(const Expr& expr, int depth) const;

    [[nodiscard]] const FunctionBody& body() const { return body_; }

private:
    [[nodiscard]] std::optional<std::int64_t> unchecked(const Expr& expr, int depth) const;
    [[nodiscard]] std::optional<std::int64_t> operation(const Expr& expr, int depth) const;
    [[nodiscard]] std::optional<double> real(ExprId expr, int depth) const;
    [[nodiscard]] std::optional<double> realOperation(const Expr& expr, int depth) const;
    [[nodiscard]] std::optional<std::int64_t> truncated(ExprId expr, int depth) const;
    [[nodiscard]] ExprId withoutCasts(ExprId expr) const;
    /// Whether the member is the size of a warp that a device reports: CUDA has one for all.
    [[nodiscard]] bool isWarpSize(const Expr& member) const;

    const FunctionBody& body_;
    mutable int steps_ = 0; ///< Expressions followed for the value at depth 0.
};

} // namespace kernelskill::analysis
