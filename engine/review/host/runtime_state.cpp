#include "engine/review/host/runtime_state.h"

#include "analysis/queries/kernel_reach.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <utility>

namespace kernelskill::engine {
namespace {

/// `name` starts with cudaXCreate, whatever follows.
bool creates(std::string_view name, std::string_view what) {
    return name.starts_with(what) && name.substr(what.size()).starts_with("Create");
}

bool onlyWaits(std::string_view name) {
    return waitsForAll(name) || name == "cudaStreamSynchronize" || name == "cudaEventSynchronize";
}

bool ordersEvents(std::string_view name) {
    return name == "cudaEventRecord" || name == "cudaStreamWaitEvent";
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

/// A range of bytes behind a pointer.
std::optional<analysis::ByteRange> bytesOf(const HostValue& pointer, const HostValue& count) {
    const auto number = certainNumber(count);
    const auto bytes = number ? analysis::firstBytes(*number) : std::nullopt;
    if (!pointer.offset || !bytes)
        return std::nullopt;
    return analysis::movedBy(*bytes, *pointer.offset);
}

} // namespace

std::unexpected<Error> refusedCall(std::uint32_t line, std::string what) {
    return std::unexpected(Error{ErrorKind::Unsupported, std::move(what),
                                 line == 0 ? "" : fmt::format("line {}", line), ""});
}

Result<std::string> streamOf(const HostValue& value, std::uint32_t line) {
    if (value.integer == 0 || value.term == "nullptr" || value.term.empty())
        return defaultStream;
    if (value.integer)
        return refusedCall(line, "what this stream is to the default stream is not followed");
    return value.term;
}

bool isRuntimeCall(std::string_view name) {
    constexpr std::string_view prefix = "cuda";
    const auto scope = name.rfind(':');
    if (scope != std::string_view::npos)
        name.remove_prefix(scope + 1);
    return name.size() > prefix.size() && name.starts_with(prefix) && name[prefix.size()] >= 'A' &&
           name[prefix.size()] <= 'Z';
}

bool waitsForAll(std::string_view name) {
    return name == "cudaDeviceSynchronize" || name == "cudaThreadSynchronize";
}

std::string RuntimeState::created(std::string_view kind) {
    return fmt::format("{}#{}", kind, created_++);
}

bool RuntimeState::isHandle(const HostValue& value) const {
    return handles_.contains(value.term);
}

Result<void> RuntimeState::addWork(HostStep step) {
    if (destroyed_.contains(step.stream))
        return refusedCall(step.line, "work is given to a stream that was destroyed");
    if (!isCapturing()) {
        steps_.push_back(std::move(step));
        return {};
    }
    if (step.stream != capturing_)
        return refusedCall(step.line, "work is given to another stream while one is captured");
    captured_.push_back(std::move(step));
    return {};
}

Result<void> RuntimeState::launch(HostStep step, const HostValue& stream) {
    auto given = streamOf(stream, step.line);
    if (!given)
        return std::unexpected(given.error());
    step.stream = std::move(*given);
    return addWork(std::move(step));
}

Result<RuntimeEffect> RuntimeState::capture(const RuntimeCall& call) {
    const auto& arguments = call.arguments;
    RuntimeEffect effect{integerValue(0), {}};
    const auto output = [&] { return placeOf(arguments.front()); };
    if (call.name == "cudaStreamBeginCapture") {
        const auto stream = streamOf(arguments.front(), call.line);
        if (!stream || isCapturing() || stream->empty() || destroyed_.contains(*stream))
            return refusedCall(call.line, "this stream cannot be captured");
        capturing_ = *stream;
        captured_.clear();
        return effect;
    }
    if (call.name == "cudaStreamEndCapture") {
        if (arguments.size() != 2 || arguments[0].term != capturing_ ||
            arguments[1].pointee == analysis::noId || !isCapturing())
            return refusedCall(call.line, "no capture of this stream was begun");
        const std::string graph = created("graph");
        graphs_[graph] = {std::exchange(captured_, {}), false};
        capturing_.clear();
        effect.writes[placeOf(arguments[1])] = termValue(graph);
        return effect;
    }
    if (call.name == "cudaGraphInstantiate" || call.name == "cudaGraphInstantiateWithFlags") {
        const auto graph = arguments.size() < 2 ? graphs_.end() : graphs_.find(arguments[1].term);
        if (graph == graphs_.end() || graph->second.isDestroyed ||
            output().variable == analysis::noId || isCapturing())
            return refusedCall(call.line,
                               "what is instantiated is no graph that was captured here");
        const std::string executable = created("executable");
        executables_[executable] = graph->second;
        effect.writes[output()] = termValue(executable);
        return effect;
    }
    if (call.name == "cudaGraphLaunch") {
        const auto executable =
            arguments.size() != 2 ? executables_.end() : executables_.find(arguments[0].term);
        if (executable == executables_.end() || executable->second.isDestroyed || isCapturing())
            return refusedCall(call.line, "what is launched is no graph that was made here");
        const auto stream = streamOf(arguments[1], call.line);
        if (!stream)
            return std::unexpected(stream.error());
        for (HostStep step : executable->second.steps) {
            step.stream = *stream;
            if (auto added = addWork(std::move(step)); !added)
                return std::unexpected(added.error());
        }
        return effect;
    }
    auto& made = call.name == "cudaGraphDestroy" ? graphs_ : executables_;
    const auto found = arguments.empty() ? made.end() : made.find(arguments.front().term);
    if (found == made.end() || found->second.isDestroyed)
        return refusedCall(call.line, "what is destroyed was not made here");
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
        return refusedCall(call.line, fmt::format("what {} does is not followed", call.name));
    if (isCapturing() && !isStreamWork(call.name))
        return refusedCall(call.line,
                           fmt::format("{} is called while a stream is captured", call.name));
    const bool isStream = creates(call.name, "cudaStream");
    if (isStream || creates(call.name, "cudaEvent"))
        return create(call, isStream);
    if (onlyWaits(call.name))
        return wait(call);
    if (ordersEvents(call.name))
        return event(call);
    if (isStreamWork(call.name))
        return copy(call);
    return generic(call);
}

RuntimeEffect RuntimeState::queried(const RuntimeCall& call) {
    RuntimeEffect effect{integerValue(0), {}};
    std::string what = call.name;
    for (const HostValue& argument : call.arguments)
        what += ":" + (argument.pointee == analysis::noId ? textOf(argument) : "&");
    for (std::size_t i = 0; i < call.arguments.size(); ++i)
        if (call.arguments[i].pointee != analysis::noId)
            effect.writes[placeOf(call.arguments[i])] = termValue(fmt::format("{}.{}", what, i));
    return effect;
}

Result<RuntimeEffect> RuntimeState::copy(const RuntimeCall& call) {
    const bool isCopy = call.name == "cudaMemcpyAsync";
    const std::size_t all = isCopy ? 5 : 4; // the stream is last
    const auto& arguments = call.arguments;
    if (arguments.size() + 1 < all)
        return refusedCall(call.line, fmt::format("what {} does is not followed", call.name));
    auto stream = streamOf(arguments.size() == all ? arguments.back() : integerValue(0), call.line);
    if (!stream)
        return std::unexpected(stream.error());
    RuntimeEffect effect{integerValue(0), {}};
    HostStep step{HostStepKind::Copy, {}, {}, call.line};
    step.stream = std::move(*stream);
    step.memory = {{arguments[0].object, true, bytesOf(arguments[0], arguments[2])}};
    if (isCopy) {
        constexpr std::int64_t deviceToHost = 2; // cudaMemcpyDeviceToHost
        step.memory->push_back({arguments[1].object, false, bytesOf(arguments[1], arguments[2])});
        step.copiesToHost = arguments[3].integer == deviceToHost;
    }
    if (auto described = describe(call, all - 1, step, effect); !described)
        return std::unexpected(described.error());
    if (auto added = addWork(std::move(step)); !added)
        return std::unexpected(added.error());
    return effect;
}

Result<RuntimeEffect> RuntimeState::generic(const RuntimeCall& call) {
    RuntimeEffect effect{integerValue(0), {}};
    if (call.name == "cudaStreamDestroy" || call.name == "cudaEventDestroy") {
        if (call.arguments.size() != 1 || !destroyed_.insert(call.arguments[0].term).second)
            return refusedCall(call.line, "what is destroyed is not there any more");
        return effect;
    }
    HostStep step{HostStepKind::Call, {}, {}, call.line};
    step.allocates = isAllocation(call.name) && !call.name.contains("Async");
    if (auto described = describe(call, call.arguments.size(), step, effect); !described)
        return std::unexpected(described.error());
    steps_.push_back(std::move(step));
    return effect;
}

Result<void> RuntimeState::describe(const RuntimeCall& call, std::size_t count, HostStep& step,
                                    RuntimeEffect& effect) {
    step.what = call.name + "(";
    for (std::size_t i = 0; i < count; ++i) {
        const HostValue& argument = call.arguments[i];
        step.what += i == 0 ? "" : ", ";
        if (destroyed_.contains(argument.term))
            return refusedCall(call.line, fmt::format("{} uses what was destroyed", call.name));
        if (isHandle(argument)) {
            step.handles.push_back(argument.term);
            step.what += "%";
        } else if (argument.pointee != analysis::noId) {
            const bool allocates = isAllocation(call.name);
            const std::string place = allocates ? fmt::format("allocation#{}", allocated_++)
                                                : fmt::format("{}#{}.{}", call.name, ++outputs_, i);
            HostValue written = termValue(place);
            if (allocates && i == 0) {
                written.object = place;
                written.offset = 0;
            }
            effect.writes[placeOf(argument)] = std::move(written);
            if (!allocates)
                effect.filled.insert(argument.pointee);
            step.what += "&" + place;
        } else {
            step.what += textOf(argument);
        }
    }
    step.what += ")";
    return {};
}

} // namespace kernelskill::engine
