#include "engine/execution/nsight_report.h"

#include "analysis/source/program_search.h"
#include "engine/process/child_process.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <unistd.h>
#include <utility>

namespace kernelskill::engine {

namespace fs = std::filesystem;

namespace {

constexpr std::chrono::minutes maxImportTime{5};

using Row = std::vector<std::string>;

/// The rows of comma-separated values as RFC 4180 has them: a field in quotes may hold commas, line
/// ends and doubled quotes.
std::vector<Row> rowsOf(std::string_view text) {
    std::vector<Row> rows;
    Row row;
    std::string field;
    bool isQuoted = false;
    const auto endRow = [&] {
        row.push_back(std::exchange(field, {}));
        if (row.size() > 1 || !row.front().empty())
            rows.push_back(std::exchange(row, {}));
        row.clear();
    };
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (isQuoted && c == '"' && i + 1 < text.size() && text[i + 1] == '"')
            field += text[++i];
        else if (c == '"')
            isQuoted = !isQuoted;
        else if (!isQuoted && c == ',')
            row.push_back(std::exchange(field, {}));
        else if (!isQuoted && c == '\n')
            endRow();
        else if (isQuoted || c != '\r')
            field += c;
    }
    endRow();
    return rows;
}

/// Reads "1048576.5", also with grouped thousands, as some locales print it: "1,048,576.5".
std::optional<double> numberIn(std::string text) {
    std::erase(text, ',');
    double value = 0;
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (text.empty() || fault != std::errc{} || end != text.data() + text.size())
        return std::nullopt;
    return value;
}

/// The factor that converts a value of this unit to bytes or nanoseconds; 1 for any other unit.
double scaleOf(std::string_view unit) {
    constexpr std::array<std::pair<std::string_view, double>, 8> times{{{"ns", 1},
                                                                        {"nsecond", 1},
                                                                        {"us", 1e3},
                                                                        {"usecond", 1e3},
                                                                        {"ms", 1e6},
                                                                        {"msecond", 1e6},
                                                                        {"s", 1e9},
                                                                        {"second", 1e9}}};
    for (const auto& [name, scale] : times)
        if (unit == name)
            return scale;
    constexpr std::array<std::pair<char, double>, 4> prefixes{
        {{'K', 1e3}, {'M', 1e6}, {'G', 1e9}, {'T', 1e12}}};
    for (const auto& [prefix, scale] : prefixes)
        if (unit.starts_with(prefix) && unit.substr(1).starts_with("byte"))
            return scale;
    return 1;
}

/// The dimensions in "(256, 1, 1)" or "256, 1, 1".
std::optional<Dim3> dimensionsIn(std::string_view text) {
    std::array<std::uint32_t, 3> values{1, 1, 1};
    std::size_t count = 0;
    for (std::size_t i = 0; i < text.size();) {
        if (text[i] < '0' || text[i] > '9') {
            ++i;
            continue;
        }
        if (count == values.size())
            return std::nullopt;
        const auto [end, fault] =
            std::from_chars(text.data() + i, text.data() + text.size(), values[count++]);
        if (fault != std::errc{})
            return std::nullopt;
        i = static_cast<std::size_t>(end - text.data());
    }
    return count == 0 ? std::nullopt : std::optional(Dim3{values[0], values[1], values[2]});
}

ImportedKernel kernelOf(const Row& names, const Row& units, const Row& values) {
    ImportedKernel kernel;
    for (std::size_t i = 0; i < std::min(names.size(), values.size()); ++i) {
        const std::string& name = names[i];
        if (name == "Kernel Name")
            kernel.name = values[i];
        else if (name == "Grid Size")
            kernel.grid = dimensionsIn(values[i]).value_or(Dim3{});
        else if (name == "Block Size")
            kernel.block = dimensionsIn(values[i]).value_or(Dim3{});
        else if (name == "CC")
            kernel.capability = values[i];
        else if (const auto value = numberIn(values[i]); value && name.contains("__"))
            kernel.metrics[name] = *value * scaleOf(i < units.size() ? units[i] : "");
    }
    return kernel;
}

} // namespace

Result<std::vector<ImportedKernel>> readNsightTable(std::string_view text,
                                                    const std::string& where) {
    const std::vector<Row> rows = rowsOf(text);
    // The tool may print messages before the table.
    const auto names = std::ranges::find_if(rows, [](const Row& row) {
        return row.front() == "ID" && std::ranges::find(row, "Kernel Name") != row.end();
    });
    if (names == rows.end() || std::next(names) == rows.end())
        return std::unexpected(Error{ErrorKind::InvalidInput,
                                     "there is no table of kernels in what Nsight Compute printed",
                                     where, "Profile at least one kernel with ncu --set full"});
    const Row& units = *std::next(names);
    std::vector<ImportedKernel> kernels;
    for (auto row = names + 2; row != rows.end(); ++row) {
        ImportedKernel kernel = kernelOf(*names, units, *row);
        if (!kernel.name.empty())
            kernels.push_back(std::move(kernel));
    }
    return kernels;
}

Result<std::vector<ImportedKernel>> importNsightReport(const fs::path& report,
                                                       std::stop_token stop) {
    std::error_code failure;
    if (!fs::is_regular_file(report, failure))
        return std::unexpected(
            Error{ErrorKind::InvalidInput, "there is no such report", report.string(), ""});
    const auto ncu = analysis::findProgram("ncu");
    if (!ncu)
        return std::unexpected(
            Error{ErrorKind::Missing,
                  "Nsight Compute's command line reads its reports, and there is "
                  "no ncu on PATH",
                  report.string(), "Install Nsight Compute, or add its folder to PATH"});
    std::string table; // runChild() keeps only a part of a large output.
    ChildCommand command{.program = *ncu,
                         .arguments = {"--import", fs::absolute(report).string(), "--page", "raw",
                                       "--csv", "--print-units", "base"},
                         .input = {},
                         .time = maxImportTime};
    command.onOutput = [&table](int stream, std::string_view piece) {
        if (stream == STDOUT_FILENO)
            table += piece;
    };
    const auto outcome = runChild(command, stop);
    if (!outcome)
        return std::unexpected(outcome.error());
    if (outcome->status != 0) {
        const std::string& said = outcome->messages.empty() ? table : outcome->messages;
        return std::unexpected(Error{
            ErrorKind::Failed, "ncu cannot read the report: " + said.substr(0, said.find('\n')),
            report.string(), ""});
    }
    return readNsightTable(table, report.string());
}

} // namespace kernelskill::engine
