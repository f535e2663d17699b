/// Chooses between a generated model's own kernels and libraries by times on this machine's GPU.
#pragma once

#include "engine/graph/choice/node_choice.h"
#include "engine/graph/program.h"
#include "engine/workbench/workbench.h"

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace kernelskill::engine {

struct ModelMeasurementRequest {
    std::filesystem::path archive; ///< That of the program.
    std::string name;              ///< The model's.
    /// As ChoiceRequest::options.
    graph::ModelOptions options;
    graph::Tolerance tolerance = graph::Tolerance::Loose; ///< The model has to be right at it.
    /// A place that is not measured by then is chosen without. Comparing what was chosen may take
    /// half as long on top of that, but at least ten seconds.
    std::chrono::seconds time{60};
    std::size_t compilers = 0; ///< Compilers that run at once; 0: one a core.
    std::function<void(const std::string& what, double share)> progress;
};

/// The measurements for a model.
struct ModelMeasurement {
    std::string gpu; ///< "NVIDIA H200"; empty if nothing was measured.
    std::string why; ///< Why nothing was measured.
    graph::Tolerance tolerance = graph::Tolerance::Loose; ///< The one that was asked for.
    double seconds = 0;
    std::vector<graph::PlaceMeasurement> places;
    std::optional<graph::PlaceMeasurement> whole;
    std::optional<graph::ChoiceAccuracy> accuracy; ///< nullopt if nothing was measured.
};

struct MeasuredModel {
    graph::ModelOptions options; ///< The options to plan the model with.
    ModelMeasurement measurement;
};

/// Compiles and times the variants of each place, or takes what the long-term memory has. Without a
/// GPU, nvcc or LibTorch with CUDA, or if the time is 0, products are left to libraries, and `why`
/// says what is missing; at the tight tolerance, these libraries have no TF32. Errors are those of
/// plannedModel(); Cancelled on `stop`.
[[nodiscard]] Result<MeasuredModel> measuredModel(const Workbench& workbench,
                                                  const graph::Program& program,
                                                  const ModelMeasurementRequest& request,
                                                  std::stop_token stop);

} // namespace kernelskill::engine
