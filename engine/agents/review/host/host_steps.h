/// What a host function asks of the GPU, in the order in which it takes effect, and what else
/// anybody may see of it.
#pragma once

#include "analysis/model/kernel_model.h"
#include "analysis/source/error.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace kernelskill::engine {

enum class HostStepKind : std::uint8_t {
    Launch,
    Call, ///< Of the CUDA runtime.
    Wait, ///< A call that only waits for work on the GPU.
    Host, ///< Of the host alone: a call, a store, a loop without CUDA.
};

struct HostStep {
    HostStepKind kind = HostStepKind::Host;
    std::string what; ///< With the values of all arguments; "%" for each of `handles`.
    std::vector<std::string> handles; ///< Streams and events, by the order of their creation.
    std::uint32_t line = 0;           ///< From 1; of the launch, where a graph is replayed.
};

/// Values that stand for what is not known, the same for both versions of a function.
struct HostScenario {
    std::int64_t firstInteger = 17;      ///< Of the integer parameters, which count up from it.
    std::map<std::string, bool> choices; ///< Of conditions that depend on other unknown values.
};

struct HostTrace {
    std::vector<HostStep> steps;
    /// A condition that the scenario does not decide; the steps end there.
    std::string undecided;
};

/// Follows FileModel::hostFunctions[function]. A graph that is launched stands for the work that
/// was captured into it; a status that a call of the runtime returns is success. Unsupported, with
/// the line, where the text does not tell what happens, and where CUDA would refuse a call.
[[nodiscard]] Result<HostTrace> traceHost(const analysis::FileModel& file, std::uint32_t function,
                                          const HostScenario& scenario);

} // namespace kernelskill::engine
