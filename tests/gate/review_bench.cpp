#include "tests/gate/review_bench.h"

#include "analysis/command/compile_command.h"
#include "analysis/parse/parsed_units.h"
#include "engine/execution/emulator/emulator_executor.h"

#include <CLI/CLI.hpp>
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <sched.h>
#include <thread>
#include <utility>
#include <vector>

namespace kernelskill::testing {
namespace {

unsigned coresHere() {
    return std::max(1u, std::thread::hardware_concurrency());
}

/// Gives this thread, and all that it starts, its part of the cores: reviews side by side each use
/// as many as they find.
void keepToOwnCores(unsigned job, unsigned jobs, unsigned cores) {
    cpu_set_t own;
    CPU_ZERO(&own);
    for (unsigned core = job % cores; core < cores; core += jobs)
        CPU_SET(core, &own);
    sched_setaffinity(0, sizeof own, &own);
}

} // namespace

void ReviewBenchOptions::addTo(CLI::App& app) {
    app.add_option("--worker", worker)->required();
    app.add_option("--cache", cache)->required();
    app.add_option("--jobs", jobs)->check(CLI::PositiveNumber);
}

Result<ReviewBench> openReviewBench(const ReviewBenchOptions& options) {
    auto toolchain = analysis::findToolchain({.cudaPath = std::nullopt, .ignoreToolkit = true});
    if (!toolchain)
        return std::unexpected(std::move(toolchain.error()));
    toolchain->units = std::make_shared<analysis::ParsedUnits>();
    engine::EmulatorOptions emulator;
    emulator.workerExecutable = options.worker;
    emulator.cacheDirectory = options.cache;
    emulator.workers = std::max(1u, coresHere() / options.jobs);
    auto executor = engine::makeEmulatorExecutor(emulator, *toolchain);
    if (!executor)
        return std::unexpected(std::move(executor.error()));
    return ReviewBench{std::move(*toolchain), std::move(*executor)};
}

Result<engine::ProgramSource> programOf(const std::filesystem::path& file, std::string text,
                                        const analysis::Toolchain& toolchain) {
    const auto absolute = std::filesystem::absolute(file);
    engine::ProgramSource program;
    program.file = absolute.string();
    program.text = std::move(text);
    program.command =
        analysis::CompileCommands().inferred(absolute, std::filesystem::current_path());
    auto model = analysis::analyzeFile(absolute, program.text, program.command, toolchain);
    if (!model)
        return std::unexpected(std::move(model.error()));
    program.model = std::make_shared<analysis::FileModel>(std::move(*model));
    return program;
}

void reviewSideBySide(unsigned jobs, std::size_t count,
                      const std::function<void(std::size_t)>& review) {
    std::atomic<std::size_t> next = 0;
    std::vector<std::jthread> threads;
    for (unsigned job = 0; job < jobs; ++job)
        threads.emplace_back([&next, &review, job, jobs, count] {
            keepToOwnCores(job, jobs, coresHere());
            for (std::size_t at = next++; at < count; at = next++)
                review(at);
        });
}

std::string timeOfVerdicts(std::vector<double> seconds) {
    if (seconds.empty())
        return {};
    std::ranges::sort(seconds);
    return fmt::format("Time of a verdict: median {:.2f} s, 90th percentile {:.2f} s",
                       seconds[seconds.size() / 2], seconds[seconds.size() * 9 / 10]);
}

} // namespace kernelskill::testing
