/// Spells in C++ for values in registers what an atomic does in memory.
#pragma once

#include "analysis/model/kernel_model.h"
#include "skills/gates/fold_kind.h"

#include <string>
#include <string_view>

namespace kernelskill::skills {

class FoldSpelling {
public:
    /// `element` is the spelling of the type with kind `scalar`.
    FoldSpelling(FoldKind fold, analysis::ScalarKind scalar, std::string element)
        : fold_(fold), scalar_(scalar), element_(std::move(element)) {}

    [[nodiscard]] bool isOperator() const { return !assignment().empty(); }
    /// "+="; empty where the fold is a call of min or max.
    [[nodiscard]] std::string_view assignment() const { return assignmentOperator(fold_); }
    [[nodiscard]] std::string_view function() const; ///< "min" or "max".
    /// "value += other", "value = max(value, other)".
    [[nodiscard]] std::string folded(const std::string& value, const std::string& other) const;
    /// The value that changes nothing when it is folded in.
    [[nodiscard]] std::string neutral() const;
    /// "static_cast<int>(" if the atomic's parameter converts a value of `type` and the fold would
    /// not; else empty.
    [[nodiscard]] std::string conversion(const analysis::Type& type) const;

private:
    [[nodiscard]] std::string largestValue() const;
    [[nodiscard]] std::string smallestValue() const;

    FoldKind fold_;
    analysis::ScalarKind scalar_;
    std::string element_;
};

} // namespace kernelskill::skills
