#include "engine/replay/recorder/held_launch.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

namespace kernelskill::engine::replay {
namespace {

constexpr std::uint32_t warmUpRounds = 3;
constexpr std::uint32_t maxRounds = 1'000;

const VariablePlaces noVariables;

/// Whether it writes nothing but what the original writes as well.
bool isHarmless(const CandidateResult& result) {
    return !result.isByStaleMemory &&
           std::ranges::all_of(result.differences,
                               [](const MemoryDifference& each) { return each.strayBytes == 0; });
}

/// Merges a difference into `known`, which has one for each part of memory.
void widen(std::vector<MemoryDifference>& known, const MemoryDifference& found) {
    const auto same = std::ranges::find(known, found.where, &MemoryDifference::where);
    if (same == known.end()) {
        known.push_back(found);
        return;
    }
    same->firstOffset = std::min(same->firstOffset, found.firstOffset);
    same->differingBytes = std::max(same->differingBytes, found.differingBytes);
    same->strayBytes = std::max(same->strayBytes, found.strayBytes);
    same->maxRelative = std::max(same->maxRelative, found.maxRelative);
    if (same->element != found.element)
        same->element = MemoryElement::Bytes;
}

Error unsupported(std::string what) {
    return {ErrorKind::Unsupported, std::move(what), {}, {}};
}

} // namespace

Result<void> HeldLaunch::prepare(const capture::LaunchCall& call, const ProgramMemory& memory) {
    const std::chrono::milliseconds patience(target_.waitMilliseconds);
    if (const auto obstacle = memory.obstacle())
        return std::unexpected(
            unsupported("the program uses " + *obstacle + ", which is not saved"));
    // Nothing else may be asked of the driver before: it could wait for this work as well.
    if (!awaitAllWork(driver_, patience))
        return std::unexpected(unsupported("the work before the launch did not end in " +
                                           std::to_string(patience.count()) + " ms"));
    // Our own modules, which are loaded afterwards, may have kernels of the same name.
    if (auto found = findCode(call, memory); !found)
        return found;
    auto work = DeviceWork::make(driver_);
    if (!work)
        return std::unexpected(work.error());
    work_ = std::move(*work);
    auto done = readLaunch(call);
    if (done)
        done = saveAndRun(memory);
    if (done)
        describe(call);
    return done;
}

Result<void> HeldLaunch::findCode(const capture::LaunchCall& call, const ProgramMemory& memory) {
    held_ = call.function;
    if (!capture::isFunction(call.function, driver_)) {
        if (auto found = driver_.check(
                "find the kernel's function",
                driver_.cuKernelGetFunction(&held_, reinterpret_cast<CUkernel>(call.function)));
            !found)
            return found;
    }
    symbols_ = memory.moduleOf(call.symbol);
    if (!symbols_)
        return std::unexpected(
            unsupported("the code of the kernel's module was not seen, so its variables are not "
                        "known"));
    return checkCalls(*symbols_, call.symbol);
}

Result<void> HeldLaunch::readLaunch(const capture::LaunchCall& call) {
    auto parameters = capture::parametersOf(call, driver_);
    if (!parameters)
        return std::unexpected(parameters.error());
    original_ = {call.function, call.grid, call.block, call.sharedBytes, {}, call.attributes};
    for (CapturedParameter& parameter : *parameters) {
        original_.values.push_back(parameter.value);
        CUdeviceptr address = 0;
        if (parameter.value.size() == sizeof address) {
            std::memcpy(&address, parameter.value.data(), sizeof address);
            if (const auto range = work_->rangeAt(address))
                parameter.buffer =
                    CapturedBuffer{range->address, range->bytes, {}, {}, "it is in the program"};
        }
    }
    description_.launch.parameters = std::move(*parameters);
    return {};
}

Result<void> HeldLaunch::saveAndRun(const ProgramMemory& memory) {
    CUcontext context = nullptr;
    CUmodule module = nullptr;
    if (auto asked = driver_.check("ask for the context", driver_.cuCtxGetCurrent(&context));
        !asked)
        return asked;
    if (auto asked = driver_.check("ask for the module", driver_.cuFuncGetModule(&module, held_));
        !asked)
        return asked;
    auto saved = HeldMemory::save(*work_, memory.allocationsOf(context), *symbols_, module,
                                  original_.words(), target_);
    if (!saved)
        return std::unexpected(saved.error());
    memory_ = std::move(*saved);
    if (auto ran = runOnce(original_, noVariables, nullptr, originalLimit()); !ran)
        return ran;
    const auto written = memory_->keepResult();
    if (!written)
        return std::unexpected(written.error());
    description_.writtenBytes = *written;
    if (auto ran = runOnce(original_, noVariables, nullptr, originalLimit()); !ran)
        return ran;
    const auto time = work_->microseconds();
    if (!time)
        return std::unexpected(time.error());
    description_.originalTime = std::chrono::ceil<std::chrono::milliseconds>(
        std::chrono::duration<double, std::micro>(*time));
    auto variation = memory_->differences({}, noVariables);
    if (!variation)
        return std::unexpected(variation.error());
    description_.variation = std::move(*variation);
    if (auto done = memory_->restore(); !done)
        return done;
    return work_->finish();
}

void HeldLaunch::describe(const capture::LaunchCall& call) {
    CapturedLaunch& launch = description_.launch;
    launch.symbol = call.symbol;
    launch.ordinal = target_.ordinal;
    launch.grid = call.grid;
    launch.block = call.block;
    launch.sharedBytes = call.sharedBytes;
    CUdevice device = 0;
    std::array<char, 256> name{};
    if (driver_.cuCtxGetDevice(&device) == CUDA_SUCCESS &&
        driver_.cuDeviceGetName(name.data(), static_cast<int>(name.size()) - 1, device) ==
            CUDA_SUCCESS)
        launch.device = name.data();
    description_.capabilityMajor =
        static_cast<std::uint32_t>(work_->attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR));
    description_.capabilityMinor =
        static_cast<std::uint32_t>(work_->attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR));
    description_.allocations = memory_->allocations();
    description_.allocatedBytes = memory_->allocatedBytes();
    description_.variables = memory_->variables();
    description_.savedBytes = memory_->store().deviceBytes() + memory_->store().hostBytes();
}

Result<void> HeldLaunch::runOnce(const KernelRun& run, const VariablePlaces& variables,
                                 const Poisoned* poisoned, std::chrono::milliseconds limit) {
    auto done = memory_->restore();
    if (done)
        done = memory_->seed(variables);
    if (poisoned != nullptr) {
        for (const auto& [part, address] : poisoned->places) {
            if (done)
                done = memory_->poison(part, address);
        }
    }
    if (done)
        done = launchTimed(run, limit);
    return done;
}

Result<void> HeldLaunch::launchTimed(const KernelRun& run, std::chrono::milliseconds limit) {
    auto done = work_->startClock();
    if (done)
        done = run.launch(*work_);
    if (done)
        done = work_->stopClock();
    if (done)
        done = work_->finish(limit);
    return done;
}

ReplayAnswer HeldLaunch::answer(const TryRequest& request) {
    TryAnswer answer;
    const auto failure = [&](const Error& error) {
        // A failed call may hide that the context is lost; waiting for the stream shows it.
        const bool isFatal = work_->isLost() || !work_->finish();
        return ReplayFailure{error, isFatal, running_, answer};
    };
    running_.reset();
    if (auto done = poison(request); !done)
        return failure(done.error());
    if (poisoned_ && !poisoned_->note.empty())
        answer.notes.push_back(poisoned_->note);
    if (!description_.variation.empty()) {
        auto found = variation(request);
        if (!found)
            return failure(found.error());
        answer.variation = std::move(*found);
    }
    Candidates candidates;
    for (const ReplayCandidate& given : request.candidates) {
        CandidateResult& result = answer.candidates.emplace_back();
        auto loaded = LoadedCandidate::load(driver_, *work_, given, original_, held_, *symbols_);
        if (!loaded) {
            result.refusal = loaded.error();
            candidates.push_back(nullptr);
            continue;
        }
        running_ = static_cast<std::uint32_t>(candidates.size());
        result.notes = (*loaded)->notes();
        if (auto checked = check(**loaded, request, result); !checked) {
            if (work_->isLost() || checked.error().kind != ErrorKind::InvalidInput)
                return failure(checked.error());
            result.refusal = checked.error();
            loaded->reset();
        }
        running_.reset();
        candidates.push_back(std::move(*loaded));
    }
    if (request.rounds > 0) {
        if (auto timed = time(candidates, request, answer); !timed)
            return failure(timed.error());
    }
    if (auto done = memory_->restoreAll(); !done)
        return failure(done.error());
    return answer;
}

Result<void> HeldLaunch::check(const LoadedCandidate& candidate, const TryRequest& request,
                               CandidateResult& result) {
    const OtherResults none;
    const auto compare = [&](const Poisoned* poisoned) -> Result<void> {
        if (auto ran = runOnce(candidate.run(), candidate.variables(), poisoned,
                               limitOf(request, description_));
            !ran)
            return ran;
        auto found = memory_->differences(request.elements, candidate.variables(),
                                          poisoned != nullptr ? poisoned->results : none);
        if (!found)
            return std::unexpected(found.error());
        result.differences = std::move(*found);
        return {};
    };
    for (std::uint32_t i = 0; i < std::max(request.checks, 1u) && result.differences.empty(); ++i) {
        if (auto compared = compare(nullptr); !compared)
            return compared;
    }
    if (!result.differences.empty() || !poisoned_ || poisoned_->places.empty())
        return {};
    if (auto compared = compare(&*poisoned_); !compared)
        return compared;
    result.isByStaleMemory = !std::ranges::all_of(result.differences, &MemoryDifference::isOfHost);
    return {};
}

Result<std::vector<MemoryDifference>> HeldLaunch::variation(const TryRequest& request) {
    std::vector<MemoryDifference> all;
    for (std::uint32_t i = 0; i < std::max(request.checks, 1u); ++i) {
        if (auto ran = runOnce(original_, noVariables, nullptr, originalLimit()); !ran)
            return std::unexpected(ran.error());
        const auto found = memory_->differences(request.elements, noVariables);
        if (!found)
            return std::unexpected(found.error());
        for (const MemoryDifference& each : *found)
            widen(all, each);
    }
    return all;
}

Result<void> HeldLaunch::poison(const TryRequest& request) {
    if (poisoned_ && poisoned_->addresses == request.onlyWritten)
        return {};
    poisoned_.emplace();
    poisoned_->addresses = request.onlyWritten;
    auto chosen = choosePoisoned();
    if (!chosen)
        poisoned_.reset(); // Its places have no results.
    return chosen;
}

/// Keeps the places that no other parameter leads to, and the original's results with them.
Result<void> HeldLaunch::choosePoisoned() {
    Poisoned& poisoned = *poisoned_;
    const auto words = original_.words();
    for (const std::uint64_t address : poisoned.addresses) {
        const auto part = memory_->partAt(address);
        const auto pointers = std::ranges::count_if(
            words, [&](std::uint64_t word) { return memory_->partAt(word) == part; });
        if (part && pointers == 1)
            poisoned.places.emplace_back(*part, address);
    }
    if (poisoned.places.empty())
        return {};
    if (!description_.variation.empty()) {
        poisoned.places.clear();
        poisoned.note = "the kernel's results vary, so it was not run with other contents";
        return {};
    }
    if (auto ran = runOnce(original_, noVariables, &poisoned, originalLimit()); !ran)
        return ran;
    OtherResults results;
    for (const auto& [part, address] : poisoned.places) {
        auto copy = memory_->copyOf(part);
        if (!copy) {
            poisoned.places.clear();
            poisoned.note = "it was not run with other contents: " + copy.error().what;
            return {};
        }
        results.insert_or_assign(part, std::move(*copy));
    }
    // If the kernel does read this memory, other parts differ.
    const auto rest = memory_->differences({}, noVariables, results);
    if (!rest)
        return std::unexpected(rest.error());
    if (!rest->empty()) {
        poisoned.places.clear();
        poisoned.note = "the kernel reads memory that its text only writes, so it was not run with "
                        "other contents there";
        return {};
    }
    poisoned.results = std::move(results);
    return {};
}

Result<void> HeldLaunch::time(const Candidates& candidates, const TryRequest& request,
                              TryAnswer& answer) {
    struct Subject {
        const KernelRun* run;
        const VariablePlaces* variables;
        std::vector<double>* microseconds;
        std::optional<std::uint32_t> candidate;
    };
    std::vector<Subject> subjects{{&original_, &noVariables, &answer.original, std::nullopt}};
    for (std::size_t i = 0; i < candidates.size(); ++i) {
        if (candidates[i] && isHarmless(answer.candidates[i]))
            subjects.push_back({&candidates[i]->run(), &candidates[i]->variables(),
                                &answer.candidates[i].microseconds, static_cast<std::uint32_t>(i)});
    }
    if (subjects.size() == 1)
        return {};
    const std::uint32_t rounds = warmUpRounds + std::min(request.rounds, maxRounds);
    for (std::uint32_t round = 0; round < rounds; ++round) {
        for (std::size_t step = 0; step < subjects.size(); ++step) {
            // Each is first as often as last.
            const Subject& subject = subjects[round % 2 == 0 ? step : subjects.size() - 1 - step];
            running_ = subject.candidate;
            const auto time =
                timeOnce(*subject.run, *subject.variables,
                         subject.candidate ? limitOf(request, description_) : originalLimit());
            if (!time)
                return std::unexpected(time.error());
            if (round >= warmUpRounds)
                subject.microseconds->push_back(*time);
        }
    }
    running_.reset();
    return {};
}

Result<double> HeldLaunch::timeOnce(const KernelRun& run, const VariablePlaces& variables,
                                    std::chrono::milliseconds limit) {
    auto done = memory_->restore();
    if (done)
        done = memory_->seed(variables);
    if (done)
        done = work_->sweepCache();
    // A launch that waits in the queue would be timed with the work before it.
    if (done)
        done = work_->finish();
    if (done)
        done = launchTimed(run, limit);
    if (!done)
        return std::unexpected(done.error());
    return work_->microseconds();
}

Result<void> HeldLaunch::restore() {
    if (isLost())
        return std::unexpected(Error{
            ErrorKind::Failed, "a kernel has faulted or does not end, so nothing runs", {}, {}});
    return memory_ ? memory_->restoreAll() : Result<void>();
}

} // namespace kernelskill::engine::replay
