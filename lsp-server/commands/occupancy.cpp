// kernelskill occupancy: what a multiprocessor holds of a kernel, and what it would hold if a block
// had another size, other registers or other shared memory.
#include "analysis/source/json.h"
#include "lsp-server/commands/command_line.h"
#include "lsp-server/commands/interruption.h"
#include "lsp-server/commands/kernel_option.h"
#include "lsp-server/commands/terminal.h"
#include "lsp-server/report/occupancy_text.h"

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

#include <memory>

namespace kernelskill::lsp {

namespace {

struct OccupancyArguments {
    KernelArguments kernel;
    std::uint32_t block = 0;     ///< Threads; 0: those of the launch.
    std::uint32_t registers = 0; ///< 0: those that the compiler reports.
    std::uint64_t shared = 0;    ///< Bytes of a block, if `isSharedGiven`.
    bool isSharedGiven = false;
};

/// The block's resources, and notes on those that are guessed or not known.
struct KnownBlock {
    analysis::BlockResources resources;
    std::vector<std::string> notes;
};

KnownBlock blockOf(const OccupancyArguments& arguments, const Snapshot& snapshot,
                   const analysis::KernelModel& kernel, const engine::Gpu& gpu,
                   const std::stop_token& stop) {
    KnownBlock block;
    constexpr std::uint32_t usualThreads = 256;
    const auto launch = snapshot.workbench->knowledge().launch({snapshot.program, kernel});
    block.resources.threads = arguments.block > 0 ? arguments.block
                              : launch ? static_cast<std::uint32_t>(launch->block.count())
                                       : usualThreads;
    if (arguments.block == 0 && (!launch || launch->isShapeGuessed))
        block.notes.push_back(fmt::format(
            "The block of {} threads is a guess: --block gives another.", block.resources.threads));
    for (const analysis::SharedArray& array : kernel.sharedArrays)
        block.resources.sharedBytes += array.isDynamic ? 0 : array.bytes;
    if (launch)
        block.resources.sharedBytes += launch->dynamicSharedBytes;
    if (arguments.isSharedGiven)
        block.resources.sharedBytes = arguments.shared;
    if (arguments.registers > 0) {
        block.resources.registersPerThread = arguments.registers;
        return block;
    }
    const auto facts = snapshot.workbench->profiler().facts(
        {snapshot.program, kernel}, launch.value_or(engine::LaunchSpec{}),
        analysis::architectureName(gpu.capability), stop);
    if (facts)
        block.resources.registersPerThread = facts->registers;
    else
        block.notes.push_back("Registers are not known (" + facts.error().what +
                              "), so they limit nothing here: --registers gives their number.");
    return block;
}

std::string currentText(const analysis::BlockResources& block, const analysis::Occupancy& now) {
    std::vector<std::string_view> limiters;
    for (const analysis::OccupancyLimiter limiter : now.limiters)
        limiters.push_back(spelling(limiter));
    return fmt::format("{} threads, {}{} bytes of shared memory a block: {:.0f} % ({} warps in {} "
                       "block{} a multiprocessor), limited by {}",
                       block.threads,
                       block.registersPerThread
                           ? fmt::format("{} registers a thread, ", *block.registersPerThread)
                           : "",
                       block.sharedBytes, now.percent, now.warps, now.blocks,
                       now.blocks == 1 ? "" : "s", fmt::join(limiters, " and "));
}

int runOccupancy(const OccupancyArguments& arguments, const Invocation& invocation) {
    const Interruption interruption;
    const auto opened = openPlace(arguments.kernel, invocation.options);
    if (!opened)
        return reportError(opened.error(), invocation);
    const auto kernel = opened->chosen();
    if (!kernel)
        return reportError(kernel.error(), invocation);
    const Snapshot& snapshot = *opened->snapshot;
    const engine::Gpu& gpu = snapshot.workbench->knowledge().gpuOf({});
    const auto limits = analysis::limitsOf(gpu.capability); // Every GPU of the table has limits.
    const KnownBlock block = blockOf(arguments, snapshot, **kernel, gpu, interruption.token());
    const auto now = analysis::occupancyOf(block.resources, *limits);
    const auto plots = occupancyPlots(block.resources, *limits);
    if (invocation.json) {
        printJson({{"kernel", (*kernel)->qualifiedName},
                   {"gpu", gpu.name},
                   {"percent", now ? nlohmann::json(now->percent) : nlohmann::json(nullptr)},
                   {"plots", occupancyJson(plots)},
                   {"notes", block.notes}});
        return now ? exitDone : exitNothingFound;
    }
    const Terminal terminal(stdout);
    fmt::print("{} on {}\n  {}\n", terminal.paint(Colour::Bold, (*kernel)->qualifiedName),
               engine::withArticle(gpu),
               now ? currentText(block.resources, *now) : now.error().describe());
    for (const std::string& note : block.notes)
        fmt::print("  {}\n", terminal.paint(Colour::Yellow, note));
    for (const OccupancyPlot& plot : plots) {
        fmt::print("\nwith other {}\n",
                   terminal.paint(Colour::Cyan, analysis::spelling(plot.resource)));
        for (const std::string& line : occupancyLines(plot))
            fmt::print("{}\n", line);
    }
    return now ? exitDone : exitNothingFound;
}

} // namespace

void addOccupancyCommand(CliCommand& program, Invocation& invocation) {
    CliCommand& command = program.add(
        "occupancy", "Say what a multiprocessor holds of a kernel, and what other blocks would do");
    command.footer("\nExamples:\n"
                   "  kernelskill occupancy transpose.cu\n"
                   "  kernelskill occupancy transpose.cu --registers 64 --block 512\n"
                   "  kernelskill occupancy transpose.cu:6 --shared 49152 --gpu A100 --json\n"
                   "\nBlock and shared memory are those of the launch in the file, registers those "
                   "that the CUDA\ntoolkit's compiler reports.");
    addJsonFlag(command, invocation);
    const auto arguments = std::make_shared<OccupancyArguments>();
    addKernelArguments(command, arguments->kernel, "the first one by default");
    constexpr double maxThreads = analysis::MultiprocessorLimits::threadsPerBlock;
    constexpr double maxRegisters = analysis::MultiprocessorLimits::registersPerThread;
    command.option(&arguments->block, {.name = "--block",
                                       .placeholder = "THREADS",
                                       .help = "Threads of a block, instead of the launch's",
                                       .range = std::pair(1.0, maxThreads)});
    command.option(&arguments->registers,
                   {.name = "--registers",
                    .placeholder = "N",
                    .help = "Registers a thread, instead of those that the compiler reports",
                    .range = std::pair(1.0, maxRegisters)});
    command.option(&arguments->shared,
                   {.name = "--shared",
                    .placeholder = "BYTES",
                    .help = "Shared memory of a block, static and dynamic",
                    .whenGiven = [arguments] { arguments->isSharedGiven = true; }});
    command.whenChosen([&invocation, arguments] {
        invocation.run = [&invocation, arguments] { return runOccupancy(*arguments, invocation); };
    });
}

} // namespace kernelskill::lsp
