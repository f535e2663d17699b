/// Mixes: a program in which generated models do the work of parts, and LibTorch that of the rest.
/// They are judged by the results of the whole program.
#pragma once

#include "engine/graph/program_part.h"
#include "engine/graph/reference/tolerance.h"
#include "engine/graph/reference/torch_subject.h"

#include <nlohmann/json_fwd.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace kernelskill::engine::graph {

/// A generated model for a part of the program.
struct PartLibrary {
    std::optional<ProgramPart> part; ///< nullopt: the whole program.
    std::filesystem::path library;   ///< Absolute; with the C interface of models.
};

struct TorchMixRequest {
    /// `inputs`, `precision` and `part` are not looked at. `seed` is the first of the seeds.
    /// `allowsTf32` holds for library nodes of the models. The nodes of LibTorch run as the eager
    /// program that the tolerance allows for.
    TorchSubject subject;
    Tolerance tolerance = Tolerance::Loose;
    std::vector<PartLibrary> libraries;
    /// Each mix names the libraries that it has, by their places.
    std::vector<std::vector<std::size_t>> mixes;
    /// The share of what a judge allows that a mix may use: other inputs may need more.
    double share = 1;
    /// Mixes are not run on further inputs after so long.
    std::chrono::milliseconds longest{60'000};
    std::chrono::milliseconds time{300'000};
};

struct MixVerdict {
    enum class Outcome : std::uint8_t {
        Right, ///< At the request's tolerance, on each distribution of inputs.
        Wrong,
        NotCompared,
    };
    Outcome outcome = Outcome::NotCompared;
    /// The largest error of all inputs that it was run on, as TrialResult has it.
    double error = 0;
    /// "large-magnitude inputs, seed 4: output 0 at [3, 7]: 1.5 instead of 1.25": where it is
    /// wrong, else where the error is largest.
    std::string worst;
    std::string why; ///< Why it is not compared.
    /// Libraries of the mix, by their places in it, whose parts LibTorch ran because they cannot
    /// run at once: such a part reads what follows from its own results, or from those of another
    /// part that reads its.
    std::vector<std::size_t> leftOut = {};
};

struct TorchMixes {
    std::vector<MixVerdict> verdicts; ///< They have the order of the request's mixes.
};

[[nodiscard]] nlohmann::json toJson(const TorchMixRequest& request);
[[nodiscard]] nlohmann::json toJson(const MixVerdict& verdict);
[[nodiscard]] nlohmann::json toJson(const TorchMixes& mixes);
/// These throw nlohmann's exceptions for malformed input.
[[nodiscard]] TorchMixRequest mixRequestFrom(const nlohmann::json& json);
[[nodiscard]] MixVerdict mixVerdictFrom(const nlohmann::json& json);
[[nodiscard]] TorchMixes mixesFrom(const nlohmann::json& json);

} // namespace kernelskill::engine::graph
