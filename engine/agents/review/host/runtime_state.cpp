#include "engine/agents/review/host/runtime_state.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <utility>

namespace kernelskill::engine {
namespace {

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

/// The stream that a value names; refused for cudaStreamPerThread and its like, which are numbers.
Result<std::string> streamOf(const HostValue& value, std::uint32_t line) {
    if (value.integer == 0 || value.term == "nullptr" || value.term.empty())
        return defaultStream;
    if (value.integer)
        return refused(line, "what this stream is to the default stream is not followed");
    return value.term;
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
    if (destroyed_.contains(step.stream))
        return refused(step.line, "work is given to a stream that was destroyed");
    if (!isCapturing()) {
        steps_.push_back(std::move(step));
        return {};
    }
    if (step.stream != capturing_)
        return refused(step.line, "work is given to another stream while one is captured");
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
    const auto output = [&] { return arguments.front().pointee; };
    if (call.name == "cudaStreamBeginCapture") {
        const auto stream = streamOf(arguments.front(), call.line);
        if (!stream || isCapturing() || stream->empty() || destroyed_.contains(*stream))
            return refused(call.line, "this stream cannot be captured");
        capturing_ = *stream;
        captured_.clear();
        return effect;
    }
    if (call.name == "cudaStreamEndCapture") {
        if (arguments.size() != 2 || arguments[0].term != capturing_ ||
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
            effect.writes[call.arguments[i].pointee] = termValue(fmt::format("{}.{}", what, i));
    return effect;
}

Result<RuntimeEffect> RuntimeState::create(const RuntimeCall& call, bool isStream) {
    if (call.arguments.empty() || call.arguments.front().pointee == analysis::noId)
        return refused(call.line, fmt::format("where {} writes is not known", call.name));
    // Its variable and flags are part of what the handle is.
    std::string handle = fmt::format("{}:{}:{}", created(isStream ? "stream" : "event"),
                                     call.arguments.front().term, call.name);
    for (std::size_t i = 1; i < call.arguments.size(); ++i)
        handle += ":" + textOf(call.arguments[i]);
    if (isStream) {
        constexpr std::int64_t nonBlocking = 1; // cudaStreamNonBlocking
        const auto flags =
            call.arguments.size() < 2 ? std::optional<std::int64_t>(0) : call.arguments[1].integer;
        if (!flags)
            return refused(call.line, "with which flags the stream is made is not known");
        streams_[handle] =
            (*flags & nonBlocking) != 0 ? StreamKind::NonBlocking : StreamKind::Blocking;
    }
    handles_.insert(handle);
    RuntimeEffect effect{integerValue(0), {}};
    effect.writes[call.arguments.front().pointee] = termValue(std::move(handle));
    return effect;
}

Result<RuntimeEffect> RuntimeState::wait(const RuntimeCall& call) {
    HostStep step{HostStepKind::Wait, call.name, {}, call.line};
    step.isDeviceWide = call.name == "cudaDeviceSynchronize";
    if (!step.isDeviceWide) {
        if (call.arguments.size() != 1 || destroyed_.contains(call.arguments[0].term))
            return refused(call.line, fmt::format("what {} waits for is not there", call.name));
        if (call.name == "cudaEventSynchronize") {
            if (!isHandle(call.arguments[0]))
                return refused(call.line, "the event comes from elsewhere");
            step.event = call.arguments[0].term;
        } else {
            auto stream = streamOf(call.arguments[0], call.line);
            if (!stream)
                return std::unexpected(stream.error());
            step.stream = std::move(*stream);
        }
    }
    steps_.push_back(std::move(step));
    return RuntimeEffect{integerValue(0), {}};
}

Result<RuntimeEffect> RuntimeState::event(const RuntimeCall& call) {
    const bool isRecord = call.name == "cudaEventRecord";
    const auto& arguments = call.arguments;
    if (arguments.empty() || (!isRecord && arguments.size() < 2))
        return refused(call.line, fmt::format("what {} does is not followed", call.name));
    const HostValue& event = isRecord ? arguments[0] : arguments[1];
    if (!isHandle(event) || destroyed_.contains(event.term))
        return refused(call.line, "the event comes from elsewhere, or was destroyed");
    const HostValue given = !isRecord              ? arguments[0]
                            : arguments.size() > 1 ? arguments[1]
                                                   : integerValue(0);
    auto stream = streamOf(given, call.line);
    if (!stream)
        return std::unexpected(stream.error());
    HostStep step{isRecord ? HostStepKind::Record : HostStepKind::Follow,
                  call.name + "(%)",
                  {event.term},
                  call.line};
    step.stream = std::move(*stream);
    step.event = event.term;
    if (auto added = addWork(std::move(step)); !added)
        return std::unexpected(added.error());
    return RuntimeEffect{integerValue(0), {}};
}

Result<RuntimeEffect> RuntimeState::copy(const RuntimeCall& call) {
    const bool isCopy = call.name == "cudaMemcpyAsync";
    const std::size_t all = isCopy ? 5 : 4; // the stream is last
    const auto& arguments = call.arguments;
    if (arguments.size() + 1 < all)
        return refused(call.line, fmt::format("what {} does is not followed", call.name));
    auto stream = streamOf(arguments.size() == all ? arguments.back() : integerValue(0), call.line);
    if (!stream)
        return std::unexpected(stream.error());
    RuntimeEffect effect{integerValue(0), {}};
    HostStep step{HostStepKind::Copy, {}, {}, call.line};
    step.stream = std::move(*stream);
    step.memory = {{arguments[0].object, true}};
    if (isCopy) {
        constexpr std::int64_t deviceToHost = 2; // cudaMemcpyDeviceToHost
        step.memory->push_back({arguments[1].object, false});
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
            return refused(call.line, "what is destroyed is not there any more");
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
            return refused(call.line, fmt::format("{} uses what was destroyed", call.name));
        if (isHandle(argument)) {
            step.handles.push_back(argument.term);
            step.what += "%";
        } else if (argument.pointee != analysis::noId) {
            const bool allocates = isAllocation(call.name);
            const std::string place = allocates ? fmt::format("allocation#{}", allocated_++)
                                                : fmt::format("{}#{}.{}", call.name, ++outputs_, i);
            HostValue written = termValue(place);
            if (allocates && i == 0)
                written.object = place;
            effect.writes[argument.pointee] = std::move(written);
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
