/// The comparison of kernels with a baseline, for terminals, reviews and build servers.
#pragma once

#include "engine/regression/comparison_with_baseline.h"
#include "engine/whole_program/program_baseline.h"

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace kernelskill::lsp {

/// The outcome for a kernel, whose times or counts were compared.
struct ComparedKernel {
    enum class Meaning : std::uint8_t {
        Regression, ///< It is certain.
        Gain,       ///< It is certain.
        Skipped,    ///< Nothing could be compared.
        Other,
    };
    std::string file; ///< Empty if it is not known.
    std::string kernel;
    std::string_view status; ///< "worse", "slower", ...: one of RegressionReport::statuses.
    Meaning meaning = Meaning::Other;
    std::vector<std::string> details; ///< Sentences.
};

struct RegressionReport {
    std::string subject;                    ///< The program; empty for files.
    std::string compared;                   ///< "counts of the emulator, not times"
    std::vector<std::string> notes;         ///< What is to be said of all kernels.
    std::vector<std::string_view> statuses; ///< All that there are, in the order of a summary.
    std::vector<ComparedKernel> kernels;

    [[nodiscard]] std::size_t regressions() const;
};

/// The files of kernels by their qualified names.
using KernelFiles = std::map<std::string, std::string>;

[[nodiscard]] RegressionReport countReport(const std::vector<engine::CountedKernelChange>& changes);
[[nodiscard]] RegressionReport timeReport(const engine::TimedComparison& comparison,
                                          const KernelFiles& files);

/// {kernels: [{file, kernel, status, reason, counts: [{name, words, before, after}]}], regressions}
[[nodiscard]] nlohmann::json countsJson(const std::vector<engine::CountedKernelChange>& changes);
/// {kernels: [{file, kernel, status, before_microseconds, after_microseconds, speedup, least, most,
/// reason, text}], regressions}
[[nodiscard]] nlohmann::json timesJson(const engine::TimedComparison& comparison,
                                       const KernelFiles& files);

/// "3 kernels: 1 worse, 2 same"
[[nodiscard]] std::string regressionSummary(const RegressionReport& report);

/// A heading, the summary, and a table of what is not the same.
[[nodiscard]] std::string regressionMarkdown(const RegressionReport& report);

/// One test case a kernel, as JUnit's XML: regressions have failed, what could not be compared was
/// skipped.
[[nodiscard]] std::string regressionJunit(const RegressionReport& report);

} // namespace kernelskill::lsp
