#include "engine/agents/review/host/runtime_state.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <utility>

namespace kernelskill::engine {
namespace {

constexpr std::string_view defaultStream = "";

std::unexpected<Error> refused(std::uint32_t line, std::string what) {
    return std::unexpected(Error{ErrorKind::Unsupported, std::move(what),
                                 line == 0 ? "" : fmt::format("line {}", line), ""});
}

/// `name` starts with cudaXCreate, whatever follows.
bool creates(std::string_view name, std::string_view what) {
    return name.starts_with(what) && name.substr(what.size()).starts_with("Create");
}

bool onlyWaits(std::string_view name) {
    return name == "cudaDeviceSynchronize" || name == "cudaStreamSynchronize" ||
           name == "cudaEventSynchronize";
}

bool hasNoEffect(std::string_view name) {
    constexpr std::array names = {"cudaGetLastError", "cudaPeekAtLastError", "cudaGetErrorString",
                                  "cudaGetErrorName"};
    return std::ranges::find(names, name) != names.end();
}

/// Calls whose work goes into the graph where their stream is captured.
bool isStreamWork(std::string_view name) {
    return name == "cudaMemcpyAsync" || name == "cudaMemsetAsync";
}

/// Calls that start no work and wait for none, and whose answer is the same whenever they are made.
bool isQuery(std::string_view name) {
    constexpr std::array prefixes = {"cudaFunc", "cudaOccupancy", "cudaGetDevice", "cudaDeviceGet"};
    return std::ranges::any_of(prefixes,
                               [&](const char* prefix) { return name.starts_with(prefix); });
}

bool isAllocation(std::string_view name) {
    return name.starts_with("cudaMalloc") || name == "cudaHostAlloc";
}

/// The stream that a value names.
std::string streamOf(const HostValue& value) {
    const bool isDefault = value.integer == 0 || value.term == "nullptr" || value.term.empty();
    return isDefault ? std::string(defaultStream) : value.term;
}

} // namespace

bool isRuntimeCall(std::string_view name) {
    constexpr std::string_view prefix = "cuda";
    const auto scope = name.rfind(':');
    if (scope != std::string_view::npos)
        name.remove_prefix(scope + 1);
    return name.size() > prefix.size() && name.starts_with(prefix) && name[prefix.size()] >= 'A' &&
           name[prefix.size()] <= 'Z';
}

std::string RuntimeState::created(std::string_view kind) {
    return fmt::format("{}#{}", kind, created_++);
}

bool RuntimeState::isHandle(const HostValue& value) const {
    return handles_.contains(value.term);
}

Result<void> RuntimeState::addWork(HostStep step) {
    const std::string& stream = step.handles.front();
    if (destroyed_.contains(stream))
        return refused(step.line, "work is given to a stream that was destroyed");
    if (!isCapturing()) {
        steps_.push_back(std::move(step));
        return {};
    }
    if (stream != capturing_)
        return refused(step.line, "work is given to another stream while one is captured");
    captured_.push_back(std::move(step));
    return {};
}

Result<void> RuntimeState::launch(const std::string& what, const HostValue& stream,
                                  std::uint32_t line) {
    return addWork({HostStepKind::Launch, "in %: " + what, {streamOf(stream)}, line});
}

Result<RuntimeEffect> RuntimeState::capture(const RuntimeCall& call) {
    const auto& arguments = call.arguments;
    RuntimeEffect effect{integerValue(0), {}};
    const auto output = [&] { return arguments.front().pointee; };
    if (call.name == "cudaStreamBeginCapture") {
        const std::string stream = streamOf(arguments.front());
        if (isCapturing() || stream.empty() || destroyed_.contains(stream))
            return refused(call.line, "this stream cannot be captured");
        capturing_ = stream;
        captured_.clear();
        return effect;
    }
    if (call.name == "cudaStreamEndCapture") {
        if (arguments.size() != 2 || streamOf(arguments[0]) != capturing_ ||
            arguments[1].pointee == analysis::noId || !isCapturing())
            return refused(call.line, "no capture of this stream was begun");
        const std::string graph = created("graph");
        graphs_[graph] = {std::exchange(captured_, {}), false};
        capturing_.clear();
        effect.writes[arguments[1].pointee] = termValue(graph);
        return effect;
    }
    if (call.name == "cudaGraphInstantiate" || call.name == "cudaGraphInstantiateWithFlags") {
        const auto graph = arguments.size() < 2 ? graphs_.end() : graphs_.find(arguments[1].term);
        if (graph == graphs_.end() || graph->second.isDestroyed || output() == analysis::noId ||
            isCapturing())
            return refused(call.line, "what is instantiated is no graph that was captured here");
        const std::string executable = created("executable");
        executables_[executable] = graph->second;
        effect.writes[output()] = termValue(executable);
        return effect;
    }
    if (call.name == "cudaGraphLaunch") {
        const auto executable =
            arguments.size() != 2 ? executables_.end() : executables_.find(arguments[0].term);
        if (executable == executables_.end() || executable->second.isDestroyed || isCapturing())
            return refused(call.line, "what is launched is no graph that was made here");
        for (HostStep step : executable->second.steps) {
            step.handles.front() = streamOf(arguments[1]);
            if (auto added = addWork(std::move(step)); !added)
                return std::unexpected(added.error());
        }
        return effect;
    }
    auto& made = call.name == "cudaGraphDestroy" ? graphs_ : executables_;
    const auto found = arguments.empty() ? made.end() : made.find(arguments.front().term);
    if (found == made.end() || found->second.isDestroyed)
        return refused(call.line, "what is destroyed was not made here");
    found->second.isDestroyed = true;
    return effect;
}

Result<RuntimeEffect> RuntimeState::call(const RuntimeCall& call) {
    constexpr std::array captures = {
        "cudaStreamBeginCapture", "cudaStreamEndCapture",          "cudaGraphInstantiate",
        "cudaGraphDestroy",       "cudaGraphInstantiateWithFlags", "cudaGraphExecDestroy",
        "cudaGraphLaunch"};
    if (std::ranges::find(captures, call.name) != captures.end())
        return capture(call);
    if (hasNoEffect(call.name))
        return RuntimeEffect{integerValue(0), {}};
    if (isQuery(call.name))
        return queried(call);
    if (call.name.starts_with("cudaGraph") || call.name.starts_with("cudaLaunch") ||
        call.name.contains("Capture"))
        return refused(call.line, fmt::format("what {} does is not followed", call.name));
    if (isCapturing() && !isStreamWork(call.name))
        return refused(call.line,
                       fmt::format("{} is called while a stream is captured", call.name));
    return generic(call);
}

RuntimeEffect RuntimeState::queried(const RuntimeCall& call) {
    RuntimeEffect effect{integerValue(0), {}};
    std::string what = call.name;
    for (const HostValue& argument : call.arguments)
        what += ":" + (argument.pointee == analysis::noId ? textOf(argument) : "&");
    for (std::size_t i = 0; i < call.arguments.size(); ++i)
        if (call.arguments[i].pointee != analysis::noId)
            effect.writes[call.arguments[i].pointee] = termValue(fmt::format("{}.{}", what, i));
    return effect;
}

Result<RuntimeEffect> RuntimeState::generic(const RuntimeCall& call) {
    RuntimeEffect effect{integerValue(0), {}};
    const bool isStream = creates(call.name, "cudaStream");
    if (isStream || creates(call.name, "cudaEvent")) {
        if (call.arguments.empty() || call.arguments.front().pointee == analysis::noId)
            return refused(call.line, fmt::format("where {} writes is not known", call.name));
        // The flags are part of what the handle is.
        std::string handle = created(isStream ? "stream" : "event") + ":" + call.name;
        for (std::size_t i = 1; i < call.arguments.size(); ++i)
            handle += ":" + textOf(call.arguments[i]);
        handles_.insert(handle);
        effect.writes[call.arguments.front().pointee] = termValue(std::move(handle));
        return effect;
    }
    if (call.name == "cudaStreamDestroy" || call.name == "cudaEventDestroy") {
        if (call.arguments.size() != 1 || !destroyed_.insert(call.arguments[0].term).second)
            return refused(call.line, "what is destroyed is not there any more");
        return effect;
    }
    HostStep step{onlyWaits(call.name) ? HostStepKind::Wait : HostStepKind::Call,
                  call.name + "(",
                  {},
                  call.line};
    std::size_t count = call.arguments.size();
    const bool isWork = isStreamWork(call.name);
    if (isWork) { // the stream is last
        const std::size_t all = call.name == "cudaMemcpyAsync" ? 5 : 4;
        step.handles.push_back(count == all ? streamOf(call.arguments.back()) : std::string());
        step.what = "in %: " + step.what;
        count = std::min(count, all - 1);
    }
    for (std::size_t i = 0; i < count; ++i) {
        const HostValue& argument = call.arguments[i];
        step.what += i == 0 ? "" : ", ";
        if (destroyed_.contains(argument.term))
            return refused(call.line, fmt::format("{} uses what was destroyed", call.name));
        if (isHandle(argument)) {
            step.handles.push_back(argument.term);
            step.what += "%";
        } else if (argument.pointee != analysis::noId) {
            const std::string place = isAllocation(call.name)
                                          ? fmt::format("allocation#{}", allocated_++)
                                          : fmt::format("{}#{}.{}", call.name, ++outputs_, i);
            effect.writes[argument.pointee] = termValue(place);
            step.what += "&" + place;
        } else {
            step.what += textOf(argument);
        }
    }
    step.what += ")";
    if (!isWork) {
        steps_.push_back(std::move(step));
        return effect;
    }
    if (auto added = addWork(std::move(step)); !added)
        return std::unexpected(added.error());
    return effect;
}

} // namespace kernelskill::engine
