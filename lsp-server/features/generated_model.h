/// A PyTorch program's generated model: made, checked and written.
#pragma once

#include "analysis/source/json.h"
#include "engine/workbench/model_generation.h"

#include <chrono>
#include <filesystem>
#include <functional>
#include <set>
#include <stop_token>
#include <string>

namespace kernelskill::lsp {

struct ModelFolderRequest {
    std::filesystem::path archive; ///< An archive of torch.export.save.
    std::filesystem::path folder;  ///< New, empty or an earlier model's.
    std::string precision = "float32";
    std::string tolerance = "1e-2"; ///< Another one needs `usesLibraries`.
    bool usesLibraries = false;
    /// Whether convolutions that are left to a library unmeasured get their tensors in
    /// channels-last order; needs `usesLibraries`. Measured ones do where that is faster.
    bool isChannelsLast = false;              ///< With `usesLibraries` alone.
    std::set<std::string> notSimplified = {}; ///< Names of simplifications.
    /// As engine::ModelRequest::measuringTime.
    std::chrono::seconds measuringTime{60};
    std::size_t compilers = 0; ///< Compilers that run at once; 0: one a core.
    std::function<void(const std::string& what, double share)> progress = {};
    bool wantsCheck = true;
};

/// The names of the precisions that a model's products can have, in options and requests.
[[nodiscard]] const std::vector<std::string>& modelPrecisions();

/// Generates and checks the model, and writes it by writeGenerated(). InvalidInput also for a
/// precision that modelPrecisions() lacks, for a tolerance that graph::toleranceNames lacks, and
/// without libraries for channels-last order and for another tolerance than 1e-2.
[[nodiscard]] Result<engine::GeneratedModel> writeModel(const engine::Workbench& workbench,
                                                        const ModelFolderRequest& request,
                                                        std::stop_token stop);

/// Writes all files, with a report that shows `gpu`'s roofline. Failed, and nothing is written, if
/// the check differs, or the model that was chosen by times is wrong; errors of
/// graph::writeModel().
[[nodiscard]] Result<void> writeGenerated(const engine::GeneratedModel& model,
                                          const ModelFolderRequest& request,
                                          const engine::Gpu& gpu);

/// The manifest of the files, the check: {outcome, why, largest_error, kernels, inputs}, and what
/// was measured where libraries are allowed (model_measurement_text.h).
[[nodiscard]] nlohmann::json modelJson(const engine::GeneratedModel& model);

} // namespace kernelskill::lsp
