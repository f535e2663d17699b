/// A heat: several generated models of one program are timed next to each other.
#pragma once

#include "engine/graph/reference/torch_subject.h"
#include "engine/graph/reference/torch_timing.h"

#include <nlohmann/json_fwd.hpp>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace kernelskill::engine::graph {

struct TorchHeatRequest {
    /// `inputs` and `precision` are not looked at. `allowsTf32` holds for library nodes.
    TorchSubject subject;
    /// Absolute; libraries with the C interface of models.
    std::vector<std::filesystem::path> libraries;
    std::uint32_t rounds = 30; ///< Rounds of each model.
    /// No round of all models begins after so long, except for the first three.
    std::chrono::milliseconds longest{3'000};
    std::chrono::milliseconds time{60'000};
};

/// A model of a heat.
struct HeatLane {
    std::optional<TorchTiming> timing;
    std::string why; ///< Why it has no time: its results are wrong, it could not be loaded.
};

struct TorchHeat {
    std::vector<HeatLane> lanes; ///< In the order of the libraries.
    std::string device;          ///< "NVIDIA H100 80GB HBM3", "cpu".
};

[[nodiscard]] nlohmann::json toJson(const TorchHeatRequest& request);
[[nodiscard]] nlohmann::json toJson(const TorchHeat& heat);
/// These throw nlohmann's exceptions for malformed input.
[[nodiscard]] TorchHeatRequest heatRequestFrom(const nlohmann::json& json);
[[nodiscard]] TorchHeat heatFrom(const nlohmann::json& json);

} // namespace kernelskill::engine::graph
