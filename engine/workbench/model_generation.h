/// Plans the model of a PyTorch program, and checks it without a GPU where LibTorch and a host
/// compiler are found.
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
    std::filesystem::path archive; ///< An archive of torch.export.save.
    std::string name;              ///< The model's name, an identifier.
    graph::ModelOptions options;
    bool wantsCheck = true;
    /// The time limit of the check. Beyond it, nothing is known of the kernels.
    std::chrono::seconds checkTime{120};
};

struct GeneratedModel {
    graph::ModelPlan plan;
    /// Compares the kernels on the emulator with LibTorch on the CPU.
    graph::ModelCheck check;
};

/// Plans the model and checks it. A check that finds a difference is no error here. InvalidInput
/// for a file that is no archive; errors of plannedModel(); Cancelled on `stop`.
[[nodiscard]] Result<GeneratedModel>
generateModel(const Workbench& workbench, const ModelRequest& request, std::stop_token stop);

} // namespace kernelskill::engine
