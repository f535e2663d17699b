/// Plans the model of a PyTorch program, chooses by times on a GPU where libraries are allowed, and
/// checks it without a GPU where LibTorch and a host compiler are found.
#pragma once

#include "engine/graph/check/model_check.h"
#include "engine/graph/model/model_plan.h"
#include "engine/workbench/model_measurement.h"
#include "engine/workbench/workbench.h"

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>

namespace kernelskill::engine {

struct ModelRequest {
    std::filesystem::path archive; ///< An archive of torch.export.save.
    std::string name;              ///< The model's name, an identifier.
    graph::ModelOptions options;
    /// Whether convolutions that libraries run unmeasured have their tensors in channels-last
    /// order.
    bool isChannelsLast = false;
    /// Where libraries are allowed: the tolerance at which the model has to be right.
    graph::Tolerance tolerance = graph::Tolerance::Loose;
    /// Where libraries are allowed: how long to measure which nodes are left to them; 0: not at
    /// all, so that all products are.
    std::chrono::seconds measuringTime{60};
    std::size_t compilers = 0; ///< As ModelMeasurementRequest has it.
    std::function<void(const std::string& what, double share)> progress = {};
    bool wantsCheck = true;
    /// The time limit of the check. Beyond it, nothing is known of the kernels.
    std::chrono::seconds checkTime{120};
};

struct GeneratedModel {
    graph::ModelPlan plan;
    /// Compares the kernels on the emulator with LibTorch on the CPU.
    graph::ModelCheck check;
    /// nullopt if no library is allowed.
    std::optional<ModelMeasurement> measurement = std::nullopt;
};

/// Chooses, plans the model and checks it. A check that finds a difference is no error here.
/// InvalidInput for a file that is no archive; errors of plannedModel(); Cancelled on `stop`.
[[nodiscard]] Result<GeneratedModel>
generateModel(const Workbench& workbench, const ModelRequest& request, std::stop_token stop);

} // namespace kernelskill::engine
