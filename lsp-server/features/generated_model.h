/// A PyTorch program's generated model: made, checked and written.
#pragma once

#include "engine/workbench/model_generation.h"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <set>
#include <stop_token>
#include <string>

namespace kernelskill::lsp {

struct ModelWish {
    std::filesystem::path archive; ///< As torch.export.save writes it.
    std::filesystem::path folder;  ///< New, empty or an earlier model's.
    std::string precision = "float32";
    bool usesLibraries = false;
    std::set<std::string> notSimplified; ///< Names of simplifications.
    bool wantsCheck = true;
};

/// What a model's products may be computed in, by the names of options and requests.
[[nodiscard]] const std::vector<std::string>& modelPrecisions();

/// Writes all files, with the report. InvalidInput for a precision without a meaning; Failed, and
/// nothing is written, if the kernels do not compute what LibTorch computes.
[[nodiscard]] Result<engine::GeneratedModel>
writeModel(const engine::Workbench& workbench, const ModelWish& wish, std::stop_token stop);

/// The manifest of the files, and the check: {outcome, why, largest_error, kernels, inputs}.
[[nodiscard]] nlohmann::json modelJson(const engine::GeneratedModel& model);

} // namespace kernelskill::lsp
