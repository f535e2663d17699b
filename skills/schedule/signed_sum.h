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

/// Returns the expression by which a sum replaces a local; noId: the sum keeps the local's name.
using KnownValue = std::function<analysis::ExprId(analysis::VariableId)>;

/// Splits `expr` into terms, at additions, subtractions, `&a[i]` and the values of `knownValue`.
[[nodiscard]] SignedSum sumOf(const analysis::CodeMap& code, analysis::ExprId expr,
                              const KnownValue& knownValue);
/// Subtracts: `left - right`. Terms of both cancel if they are the same expression.
[[nodiscard]] SignedSum difference(const analysis::CodeMap& code, SignedSum left,
                                   const SignedSum& right);
/// Removes the pointer from a sum of one pointer and numbers, and returns it; noId: the sum is
/// another one, and stays as it is.
[[nodiscard]] analysis::ExprId takePointer(const analysis::CodeMap& code, SignedSum& sum);
/// Whether no term is a pointer.
[[nodiscard]] bool isNumber(const analysis::CodeMap& code, const SignedSum& sum);
/// Writes the sum: "n", "n - 1", "i * n + 2"; "0" if nothing is left.
[[nodiscard]] std::string sumText(const analysis::CodeMap& code, const analysis::SourceText& source,
                                  const SignedSum& sum);

} // namespace kernelskill::skills
