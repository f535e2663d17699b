#include "engine/review/host/runtime_state.h"

#include <spdlog/fmt/fmt.h>

#include <optional>
#include <utility>

namespace kernelskill::engine {

Result<RuntimeEffect> RuntimeState::create(const RuntimeCall& call, bool isStream) {
    if (call.arguments.empty() || call.arguments.front().pointee == analysis::noId)
        return refusedCall(call.line, fmt::format("where {} writes is not known", call.name));
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
            return refusedCall(call.line, "with which flags the stream is made is not known");
        streams_[handle] =
            (*flags & nonBlocking) != 0 ? StreamKind::NonBlocking : StreamKind::Blocking;
    }
    handles_.insert(handle);
    RuntimeEffect effect{integerValue(0), {}};
    effect.writes[placeOf(call.arguments.front())] = termValue(std::move(handle));
    return effect;
}

Result<RuntimeEffect> RuntimeState::wait(const RuntimeCall& call) {
    HostStep step{HostStepKind::Wait, call.name, {}, call.line};
    step.isDeviceWide = waitsForAll(call.name);
    if (!step.isDeviceWide) {
        if (call.arguments.size() != 1 || destroyed_.contains(call.arguments[0].term))
            return refusedCall(call.line, fmt::format("what {} waits for is not there", call.name));
        if (call.name == "cudaEventSynchronize") {
            if (!isHandle(call.arguments[0]))
                return refusedCall(call.line, "the event comes from elsewhere");
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
        return refusedCall(call.line, fmt::format("what {} does is not followed", call.name));
    const HostValue& event = isRecord ? arguments[0] : arguments[1];
    if (!isHandle(event) || destroyed_.contains(event.term))
        return refusedCall(call.line, "the event comes from elsewhere, or was destroyed");
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

} // namespace kernelskill::engine
