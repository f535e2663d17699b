#include "lsp-server/report/regression_report.h"

#include "analysis/source/json.h"
#include "lsp-server/report/html/html_writer.h"
#include "lsp-server/report/status_summary.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace kernelskill::lsp {

using engine::CountChange;
using engine::CountedKernelChange;
using nlohmann::json;

namespace {

std::ptrdiff_t countOf(const std::vector<CountedKernelChange>& changes, CountChange wanted) {
    return std::ranges::count(changes, wanted, &CountedKernelChange::change);
}

bool isSkipped(CountChange change) {
    return change == CountChange::NotComparable || change == CountChange::NotRun ||
           change == CountChange::Removed;
}

std::string detailOf(const CountedKernelChange& change) {
    const std::string counts = changedCountsText(change);
    return counts.empty() || change.reason.empty() ? counts + change.reason
                                                   : counts + "; " + change.reason;
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

json regressionJson(const std::vector<CountedKernelChange>& changes) {
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
    return {{"kernels", std::move(kernels)}, {"regressions", countOf(changes, CountChange::Worse)}};
}

std::string regressionSummary(const std::vector<CountedKernelChange>& changes) {
    constexpr std::array order{CountChange::Worse,         CountChange::Mixed, CountChange::Better,
                               CountChange::Same,          CountChange::New,   CountChange::Removed,
                               CountChange::NotComparable, CountChange::NotRun};
    std::vector<std::string_view> names;
    for (const CountChange each : order)
        names.push_back(spelling(each));
    std::vector<std::string_view> statuses;
    for (const CountedKernelChange& change : changes)
        statuses.push_back(spelling(change.change));
    return statusSummary(statuses, names);
}

std::string regressionMarkdown(const std::vector<CountedKernelChange>& changes) {
    std::string text = "## KernelSkill\n\n" + regressionSummary(changes) +
                       " (counts of the emulator, not times).\n";
    if (countOf(changes, CountChange::Same) == static_cast<std::ptrdiff_t>(changes.size()))
        return text;
    text += "\n| kernel | file | against the baseline | what |\n|---|---|---|---|\n";
    for (const CountedKernelChange& change : changes)
        if (change.change != CountChange::Same)
            text += fmt::format("| {} | {} | {} | {} |\n", cell(change.kernel), cell(change.file),
                                spelling(change.change), cell(detailOf(change)));
    return text;
}

std::string regressionJunit(const std::vector<CountedKernelChange>& changes) {
    const auto skipped = std::ranges::count_if(
        changes, [](const CountedKernelChange& change) { return isSkipped(change.change); });
    std::string text =
        fmt::format("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n"
                    "<testsuite name=\"kernelskill\" tests=\"{}\" failures=\"{}\" errors=\"0\" "
                    "skipped=\"{}\">\n",
                    changes.size(), countOf(changes, CountChange::Worse), skipped);
    for (const CountedKernelChange& change : changes) {
        text += fmt::format("<testcase classname=\"{}\" name=\"{}\">", escapedHtml(change.file),
                            escapedHtml(change.kernel));
        const std::string detail = escapedHtml(detailOf(change));
        if (change.change == CountChange::Worse)
            text += fmt::format("<failure message=\"{}\"/>", detail);
        else if (isSkipped(change.change))
            text += fmt::format("<skipped message=\"{}\"/>", detail);
        else if (!detail.empty())
            text += fmt::format("<system-out>{}: {}</system-out>", spelling(change.change), detail);
        text += "</testcase>\n";
    }
    return text + "</testsuite>\n</testsuites>\n";
}

} // namespace kernelskill::lsp
