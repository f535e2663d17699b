/// The messages between the server and `kernelskill-torch`: one frame each, with one answer to
/// each request.
#pragma once

#include "analysis/source/error.h"
#include "engine/graph/program.h"
#include "engine/graph/reference/heat.h"
#include "engine/graph/reference/judgement.h"
#include "engine/graph/reference/mix.h"
#include "engine/graph/reference/torch_subject.h"
#include "engine/graph/reference/torch_timing.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace kernelskill::engine::graph {

/// Asks for the version of LibTorch, and which of these operators ("aten.linear.default") it
/// cannot run.
struct TorchVersionRequest {
    std::vector<std::string> operators;
};

struct TorchRunRequest {
    TorchSubject subject;
    std::vector<std::string> keep; ///< Values of the graph to answer with, beside the outputs.
    bool keepsAll = false;         ///< Answer with every tensor that a node computes.
    std::chrono::milliseconds time{60'000};
};

/// Runs the program again and again: by CUDA's events, each time with a swept L2 cache; on a CPU
/// by the wall's clock.
struct TorchTimingRequest {
    TorchSubject subject;
    std::uint32_t warmUpRounds = 5;
    std::uint32_t rounds = 20;
    /// No round begins after so long, except for one that warms up and one that is timed.
    std::chrono::milliseconds longest{30'000};
    std::chrono::milliseconds time{60'000};
};

using TorchRequest = std::variant<TorchVersionRequest, TorchRunRequest, TorchTimingRequest,
                                  TorchJudgeRequest, TorchHeatRequest, TorchMixRequest>;

/// The time limit of the request.
[[nodiscard]] std::chrono::milliseconds timeLimit(const TorchRequest& request);

struct TorchVersion {
    std::string version;              ///< "1.13.0"
    bool isBuiltWithCuda = false;     ///< Whether this LibTorch knows GPUs, were there any.
    std::vector<std::string> devices; ///< Names of the GPUs that it sees.
    /// The operators of the request that cannot be run, with the reason.
    std::map<std::string, std::string> lacking;
    /// Those of the request that LibTorch lacks and that are put together from others.
    std::vector<std::string> decomposed;
};

struct TorchRun {
    /// The program's outputs in their order, contiguous. An integer is a tensor without
    /// dimensions. nullopt: the output is None or something else that no tensor holds.
    std::vector<std::optional<TensorData>> outputs;
    std::map<std::string, TensorData> values; ///< The values that were to be kept.
};

struct TorchFailure {
    Error error;
    bool isFatal = false; ///< The child ends with this answer: start another one.
};

using TorchAnswer = std::variant<TorchVersion, TorchRun, TorchTiming, Judgement, TorchHeat,
                                 TorchMixes, TorchFailure>;

/// Whole frames with their length.
[[nodiscard]] std::vector<std::byte> encode(const TorchRequest& request);
[[nodiscard]] std::vector<std::byte> encode(const TorchAnswer& answer);

/// Reads a frame's payload. Returns an Internal error for malformed data.
[[nodiscard]] Result<TorchRequest> decodeTorchRequest(std::span<const std::byte> payload);
[[nodiscard]] Result<TorchAnswer> decodeTorchAnswer(std::span<const std::byte> payload);

} // namespace kernelskill::engine::graph
