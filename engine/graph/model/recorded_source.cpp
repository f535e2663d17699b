#include "engine/graph/model/recorded_source.h"

#include <spdlog/fmt/fmt.h>

namespace kernelskill::engine::graph {

namespace {

/// The parameters of forward() that only some models have: with types, or as arguments.
std::string further(const ModelPlan& plan, bool hasTypes) {
    std::string text;
    if (!plan.symbols.empty())
        text += hasTypes ? ", const Model::Sizes& sizes" : ", sizes";
    if (!libraryCalls(plan).empty())
        text += hasTypes ? ", Model::Library& library" : ", library";
    return text;
}

} // namespace

std::string recordedHeader(const ModelPlan& plan) {
    return fmt::format(
        R"(/// The model {0} as a CUDA graph: one launch for all of its kernels.
#pragma once

#include "model.h"

namespace {0} {{

/// Keeps what forward() launches for one set of tensors, and launches it again and again.
class RecordedModel {{
public:
    RecordedModel() = default;
    RecordedModel(const RecordedModel&) = delete;
    RecordedModel& operator=(const RecordedModel&) = delete;
    ~RecordedModel();

    /// Records one call. The tensors and the workspace stay where they are until the last launch; what
    /// they hold may change. The stream is not the legacy default stream. Nothing runs.{2}
    cudaError_t record(const Model& model, const Model::Inputs& inputs, const Model::Outputs& outputs,
                       void* workspace{1}, cudaStream_t stream);
    /// Asynchronous. Two launches of one recording do not run at the same time.
    cudaError_t launch(cudaStream_t stream) const;

private:
    cudaGraphExec_t executable_ = nullptr;
}};

}} // namespace {0}
)",
        plan.name, further(plan, true),
        libraryCalls(plan).empty() ? "" : "\n    /// The library allows its calls to be captured.");
}

std::string recordedSource(const ModelPlan& plan) {
    return fmt::format(R"(#include "recorded_model.h"

namespace {0} {{

RecordedModel::~RecordedModel()
{{
    if (executable_ != nullptr)
        cudaGraphExecDestroy(executable_);
}}

cudaError_t RecordedModel::record(const Model& model, const Model::Inputs& inputs, const Model::Outputs& outputs,
                                  void* workspace{1}, cudaStream_t stream)
{{
    cudaError_t status = cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
    if (status != cudaSuccess)
        return status;
    status = model.forward(inputs, outputs, workspace{2}, stream);
    // Ends the capture also after an error, so that the stream can be used again.
    cudaGraph_t graph = nullptr;
    const cudaError_t ended = cudaStreamEndCapture(stream, &graph);
    if (status == cudaSuccess)
        status = ended;
    cudaGraphExec_t executable = nullptr;
    if (status == cudaSuccess)
        status = cudaGraphInstantiateWithFlags(&executable, graph, 0);
    if (graph != nullptr)
        cudaGraphDestroy(graph);
    if (status != cudaSuccess)
        return status;
    if (executable_ != nullptr)
        cudaGraphExecDestroy(executable_);
    executable_ = executable;
    return cudaSuccess;
}}

cudaError_t RecordedModel::launch(cudaStream_t stream) const
{{
    return executable_ == nullptr ? cudaErrorInvalidValue : cudaGraphLaunch(executable_, stream);
}}

}} // namespace {0}
)",
                       plan.name, further(plan, true), further(plan, false));
}

} // namespace kernelskill::engine::graph
