/// The engine's front: what the language server and the command line ask for. Owns the catalogue,
/// the executor and a cache of profiles; knows no protocol. Thread-safe.
#pragma once

#include "analysis/model/kernel_model.h"
#include "analysis/parse/translation_unit.h"
#include "engine/agents/optimization.h"
#include "engine/agents/plan.h"
#include "engine/agents/planner.h"
#include "engine/agents/repairer.h"
#include "engine/agents/reviewer.h"
#include "engine/assembly/kernel_assembly.h"
#include "engine/diagnosis/bottleneck.h"
#include "engine/diagnosis/measured_roofline.h"
#include "engine/diagnosis/roofline.h"
#include "engine/execution/executor.h"
#include "engine/execution/gpu/slurm_job.h"
#include "engine/hazard_fix_cache.h"
#include "engine/memory/short_term_memory.h"
#include "engine/model/language_model.h"
#include "engine/profile_cache.h"
#include "engine/static_facts/static_facts.h"
#include "skills/compiled_kernel.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

namespace kernelskill::engine {

struct WorkbenchOptions {
    std::filesystem::path executable;     ///< For the emulator's worker.
    std::filesystem::path dataDirectory;  ///< Built-in SKILL.md files are in dataDirectory/skills.
    std::filesystem::path cacheDirectory; ///< Empty: the user's cache folder.
    std::filesystem::path hostCompiler;   ///< Empty: searched.
    std::filesystem::path userDataDirectory; ///< Long-term memory; empty: the user's data folder.
    std::string gpu; ///< That estimates are made for, see engine/diagnosis/gpus.h; empty: an H200.
    /// kernelskill-runner; empty: nothing is measured, GPU or not.
    std::filesystem::path runner;
    std::optional<gpu::SlurmJob> slurm = std::nullopt; ///< Measure there, not on this machine.
    /// Skills of the user's; of two with one name the first counts.
    std::vector<skills::SkillFolder> skillFolders = {};
};

/// A profile with its diagnosis.
struct KernelReport {
    std::shared_ptr<const Profile> profile;
    std::shared_ptr<const Bottleneck> bottleneck;
    /// What the GPU's compiler makes of the kernel, or why that is not known; null when nobody
    /// asked, without a toolkit.
    std::shared_ptr<const Result<StaticFacts>> facts;
    std::optional<analysis::Occupancy> occupancy; ///< Of the profiled launch, with the facts.
    std::optional<Roofline> roofline;
    std::optional<MeasuredRoofline> measured; ///< Of a profile on a GPU.
    /// Where and when it was measured; null for one of the emulator.
    std::shared_ptr<const Measurement> measurement;
};

/// A skill's edit with the judgement on it.
struct ReviewedEdit {
    std::string skill;
    analysis::EditSet edits;
    Verdict verdict;
    std::string diff;          ///< Unified, of all files.
    std::string notRemembered; ///< Why memory could not be written; empty when it was.
    [[nodiscard]] bool acceptable() const {
        return verdict.status != VerdictStatus::Incorrect &&
               verdict.status != VerdictStatus::Invalid;
    }
};

class Workbench {
public:
    Workbench(WorkbenchOptions options, analysis::Toolchain toolchain);
    ~Workbench();

    [[nodiscard]] const std::vector<skills::SkillMetadata>& skills() const;
    [[nodiscard]] const analysis::Toolchain& toolchain() const;
    /// The emulator, or why there is none.
    [[nodiscard]] Result<Executor*> executor() const;
    /// The GPU of this machine, or of a node of the cluster, or why nothing can be measured on one.
    /// Waits for a runner: some seconds the first time; on Slurm as long as the queue is, which
    /// `progress` hears of.
    [[nodiscard]] Result<GpuExecutor*> gpu(const std::stop_token& stop = {},
                                           const ProgressSink& progress = {}) const;
    /// Whether a profile on the GPU is worth offering: there is one to all appearance, and opening
    /// it has not failed. Cheap: opens nothing.
    [[nodiscard]] bool offersGpu() const;
    /// SKILL.md files that could not be read, for `doctor` and the log.
    [[nodiscard]] const std::vector<Error>& skillErrors() const;

    /// Works out for every kernel what the cheap calls below keep: after a parse, away from the
    /// typing path. Gives up once `isOvertaken` says so.
    void prepare(const ProgramSource& program, const std::function<bool()>& isOvertaken) const;

    [[nodiscard]] std::shared_ptr<const analysis::Features>
    features(const ProgramSource& program, const analysis::KernelModel& kernel) const;
    /// Static diagnosis when no profile is cached, else with it, rather with a measured one. Cheap:
    /// no run.
    [[nodiscard]] std::shared_ptr<const Bottleneck>
    diagnosis(const ProgramSource& program, const analysis::KernelModel& kernel) const;
    /// The launch that a profile would try first. Cheap.
    [[nodiscard]] std::optional<LaunchSpec> launch(const ProgramSource& program,
                                                   const analysis::KernelModel& kernel) const;
    /// The cached profile of exactly this kernel text and launch, if any: what a GPU has measured,
    /// be it for another process, else what the emulator has counted. Cheap.
    [[nodiscard]] std::optional<KernelReport>
    cachedReport(const ProgramSource& program, const analysis::KernelModel& kernel) const;
    /// Whether a profile waits for what the GPU's compiler says, which takes longer than to count:
    /// Later, it comes with a later cachedReport() or diagnosis().
    enum class Facts : std::uint8_t { Awaited, Later };
    /// What a run of the kernel depends on, comments and line breaks apart: the text of the kernel
    /// and of what it calls, launches, headers, flags. Cheap.
    [[nodiscard]] std::uint64_t runHash(const ProgramSource& program,
                                        const analysis::KernelModel& kernel) const;
    /// Runs the kernel on the emulator (or answers from the cache).
    [[nodiscard]] Result<KernelReport> profile(const ProgramSource& program,
                                               const analysis::KernelModel& kernel,
                                               std::stop_token stop, const ProgressSink& progress,
                                               Facts facts = Facts::Awaited) const;
    /// Runs it on the GPU: measured, at the size that the file launches. Hazards, and counts that
    /// the hardware was not asked for, are the emulator's, on the same launch. Always measures:
    /// time is not the same twice. The findings are kept, for other processes as well.
    [[nodiscard]] Result<KernelReport> profileOnGpu(const ProgramSource& program,
                                                    const analysis::KernelModel& kernel,
                                                    std::stop_token stop,
                                                    const ProgressSink& progress) const;

    /// What skills are told of the GPU's compiler: its facts as far as a profile, or compile(), has
    /// left them here, with the launch that a profile has or would have. Cheap.
    [[nodiscard]] std::optional<skills::CompiledKernel>
    compiled(const ProgramSource& program, const analysis::KernelModel& kernel) const;
    /// Whether compile() may run the compiler, or only looks for what an earlier run has left on
    /// disk.
    enum class Compiler : std::uint8_t { Run, OnlyCached };
    /// Has the facts found for a kernel of which none are known here, so that diagnosis() and
    /// plan() have them. As slow as staticFacts(), whose errors these are.
    [[nodiscard]] Result<void> compile(const ProgramSource& program,
                                       const analysis::KernelModel& kernel, Compiler compiler,
                                       std::stop_token stop) const;

    /// Fixes for the hazards of the cached profile, if somebody has looked for them; else null.
    /// Cheap.
    [[nodiscard]] HazardFixes cachedHazardFixes(const ProgramSource& program,
                                                const analysis::KernelModel& kernel) const;
    /// The same, looked for and run beside the original, see HazardRepairer. Profiles the kernel
    /// if need be. Slow; answers from the cache.
    [[nodiscard]] Result<HazardFixes> hazardFixes(const ProgramSource& program,
                                                  const analysis::KernelModel& kernel,
                                                  std::stop_token stop,
                                                  const ProgressSink& progress) const;

    /// Skills that fit at `range`, ranked by what `memory` and the bottleneck say, and those ruled
    /// out. Cheap: the code-action path.
    [[nodiscard]] Plan plan(const ProgramSource& program, const analysis::KernelModel& kernel,
                            analysis::Span range, const ShortTermMemory& memory) const;
    /// Applies the skill, reviews the edit and writes plan, edit and verdict to memory. A memory
    /// that cannot be written is named in the verdict's summary and stops nothing. Slow.
    [[nodiscard]] Result<ReviewedEdit> apply(const ProgramSource& program,
                                             const analysis::KernelModel& kernel,
                                             const skills::Offer& offer,
                                             const ShortTermMemory& memory, std::stop_token stop,
                                             const ProgressSink& progress) const;

    /// What the kernel compiles to, see kernelAssembly(). An empty architecture: that of the GPU of
    /// this machine, which the first call opens; where there is none, of the GPU of estimates.
    /// Slow.
    [[nodiscard]] Result<KernelAssembly> assembly(const ProgramSource& program,
                                                  const analysis::KernelModel& kernel,
                                                  AssemblyRequest request,
                                                  std::stop_token stop) const;
    /// The edits that a skill proposes, nobody having reviewed them: to see what they would compile
    /// to, never to be applied.
    [[nodiscard]] Result<analysis::EditSet> draft(const ProgramSource& program,
                                                  const analysis::KernelModel& kernel,
                                                  const skills::Offer& offer) const;

    /// Tries plans, round after round, and keeps what is correct and better, see
    /// OptimizationManager. `options.measure` needs a GPU. An error: the kernel cannot be run, or
    /// there is nothing to run it on. Cancelled, it answers with the best so far. Very slow. With a
    /// `model`, it proposes kernels too, see ModelSteps.
    [[nodiscard]] Result<Optimization> optimize(const ProgramSource& program,
                                                const analysis::KernelModel& kernel,
                                                const OptimizationOptions& options,
                                                const ShortTermMemory& memory, std::stop_token stop,
                                                const ProgressSink& progress,
                                                LanguageModel* model = nullptr) const;

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

} // namespace kernelskill::engine
