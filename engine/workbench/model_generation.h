/// From a PyTorch program to the plan of a generated model, checked without a GPU where LibTorch
/// and a host compiler are found.
#pragma once

#include "engine/graph/check/model_check.h"
#include "engine/graph/model/model_plan.h"
#include "engine/workbench/workbench.h"

#include <chrono>
#include <filesystem>
#include <stop_token>
#include <string>

namespace kernelskill::engine {

struct ModelRequest {
    std::filesystem::path archive; ///< As torch.export.save writes it.
    std::string name;              ///< The model's name, an identifier.
    graph::ModelOptions options;
    bool wantsCheck = true;
    /// How long the check may take; then nothing is known of the kernels.
    std::chrono::seconds checkTime{120};
};

struct GeneratedModel {
    graph::ModelPlan plan;
    /// The kernels with smaller extents on the emulator, beside LibTorch on the CPU.
    graph::ModelCheck check;
};

/// Plans the model and checks it. A check that finds a difference is no error here. InvalidInput
/// for a file that is no archive; errors of plannedModel(); Cancelled on `stop`.
[[nodiscard]] Result<GeneratedModel>
generateModel(const Workbench& workbench, const ModelRequest& request, std::stop_token stop);

} // namespace kernelskill::engine
