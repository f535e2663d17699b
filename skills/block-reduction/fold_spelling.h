/// How code spells what an atomic does, for values in registers.
#pragma once

#include "skills/schedule/contended_updates.h"

#include <string>
#include <string_view>

namespace kernelskill::skills {

class FoldSpelling {
public:
    /// `element` is the spelling of the type with kind `scalar`.
    FoldSpelling(UpdateOperation operation, analysis::ScalarKind scalar, std::string element)
        : operation_(operation), scalar_(scalar), element_(std::move(element)) {}

    [[nodiscard]] bool isOperator() const { return !assignment().empty(); }
    /// "+="; empty where the operation is a function.
    [[nodiscard]] std::string_view assignment() const;
    [[nodiscard]] std::string_view function() const; ///< "min" or "max".
    /// "value += other", "value = max(value, other)".
    [[nodiscard]] std::string folded(const std::string& value, const std::string& other) const;
    /// What changes nothing when it is folded in.
    [[nodiscard]] std::string neutral() const;
    /// "static_cast<int>(" where the atomic's parameter converts a value of `type` and the fold
    /// would not; else empty.
    [[nodiscard]] std::string conversion(const analysis::Type& type) const;

private:
    [[nodiscard]] std::string largestValue() const;
    [[nodiscard]] std::string smallestValue() const;

    UpdateOperation operation_;
    analysis::ScalarKind scalar_;
    std::string element_;
};

} // namespace kernelskill::skills
