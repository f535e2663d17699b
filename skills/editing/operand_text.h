/// Expressions as text beside an operator that they did not stand beside. Their spans are without
/// the parentheses around them.
#pragma once

#include "analysis/queries/code_map.h"
#include "analysis/source/source_text.h"
#include "analysis/syntax/syntax.h"

#include <string>

namespace kernelskill::skills {

/// To stand beside *, / or %: in parentheses unless it is a name, a literal or the like.
[[nodiscard]] std::string besideProduct(const analysis::SourceText& source,
                                        const analysis::Expr& expr);
/// To stand beside +, < and other comparisons: in parentheses if it binds more loosely than a sum.
[[nodiscard]] std::string besideComparison(const analysis::SourceText& source,
                                           const analysis::Expr& expr);

/// Whether a sum in the place of `use` needs no parentheses.
[[nodiscard]] bool standsAlone(const analysis::CodeMap& code, analysis::ExprId use);

/// The span with the parentheses around it, where they hold nothing else and are not part of a
/// call, a cast or a statement.
[[nodiscard]] analysis::Span withParentheses(const analysis::SourceText& source,
                                             analysis::Span span);
/// The span with all parentheses around it that hold nothing else and belong to no call or
/// statement, also those of an operand of a comparison, an index or an argument.
[[nodiscard]] analysis::Span withAllParentheses(const analysis::SourceText& source,
                                                analysis::Span span);

} // namespace kernelskill::skills
