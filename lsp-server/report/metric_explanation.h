/// The meaning of a metric, in a plain sentence.
#pragma once

#include <string_view>

namespace kernelskill::lsp {

/// The meaning of a metric of metricSections(), by its name; empty where its label says it all.
[[nodiscard]] std::string_view explanationOf(std::string_view metric);

} // namespace kernelskill::lsp
