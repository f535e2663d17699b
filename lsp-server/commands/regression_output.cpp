#include "lsp-server/commands/regression_output.h"

#include "analysis/source/json.h"
#include "lsp-server/commands/file_writer.h"
#include "lsp-server/commands/terminal.h"

#include <spdlog/fmt/fmt.h>

#include <system_error>

namespace kernelskill::lsp {
namespace {

Colour colourOf(ComparedKernel::Meaning meaning) {
    switch (meaning) {
    case ComparedKernel::Meaning::Regression:
        return Colour::Red;
    case ComparedKernel::Meaning::Gain:
        return Colour::Green;
    case ComparedKernel::Meaning::Skipped:
    case ComparedKernel::Meaning::Other:
        break;
    }
    return Colour::Dim;
}

void print(const RegressionReport& report) {
    const Terminal terminal(stdout);
    for (const ComparedKernel& kernel : report.kernels) {
        fmt::print("{}  {}  {}\n",
                   terminal.paint(colourOf(kernel.meaning), fmt::format("{:<14}", kernel.status)),
                   terminal.paint(Colour::Bold, kernel.kernel), kernel.file);
        for (const std::string& line : kernel.details)
            fmt::print("                {}\n", line);
    }
    fmt::print("{}\n", regressionSummary(report));
    fmt::print("compared: {}\n", report.compared);
    for (const std::string& note : report.notes)
        fmt::print("note: {}\n", note);
}

/// Writes what was asked for beside the answer.
Result<void> writeReports(const CiArguments& arguments, const RegressionReport& report) {
    if (!arguments.junit.empty())
        if (auto written = replaceFile(arguments.junit, regressionJunit(report)); !written)
            return written;
    if (!arguments.markdown.empty())
        if (auto written = replaceFile(arguments.markdown, regressionMarkdown(report)); !written)
            return written;
    return {};
}

} // namespace

std::filesystem::path CiArguments::baselineFile() const {
    std::error_code error;
    return std::filesystem::absolute(baseline, error).lexically_normal();
}

int finishCi(const CiArguments& arguments, const Invocation& invocation,
             const RegressionReport& report, const nlohmann::json& document,
             const std::string& baseline) {
    if (const auto written = writeReports(arguments, report); !written)
        return failCi(written.error(), invocation);
    if (invocation.json)
        printJson(document);
    else
        print(report);
    if (!arguments.update)
        return report.regressions() > 0 ? exitNothingFound : exitDone;
    if (const auto written = replaceFile(arguments.baselineFile(), baseline); !written)
        return failCi(written.error(), invocation);
    fmt::print(stderr, "written to {}\n", arguments.baseline);
    return exitDone;
}

int failCi(const Error& error, const Invocation& invocation) {
    const int status = reportError(error, invocation);
    return status == exitNothingFound ? exitWrongUsage : status;
}

} // namespace kernelskill::lsp
