/// What a host function asks of the GPU, in the order in which it asks, and what else anybody may
/// see of it.
#pragma once

#include "analysis/model/kernel_model.h"
#include "analysis/queries/kernel_reach.h"
#include "analysis/source/error.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace kernelskill::engine {

enum class HostStepKind : std::uint8_t {
    Launch, ///< Of a kernel, in a stream.
    Copy,   ///< cudaMemcpyAsync or cudaMemsetAsync, in a stream.
    Record, ///< Of an event, in a stream.
    Follow, ///< A stream waits for an event.
    Wait,   ///< The host waits for a stream, an event or all that was asked of the GPU.
    Call,   ///< Any other call of the CUDA runtime.
    Host,   ///< Of the host alone: a call, a store, a loop without CUDA.
    Read,   ///< The host reads memory that the GPU may have written.
};

/// Memory that a step touches: an allocation of the function, one of its arrays, or what a
/// parameter points to. Empty: not known.
struct MemoryUse {
    std::string object;
    bool isWritten = false;
    /// From the start of the object; nullopt: any of it.
    std::optional<analysis::ByteRange> bytes = {};
};

/// Whether two objects have no byte in common, for certain.
[[nodiscard]] bool areDistinct(const std::string& object, const std::string& other);

/// Streams that a function makes are numbered from "stream#0" on; the default stream is "".
inline constexpr const char* defaultStream = "";

struct HostStep {
    HostStepKind kind = HostStepKind::Host;
    std::string what; ///< With the values of all arguments; "%" for each of `handles`.
    std::vector<std::string> handles; ///< Streams and events, by the order of their creation.
    std::uint32_t line = 0;           ///< From 1; of the launch, where a graph is replayed.
    std::string stream = {};          ///< That it is given to, or that it waits for.
    std::string event = {};           ///< That is recorded or waited for.
    /// Of a Launch, Copy or Read; nullopt: any.
    std::optional<std::vector<MemoryUse>> memory = {};
    bool isDeviceWide = false; ///< A Wait for all that was asked of the GPU.
    bool allocates = false;    ///< A Call that gives no stream any work.
    bool copiesToHost = false; ///< The host goes on after such a copy where memory is pageable.
};

/// Whether one of them has to come first: one writes what the other may touch, or what they touch
/// is not known.
[[nodiscard]] bool areInConflict(const HostStep& a, const HostStep& b);

/// Values that stand for what is not known, the same for both versions of a function.
struct HostScenario {
    std::int64_t firstInteger = 17;      ///< Of the integer parameters, which count up from it.
    std::map<std::string, bool> choices; ///< Of conditions that depend on other unknown values.
};

/// How a stream stands to the legacy default stream, which waits for all blocking streams and lets
/// them wait.
enum class StreamKind : std::uint8_t { Legacy, Blocking, NonBlocking };

struct HostTrace {
    std::vector<HostStep> steps;
    /// A condition that the scenario does not decide; the steps end there.
    std::string undecided;
    std::map<std::string, StreamKind> created; ///< The streams that the function makes.
};

/// Follows FileModel::hostFunctions[function]. A graph that is launched stands for the work that
/// was captured into it; a status that a call of the runtime returns is success. Unsupported, with
/// the line, where the text does not tell what happens, and where CUDA would refuse a call.
[[nodiscard]] Result<HostTrace> traceHost(const analysis::FileModel& file, std::uint32_t function,
                                          const HostScenario& scenario);

} // namespace kernelskill::engine
