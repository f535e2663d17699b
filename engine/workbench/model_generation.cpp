#include "engine/workbench/model_generation.h"

#include "engine/graph/lowering/channels_last_nodes.h"
#include "engine/graph/read_program.h"
#include "engine/search/deadline.h"

#include <spdlog/fmt/fmt.h>

#include <system_error>
#include <utility>

namespace kernelskill::engine {
namespace {

constexpr std::uint64_t seed = 1;

graph::ModelCheck notCompared(const std::string& why) {
    graph::ModelCheck check;
    check.why = why;
    return check;
}

graph::ModelCheck check(const Workbench& workbench, const ModelRequest& request,
                        const graph::Program& program, const std::stop_token& stop) {
    if (!workbench.torch().isBuilt())
        return notCompared("LibTorch was not found when KernelSkill was built");
    const auto emulator = workbench.machines().emulator();
    if (!emulator)
        return notCompared(emulator.error().describe());
    const Deadline deadline(Deadline::Clock::now() + request.checkTime, stop);
    const graph::ModelReference reference =
        [&](const graph::ProgramExtents& extents,
            const std::vector<std::string>& keep) -> Result<graph::TorchRun> {
        graph::TorchRunRequest run;
        std::error_code error;
        run.subject.archive = std::filesystem::absolute(request.archive, error);
        run.subject.precision = graph::Precision::Float64;
        run.subject.seed = seed;
        run.subject.extents = extents;
        run.keep = keep;
        return workbench.torch().run(run, deadline.token());
    };
    graph::ModelCheck result =
        graph::checkModel(program, reference, {.model = request.options, .seed = seed}, **emulator,
                          workbench.toolchain(), deadline.token());
    if (result.outcome == graph::ModelCheck::Outcome::NotCompared && deadline.hasPassed())
        result.why = fmt::format("the check took longer than {} s", request.checkTime.count());
    return result;
}

} // namespace

Result<GeneratedModel> generateModel(const Workbench& workbench, const ModelRequest& request,
                                     std::stop_token stop) {
    auto program = graph::readProgram(request.archive);
    if (!program) {
        program.error().kind = ErrorKind::InvalidInput;
        return std::unexpected(program.error());
    }
    ModelRequest chosen = request;
    std::optional<ModelMeasurement> measurement;
    if (request.options.usesLibraries) {
        auto measured = measuredModel(workbench, *program,
                                      {.archive = request.archive,
                                       .name = request.name,
                                       .options = request.options,
                                       .tolerance = request.tolerance,
                                       .time = request.measuringTime,
                                       .compilers = request.compilers,
                                       .progress = request.progress},
                                      stop);
        if (!measured)
            return std::unexpected(measured.error());
        chosen.options = std::move(measured->options);
        measurement = std::move(measured->measurement);
    }
    if (request.isChannelsLast && (!measurement || measurement->gpu.empty()))
        chosen.options.channelsLastNodes = graph::imageConvolutions(*program);
    auto plan = graph::plannedModel(*program, request.name, chosen.options);
    if (!plan)
        return std::unexpected(plan.error());
    GeneratedModel model{*std::move(plan), notCompared("not asked for"), std::move(measurement)};
    if (request.wantsCheck && request.progress)
        request.progress("checking kernels on the emulator", 1);
    if (request.wantsCheck)
        model.check = check(workbench, chosen, *program, stop);
    if (stop.stop_requested())
        return std::unexpected(
            Error{ErrorKind::Cancelled, "stopped before the model was checked", "", ""});
    return model;
}

} // namespace kernelskill::engine
