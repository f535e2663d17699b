#include "skills/gates/fold_kind.h"

#include <algorithm>
#include <array>
#include <utility>

namespace kernelskill::skills {

namespace {

using Operator = std::pair<FoldKind, std::string_view>;

constexpr std::array<Operator, 5> operators = {{{FoldKind::Sum, "+="},
                                                {FoldKind::Product, "*="},
                                                {FoldKind::BitAnd, "&="},
                                                {FoldKind::BitOr, "|="},
                                                {FoldKind::BitXor, "^="}}};

} // namespace

std::string_view assignmentOperator(FoldKind fold) {
    const auto found = std::ranges::find(operators, fold, &Operator::first);
    return found == operators.end() ? "" : found->second;
}

std::optional<FoldKind> foldByOperator(std::string_view op) {
    const auto found = std::ranges::find(operators, op, &Operator::second);
    return found == operators.end() ? std::nullopt : std::optional(found->first);
}

} // namespace kernelskill::skills
