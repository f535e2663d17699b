/// The CUDA runtime as far as the order of work goes: streams, captures and graphs.
#pragma once

#include "engine/agents/review/host/host_steps.h"
#include "engine/agents/review/host/host_value.h"

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

/// What a call leaves: its own value, and what it writes through pointers to locals.
struct RuntimeEffect {
    HostValue result;
    std::map<analysis::VariableId, HostValue> writes;
};

class RuntimeState {
public:
    /// `what` says kernel, configuration and arguments.
    [[nodiscard]] Result<void> launch(const std::string& what, const HostValue& stream,
                                      std::uint32_t line);
    [[nodiscard]] Result<RuntimeEffect> call(const RuntimeCall& call);
    void add(HostStep step) { steps_.push_back(std::move(step)); }
    [[nodiscard]] const std::vector<HostStep>& steps() const { return steps_; }
    /// The steps, which are gone from here.
    [[nodiscard]] std::vector<HostStep> takeSteps() { return std::move(steps_); }
    [[nodiscard]] bool isCapturing() const { return !capturing_.empty(); }

private:
    struct Graph {
        std::vector<HostStep> steps; ///< The stream of the capture is their first handle.
        bool isDestroyed = false;
    };

    [[nodiscard]] Result<void> addWork(HostStep step);
    [[nodiscard]] Result<RuntimeEffect> capture(const RuntimeCall& call);
    [[nodiscard]] static RuntimeEffect queried(const RuntimeCall& call);
    [[nodiscard]] Result<RuntimeEffect> generic(const RuntimeCall& call);
    [[nodiscard]] std::string created(std::string_view kind);
    [[nodiscard]] bool isHandle(const HostValue& value) const;

    std::vector<HostStep> steps_;
    std::set<std::string> handles_; ///< Streams and events.
    std::set<std::string> destroyed_;
    std::map<std::string, Graph> graphs_;      ///< By term.
    std::map<std::string, Graph> executables_; ///< By term.
    std::string capturing_;                    ///< A stream; empty while none is captured.
    std::vector<HostStep> captured_;
    int created_ = 0;
    int allocated_ = 0;
    int outputs_ = 0;
};

/// Whether a call that is written so is one of the CUDA runtime.
[[nodiscard]] bool isRuntimeCall(std::string_view name);

} // namespace kernelskill::engine
