#include "analysis/nest/condition.h"

#include <algorithm>

namespace kernelskill::analysis {

namespace {

using ConditionKind = NestCondition::Kind;

NestCondition combined(ConditionKind kind, const NestCondition& a, const NestCondition& b) {
    NestCondition result;
    result.kind = kind;
    for (const NestCondition* side : {&a, &b}) {
        const std::vector<NestCondition> own =
            side->kind == kind ? side->parts : std::vector<NestCondition>{*side};
        for (const NestCondition& part : own)
            if (std::ranges::find(result.parts, part) == result.parts.end())
                result.parts.push_back(part);
    }
    return result.parts.size() == 1 ? result.parts.front() : result;
}

} // namespace

NestCondition NestCondition::notNegative(IndexExpression expression) {
    if (const auto value = expression.asConstant())
        return *value >= 0 ? NestCondition{} : never();
    return {Kind::NotNegative, std::move(expression), {}, {}, 0, false};
}

NestCondition NestCondition::zero(IndexExpression expression) {
    if (const auto value = expression.asConstant())
        return *value == 0 ? NestCondition{} : never();
    return {Kind::Zero, std::move(expression), {}, {}, 0, false};
}

NestCondition NestCondition::unknown(std::string text, std::uint32_t id) {
    return {Kind::Unknown, {}, {}, std::move(text), id, false};
}

NestCondition negation(const NestCondition& condition) {
    NestCondition result = condition;
    switch (condition.kind) {
    case ConditionKind::Always:
        return NestCondition::never();
    case ConditionKind::Never:
        return {};
    case ConditionKind::NotNegative: // e < 0
        return NestCondition::notNegative(IndexExpression::constant(-1) - condition.expression);
    case ConditionKind::Zero:
        result.kind = ConditionKind::NotZero;
        return result;
    case ConditionKind::NotZero:
        result.kind = ConditionKind::Zero;
        return result;
    case ConditionKind::All:
    case ConditionKind::Any:
        result.kind =
            condition.kind == ConditionKind::All ? ConditionKind::Any : ConditionKind::All;
        std::ranges::transform(condition.parts, result.parts.begin(), negation);
        return result;
    case ConditionKind::Unknown:
        result.isNegated = !condition.isNegated;
        return result;
    }
    return result;
}

NestCondition both(const NestCondition& a, const NestCondition& b) {
    if (a.isAlways() || b.isNever())
        return b;
    if (b.isAlways() || a.isNever())
        return a;
    return combined(ConditionKind::All, a, b);
}

NestCondition either(const NestCondition& a, const NestCondition& b) {
    if (a.isNever() || b.isAlways())
        return b;
    if (b.isNever() || a.isAlways())
        return a;
    return combined(ConditionKind::Any, a, b);
}

} // namespace kernelskill::analysis
