/// How reports look: report.css, built into the program.
#pragma once

#include <string_view>

namespace kernelskill::lsp {

[[nodiscard]] std::string_view reportStyle();

} // namespace kernelskill::lsp
