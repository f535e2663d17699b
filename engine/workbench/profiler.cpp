#include "engine/workbench/profiler.h"

#include "engine/candidate_diagnosis/hang_diagnoser.h"
#include "engine/execution/cut_off.h"
#include "engine/execution/emulator/pin_example.h"
#include "engine/memory/memory_entry.h"
#include "engine/workbench/first_run.h"
#include "engine/workbench/gpu_profile.h"
#include "engine/workbench/second_guess.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <chrono>
#include <future>
#include <tuple>
#include <utility>

namespace kernelskill::engine {
namespace {

/// How long Facts::Later waits nevertheless: long enough for facts that are in the cache.
constexpr std::chrono::milliseconds cachedFactsTime{20};

/// Null if there is no toolkit.
std::shared_ptr<const Result<StaticFacts>> findFacts(const Machines& machines, KernelRef kernel,
                                                     const LaunchSpec& launch, const Gpu& gpu,
                                                     std::stop_token stop) {
    if (!machines.toolchain().toolkit)
        return nullptr;
    return std::make_shared<const Result<StaticFacts>>(
        staticFacts(kernel, launch.templateArguments, analysis::architectureName(gpu.capability),
                    machines.factsOptions(), std::move(stop)));
}

/// The facts that NVRTC reports, else those of nvcc. Null if there is no toolkit.
std::shared_ptr<const Result<StaticFacts>> findQuickFacts(const Machines& machines,
                                                          KernelRef kernel,
                                                          const LaunchSpec& launch, const Gpu& gpu,
                                                          const std::stop_token& stop) {
    if (!machines.toolchain().toolkit)
        return nullptr;
    StaticFactsOptions wanted = machines.factsOptions();
    wanted.preferNvcc = false;
    auto facts = staticFacts(kernel, launch.templateArguments,
                             analysis::architectureName(gpu.capability), wanted, stop);
    if (!facts)
        return findFacts(machines, kernel, launch, gpu, stop);
    return std::make_shared<const Result<StaticFacts>>(std::move(*facts));
}

/// Whether the facts are those of another compiler than NVRTC.
bool areOfNvcc(const std::shared_ptr<const Result<StaticFacts>>& facts) {
    return facts && *facts && !(*facts)->compiler.starts_with("NVRTC");
}

} // namespace

Result<KernelReport> Profiler::profile(KernelRef kernel, std::stop_token stop,
                                       const ProgressSink& progress, Facts wanted) const {
    const auto say = [&](std::string_view what, double fraction) {
        if (progress)
            progress(what, fraction);
    };
    const ProfileKey key = knowledge_.insights().refreshedKey(kernel);
    ProfileCache& profiles = knowledge_.profiles();
    knowledge_.pendingFacts().settle(profiles, wanted == Facts::Later ? nullptr : &key);
    if (auto known = profiles.find(key); known.profile) {
        // Versions of a kernel are compared by the facts of one compiler.
        if (wanted == Facts::Quick && areOfNvcc(known.facts))
            known.facts = findQuickFacts(machines_, kernel, known.profile->launch,
                                         machines_.estimatedGpu(), stop);
        return knowledge_.report(kernel, std::move(known));
    }
    auto emulator = machines_.emulator();
    if (!emulator)
        return std::unexpected(emulator.error());
    const auto launches = knowledge_.launches(kernel);
    if (!*launches)
        return std::unexpected(launches->error());
    // The compiler runs beside the emulator. Neither waits for the other, nor does an early error.
    std::stop_source compiling;
    const std::stop_callback cancelled(stop, [&] { compiling.request_stop(); });
    // The task may outlive this call and the profiler: it owns the program.
    auto facts = std::async(std::launch::async, [&machines = std::as_const(machines_),
                                                 program = kernel.program, &model = kernel.kernel,
                                                 launches, wanted, token = compiling.get_token()] {
        const LaunchSpec& launch = (*launches)->front();
        const Gpu& gpu = machines.estimatedGpu();
        return wanted == Facts::Quick
                   ? findQuickFacts(machines, {program, model}, launch, gpu, token)
                   : findFacts(machines, {program, model}, launch, gpu, token);
    });
    auto result = firstRun(**emulator, kernel, **launches, stop, say);
    if (!result) {
        compiling.request_stop();
        if (!stop.stop_requested() && !isCutOff(result.error()))
            knowledge_.noteCheckObstacle(kernel, result.error());
        return std::unexpected(withHangDiagnosis(kernel.file(), kernel.kernel, result.error()));
    }
    noteOtherDiagnosis(kernel, **emulator, result->profile, stop);
    KernelFindings findings{std::make_shared<const Profile>(std::move(result->profile)), nullptr};
    if (wanted == Facts::Later && facts.wait_for(cachedFactsTime) != std::future_status::ready) {
        profiles.insert(key, findings);
        knowledge_.pendingFacts().add(key, findings.profile, std::move(facts),
                                      std::move(compiling));
        return knowledge_.report(kernel, std::move(findings));
    }
    findings.facts = facts.get();
    profiles.insert(key, findings);
    return knowledge_.report(kernel, std::move(findings));
}

void Profiler::noteOtherDiagnosis(KernelRef kernel, Executor& emulator, Profile& profile,
                                  const std::stop_token& stop) const {
    auto other = secondGuess(emulator, kernel, profile, stop);
    if (!other)
        return;
    const auto diagnosed = [&](const Profile& of) {
        return knowledge_.report(kernel, {std::make_shared<const Profile>(of), nullptr})
            .bottleneck->kind;
    };
    const auto first = diagnosed(profile);
    const auto second = diagnosed(*other);
    if (first != second)
        profile.notes.push_back(
            fmt::format("the launch is a guess, and guesses disagree: a quarter of its size is "
                        "held back by {}, "
                        "not by {}; pin the launch that the program makes, such as `// {}`",
                        spelling(second), spelling(first), emulator::pinExample(profile.launch)));
}

Result<KernelReport> Profiler::profileOnGpu(KernelRef kernel, std::stop_token stop,
                                            const ProgressSink& progress) const {
    const auto say = [&](std::string_view what, double fraction) {
        if (progress)
            progress(what, fraction);
    };
    say("starting the GPU's runner", 0);
    const auto gpu = machines_.gpu(stop, progress);
    if (!gpu)
        return std::unexpected(gpu.error());
    const auto emulator = machines_.emulator();
    if (!emulator)
        return std::unexpected(emulator.error());
    // Computed before the run, which reads the headers as they are now.
    std::ignore = knowledge_.insights().refreshedKey(kernel);
    const auto launch = knowledge_.insights().gpuLaunch(kernel);
    if (!*launch)
        return std::unexpected(launch->error());
    const auto key = knowledge_.insights().measuredKey(kernel);
    auto found = measureProfile(**gpu, **emulator, kernel, **launch, stop, say);
    if (!found)
        return std::unexpected(found.error());
    say("measuring the GPU's ceilings", 0.9);
    const auto& device = (*gpu)->device();
    Measurement measurement{device.uuid, device.name, timestamp(), std::nullopt};
    if (const auto ceilings = (*gpu)->ceilings(stop))
        measurement.ceilings = DeviceCeilings{
            device.name, std::max(ceilings->copyBytesPerSecond, ceilings->readBytesPerSecond),
            ceilings->float32PerSecond, ceilings->float64PerSecond, ceilings->l2BytesPerSecond};
    KernelFindings findings{std::make_shared<const Profile>(std::move(*found)), nullptr,
                            std::make_shared<const Measurement>(std::move(measurement))};
    findings.facts =
        findFacts(machines_, kernel, findings.profile->launch, knowledge_.gpuOf(findings), stop);
    if (stop.stop_requested())
        return std::unexpected(Error{ErrorKind::Cancelled, "cancelled", "", ""});
    knowledge_.measuredProfiles().insert(*key, findings);
    return knowledge_.report(kernel, std::move(findings));
}

std::optional<KernelReport> Profiler::measuredReport(KernelRef kernel) const {
    const GpuExecutor* gpu = machines_.openedGpu();
    const auto key = knowledge_.insights().measuredKey(kernel);
    if (gpu == nullptr || !key)
        return std::nullopt;
    auto findings = knowledge_.measuredProfiles().findOwn(*key, gpu->device().uuid);
    if (!findings.profile)
        return std::nullopt;
    return knowledge_.report(kernel, std::move(findings));
}

Result<void> Profiler::compile(KernelRef kernel, Compiler compiler, std::stop_token stop) const {
    if (knowledge_.cachedFacts(kernel).facts)
        return {};
    const auto launches = knowledge_.launches(kernel);
    if (!*launches)
        return std::unexpected(launches->error());
    StaticFactsOptions wanted = machines_.factsOptions();
    wanted.onlyCached = compiler == Compiler::OnlyCached;
    if (wanted.onlyCached)
        wanted.program = knowledge_.insights().scanned(kernel.program, wanted.preludeInclude);
    const ProfileKey key = knowledge_.insights().key(kernel);
    auto facts = staticFacts(kernel, (*launches)->front().templateArguments,
                             analysis::architectureName(machines_.estimatedGpu().capability),
                             wanted, std::move(stop));
    if (!facts)
        return std::unexpected(std::move(facts.error()));
    KernelFindings findings = knowledge_.profiles().find(key);
    findings.facts = std::make_shared<const Result<StaticFacts>>(std::move(*facts));
    knowledge_.profiles().insert(key, std::move(findings));
    return {};
}

Result<StaticFacts> Profiler::facts(KernelRef kernel, const LaunchSpec& launch,
                                    const std::string& architecture, std::stop_token stop) const {
    if (!machines_.toolchain().toolkit)
        return std::unexpected(Error{ErrorKind::Missing, "there is no CUDA toolkit", {}, {}});
    return staticFacts(kernel, launch.templateArguments, architecture, machines_.factsOptions(),
                       std::move(stop));
}

Result<StaticFacts> Profiler::quickFacts(KernelRef kernel, const LaunchSpec& launch,
                                         const std::string& architecture,
                                         std::stop_token stop) const {
    StaticFactsOptions wanted = machines_.factsOptions();
    const auto found = [&] {
        return staticFacts(kernel, launch.templateArguments, architecture, wanted, stop);
    };
    wanted.onlyCached = true;
    auto known = found();
    if (known || known.error().kind != ErrorKind::Missing)
        return known;
    wanted.onlyCached = false;
    wanted.preferNvcc = false;
    if (auto quick = found())
        return quick;
    wanted.preferNvcc = true;
    return found();
}

Result<KernelAssembly> Profiler::assembly(KernelRef kernel, AssemblyRequest request,
                                          std::stop_token stop) const {
    const auto launches = knowledge_.launches(kernel);
    if (!*launches && !kernel.kernel.templateParameters.empty())
        return std::unexpected(launches->error());
    if (request.architecture.empty()) {
        std::ignore = machines_.gpu(stop);
        request.architecture = machines_.architecture();
    }
    return kernelAssembly(kernel, *launches ? &(*launches)->front() : nullptr, request,
                          machines_.factsOptions(), std::move(stop));
}

} // namespace kernelskill::engine
