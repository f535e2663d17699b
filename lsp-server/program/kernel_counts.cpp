#include "lsp-server/program/kernel_counts.h"

#include "analysis/source/files.h"
#include "analysis/source/program_search.h"
#include "analysis/source/try.h"
#include "engine/diagnosis/cost_model.h"
#include "engine/program/command_words.h"
#include "engine/program/source_tree.h"
#include "engine/storage/temporary_folder.h"
#include "engine/whole_program/contained_kernels.h"
#include "lsp-server/program/injected_run.h"
#include "lsp-server/program/output_end.h"

#include <spdlog/fmt/fmt.h>

#include <cstdint>
#include <map>
#include <set>
#include <system_error>
#include <utility>

namespace kernelskill::lsp {

namespace fs = std::filesystem;
using engine::ContainedKernel;
using engine::CountedKernel;

namespace {

constexpr std::uintmax_t maxProgramBytes = 1u << 30;

/// The file that the command starts. Missing if there is none.
Result<fs::path> executableOf(const engine::Workload& workload) {
    const std::string& name = workload.command.front();
    if (!name.contains('/')) {
        if (auto found = analysis::findProgram(name))
            return *std::move(found);
    } else if (fs::path path = workload.folder / name; analysis::isFile(path)) {
        return path;
    }
    return std::unexpected(Error{ErrorKind::Missing, "there is no such program", name,
                                 "look at its name, and build it before"});
}

/// The launches that were captured, or why there are none.
struct Captured {
    engine::StoredCaptures captures;
    std::string whyNone;
};

Result<Captured> capture(const ProgramCountsRequest& request, const fs::path& folder,
                         const std::stop_token& stop) {
    engine::Recording recording;
    recording.program = engine::commandText(request.workload.command);
    OutputEnd output;
    const auto sink = [&output](int, std::string_view text) { output.add(text); };
    auto recorded = recordCaptures(folder, std::move(recording), request.options,
                                   inBackground(request.workload, stop, sink));
    if (!recorded && recorded.error().kind == ErrorKind::Missing)
        return Captured{{}, recorded.error().what};
    if (!recorded)
        return std::unexpected(recorded.error());
    const std::string status =
        recorded->status == 0 ? "" : fmt::format("; it ended with status {}", recorded->status);
    if (recorded->captures.launches.empty())
        return Captured{{},
                        (recorded->isAttached ? "no launch of the program was captured"
                                              : "the program never started the CUDA driver") +
                            status};
    if (recorded->status != 0)
        return std::unexpected(output.explained(
            {ErrorKind::Failed, fmt::format("the program ended with status {}", recorded->status),
             engine::commandText(request.workload.command), "look at its arguments"}));
    return Captured{std::move(recorded->captures), {}};
}

/// The kernels of the workspace among those that were captured. Sorted by their symbols.
std::vector<ContainedKernel> kernelsOf(const engine::StoredCaptures& captures,
                                       const engine::KernelPlaces& places, const fs::path& folder) {
    std::set<std::string> symbols;
    for (const engine::StoredLaunch& stored : captures.launches)
        symbols.insert(stored.launch.symbol);
    std::vector<ContainedKernel> kernels;
    for (const std::string& symbol : symbols)
        if (auto place = places.of(symbol, folder))
            kernels.push_back({symbol, *std::move(place)});
    return kernels;
}

/// Counts each kernel once: instantiations of a template are one kernel of its file.
Result<engine::Baseline> countAll(const ProgramCountsRequest& request,
                                  const std::vector<ContainedKernel>& wanted,
                                  CapturedKernels& kernels, const std::stop_token& stop) {
    const std::string& gpu = request.options.gpu;
    engine::Baseline counts{request.tool, gpu, {}};
    std::map<const analysis::KernelModel*, SnapshotPtr> counted;
    std::set<std::string> failed;
    for (const ContainedKernel& each : wanted) {
        CountedKernel kernel;
        if (const auto opened = kernels.open(each.place, each.symbol)) {
            if (!counted.emplace(opened->kernel, opened->snapshot).second)
                continue;
            kernel = countsOf(*opened->snapshot, *opened->kernel, gpu, stop);
        } else {
            kernel.kernel = each.place.qualifiedName;
            kernel.failure = opened.error().describe();
            if (!failed.insert(kernel.kernel + kernel.failure).second)
                continue;
        }
        if (stop.stop_requested())
            return std::unexpected(Error{ErrorKind::Cancelled, "stopped", {}, {}});
        kernel.file = pathFrom(request.paths, request.root / each.place.file);
        addCounted(counts, std::move(kernel));
    }
    return counts;
}

Error noKernel(const ProgramCountsRequest& request, const std::string& what) {
    return {ErrorKind::Failed, what, engine::commandText(request.workload.command),
            "name the files instead: kernelskill ci --baseline FILE kernels.cu"};
}

} // namespace

CountedKernel countsOf(const Snapshot& snapshot, const analysis::KernelModel& kernel,
                       const std::string& gpu, const std::stop_token& stop) {
    const engine::KernelRef ref{snapshot.program, kernel};
    const auto& workbench = *snapshot.workbench;
    const auto report = workbench.profiler().profile(ref, stop, {}, engine::Profiler::Facts::Later);
    if (!report) {
        CountedKernel failed;
        failed.kernel = kernel.qualifiedName;
        failed.failure = report.error().describe();
        return failed;
    }
    auto result = engine::countedKernel(*report->profile);
    result.kernel = kernel.qualifiedName;
    const auto& gpus = engine::builtinGpus();
    const auto* known = gpus ? engine::gpuNamed(*gpus, gpu) : nullptr;
    const auto features = workbench.knowledge().features(ref);
    if (known != nullptr && features)
        if (const auto cost = engine::costOf({kernel, *features, *report->profile, *known}))
            result.seconds = cost->seconds;
    return result;
}

void addCounted(engine::Baseline& counts, CountedKernel kernel) {
    const std::string name = kernel.kernel;
    for (int i = 2; counts.find(kernel.file, kernel.kernel) != nullptr; ++i)
        kernel.kernel = fmt::format("{} #{}", name, i);
    counts.kernels.push_back(std::move(kernel));
}

std::string pathFrom(const fs::path& folder, const fs::path& path) {
    std::error_code error;
    return fs::absolute(path, error).lexically_normal().lexically_relative(folder).generic_string();
}

Result<ProgramCounts> countProgram(const ProgramCountsRequest& request,
                                   const std::stop_token& stop) {
    KERNELSKILL_TRY(const auto executable, executableOf(request.workload));
    KERNELSKILL_TRY(const auto tree, engine::listTree(request.root, stop));
    const engine::KernelPlaces places(tree, stop);
    std::error_code error;
    const auto folder =
        engine::TemporaryFolder::make(fs::temp_directory_path(error), "kernelskill-ci");
    if (!folder)
        return std::unexpected(Error{ErrorKind::Failed, "no temporary folder", {}, "set TMPDIR"});
    const fs::path captures = folder->path() / "captures";
    KERNELSKILL_TRY(const auto captured, capture(request, captures, stop));
    ProgramCounts result;
    result.why = captured.whyNone;
    result.areCaptured = captured.whyNone.empty();
    for (const Error& problem : captured.captures.problems)
        result.notes.push_back(problem.describe());
    std::vector<ContainedKernel> wanted;
    if (result.areCaptured) {
        wanted = kernelsOf(captured.captures, places, request.folder);
        if (wanted.empty())
            return std::unexpected(noKernel(request, "the program ran no kernel of the workspace"));
    } else {
        const auto bytes = analysis::readFile(executable, maxProgramBytes);
        if (!bytes)
            return std::unexpected(
                Error{ErrorKind::InvalidInput,
                      "the program cannot be read: " +
                          analysis::unreadableReason(executable, maxProgramBytes),
                      executable.string(), "look at its permissions"});
        wanted = engine::kernelsIn(*bytes, places, request.folder);
        if (wanted.empty())
            return std::unexpected(noKernel(
                request, fmt::format("{}, and {} holds no name of a kernel of the workspace",
                                     captured.whyNone, executable.string())));
    }
    CapturedKernels kernels(request.workbench, request.root,
                            result.areCaptured ? captures : capturesIn(request.root)->folder(),
                            request.reader);
    KERNELSKILL_TRY(result.counts, countAll(request, wanted, kernels, stop));
    return result;
}

} // namespace kernelskill::lsp
