#include "engine/graph/torch/jobs.h"

#include "engine/graph/read_program.h"
#include "engine/graph/reference/smaller_program.h"
#include "engine/graph/torch/cuda_devices.h"
#include "engine/graph/torch/failures.h"
#include "engine/graph/torch/gpu_turn.h"
#include "engine/graph/torch/heat.h"
#include "engine/graph/torch/judge.h"
#include "engine/graph/torch/mix.h"
#include "engine/graph/torch/prepared_program.h"
#include "engine/graph/torch/program_run.h"
#include "engine/graph/torch/symbolic_integers.h"
#include "engine/graph/torch/timing.h"
#include "engine/graph/torch/torch_names.h"
#include "engine/graph/torch/torch_operators.h"

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>

namespace kernelskill::engine::graph {
namespace {

/// The types of results, which were those of the larger program, are not known any more.
Program smallerProgram(Program program, const ExtentLimit& limit) {
    program = withExtents(std::move(program), limit);
    std::set<std::string, std::less<>> inputs;
    for (const Input& input : program.inputs)
        inputs.insert(input.value);
    std::erase_if(program.values, [&](const auto& each) { return !inputs.contains(each.first); });
    return program;
}

Result<std::shared_ptr<const Program>> readArchive(const TorchSubject& subject) {
    auto program = readProgram(subject.archive);
    if (!program)
        return std::unexpected(program.error());
    if (subject.part) {
        program = programPart(*program, *subject.part);
        if (!program)
            return std::unexpected(program.error());
    }
    if (subject.extents.largest)
        program = smallerProgram(*std::move(program), subject.extents.largest);
    if (!subject.extents.symbols.empty())
        program = withSymbolValues(*std::move(program), subject.extents.symbols);
    if (!program)
        return std::unexpected(program.error());
    return std::make_shared<const Program>(std::move(*program));
}

Result<PreparedProgram> prepareArchive(const TorchSubject& subject) {
    auto program = readArchive(subject);
    if (!program)
        return std::unexpected(program.error());
    return PreparedProgram::prepare(std::move(*program), subject);
}

Result<TorchVersion> answerTo(const TorchVersionRequest& request) {
    TorchVersion version;
    version.version = torchVersion();
    version.isBuiltWithCuda = at::hasCUDA();
    for (CudaDevice& device : cudaDevices())
        version.devices.push_back(std::move(device.name));
    for (const std::string& target : request.operators) {
        if (isSymbolicArithmetic(target))
            continue;
        const auto found = torchOperator(target);
        if (!found)
            version.lacking.emplace(target, found.error().what);
        else if (found->isDecomposed)
            version.decomposed.push_back(target);
    }
    return version;
}

Result<TorchRun> answerTo(const TorchRunRequest& request) {
    const auto prepared = prepareArchive(request.subject);
    if (!prepared)
        return std::unexpected(prepared.error());
    return runProgram(*prepared, {{request.keep.begin(), request.keep.end()}, request.keepsAll});
}

Result<TorchTiming> answerTo(const TorchTimingRequest& request) {
    const auto prepared = prepareArchive(request.subject);
    if (!prepared)
        return std::unexpected(prepared.error());
    const GpuTurn turn(request.subject.device);
    return timeProgram(*prepared, request);
}

Result<Judgement> answerTo(const TorchJudgeRequest& request) {
    const auto program = readArchive(request.subject);
    if (!program)
        return std::unexpected(program.error());
    const GpuTurn turn(request.subject.device);
    return judge(*program, request);
}

Result<TorchHeat> answerTo(const TorchHeatRequest& request) {
    const auto program = readArchive(request.subject);
    if (!program)
        return std::unexpected(program.error());
    const GpuTurn turn(request.subject.device);
    return runHeat(*program, request);
}

Result<TorchMixes> answerTo(const TorchMixRequest& request) {
    const auto program = readArchive(request.subject);
    if (!program)
        return std::unexpected(program.error());
    const GpuTurn turn(request.subject.device);
    return judgeMixes(*program, request);
}

} // namespace

TorchAnswer answer(const TorchRequest& request) {
    return std::visit(
        [](const auto& each) -> TorchAnswer {
            auto result =
                withoutExceptions("the request failed", "", [&] { return answerTo(each); });
            if (!result)
                return TorchFailure{std::move(result.error()), false};
            return std::move(*result);
        },
        request);
}

} // namespace kernelskill::engine::graph
