/// Sums and differences as their terms, to subtract one value of the code from another.
#pragma once

#include "analysis/queries/code_map.h"
#include "analysis/source/source_text.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace kernelskill::skills {

struct SignedTerm {
    analysis::ExprId expr = analysis::noId;
    bool isNegative = false;
};

/// The terms' sum, plus a constant.
struct SignedSum {
    std::vector<SignedTerm> terms;
    std::int64_t constant = 0;
};

/// Returns the value of a local that a sum may have in the local's place; noId: it keeps the name.
using KnownValue = std::function<analysis::ExprId(analysis::VariableId)>;

/// The terms of `expr`, through additions, subtractions, `&a[i]` and the values of `knownValue`.
[[nodiscard]] SignedSum sumOf(const analysis::CodeMap& code, analysis::ExprId expr,
                              const KnownValue& knownValue);
/// `left - right`. Terms of both cancel if they are the same expression.
[[nodiscard]] SignedSum difference(const analysis::CodeMap& code, SignedSum left,
                                   const SignedSum& right);
/// Takes the one pointer out of the sum; noId, and the sum stays, if it is not a pointer and
/// numbers.
[[nodiscard]] analysis::ExprId takePointer(const analysis::CodeMap& code, SignedSum& sum);
/// Whether no term is a pointer.
[[nodiscard]] bool isNumber(const analysis::CodeMap& code, const SignedSum& sum);
/// "n", "n - 1", "i * n + 2"; "0" if nothing is left.
[[nodiscard]] std::string textOf(const analysis::CodeMap& code, const analysis::SourceText& source,
                                 const SignedSum& sum);

} // namespace kernelskill::skills
