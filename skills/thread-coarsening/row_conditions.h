/// Conditions on a thread's row, and conditions under which they hold for all of its rows.
#pragma once

#include "analysis/queries/code_map.h"
#include "analysis/source/source_text.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kernelskill::skills {

/// `row < h`, `h > row`, `row + 1 < h` and the like, of integers.
struct RowComparison {
    analysis::ExprId rowSide = analysis::noId; ///< The row, or a constant more or less.
    analysis::ExprId bound = analysis::noId;   ///< Does not name the row.
    std::string_view op;                       ///< With the row on the left.
};

/// The row of a thread that a test looks at.
enum class TestedRow : std::uint8_t { First, Last };

/// `left op right`, or `left` alone, or its opposite, with a row's number in place of the row.
struct RowTest {
    analysis::ExprId left = analysis::noId;
    std::string_view op; ///< Empty: `left` alone. "!": its opposite.
    analysis::ExprId right = analysis::noId;
    TestedRow row = TestedRow::First;
};

/// Holds where one of them does.
using RowCondition = std::vector<RowTest>;

/// nullopt for other conditions, and for an unsigned row minus something, which may wrap around.
[[nodiscard]] std::optional<RowComparison>
rowComparison(const analysis::CodeMap& code, analysis::ExprId condition, analysis::VariableId row);

/// The same of `left op right`.
[[nodiscard]] std::optional<RowComparison> rowComparison(const analysis::CodeMap& code,
                                                         analysis::ExprId left, std::string_view op,
                                                         analysis::ExprId right,
                                                         analysis::VariableId row);

/// Whether an expression names the variable.
[[nodiscard]] bool names(const analysis::CodeMap& code, analysis::ExprId expr,
                         analysis::VariableId variable);

/// Holds only where the comparison holds for all rows from the first to the last.
[[nodiscard]] RowCondition holdsForAll(const RowComparison& comparison);

} // namespace kernelskill::skills
