#include "engine/whole_program/program_baseline.h"

#include "analysis/source/json.h"
#include "analysis/source/try.h"
#include "engine/program/command_words.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace kernelskill::engine {

using nlohmann::json;

namespace {

/// The levels of the document that are spread over lines: below them are kernels, each on one.
constexpr int spreadLevels = 3;

/// The document's text. Values at `levels` levels of it begin lines of their own.
void appendText(std::string& text, const json& value, int levels, std::size_t indent) {
    if (levels == 0 || !value.is_structured() || value.empty()) {
        text += value.dump(-1, ' ', false, json::error_handler_t::replace);
        return;
    }
    text += value.is_object() ? '{' : '[';
    const char* separator = "\n";
    for (const auto& [key, member] : value.items()) {
        text += separator + std::string(indent + 2, ' ');
        if (value.is_object())
            text += json(key).dump(-1, ' ', false, json::error_handler_t::replace) + ": ";
        appendText(text, member, levels - 1, indent + 2);
        separator = ",\n";
    }
    text += "\n" + std::string(indent, ' ') + (value.is_object() ? '}' : ']');
}

std::int64_t nanosecondsOf(double microseconds) {
    return std::llround(microseconds * 1000);
}

json launchesJson(const KernelLaunches& launches) {
    json times = json::array();
    for (const double time : launches.times)
        times.push_back(nanosecondsOf(time));
    return {{"launches", launches.count},
            {"total_ns", nanosecondsOf(launches.total)},
            {"ns", std::move(times)}};
}

json timesJson(const TimedRuns& timed) {
    std::set<std::string> names;
    for (const LaunchTimes& run : timed.runs)
        for (const auto& [kernel, launches] : run)
            names.insert(kernel);
    json kernels = json::array();
    for (const std::string& name : names) {
        json runs = json::array();
        for (const LaunchTimes& run : timed.runs) {
            const auto found = run.find(name);
            runs.push_back(found == run.end() ? json(nullptr) : launchesJson(found->second));
        }
        kernels.push_back({{"kernel", name}, {"runs", std::move(runs)}});
    }
    return {{"gpu",
             {{"name", timed.gpu.name},
              {"driver", timed.gpu.driver},
              {"sm_mhz", timed.gpu.smMegahertz}}},
            {"runs", timed.runs.size()},
            {"kernels", std::move(kernels)}};
}

/// Another shape than the one that is written, as json::exception.
[[noreturn]] void throwDamaged() {
    throw json::other_error::create(501, "a baseline of another shape", nullptr);
}

double microsecondsFrom(const json& nanoseconds) {
    constexpr std::int64_t longest = 1'000'000'000'000'000; // Eleven days.
    const auto value = nanoseconds.get<std::int64_t>();
    // No launch takes no time, and quotients of times are formed.
    if (value <= 0 || value > longest)
        throwDamaged();
    return static_cast<double>(value) / 1000;
}

KernelLaunches launchesFrom(const json& entry) {
    KernelLaunches launches;
    entry.at("launches").get_to(launches.count);
    launches.total = microsecondsFrom(entry.at("total_ns"));
    for (const json& time : entry.at("ns"))
        launches.times.push_back(microsecondsFrom(time));
    if (launches.times.size() != std::min<std::uint64_t>(launches.count, maxKeptLaunches) ||
        launches.times.empty())
        throwDamaged();
    return launches;
}

TimedRuns timesFrom(const json& entry) {
    constexpr std::size_t maxRuns = 10'000;
    TimedRuns timed;
    const json& gpu = entry.at("gpu");
    gpu.at("name").get_to(timed.gpu.name);
    gpu.at("driver").get_to(timed.gpu.driver);
    gpu.at("sm_mhz").get_to(timed.gpu.smMegahertz);
    const auto count = entry.at("runs").get<std::size_t>();
    if (count == 0 || count > maxRuns)
        throwDamaged();
    timed.runs.resize(count);
    for (const json& kernel : entry.at("kernels")) {
        const auto name = kernel.at("kernel").get<std::string>();
        const json& runs = kernel.at("runs");
        if (runs.size() != count)
            throwDamaged();
        for (std::size_t i = 0; i < count; ++i)
            if (!runs.at(i).is_null())
                timed.runs[i].emplace(name, launchesFrom(runs.at(i)));
    }
    return timed;
}

BaselineProgram programFrom(const json& entry) {
    BaselineProgram program;
    entry.at("command").get_to(program.command);
    if (program.command.empty())
        throwDamaged();
    entry.at("folder").get_to(program.folder);
    const auto environment = entry.at("environment").get<std::map<std::string, std::string>>();
    program.environment.assign(environment.begin(), environment.end());
    return program;
}

/// "`N=4 ./sums 64` in bench"
std::string wordsOf(const BaselineProgram& program) {
    std::string words;
    for (const auto& [name, value] : program.environment)
        words += fmt::format("{}={} ", name, value);
    return fmt::format("`{}{}` in {}", words, commandText(program.command), program.folder);
}

} // namespace

std::string programBaselineText(const ProgramBaseline& baseline) {
    json document = baselineHead(BaselineSubject::Program);
    document["program"] = {
        {"command", baseline.program.command},
        {"folder", baseline.program.folder},
        {"environment", std::map<std::string, std::string>(baseline.program.environment.begin(),
                                                           baseline.program.environment.end())}};
    if (baseline.times)
        document["times"] = timesJson(*baseline.times);
    if (baseline.counts)
        document["counts"] = baselineJson(*baseline.counts);
    std::string text;
    appendText(text, document, spreadLevels, 0);
    return text + "\n";
}

Result<ProgramBaseline> readProgramBaseline(const std::filesystem::path& file) {
    KERNELSKILL_TRY(const auto text, readBaselineText(file));
    return parseProgramBaseline(text, file);
}

Result<ProgramBaseline> parseProgramBaseline(std::string_view text,
                                             const std::filesystem::path& file) {
    KERNELSKILL_TRY(const auto document, baselineDocument(text, file, BaselineSubject::Program));
    try {
        ProgramBaseline baseline;
        baseline.program = programFrom(document.at("program"));
        if (document.contains("times"))
            baseline.times = timesFrom(document.at("times"));
        if (document.contains("counts"))
            baseline.counts = baselineFrom(document.at("counts"));
        return baseline;
    } catch (const json::exception&) {
        return std::unexpected(damagedBaseline(file));
    }
}

std::string differenceBetween(const BaselineProgram& before, const BaselineProgram& now) {
    if (before == now)
        return {};
    return fmt::format("the baseline is of {}; this is {}", wordsOf(before), wordsOf(now));
}

TimedComparison compareTimes(const TimedRuns& before, const TimedRuns& now) {
    TimedComparison comparison{{}, compareRuns(before.runs, now.runs), {}};
    const TimedGpu& was = before.gpu;
    const TimedGpu& is = now.gpu;
    const auto named = [](const TimedGpu& gpu) {
        return gpu.name.empty() ? std::string("a GPU that is not known") : gpu.name;
    };
    if (was.name != is.name || is.name.empty())
        comparison.obstacle =
            fmt::format("the baseline is of {}; this is {}", named(was), named(is));
    if (was.driver != is.driver)
        comparison.notes.push_back(
            fmt::format("the driver was {}; it is {}", was.driver, is.driver));
    const double clockWas = was.smMegahertz;
    const double clockIs = is.smMegahertz;
    if (clockWas > 0 && clockIs > 0 && std::abs(clockIs - clockWas) > runNoise * clockWas)
        comparison.notes.push_back(fmt::format("right after the runs the multiprocessors' clock "
                                               "was {} MHz; it is {} MHz",
                                               was.smMegahertz, is.smMegahertz));
    return comparison;
}

} // namespace kernelskill::engine
