/// The comparison of counts with a baseline, for terminals, reviews and build servers.
#pragma once

#include "engine/regression/comparison_with_baseline.h"

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <vector>

namespace kernelskill::lsp {

/// {kernels: [{file, kernel, status, reason, counts: [{name, words, before, after}]}], regressions}
[[nodiscard]] nlohmann::json
regressionJson(const std::vector<engine::CountedKernelChange>& changes);

/// "3 kernels: 1 worse, 2 same"
[[nodiscard]] std::string
regressionSummary(const std::vector<engine::CountedKernelChange>& changes);

/// "sectors loaded 1024 -> 4096 (4x)", the counts by one another.
[[nodiscard]] std::string changedCountsText(const engine::CountedKernelChange& change);

/// A heading, the summary, and a table of what is not the same.
[[nodiscard]] std::string
regressionMarkdown(const std::vector<engine::CountedKernelChange>& changes);

/// One test case a kernel, as JUnit's XML: regressions have failed, what could not be compared was
/// skipped.
[[nodiscard]] std::string regressionJunit(const std::vector<engine::CountedKernelChange>& changes);

} // namespace kernelskill::lsp
