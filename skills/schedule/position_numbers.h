/// The numbers of threads in the grid: index arithmetic by them, and kernels that ask for nothing
/// else of their threads' positions.
#pragma once

#include "analysis/model/index_expression.h"
#include "analysis/queries/code_map.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <set>

namespace kernelskill::skills {

/// Returns `expression` with number - width * blockIdx in the place of threadIdx, where `number` is
/// the thread's number along the axis of the grid.
[[nodiscard]] analysis::IndexExpression byNumber(const analysis::IndexExpression& expression,
                                                 std::uint32_t axis,
                                                 const analysis::IndexExpression& width);

/// Whether an expression made by byNumber() depends, along the axis, only on the thread's number
/// and on how many threads the grid has.
[[nodiscard]] bool isByNumberAlone(const analysis::IndexExpression& expression, std::uint32_t axis);

/// The uses of a thread's position along one axis in the code of a kernel.
class PositionUses {
public:
    /// Whether a value depends on the position only by the thread's number in the grid.
    using IsNumber = std::function<bool(const analysis::IndexExpression& value)>;

    /// Keeps a reference to `code`.
    PositionUses(const analysis::CodeMap& code, std::uint32_t axis, IsNumber isNumber);

    /// The first use for something other than the thread's number; nullopt: there is none.
    [[nodiscard]] std::optional<analysis::ExprId> firstOtherUse() const;

private:
    void findParts();
    [[nodiscard]] bool isUse(analysis::ExprId id) const;
    [[nodiscard]] std::optional<analysis::ExprId> useIn(analysis::ExprId id) const;
    [[nodiscard]] std::optional<analysis::ExprId> otherUseIn(analysis::ExprId id) const;

    const analysis::CodeMap& code_;
    const analysis::FunctionBody& body_;
    std::uint32_t axis_;
    IsNumber isNumber_;
    /// Locals that hold a part of the number, such as threadIdx.x: what is made of them counts.
    std::set<analysis::VariableId> parts_;
};

} // namespace kernelskill::skills
