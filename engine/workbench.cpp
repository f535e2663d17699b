#include "engine/workbench.h"

#include "engine/agents/candidate_decision.h"
#include "engine/agents/hang_diagnoser.h"
#include "engine/agents/model_steps.h"
#include "engine/agents/optimization_manager.h"
#include "engine/agents/optimizer.h"
#include "engine/agents/program_difference.h"
#include "engine/agents/trial.h"
#include "engine/compiled_facts.h"
#include "engine/edit_hash.h"
#include "engine/execution/emulator/emulator_executor.h"
#include "engine/execution/gpu/cupti_library.h"
#include "engine/execution/gpu/gpu_executor.h"
#include "engine/execution/sized_launch.h"
#include "engine/first_run.h"
#include "engine/gpu_access.h"
#include "engine/gpu_profile.h"
#include "engine/inputs/launch_inference.h"
#include "engine/kernel_insights.h"
#include "engine/late_facts.h"
#include "engine/measured_profiles.h"
#include "engine/memory/long_term_memory.h"
#include "engine/memory/memory_entry.h"
#include "engine/memory/memory_recall.h"
#include "engine/patient_lock.h"
#include "engine/workbench_steps.h"
#include "skills/skill_library.h"

#include <algorithm>
#include <future>
#include <mutex>
#include <optional>
#include <random>
#include <tuple>
#include <utility>

namespace kernelskill::engine {
namespace {

namespace fs = std::filesystem;

/// Of somebody who would rather have the profile: for facts that are in the cache.
constexpr std::chrono::milliseconds factsPatience{20};

std::optional<LongTermMemory> openLongTermMemory(const fs::path& configured) {
    const fs::path file = longTermMemoryFile(configured);
    if (file.empty())
        return std::nullopt;
    auto memory = LongTermMemory::open(file);
    if (!memory)
        return std::nullopt;
    return std::move(*memory);
}

std::vector<std::uint64_t> hashesOf(const analysis::FileModel& model) {
    std::vector<std::uint64_t> hashes;
    for (const analysis::KernelModel& kernel : model.kernels)
        hashes.push_back(kernel.normalisedHash);
    return hashes;
}

} // namespace

struct Workbench::Impl {
    Impl(WorkbenchOptions given, analysis::Toolchain found)
        : options(std::move(given)), toolchain(std::move(found)),
          library(skills::loadSkillLibrary(options.dataDirectory / "skills", options.skillFolders)),
          planner(library.skills, library.documents), optimizer(library.skills, library.documents),
          executor(makeEmulatorExecutor(
              {options.executable, options.hostCompiler, options.cacheDirectory, true}, toolchain)),
          gpuAccess(gpuOptions()),
          reviewer(executor ? executor->get() : nullptr, toolchain,
                   [this](const std::stop_token& stop, const ProgressSink& progress) {
                       auto found = gpuAccess.open(stop, progress);
                       // What a cluster did not give is no lack of a GPU.
                       if (!found && options.slurm && found.error().kind == ErrorKind::Missing)
                           found.error().kind = ErrorKind::Failed;
                       return found;
                   }),
          longTermMemory(openLongTermMemory(options.userDataDirectory)),
          measuredProfiles(options.cacheDirectory.empty() ? fs::path{}
                                                          : options.cacheDirectory / "measured") {}

    WorkbenchOptions options;
    analysis::Toolchain toolchain;
    skills::SkillLibrary library;
    Planner planner;
    Optimizer optimizer;
    Result<std::unique_ptr<Executor>> executor;
    GpuAccess gpuAccess;
    Reviewer reviewer;
    std::optional<LongTermMemory> longTermMemory;
    MeasuredProfiles measuredProfiles;
    ProfileCache profiles;
    LateFacts lateFacts; ///< Ends before what its compilers use, which is declared above.
    HazardFixCache hazardFixes;
    std::timed_mutex searchingFixes; ///< One search at a time: it may be the one that is wanted.
    KernelInsights insights;
    MemoryRecall recall;

    [[nodiscard]] KernelFindings cachedFindings(const ProgramSource& program,
                                                const analysis::KernelModel& kernel) {
        if (const auto key = insights.measuredKey(program, kernel)) {
            const GpuExecutor* open = gpuAccess.opened();
            if (auto measured = measuredProfiles.find(*key, open != nullptr ? open->device().uuid
                                                                            : std::string{});
                measured.profile)
                return measured;
        }
        lateFacts.settle(profiles);
        return profiles.find(insights.key(program, kernel));
    }

    /// With facts, where they are known at all: a profile that another process has measured may be
    /// without.
    [[nodiscard]] KernelFindings cachedFacts(const ProgramSource& program,
                                             const analysis::KernelModel& kernel) {
        auto findings = cachedFindings(program, kernel);
        return findings.facts ? findings : profiles.find(insights.key(program, kernel));
    }

    /// The GPU that estimates are made for.
    [[nodiscard]] const Gpu& gpu() const {
        static const Gpu none; // A table that cannot be read is a defect of the build.
        const auto& table = builtinGpus();
        if (!table)
            return none;
        const Gpu* named = gpuNamed(*table, options.gpu);
        const Gpu* usual = gpuNamed(*table, "H200");
        return named != nullptr ? *named : usual != nullptr ? *usual : none;
    }

    /// What the table knows of the GPU that CUDA calls `name`; of the one of estimates where it
    /// knows none.
    [[nodiscard]] const Gpu& tableEntry(std::string_view name) const {
        const auto& table = builtinGpus();
        const Gpu* named = table ? gpuNamed(*table, name) : nullptr;
        return named != nullptr ? *named : gpu();
    }

    /// The one that findings speak of.
    [[nodiscard]] const Gpu& gpuOf(const KernelFindings& findings) const {
        return findings.measurement ? tableEntry(findings.measurement->gpu) : gpu();
    }

    [[nodiscard]] GpuOptions gpuOptions() const {
        GpuOptions wanted;
        wanted.name = options.slurm ? "slurm" : "gpu";
        wanted.runner = {options.runner, gpu::cuptiLibraryOf(toolchain.toolkit), {}, options.slurm};
        wanted.compile = factsOptions();
        wanted.cacheDirectory = options.cacheDirectory;
        return wanted;
    }

    [[nodiscard]] StaticFactsOptions factsOptions() const {
        StaticFactsOptions wanted;
        wanted.workerExecutable = options.executable;
        wanted.toolkit = toolchain.toolkit;
        wanted.preludeInclude = toolchain.preludeInclude;
        wanted.cacheDirectory =
            options.cacheDirectory.empty() ? fs::path{} : options.cacheDirectory / "facts";
        return wanted;
    }

    [[nodiscard]] std::shared_ptr<const Result<StaticFacts>>
    findFacts(const ProgramSource& program, const analysis::KernelModel& kernel,
              const LaunchSpec& launch, const Gpu& gpu, std::stop_token stop) const {
        if (!toolchain.toolkit)
            return nullptr;
        return std::make_shared<const Result<StaticFacts>>(staticFacts(
            program, kernel, launch.templateArguments, analysis::architectureName(gpu.capability),
            factsOptions(), std::move(stop)));
    }

    [[nodiscard]] KernelReport report(const ProgramSource& program,
                                      const analysis::KernelModel& kernel,
                                      KernelFindings findings) {
        const Gpu& gpu = gpuOf(findings);
        KernelReport report;
        report.bottleneck = insights.diagnosis(program, kernel, findings, gpu);
        if (findings.facts && *findings.facts) {
            if (auto occupancy = occupancyOf(**findings.facts, findings.profile->launch))
                report.occupancy = std::move(*occupancy);
        }
        const auto features = insights.features(program, kernel);
        if (const auto counts = rooflineCounts(kernel, *features, *findings.profile))
            report.roofline = rooflineOf(*counts, gpu);
        if (findings.measurement && findings.measurement->ceilings)
            report.measured =
                measuredRooflineOf(*findings.profile, *findings.measurement->ceilings);
        report.measurement = std::move(findings.measurement);
        report.profile = std::move(findings.profile);
        report.facts = std::move(findings.facts);
        return report;
    }
};

Workbench::Workbench(WorkbenchOptions options, analysis::Toolchain toolchain)
    : impl_(std::make_unique<Impl>(std::move(options), std::move(toolchain))) {}
Workbench::~Workbench() = default;

const std::vector<skills::SkillMetadata>& Workbench::skills() const {
    return impl_->library.documents;
}
const std::vector<Error>& Workbench::skillErrors() const {
    return impl_->library.errors;
}
const analysis::Toolchain& Workbench::toolchain() const {
    return impl_->toolchain;
}

Result<Executor*> Workbench::executor() const {
    if (!impl_->executor)
        return std::unexpected(impl_->executor.error());
    return impl_->executor->get();
}

void Workbench::prepare(const ProgramSource& program,
                        const std::function<bool()>& isOvertaken) const {
    for (const analysis::KernelModel& kernel : program.model->kernels) {
        if (isOvertaken())
            return;
        std::ignore = impl_->insights.launches(program, kernel);
        std::ignore = diagnosis(program, kernel);
    }
}

std::shared_ptr<const analysis::Features>
Workbench::features(const ProgramSource& program, const analysis::KernelModel& kernel) const {
    return impl_->insights.features(program, kernel);
}

std::shared_ptr<const Bottleneck> Workbench::diagnosis(const ProgramSource& program,
                                                       const analysis::KernelModel& kernel) const {
    const auto findings = impl_->cachedFindings(program, kernel);
    return impl_->insights.diagnosis(program, kernel, findings, impl_->gpuOf(findings));
}

std::uint64_t Workbench::runHash(const ProgramSource& program,
                                 const analysis::KernelModel& kernel) const {
    return impl_->insights.key(program, kernel).textHash;
}

bool Workbench::offersGpu() const {
    return impl_->gpuAccess.isOffered();
}

std::optional<LaunchSpec> Workbench::launch(const ProgramSource& program,
                                            const analysis::KernelModel& kernel) const {
    const auto launches = impl_->insights.launches(program, kernel);
    if (!*launches || (*launches)->empty())
        return std::nullopt;
    return (*launches)->front();
}

std::optional<KernelReport> Workbench::cachedReport(const ProgramSource& program,
                                                    const analysis::KernelModel& kernel) const {
    auto findings = impl_->cachedFindings(program, kernel);
    if (!findings.profile)
        return std::nullopt;
    return impl_->report(program, kernel, std::move(findings));
}

Result<KernelReport> Workbench::profile(const ProgramSource& program,
                                        const analysis::KernelModel& kernel, std::stop_token stop,
                                        const ProgressSink& progress, Facts wanted) const {
    auto say = [&](std::string_view what, double fraction) {
        if (progress)
            progress(what, fraction);
    };
    ProfileKey key = impl_->insights.refreshedKey(program, kernel);
    impl_->lateFacts.settle(impl_->profiles, wanted == Facts::Awaited ? &key : nullptr);
    if (auto known = impl_->profiles.find(key); known.profile)
        return impl_->report(program, kernel, std::move(known));
    auto executor = this->executor();
    if (!executor)
        return std::unexpected(executor.error());
    const auto launches = impl_->insights.launches(program, kernel);
    if (!*launches)
        return std::unexpected(launches->error());
    // The GPU's compiler works beside the emulator: neither waits for the other.
    // A refusal does not wait for the compiler either.
    std::stop_source compiling;
    const std::stop_callback cancelled(stop, [&] { compiling.request_stop(); });
    // It may outlive this call, and with it the caller's program.
    auto facts = std::async(std::launch::async, [impl = impl_.get(), program, &kernel, launches,
                                                 token = compiling.get_token()] {
        return impl->findFacts(program, kernel, (*launches)->front(), impl->gpu(), token);
    });
    auto result = firstRun(**executor, program, kernel, **launches, stop, say);
    if (!result) {
        compiling.request_stop();
        return std::unexpected(withHangDiagnosis(*program.model, kernel, result.error()));
    }
    KernelFindings findings{std::make_shared<const Profile>(std::move(result->profile)), nullptr};
    if (wanted == Facts::Later && facts.wait_for(factsPatience) != std::future_status::ready) {
        impl_->profiles.insert(key, findings);
        impl_->lateFacts.add(key, findings.profile, std::move(facts), std::move(compiling));
        return impl_->report(program, kernel, std::move(findings));
    }
    findings.facts = facts.get();
    impl_->profiles.insert(key, findings);
    return impl_->report(program, kernel, std::move(findings));
}

Result<GpuExecutor*> Workbench::gpu(const std::stop_token& stop,
                                    const ProgressSink& progress) const {
    return impl_->gpuAccess.open(stop, progress);
}

Result<KernelReport> Workbench::profileOnGpu(const ProgramSource& program,
                                             const analysis::KernelModel& kernel,
                                             std::stop_token stop,
                                             const ProgressSink& progress) const {
    auto say = [&](std::string_view what, double fraction) {
        if (progress)
            progress(what, fraction);
    };
    say("starting the GPU's runner", 0);
    const auto gpu = this->gpu(stop, progress);
    if (!gpu)
        return std::unexpected(gpu.error());
    const auto executor = this->executor();
    if (!executor)
        return std::unexpected(executor.error());
    // Before the run, which reads the headers as they are now.
    std::ignore = impl_->insights.refreshedKey(program, kernel);
    const auto launch = impl_->insights.gpuLaunch(program, kernel);
    if (!*launch)
        return std::unexpected(launch->error());
    const auto key = impl_->insights.measuredKey(program, kernel);
    auto found = measureProfile(**gpu, **executor, program, kernel, **launch, stop, say);
    if (!found)
        return std::unexpected(found.error());
    say("measuring what the GPU reaches at best", 0.9);
    const auto& device = (*gpu)->device();
    Measurement measurement{device.uuid, device.name, timestamp(), std::nullopt};
    if (const auto ceilings = (*gpu)->ceilings(stop))
        measurement.ceilings = DeviceCeilings{
            device.name, std::max(ceilings->copyBytesPerSecond, ceilings->readBytesPerSecond),
            ceilings->float32PerSecond, ceilings->float64PerSecond, ceilings->l2BytesPerSecond};
    KernelFindings findings{std::make_shared<const Profile>(std::move(*found)), nullptr,
                            std::make_shared<const Measurement>(std::move(measurement))};
    findings.facts =
        impl_->findFacts(program, kernel, findings.profile->launch, impl_->gpuOf(findings), stop);
    if (stop.stop_requested())
        return std::unexpected(Error{ErrorKind::Cancelled, "cancelled", "", ""});
    impl_->measuredProfiles.insert(*key, findings);
    return impl_->report(program, kernel, std::move(findings));
}

std::optional<skills::CompiledKernel>
Workbench::compiled(const ProgramSource& program, const analysis::KernelModel& kernel) const {
    const auto findings = impl_->cachedFacts(program, kernel);
    if (!findings.facts || !*findings.facts)
        return std::nullopt;
    if (findings.profile)
        return compiledKernelOf(**findings.facts, findings.profile->launch);
    const auto launches = impl_->insights.launches(program, kernel);
    if (!*launches || (*launches)->empty())
        return std::nullopt;
    return compiledKernelOf(**findings.facts, (*launches)->front());
}

Result<void> Workbench::compile(const ProgramSource& program, const analysis::KernelModel& kernel,
                                Compiler compiler, std::stop_token stop) const {
    if (impl_->cachedFacts(program, kernel).facts)
        return {};
    const auto launches = impl_->insights.launches(program, kernel);
    if (!*launches)
        return std::unexpected(launches->error());
    StaticFactsOptions wanted = impl_->factsOptions();
    wanted.onlyCached = compiler == Compiler::OnlyCached;
    const ProfileKey key = impl_->insights.key(program, kernel);
    auto facts =
        staticFacts(program, kernel, (*launches)->front().templateArguments,
                    analysis::architectureName(impl_->gpu().capability), wanted, std::move(stop));
    if (!facts)
        return std::unexpected(std::move(facts.error()));
    KernelFindings findings = impl_->profiles.find(key);
    findings.facts = std::make_shared<const Result<StaticFacts>>(std::move(*facts));
    impl_->profiles.insert(key, std::move(findings));
    return {};
}

HazardFixes Workbench::cachedHazardFixes(const ProgramSource& program,
                                         const analysis::KernelModel& kernel) const {
    const ProfileKey key = impl_->insights.key(program, kernel);
    return impl_->hazardFixes.find(hazardFixKey(program, kernel, key), placeOf(program, kernel));
}

Result<HazardFixes> Workbench::hazardFixes(const ProgramSource& program,
                                           const analysis::KernelModel& kernel,
                                           std::stop_token stop,
                                           const ProgressSink& progress) const {
    const auto report = profile(program, kernel, stop, progress);
    if (!report)
        return std::unexpected(report.error());
    const auto searching = lockUnlessStopped(impl_->searchingFixes, stop);
    if (!searching)
        return std::unexpected(searching.error());
    if (auto known = cachedHazardFixes(program, kernel))
        return known;
    auto executor = this->executor();
    if (!executor)
        return std::unexpected(executor.error());
    const HazardRepairer repairer(**executor, impl_->toolchain);
    auto fixes =
        repairer.propose(program, kernel, *report->profile, profiledBlocks(report->profile->launch),
                         std::move(stop), progress);
    if (!fixes)
        return std::unexpected(fixes.error());
    const ProfileKey key = impl_->insights.key(program, kernel);
    impl_->hazardFixes.insert(hazardFixKey(program, kernel, key), placeOf(program, kernel),
                              std::move(*fixes));
    return cachedHazardFixes(program, kernel);
}

Plan Workbench::plan(const ProgramSource& program, const analysis::KernelModel& kernel,
                     analysis::Span range, const ShortTermMemory& memory) const {
    const auto features = this->features(program, kernel);
    const auto bottleneck = diagnosis(program, kernel);
    const auto remembered = impl_->recall.entries(memory, hashesOf(*program.model));
    const auto compiled = this->compiled(program, kernel);
    PlannerInput input{*program.model, kernel, *features, *bottleneck, range, *remembered, {}};
    input.compiled = compiled ? &*compiled : nullptr;
    if (impl_->longTermMemory) {
        auto records =
            impl_->longTermMemory->records(std::string(spelling(bottleneck->kind)),
                                           analysis::architectureName(impl_->gpu().capability));
        if (records)
            input.records = std::move(*records);
    }
    return impl_->planner.plan(input);
}

Result<ReviewedEdit> Workbench::apply(const ProgramSource& program,
                                      const analysis::KernelModel& kernel,
                                      const skills::Offer& offer, const ShortTermMemory& memory,
                                      std::stop_token stop, const ProgressSink& progress) const {
    MemoryEntry entry;
    entry.kernel = kernel.qualifiedName;
    entry.kernelHash = kernel.normalisedHash;
    entry.skill = offer.skillId;
    entry.option = offer.option;
    std::string notRemembered;
    auto remember = [&](EntryKind kind, std::string status, std::string detail) {
        entry.kind = kind;
        entry.time = timestamp();
        entry.status = std::move(status);
        entry.detail = std::move(detail);
        if (auto appended = memory.append(entry); !appended && notRemembered.empty())
            notRemembered = appended.error().describe();
    };
    remember(EntryKind::Plan, "", offer.why);

    auto proposed =
        impl_->optimizer.propose(*program.model, kernel, *features(program, kernel), offer);
    if (!proposed) {
        if (proposed.error().kind != ErrorKind::InvalidInput) // No such skill.
            remember(EntryKind::Failure, "", proposed.error().describe());
        return std::unexpected(proposed.error());
    }
    entry.editHash = hashOf(proposed->edits);
    remember(EntryKind::Edit, "", offer.title);

    auto verdict = impl_->reviewer.review(program, kernel, proposed->edits, proposed->numerics,
                                          stop, progress);
    if (!verdict)
        return std::unexpected(verdict.error());
    // An edit that could not be tried is no failure of the skill: without a status it is not held
    // against it.
    remember(EntryKind::Verdict, verdict->isAboutEdit ? std::string(spelling(verdict->status)) : "",
             firstFailedCheck(*verdict));
    if (impl_->longTermMemory && verdict->isAboutEdit) {
        // Statistics for ranking: not worth failing an edit for.
        static_cast<void>(impl_->longTermMemory->record(outcomeOf(
            *verdict, offer.skillId, std::string(spelling(diagnosis(program, kernel)->kind)),
            kernel.normalisedHash,
            verdict->speedup ? impl_->gpuAccess.opened()->architecture() : "")));
    }
    ReviewedEdit reviewed{offer.skillId, std::move(proposed->edits), std::move(*verdict), "",
                          notRemembered};
    reviewed.diff = diffOf(program, reviewed.edits);
    if (!notRemembered.empty())
        reviewed.verdict.summary += " Not remembered: " + notRemembered;
    return reviewed;
}

Result<KernelAssembly> Workbench::assembly(const ProgramSource& program,
                                           const analysis::KernelModel& kernel,
                                           AssemblyRequest request, std::stop_token stop) const {
    const auto launches = impl_->insights.launches(program, kernel);
    if (!*launches && !kernel.templateParameters.empty())
        return std::unexpected(launches->error());
    if (request.architecture.empty()) {
        const auto gpu = this->gpu(stop);
        request.architecture =
            gpu ? (*gpu)->architecture() : analysis::architectureName(impl_->gpu().capability);
    }
    return kernelAssembly(program, kernel, *launches ? &(*launches)->front() : nullptr, request,
                          impl_->factsOptions(), std::move(stop));
}

Result<analysis::EditSet> Workbench::draft(const ProgramSource& program,
                                           const analysis::KernelModel& kernel,
                                           const skills::Offer& offer) const {
    auto proposed =
        impl_->optimizer.propose(*program.model, kernel, *features(program, kernel), offer);
    if (!proposed)
        return std::unexpected(std::move(proposed.error()));
    return std::move(proposed->edits);
}

Result<Optimization> Workbench::optimize(const ProgramSource& program,
                                         const analysis::KernelModel& kernel,
                                         const OptimizationOptions& options,
                                         const ShortTermMemory& memory, std::stop_token stop,
                                         const ProgressSink& progress, LanguageModel* model) const {
    if (!impl_->executor)
        return std::unexpected(impl_->executor.error());
    if (options.measure && !gpu())
        return std::unexpected(gpu().error());
    OptimizationOptions seeded = options;
    if (!seeded.seed)
        seeded.seed = std::random_device()();
    StepTools tools{*this,
                    impl_->planner,
                    impl_->optimizer,
                    impl_->reviewer,
                    impl_->recall,
                    memory,
                    impl_->longTermMemory ? &*impl_->longTermMemory : nullptr,
                    impl_->gpu(),
                    options.measure ? (*gpu())->architecture()
                                    : analysis::architectureName(impl_->gpu().capability)};
    if (toolchain().toolkit)
        tools.compile = [&](const KernelVersion& text, const LaunchSpec& launch,
                            std::stop_token wanted) {
            return staticFacts(text.program, text.kernel(), launch.templateArguments,
                               tools.architecture, impl_->factsOptions(), std::move(wanted));
        };
    WorkbenchSteps steps(tools, seeded);
    std::optional<ModelOptimizer> proposer;
    std::optional<ModelSteps> withModel;
    if (model != nullptr) {
        proposer.emplace(*model, toolchain());
        withModel.emplace(steps, *proposer, toolchain(), skills());
    }
    OptimizationManager manager(withModel ? static_cast<OptimizationSteps&>(*withModel) : steps,
                                seeded);
    auto found = manager.run({program, kernel.qualifiedName}, std::move(stop), progress);
    if (found) {
        found->executor = !options.measure ? "emulator" : impl_->options.slurm ? "slurm" : "gpu";
        found->seed = *seeded.seed;
    }
    return found;
}

} // namespace kernelskill::engine
