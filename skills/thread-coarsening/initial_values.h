/// Locals that are declared first and set later, as if they were declared where they are set.
#pragma once

#include "analysis/queries/code_map.h"

#include <cstdint>

namespace kernelskill::skills {

/// `int n; ... n = i + 1;` as `int n = i + 1;`, where nothing else sets n and nothing uses it
/// before: to look at values, not to write text. Ids are kept.
[[nodiscard]] analysis::FunctionBody withInitialValues(const analysis::CodeMap& code);

/// Does the same for those alone that hold a thread's place along the axis. Text of the others can
/// still be written from it.
[[nodiscard]] analysis::FunctionBody withInitialRows(const analysis::CodeMap& code,
                                                     std::uint8_t axis);

} // namespace kernelskill::skills
