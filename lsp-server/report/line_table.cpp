#include "lsp-server/report/line_table.h"

#include "engine/execution/metric_names.h"
#include "lsp-server/report/access_cost.h"
#include "lsp-server/report/hazard_text.h"
#include "lsp-server/report/metric_text.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <map>
#include <optional>

namespace kernelskill::lsp {
namespace {

namespace names = engine::metric;

/// Lines of source before and behind those with numbers.
constexpr std::uint32_t linesAround = 1;
/// Lines of a kernel that is still shown whole.
constexpr std::uint32_t maxLines = 60;

/// A column of the table of lines; empty where a line has nothing to say.
struct LineColumn {
    TableColumn column;
    std::optional<double> (*value)(const engine::Metrics& metrics);
    std::string (*text)(double value);
    double full = 0; ///< The value that fills the bar; 0: no bar.
};

std::optional<double> nonzero(std::optional<double> value) {
    return value && *value != 0 ? value : std::nullopt;
}

std::string percentText(double value) {
    return fmt::format("{:.1f} %", value);
}

std::optional<double> conflictsOf(const engine::Metrics& metrics) {
    return nonzero(engine::findMetric(metrics, names::load.sharedConflicts).value_or(0) +
                   engine::findMetric(metrics, names::store.sharedConflicts).value_or(0));
}

const std::vector<LineColumn>& lineColumns() {
    static const std::vector<LineColumn> columns{
        {{"warps' time", true, false, "sampled"},
         [](const engine::Metrics& m) {
             return nonzero(engine::findMetric(m, names::stallPercent));
         },
         percentText,
         100},
        {{"sectors", true, false, "per load"},
         [](const engine::Metrics& m) {
             return nonzero(engine::findMetric(m, names::load.sectorsPerRequest));
         },
         formatNumber,
         32},
        {{"sectors", true, false, "per store"},
         [](const engine::Metrics& m) {
             return nonzero(engine::findMetric(m, names::store.sectorsPerRequest));
         },
         formatNumber,
         32},
        {{"conflicts", true, false, "of banks"}, conflictsOf, shortNumber, 0},
        {{"FLOP", true, false, ""},
         [](const engine::Metrics& m) {
             return nonzero(engine::findMetric(m, names::floatingOperations));
         },
         shortNumber,
         0},
        {{"divergent", true, false, "branches"},
         [](const engine::Metrics& m) {
             return nonzero(engine::findMetric(m, names::divergentBranchTargets));
         },
         shortNumber,
         0},
    };
    return columns;
}

/// Evidence and hazards on the lines of a file.
std::map<std::uint32_t, std::string> remarksOf(const engine::KernelReport& report,
                                               const std::string& file) {
    std::map<std::uint32_t, std::string> remarks;
    const auto add = [&](std::uint32_t line, const std::string& text) {
        std::string& remark = remarks[line];
        remark += remark.empty() ? text : "; " + text;
    };
    for (const engine::Evidence& evidence : report.bottleneck->evidence)
        if (evidence.line && evidence.file == file && !evidence.hint.empty())
            add(*evidence.line, evidence.hint);
    for (const engine::Hazard& hazard : report.profile->hazards)
        if (hazard.file == file)
            add(hazard.line,
                fmt::format("{}: {}", hazardName(hazard, report.profile->launch), hazard.message));
    return remarks;
}

} // namespace

std::vector<ReportBlock> lineTables(const engine::KernelReport& report,
                                    const analysis::KernelModel& kernel, TextLookup& texts) {
    const engine::Profile& profile = *report.profile;
    std::vector<const LineColumn*> columns; // those that say something of some line
    for (const LineColumn& column : lineColumns()) {
        if (std::ranges::any_of(profile.lines, [&](const engine::LineMetrics& line) {
                return column.value(line.metrics).has_value();
            }))
            columns.push_back(&column);
    }
    std::map<std::string, std::vector<const engine::LineMetrics*>> files;
    for (const engine::LineMetrics& line : profile.lines)
        if (std::ranges::any_of(columns,
                                [&](const auto* c) { return c->value(line.metrics).has_value(); }))
            files[line.file].push_back(&line);
    std::vector<ReportBlock> blocks;
    for (const auto& [file, lines] : files) {
        const analysis::SourceText& source = texts(file);
        auto remarks = remarksOf(report, file);
        std::map<std::uint32_t, const engine::LineMetrics*> shown;
        for (const engine::LineMetrics* line : lines) {
            for (std::uint32_t at = line->line - std::min(line->line, linesAround);
                 at <= line->line + linesAround; ++at)
                shown.try_emplace(at, nullptr);
            shown[line->line] = line;
        }
        for (const auto& [line, remark] : remarks)
            shown.try_emplace(line, nullptr);
        if (file == kernel.file) {
            const std::uint32_t first = source.lineColumn(kernel.span.begin).line;
            const std::uint32_t last = source.lineColumn(kernel.span.end).line;
            for (std::uint32_t at = first; last - first < maxLines && at <= last; ++at)
                shown.try_emplace(at, nullptr);
        }
        SourceTable table;
        for (const LineColumn* column : columns)
            table.columns.push_back(column->column);
        for (const auto& [line, metrics] : shown) {
            if (line >= source.lineCount())
                continue;
            SourceTable::Row row{line + 1, std::string(source.line(line)), {}, remarks[line]};
            for (const LineColumn* column : columns) {
                const auto value =
                    metrics == nullptr ? std::nullopt : column->value(metrics->metrics);
                TableCell& cell = row.cells.emplace_back();
                if (!value)
                    continue;
                cell.text = column->text(*value);
                if (column->full > 0)
                    cell.share = *value / column->full;
            }
            table.rows.push_back(std::move(row));
        }
        if (files.size() > 1)
            blocks.emplace_back(Paragraph{file, Tone::Quiet});
        blocks.emplace_back(std::move(table));
    }
    return blocks;
}

} // namespace kernelskill::lsp
