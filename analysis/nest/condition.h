/// The conditions under which a part of a kernel runs.
#pragma once

#include "analysis/model/index_expression.h"

#include <cstdint>
#include <string>
#include <vector>

namespace kernelskill::analysis {

/// A truth value over the integers of a nest. Kept in a normal form, so that equal conditions of
/// equal shape compare equal: negations stand at the leaves alone.
struct NestCondition {
    enum class Kind : std::uint8_t {
        Always,
        Never,
        NotNegative, ///< expression >= 0
        Zero,        ///< expression == 0
        NotZero,
        All,     ///< Every one of `parts`.
        Any,     ///< At least one of `parts`.
        Unknown, ///< Not about integers that are followed; `text` tells what it asks.
    };
    Kind kind = Kind::Always;
    IndexExpression expression;
    std::vector<NestCondition> parts;
    std::string text;
    std::uint32_t id = 0;   ///< Of Unknown: those of one number have one value.
    bool isNegated = false; ///< Of Unknown.

    bool operator==(const NestCondition&) const = default;

    static NestCondition never() { return {Kind::Never, {}, {}, {}, 0, false}; }
    static NestCondition notNegative(IndexExpression expression);
    static NestCondition zero(IndexExpression expression);
    static NestCondition unknown(std::string text, std::uint32_t id);

    [[nodiscard]] bool isAlways() const { return kind == Kind::Always; }
    [[nodiscard]] bool isNever() const { return kind == Kind::Never; }
};

[[nodiscard]] NestCondition negation(const NestCondition& condition);
[[nodiscard]] NestCondition both(const NestCondition& a, const NestCondition& b);
[[nodiscard]] NestCondition either(const NestCondition& a, const NestCondition& b);

} // namespace kernelskill::analysis
