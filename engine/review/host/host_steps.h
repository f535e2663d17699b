/// The work that a host function gives to the GPU, in its order, and the other effects that code
/// elsewhere may see.
#pragma once

#include "analysis/model/kernel_model.h"
#include "analysis/queries/kernel_reach.h"
#include "analysis/source/error.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

namespace kernelskill::engine {

enum class HostStepKind : std::uint8_t {
    Launch, ///< A kernel is launched, in a stream.
    Copy,   ///< cudaMemcpyAsync or cudaMemsetAsync, in a stream.
    Record, ///< An event is recorded, in a stream.
    Follow, ///< A stream waits for an event.
    Wait,   ///< The host waits for a stream, an event or all work of the GPU.
    Call,   ///< Any other call of the CUDA runtime.
    Host,   ///< The host alone does something: a call, a store, a loop without CUDA.
    Read,   ///< The host reads memory that the GPU may have written.
};

/// Memory that a step touches: an allocation of the function, one of its arrays, or what a
/// parameter points to. Empty: not known.
struct MemoryUse {
    std::string object;
    bool isWritten = false;
    /// The bytes from the start of the object; nullopt: any of it.
    std::optional<analysis::ByteRange> bytes = {};
};

/// True if two objects certainly have no byte in common.
[[nodiscard]] bool areDistinct(const std::string& object, const std::string& other);

/// Streams that a function makes are numbered from "stream#0" on; the default stream is "".
inline constexpr const char* defaultStream = "";

struct HostStep {
    HostStepKind kind = HostStepKind::Host;
    std::string
        what; ///< The step with the values of all arguments; "%" stands for each of `handles`.
    std::vector<std::string> handles; ///< Streams and events, by the order of their creation.
    std::uint32_t line = 0;           ///< One-based; for a replayed graph, the line of the launch.
    std::string stream = {};          ///< The stream that the step is given to or waits for.
    std::string event = {};           ///< The event that is recorded or waited for.
    /// The memory of a Launch, Copy or Read; nullopt: any.
    std::optional<std::vector<MemoryUse>> memory = {};
    bool isDeviceWide = false; ///< A Wait for all work of the GPU.
    bool allocates = false;    ///< A Call that gives no stream any work.
    bool copiesToHost = false; ///< The host goes on after such a copy where memory is pageable.
    std::string kernel = {};   ///< Of a Launch: the qualified name.
    std::string configuration = {};          ///< Of a Launch: "<<<grid, block, bytes>>>".
    std::vector<std::string> arguments = {}; ///< Of a Launch: their values, as in `what`.
};

/// True if the order of the two matters: one writes memory that the other may touch, or their
/// memory is not known.
[[nodiscard]] bool areInConflict(const HostStep& a, const HostStep& b);

/// The values that the first integer parameter of a function has, in turn, and the max number of
/// paths that are followed with each. Grids have one block with the first two, and then more. A
/// function need not be followed with these: its loops may be too long.
inline constexpr std::array<std::int64_t, 6> firstIntegers = {17, 64, 200, 300, 1000, 16421};
inline constexpr std::int64_t largestToFollow = 64;
inline constexpr std::size_t maxPaths = 32;

/// Values that stand for unknown ones, the same for both versions of a function.
struct HostScenario {
    std::int64_t firstInteger =
        17; ///< The value of the first integer parameter; the next ones count up from it.
    std::map<std::string, bool>
        choices; ///< Truths of conditions that depend on other unknown values.
    /// Kernels whose launches count as two, so that unknown values behind them have the same names
    /// in both versions.
    std::set<std::string> standForTwo = {};
};

/// The relation of a stream to the legacy default stream, which waits for all blocking streams and
/// makes them wait.
enum class StreamKind : std::uint8_t { Legacy, Blocking, NonBlocking };

struct HostTrace {
    std::vector<HostStep> steps;
    /// A condition that the scenario does not decide; the steps end there.
    std::string undecided;
    std::map<std::string, StreamKind> created; ///< The streams that the function makes.
};

/// Follows FileModel::hostFunctions[function]. A graph that is launched stands for the work that
/// was captured into it; a status that a call of the runtime returns is success. Unsupported, with
/// the line, where the text leaves the effect open, and where CUDA would refuse a call. Cancelled
/// on `stop`.
[[nodiscard]] Result<HostTrace> traceHost(const analysis::FileModel& file, std::uint32_t function,
                                          const HostScenario& scenario,
                                          const std::stop_token& stop = {});

} // namespace kernelskill::engine
