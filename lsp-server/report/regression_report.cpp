#include "lsp-server/report/regression_report.h"

#include "analysis/source/json.h"
#include "lsp-server/report/html/html_writer.h"
#include "lsp-server/report/status_summary.h"
#include "lsp-server/report/time_change_report.h"

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace kernelskill::lsp {

using engine::CountChange;
using engine::CountedKernelChange;
using engine::KernelTimeChange;
using engine::TimeChange;
using nlohmann::json;
using Meaning = ComparedKernel::Meaning;

namespace {

constexpr std::string_view notComparable = "not-comparable";

Meaning meaningOf(CountChange change) {
    switch (change) {
    case CountChange::Worse:
        return Meaning::Regression;
    case CountChange::Better:
        return Meaning::Gain;
    case CountChange::NotComparable:
    case CountChange::NotRun:
    case CountChange::Removed:
        return Meaning::Skipped;
    case CountChange::Same:
    case CountChange::Mixed:
    case CountChange::New:
        break;
    }
    return Meaning::Other;
}

Meaning meaningOf(TimeChange change) {
    switch (change) {
    case TimeChange::Slower:
        return Meaning::Regression;
    case TimeChange::Faster:
        return Meaning::Gain;
    case TimeChange::Gone:
        return Meaning::Skipped;
    case TimeChange::Same:
    case TimeChange::Unsure:
    case TimeChange::New:
        break;
    }
    return Meaning::Other;
}

/// "sectors loaded 1024 -> 4096 (4x)", the counts by one another.
std::string changedCountsText(const CountedKernelChange& change) {
    std::string text;
    for (const engine::ChangedCount& count : change.counts) {
        text += fmt::format("{}{} {:.0f} -> {:.0f}", text.empty() ? "" : ", ", count.words,
                            count.before, count.after);
        if (count.before > 0 && count.after > 0)
            text += fmt::format(" ({:.3g}x)", count.after / count.before);
    }
    return text;
}

std::string fileOf(const KernelFiles& files, const std::string& kernel) {
    const auto found = files.find(kernel);
    return found == files.end() ? std::string() : found->second;
}

std::string_view statusOf(const engine::TimedComparison& comparison,
                          const KernelTimeChange& change) {
    return comparison.obstacle.empty() ? spelling(change.change) : notComparable;
}

/// The lines below a kernel whose times are compared.
std::vector<std::string> timeDetails(const KernelTimeChange& change) {
    std::vector<std::string> details{timeChangeDetail(change)};
    if (change.change == TimeChange::Slower || change.change == TimeChange::Faster)
        details.push_back(
            fmt::format("between {:.3g} and {:.3g} times as fast", change.least, change.most));
    return details;
}

std::string detailOf(const ComparedKernel& kernel) {
    return fmt::format("{}", fmt::join(kernel.details, "; "));
}

/// Text of a cell of a Markdown table.
std::string cell(std::string_view text) {
    std::string result;
    for (const char c : text) {
        if (c == '|' || c == '<' || c == '\\' || c == '`')
            result += '\\';
        result += c == '\n' ? ' ' : c;
    }
    return result;
}

} // namespace

std::size_t RegressionReport::regressions() const {
    return static_cast<std::size_t>(
        std::ranges::count(kernels, Meaning::Regression, &ComparedKernel::meaning));
}

RegressionReport countReport(const std::vector<CountedKernelChange>& changes) {
    constexpr std::array order{CountChange::Worse,         CountChange::Mixed, CountChange::Better,
                               CountChange::Same,          CountChange::New,   CountChange::Removed,
                               CountChange::NotComparable, CountChange::NotRun};
    RegressionReport report;
    report.compared = "counts of the emulator, not times";
    for (const CountChange each : order)
        report.statuses.push_back(spelling(each));
    for (const CountedKernelChange& change : changes) {
        ComparedKernel kernel{
            change.file, change.kernel, spelling(change.change), meaningOf(change.change), {}};
        for (std::string sentence : {changedCountsText(change), change.reason})
            if (!sentence.empty())
                kernel.details.push_back(std::move(sentence));
        report.kernels.push_back(std::move(kernel));
    }
    return report;
}

RegressionReport timeReport(const engine::TimedComparison& comparison, const KernelFiles& files) {
    constexpr std::array order{TimeChange::Slower, TimeChange::Faster, TimeChange::Same,
                               TimeChange::Unsure, TimeChange::New,    TimeChange::Gone};
    RegressionReport report;
    report.compared = "times of kernels";
    report.notes = comparison.notes;
    for (const TimeChange each : order)
        report.statuses.push_back(spelling(each));
    report.statuses.push_back(notComparable);
    for (const KernelTimeChange& change : comparison.changes) {
        ComparedKernel kernel{fileOf(files, change.kernel),
                              change.kernel,
                              statusOf(comparison, change),
                              Meaning::Skipped,
                              {comparison.obstacle}};
        if (comparison.obstacle.empty()) {
            kernel.meaning = meaningOf(change.change);
            kernel.details = timeDetails(change);
        }
        report.kernels.push_back(std::move(kernel));
    }
    return report;
}

json countsJson(const std::vector<CountedKernelChange>& changes) {
    json kernels = json::array();
    for (const CountedKernelChange& change : changes) {
        json counts = json::array();
        for (const engine::ChangedCount& count : change.counts)
            counts.push_back({{"name", count.name},
                              {"words", count.words},
                              {"before", count.before},
                              {"after", count.after}});
        kernels.push_back({{"file", change.file},
                           {"kernel", change.kernel},
                           {"status", spelling(change.change)},
                           {"reason", change.reason},
                           {"counts", std::move(counts)}});
    }
    return {{"kernels", std::move(kernels)}, {"regressions", countReport(changes).regressions()}};
}

json timesJson(const engine::TimedComparison& comparison, const KernelFiles& files) {
    json kernels = timeChangesJson(comparison.changes);
    for (json& kernel : kernels) {
        const std::string file = fileOf(files, kernel.at("kernel").get<std::string>());
        kernel["file"] = file.empty() ? json(nullptr) : json(file);
        if (comparison.obstacle.empty())
            continue;
        kernel["status"] = notComparable;
        kernel["reason"] = comparison.obstacle;
        kernel["text"] =
            fmt::format("{}: {}", kernel.at("kernel").get<std::string>(), comparison.obstacle);
    }
    return {{"kernels", std::move(kernels)},
            {"regressions", timeReport(comparison, files).regressions()}};
}

std::string regressionSummary(const RegressionReport& report) {
    std::vector<std::string_view> statuses;
    for (const ComparedKernel& kernel : report.kernels)
        statuses.push_back(kernel.status);
    return statusSummary(statuses, report.statuses);
}

std::string regressionMarkdown(const RegressionReport& report) {
    constexpr std::string_view same = "same"; // Of counts and of times.
    std::string text = "## KernelSkill\n\n";
    if (!report.subject.empty())
        text += fmt::format("{}: ", cell(report.subject));
    text += fmt::format("{} ({}).\n", regressionSummary(report), report.compared);
    for (const std::string& note : report.notes)
        text += fmt::format("\n{}.\n", cell(note));
    if (std::ranges::all_of(report.kernels,
                            [&](const ComparedKernel& each) { return each.status == same; }))
        return text;
    text += "\n| kernel | file | against the baseline | what |\n|---|---|---|---|\n";
    for (const ComparedKernel& kernel : report.kernels)
        if (kernel.status != same)
            text += fmt::format("| {} | {} | {} | {} |\n", cell(kernel.kernel), cell(kernel.file),
                                kernel.status, cell(detailOf(kernel)));
    return text;
}

std::string regressionJunit(const RegressionReport& report) {
    std::string text =
        fmt::format("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n"
                    "<testsuite name=\"kernelskill\" tests=\"{}\" failures=\"{}\" errors=\"0\" "
                    "skipped=\"{}\">\n",
                    report.kernels.size(), report.regressions(),
                    std::ranges::count(report.kernels, Meaning::Skipped, &ComparedKernel::meaning));
    for (const ComparedKernel& kernel : report.kernels) {
        text += fmt::format("<testcase classname=\"{}\" name=\"{}\">",
                            escapedHtml(kernel.file.empty() ? report.subject : kernel.file),
                            escapedHtml(kernel.kernel));
        const std::string detail = escapedHtml(detailOf(kernel));
        if (kernel.meaning == Meaning::Regression)
            text += fmt::format("<failure message=\"{}\"/>", detail);
        else if (kernel.meaning == Meaning::Skipped)
            text += fmt::format("<skipped message=\"{}\"/>", detail);
        else if (!detail.empty())
            text += fmt::format("<system-out>{}: {}</system-out>", kernel.status, detail);
        text += "</testcase>\n";
    }
    return text + "</testsuite>\n</testsuites>\n";
}

} // namespace kernelskill::lsp
