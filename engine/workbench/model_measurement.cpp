#include "engine/workbench/model_measurement.h"

#include "analysis/source/program_search.h"
#include "engine/graph/choice/model_builder.h"
#include "engine/graph/choice/model_variant.h"
#include "engine/graph/choice/torch_racer.h"
#include "engine/graph/choice/visible_gpu.h"
#include "engine/memory/long_term_memory.h"
#include "engine/search/deadline.h"
#include "engine/static_facts/nvcc.h"
#include "engine/storage/temporary_folder.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <system_error>
#include <thread>
#include <utility>

namespace kernelskill::engine {
namespace {

namespace fs = std::filesystem;

/// The time to compare what was chosen, where little was given to measure.
constexpr std::chrono::seconds leastJudging{10};

Error missing(const std::string& what) {
    return Error{ErrorKind::Missing, what, "", ""};
}

/// The long-term memory, or one that forgets where there is none.
class Times {
public:
    explicit Times(const fs::path& configured) {
        const fs::path file = longTermMemoryFile(configured);
        if (file.empty())
            return;
        if (auto opened = LongTermMemory::open(file))
            memory_.emplace(*std::move(opened));
    }

    [[nodiscard]] std::optional<std::string> find(const std::string& key) const {
        const auto text = memory_ ? memory_->times(key) : std::nullopt;
        return text.value_or(std::nullopt);
    }
    void keep(const std::string& key, const std::string& text) {
        if (memory_)
            static_cast<void>(memory_->keepTimes(key, text)); // It is measured again, then.
    }

private:
    std::optional<LongTermMemory> memory_;
};

/// "…/kernelskill-torch, 123456 bytes, 1764230000": another build has another one.
std::string stampOf(const fs::path& file) {
    std::error_code error;
    const auto size = fs::file_size(file, error);
    const auto time = fs::last_write_time(file, error);
    return fmt::format("{}, {} bytes, {}", file.string(), size, time.time_since_epoch().count());
}

/// The version of a LibTorch that sees a GPU. Its child is started only if that is not remembered.
Result<std::string> torchWithGpu(graph::TorchReference& torch, Times& times,
                                 const std::stop_token& stop) {
    const std::string key = "libtorch of " + stampOf(torch.executable());
    if (auto known = times.find(key))
        return *std::move(known);
    const auto version = torch.version({}, stop);
    if (!version)
        return std::unexpected(version.error());
    if (version->devices.empty())
        return std::unexpected(missing(
            fmt::format("LibTorch {} {}", version->version,
                        version->isBuiltWithCuda ? "sees no GPU" : "is built without CUDA")));
    times.keep(key, version->version);
    return version->version;
}

/// The tools that measuring takes.
struct Tools {
    graph::VisibleGpu gpu;
    fs::path nvcc;
    std::string torch; ///< LibTorch's version.
};

Result<Tools> findTools(const Workbench& workbench, graph::TorchReference& torch, Times& times,
                        const std::stop_token& stop) {
    Tools tools;
    if (!torch.isBuilt())
        return std::unexpected(missing("LibTorch was not found when KernelSkill was built"));
    const auto smi = analysis::findProgram("nvidia-smi");
    if (!smi)
        return std::unexpected(missing("no GPU was found: there is no nvidia-smi"));
    auto gpu = graph::visibleGpu(*smi, graph::visibleDevices(), stop);
    if (!gpu)
        return std::unexpected(gpu.error());
    tools.gpu = *std::move(gpu);
    const auto& toolkit = workbench.toolchain().toolkit;
    auto nvcc = toolkit ? findNvcc(*toolkit) : std::nullopt;
    if (!nvcc)
        nvcc = analysis::findProgram("nvcc");
    if (!nvcc)
        return std::unexpected(missing("nvcc was not found"));
    tools.nvcc = *std::move(nvcc);
    auto version = torchWithGpu(torch, times, stop);
    if (!version)
        return std::unexpected(version.error());
    tools.torch = *std::move(version);
    return tools;
}

bool allowsTf32(const ModelMeasurementRequest& request) {
    return request.options.kernels.multiply == graph::MultiplyUnit::TF32;
}

/// The model as it is without measurements.
MeasuredModel unmeasured(const graph::Program& program, const ModelMeasurementRequest& request,
                         std::string why) {
    MeasuredModel model;
    model.options = request.options;
    model.options.usesLibraries = true;
    if (request.tolerance == graph::Tolerance::Tight)
        model.options.float32Nodes =
            graph::float32NodesOf(program, request.tolerance, allowsTf32(request));
    model.measurement.why = std::move(why);
    model.measurement.tolerance = request.tolerance;
    return model;
}

} // namespace

Result<MeasuredModel> measuredModel(const Workbench& workbench, const graph::Program& program,
                                    const ModelMeasurementRequest& request, std::stop_token stop) {
    if (request.time.count() <= 0)
        return unmeasured(program, request, "not asked for");
    const auto begin = Deadline::Clock::now();
    const Deadline half(begin + request.time / 2, stop);
    const Deadline deadline(begin + request.time, stop);
    const auto judging = std::max(request.time / 2, leastJudging);
    const Deadline compiled(begin + request.time + judging / 2, stop);
    const Deadline last(begin + request.time + judging, stop);
    const auto cancelled = [] {
        return std::unexpected(Error{ErrorKind::Cancelled, "stopped while it measured", "", ""});
    };
    Times times(workbench.options().userDataDirectory);
    graph::TorchReference torch = workbench.torch().another();
    const auto tools = findTools(workbench, torch, times, deadline.token());
    if (stop.stop_requested())
        return cancelled();
    if (!tools)
        return unmeasured(program, request,
                          tools.error().kind == ErrorKind::Cancelled ? "the time was up"
                                                                     : tools.error().describe());
    std::error_code error;
    const auto folder =
        TemporaryFolder::make(fs::temp_directory_path(error), "kernelskill-variants-");
    if (!folder)
        return unmeasured(program, request, "no temporary folder could be made");
    const auto& toolkit = workbench.toolchain().toolkit;
    graph::ModelBuilder builder(tools->nvcc, tools->gpu.architecture, folder->path(),
                                request.compilers > 0 ? request.compilers
                                                      : std::thread::hardware_concurrency());
    graph::TorchRacer racer({.archive = fs::absolute(request.archive, error),
                             .device = "cuda",
                             .allowsTf32 = allowsTf32(request),
                             .tolerance = request.tolerance},
                            torch, builder);
    auto choice = graph::chooseByTimes(
        program,
        {.name = request.name,
         .options = request.options,
         .tolerance = request.tolerance,
         .machine = fmt::format("{}, {}, driver {}, LibTorch {}, CUDA {}", tools->gpu.name,
                                tools->gpu.architecture, tools->gpu.driver, tools->torch,
                                toolkit ? toolkit->version : 0),
         .progress = request.progress},
        racer,
        {.find = [&](const std::string& key) { return times.find(key); },
         .keep = [&](const std::string& key, const std::string& text) { times.keep(key, text); }},
        {.simple = half.token(),
         .measuring = deadline.token(),
         .compiling = compiled.token(),
         .all = last.token()});
    if (stop.stop_requested())
        return cancelled();
    if (!choice)
        return std::unexpected(choice.error());
    MeasuredModel model;
    model.options = std::move(choice->options);
    model.measurement.places = std::move(choice->places);
    model.measurement.whole = std::move(choice->whole);
    model.measurement.accuracy = std::move(choice->accuracy);
    model.measurement.seconds =
        std::chrono::duration<double>(Deadline::Clock::now() - begin).count();
    model.measurement.gpu = tools->gpu.name;
    model.measurement.tolerance = request.tolerance;
    return model;
}

} // namespace kernelskill::engine
