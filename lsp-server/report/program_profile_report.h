/// Prints where a program's time on the GPU goes, as text and as JSON.
#pragma once

#include "engine/whole_program/program_profile.h"
#include "engine/workbench/kernel_report.h"

#include <nlohmann/json_fwd.hpp>

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace kernelskill::lsp {

struct ProgramProfileReport {
    std::vector<std::string> command;
    int status = 0; ///< The program's.
    engine::ProgramProfile profile;
    /// One for each kernel of the profile: what holds it back, or why that is not known; nullopt if
    /// it was not asked for.
    std::vector<std::optional<Result<engine::KernelReport>>> details;
    std::uint64_t dropped = 0; ///< Records that CUPTI dropped.
    /// The median duration in microseconds of each kernel's launches with nothing beside or right
    /// before them, as ncu measures it, by symbol; empty: not measured.
    std::map<std::string, double> alone;
};

/// {program, status, dropped, devices: [{device, span_ns, busy_ns, idle_ns, kernels_ns, copies_ns,
/// copied_bytes, sets_ns, text}], kernels: [{name, symbol, file, line, launches, share, at_most,
/// microseconds, median_microseconds, alone_microseconds, roofline_percent, bottleneck, profile}]}.
/// Files are from the workspace's root. `alone_microseconds` is null where it was not measured,
/// `at_most` for a kernel that is all of the time; `bottleneck` and `profile` are null where
/// nothing was asked, `profile` has the error where there is one.
[[nodiscard]] nlohmann::json programProfileJson(const ProgramProfileReport& report);

/// A table of the kernels, `most` of them, as cells: its head comes first. The last column is the
/// widest. There is a column of durations alone if any was measured.
[[nodiscard]] std::vector<std::vector<std::string>>
programProfileTable(const ProgramProfileReport& report, std::size_t most);

/// One line for each row of that table, its cells below those of the head.
[[nodiscard]] std::vector<std::string>
alignedRows(const std::vector<std::vector<std::string>>& rows);

/// "GPU 0: kernels 1.2 ms, copies 0.3 ms (4.1 M bytes), memsets 2 us, idle 0.5 ms of the 2.1 ms
/// from its first work to its last"
[[nodiscard]] std::string deviceText(const engine::DeviceTimes& device);

} // namespace kernelskill::lsp
