/// A report as one HTML page that needs nothing else: no script, no other file, no network.
#pragma once

#include "lsp-server/report/html/report.h"

#include <string>

namespace kernelskill::lsp {

/// UTF-8. Reads in light and dark, on a narrow window and on paper. Texts of the report cannot
/// become markup.
[[nodiscard]] std::string writeReport(const Report& report);

} // namespace kernelskill::lsp
