/// The answers of `kernelskill ci`, which files and programs share.
#pragma once

#include "lsp-server/commands/command_line.h"
#include "lsp-server/report/regression_report.h"

#include <nlohmann/json_fwd.hpp>

#include <filesystem>
#include <string>

namespace kernelskill::lsp {

struct CiArguments {
    std::vector<std::string> files;
    std::string baseline;
    std::string junit;
    std::string markdown;
    double tolerance = engine::CountTolerance{}.percent;
    bool update = false;
    std::string program;    ///< The name of one of the workspace's; empty: the words behind `--`.
    std::string executor;   ///< "emulator" or "gpu"; empty: the GPU if there is one.
    std::uint64_t runs = 0; ///< 0: as many as a comparison needs.

    /// The baseline's path, absolute.
    [[nodiscard]] std::filesystem::path baselineFile() const;
};

/// Writes the reports that were asked for and prints the answer: `document` with --json. With
/// --update, replaces the baseline's text by `baseline`. Returns the exit status: 1 for a
/// regression, without --update.
[[nodiscard]] int finishCi(const CiArguments& arguments, const Invocation& invocation,
                           const RegressionReport& report, const nlohmann::json& document,
                           const std::string& baseline);

/// Reports an error and returns its exit status, which is never that of a regression.
[[nodiscard]] int failCi(const Error& error, const Invocation& invocation);

} // namespace kernelskill::lsp
