/// The CUDA runtime as far as the order of work goes: streams, captures and graphs.
#pragma once

#include "engine/review/host/host_steps.h"
#include "engine/review/host/host_value.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace kernelskill::engine {

/// A call with the values of its arguments.
struct RuntimeCall {
    std::string name; ///< Without namespace.
    std::vector<HostValue> arguments;
    std::uint32_t line = 0;
};

/// The effect of a call: its own value, and the values it writes through pointers to locals.
struct RuntimeEffect {
    HostValue result;
    std::map<HostPlace, HostValue> writes;
    /// Locals among them that the GPU may write after the call has returned.
    std::set<analysis::VariableId> filled = {};
};

class RuntimeState {
public:
    /// `step` holds the kernel, configuration, arguments and memory.
    [[nodiscard]] Result<void> launch(HostStep step, const HostValue& stream);
    [[nodiscard]] Result<RuntimeEffect> call(const RuntimeCall& call);
    void add(HostStep step) { steps_.push_back(std::move(step)); }
    [[nodiscard]] const std::vector<HostStep>& steps() const { return steps_; }
    /// Moves the steps out.
    [[nodiscard]] std::vector<HostStep> takeSteps() { return std::move(steps_); }
    [[nodiscard]] bool isCapturing() const { return !capturing_.empty(); }
    /// The streams that were made, by term.
    [[nodiscard]] const std::map<std::string, StreamKind>& streams() const { return streams_; }

private:
    struct Graph {
        std::vector<HostStep> steps;
        bool isDestroyed = false;
    };

    [[nodiscard]] Result<void> addWork(HostStep step);
    [[nodiscard]] Result<RuntimeEffect> capture(const RuntimeCall& call);
    [[nodiscard]] static RuntimeEffect queried(const RuntimeCall& call);
    [[nodiscard]] Result<RuntimeEffect> create(const RuntimeCall& call, bool isStream);
    [[nodiscard]] Result<RuntimeEffect> wait(const RuntimeCall& call);
    [[nodiscard]] Result<RuntimeEffect> event(const RuntimeCall& call);
    [[nodiscard]] Result<RuntimeEffect> copy(const RuntimeCall& call);
    [[nodiscard]] Result<RuntimeEffect> generic(const RuntimeCall& call);
    /// Puts the arguments into `step`, and the values that are written through them into `effect`.
    [[nodiscard]] Result<void> describe(const RuntimeCall& call, std::size_t count, HostStep& step,
                                        RuntimeEffect& effect);
    [[nodiscard]] std::string created(std::string_view kind);
    [[nodiscard]] bool isHandle(const HostValue& value) const;

    std::vector<HostStep> steps_;
    std::set<std::string> handles_; ///< Streams and events.
    std::map<std::string, StreamKind> streams_;
    std::set<std::string> destroyed_;
    std::map<std::string, Graph> graphs_;      ///< Graphs by term.
    std::map<std::string, Graph> executables_; ///< Executable graphs by term.
    std::string capturing_; ///< The captured stream; empty while none is captured.
    std::vector<HostStep> captured_;
    int created_ = 0;
    int allocated_ = 0;
    int outputs_ = 0;
};

/// The stream that a value names; refused for cudaStreamPerThread and its like, which are numbers.
[[nodiscard]] Result<std::string> streamOf(const HostValue& value, std::uint32_t line);

/// An error for a call that is not followed, or that CUDA would refuse.
[[nodiscard]] std::unexpected<Error> refusedCall(std::uint32_t line, std::string what);

/// Whether a call that is written so is one of the CUDA runtime.
[[nodiscard]] bool isRuntimeCall(std::string_view name);

/// Whether a call, without namespace, waits for all work of the GPU and does nothing else.
[[nodiscard]] bool waitsForAll(std::string_view name);

} // namespace kernelskill::engine
