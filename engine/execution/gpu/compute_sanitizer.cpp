#include "engine/execution/gpu/compute_sanitizer.h"

#include "analysis/source/files.h"
#include "engine/storage/temporary_folder.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <optional>
#include <span>
#include <system_error>
#include <utility>

namespace kernelskill::engine::gpu {
namespace {

namespace fs = std::filesystem;

/// The time in which a launch has to end under a tool.
constexpr std::chrono::milliseconds launchTime{120'000};
/// The time for a tool to write its log after the runner has ended.
constexpr std::chrono::milliseconds farewell{20'000};

constexpr std::string_view mark = "=========";
constexpr std::string_view race = "Race reported";

std::string_view trimmed(std::string_view text) {
    constexpr std::string_view space = " \t\r";
    const auto begin = text.find_first_not_of(space);
    if (begin == std::string_view::npos)
        return {};
    return text.substr(begin, text.find_last_not_of(space) + 1 - begin);
}

/// Shortens "scale(float *)+0x90 in /tmp/unit.cu:12" to "scale in unit.cu:12", and what older
/// versions write, "0x90 in /tmp/unit.cu:12:scale(float *)", to "unit.cu:12".
std::string placeIn(std::string_view text) {
    constexpr std::string_view in = " in ";
    const auto split = text.find(in);
    if (split == std::string_view::npos)
        return std::string(text);
    std::string_view function = text.substr(0, std::min(split, text.find_first_of("(+")));
    std::string_view where = text.substr(split + in.size());
    where.remove_prefix(where.rfind('/') == std::string_view::npos ? 0 : where.rfind('/') + 1);
    const auto line = where.find(':');
    if (line != std::string_view::npos) {
        const auto end = where.find_first_not_of("0123456789", line + 1);
        where = where.substr(0, end);
    }
    if (function.starts_with("0x"))
        return std::string(where);
    return std::string(function) + std::string(in) + std::string(where);
}

/// One side of a race, as read from "Race reported between Write access at f()+0x90 in a.cu:40".
struct RaceSide {
    std::string access;
    std::string place;
};

std::optional<RaceSide> raceSide(std::string_view text) {
    constexpr std::string_view access = " access at ";
    const auto split = text.find(access);
    if (split == std::string_view::npos)
        return std::nullopt;
    const std::string_view before = text.substr(0, split);
    const auto word = before.rfind(' ');
    std::string_view where = text.substr(split + access.size());
    where = where.substr(0, where.find(" ["));
    return RaceSide{std::string(word == std::string_view::npos ? before : before.substr(word + 1)),
                    placeIn(trimmed(where))};
}

/// The records of a log: each is a line that is not indented and the indented lines behind it.
std::vector<std::vector<std::string_view>> recordsOf(std::string_view log) {
    std::vector<std::vector<std::string_view>> records;
    while (!log.empty()) {
        const auto end = std::min(log.find('\n'), log.size());
        std::string_view line = log.substr(0, end);
        log.remove_prefix(std::min(end + 1, log.size()));
        if (!line.starts_with(mark))
            continue;
        line.remove_prefix(mark.size());
        const auto text = trimmed(line);
        if (text.empty())
            continue;
        const bool isIndented = line.starts_with("  ");
        if (!isIndented)
            records.emplace_back();
        if (!records.empty())
            records.back().push_back(text);
    }
    return records;
}

std::optional<SanitizerFinding> findingOf(std::string_view tool,
                                          const std::vector<std::string_view>& record) {
    SanitizerFinding finding{std::string(tool), {}, {}};
    if (record.front().contains(race)) {
        const auto first = raceSide(record.front());
        if (!first)
            return std::nullopt;
        finding.what = "Race between " + first->access + " access";
        finding.place = first->place;
        for (const std::string_view line : std::span(record).subspan(1)) {
            const auto other = raceSide(line);
            if (!other || !line.starts_with("and "))
                continue;
            finding.what += " and " + other->access + " access";
            finding.place += " and " + other->place;
        }
        return finding;
    }
    constexpr std::string_view at = "at ";
    const auto place =
        std::ranges::find_if(record, [&](std::string_view line) { return line.starts_with(at); });
    if (place == record.begin() || place == record.end())
        return std::nullopt; // A heading, a summary, or an error of an API call.
    finding.what = std::string(record.front());
    finding.place = placeIn(trimmed(place->substr(at.size())));
    return finding;
}

Result<std::vector<SanitizerFinding>> runTool(std::string_view tool, const fs::path& sanitizer,
                                              RunnerCommand runner, const RunRequest& request,
                                              const std::stop_token& stop) {
    const auto failed = [&](std::string what) {
        return std::unexpected(Error{ErrorKind::Failed,
                                     "compute-sanitizer's " + std::string(tool) + " " + what,
                                     sanitizer.string(),
                                     {}});
    };
    std::error_code error;
    const auto folder =
        TemporaryFolder::make(fs::temp_directory_path(error), "kernelskill-sanitizer");
    if (!folder)
        return failed("cannot be used: there is no temporary folder");
    const auto log = folder->path() / "log";
    runner.prefix.insert(runner.prefix.end(), {sanitizer.string(), "--tool", std::string(tool),
                                               "--log-file", log.string()});
    if (tool == "memcheck")
        runner.prefix.insert(runner.prefix.end(), {"--report-api-errors", "no"});
    auto child = startRunner(runner, 0);
    if (!child)
        return std::unexpected(child.error());
    const auto payload = (*child)->exchange(encode(request), timeLimit(request), stop);
    if (!payload && payload.error().kind == ErrorKind::Cancelled)
        return std::unexpected(payload.error());
    // A kernel that breaks a rule may cost the runner its context; the log tells more.
    const bool hasEnded = (*child)->finish(farewell);
    const auto text = analysis::readFile(log);
    if (text) {
        auto findings = readSanitizerLog(tool, *text);
        if (!findings.empty())
            return findings;
    }
    if (!payload)
        return failed("could not run the kernel: " + payload.error().describe());
    const auto answer = decodeAnswer(*payload);
    if (!answer)
        return std::unexpected(answer.error());
    if (const auto* failure = std::get_if<FailureAnswer>(&*answer))
        return failed("could not run the kernel: " + failure->error.describe());
    if (!hasEnded || !text)
        return failed("left no log");
    return std::vector<SanitizerFinding>{};
}

} // namespace

std::vector<SanitizerFinding> readSanitizerLog(std::string_view tool, std::string_view log) {
    std::vector<SanitizerFinding> findings;
    for (const auto& record : recordsOf(log)) {
        auto finding = findingOf(tool, record);
        if (finding && std::ranges::find(findings, *finding) == findings.end())
            findings.push_back(std::move(*finding));
    }
    return findings;
}

Result<std::vector<SanitizerFinding>> runSanitizer(const fs::path& sanitizer,
                                                   const RunnerCommand& runner,
                                                   const Subject& subject, std::uint64_t seed,
                                                   const std::stop_token& stop) {
    if (runner.slurm)
        return std::unexpected(Error{ErrorKind::Unsupported,
                                     "compute-sanitizer is not used on the nodes of a cluster",
                                     {},
                                     "ask for it on a machine with a GPU"});
    if (!sanitizer.is_absolute())
        return std::unexpected(Error{ErrorKind::Missing, "compute-sanitizer was not found",
                                     sanitizer.string(),
                                     "install the CUDA toolkit's package cuda-sanitizer"});
    RunnerCommand unprofiled = runner;
    unprofiled.cuptiLibrary.clear();
    RunRequest request;
    request.subject = subject;
    request.seed = seed;
    request.time = launchTime;
    std::vector<SanitizerFinding> all;
    constexpr std::array<std::string_view, 3> tools{"memcheck", "racecheck", "synccheck"};
    for (const std::string_view tool : tools) {
        auto found = runTool(tool, sanitizer, unprofiled, request, stop);
        // A kernel that dies of what one tool has found tells the next one nothing.
        if (!found && !all.empty() && found.error().kind != ErrorKind::Cancelled)
            break;
        if (!found)
            return std::unexpected(found.error());
        all.insert(all.end(), found->begin(), found->end());
    }
    return all;
}

std::vector<SanitizerFinding> newFindings(const std::vector<SanitizerFinding>& original,
                                          const std::vector<SanitizerFinding>& candidate) {
    std::map<std::pair<std::string, std::string>, int> left;
    for (const SanitizerFinding& finding : original)
        ++left[{finding.tool, finding.what}];
    std::vector<SanitizerFinding> added;
    for (const SanitizerFinding& finding : candidate) {
        if (--left[{finding.tool, finding.what}] < 0)
            added.push_back(finding);
    }
    return added;
}

} // namespace kernelskill::engine::gpu
