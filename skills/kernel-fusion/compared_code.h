/// Code of two kernels, compared as text.
#pragma once

#include "analysis/queries/code_map.h"

#include <map>
#include <string>
#include <string_view>

namespace kernelskill::skills {

/// Returns the tokens of `text`, each with a space behind it. Names that are keys of `renamed` are
/// replaced.
[[nodiscard]] std::string tokensOf(std::string_view text,
                                   const std::map<std::string, std::string>& renamed = {});

} // namespace kernelskill::skills
