#include "engine/workbench/skill_advisor.h"

#include "analysis/source/try.h"
#include "engine/candidate_diagnosis/hang_diagnoser.h"
#include "engine/comparison/program_difference.h"
#include "engine/optimization/candidate_decision.h"
#include "engine/review/edited_program.h"
#include "engine/review/host/host_order.h"
#include "engine/search/attempted_draft.h"
#include "engine/search/model_steps.h"
#include "engine/search/optimization_search.h"
#include "engine/unit/one_text.h"
#include "engine/workbench/workbench_steps.h"

#include <algorithm>
#include <array>
#include <random>
#include <tuple>
#include <utility>
#include <vector>

namespace kernelskill::engine {
namespace {

std::optional<LongTermMemory> openLongTermMemory(const std::filesystem::path& configured) {
    const std::filesystem::path file = longTermMemoryFile(configured);
    if (file.empty())
        return std::nullopt;
    auto memory = LongTermMemory::open(file);
    if (!memory)
        return std::nullopt;
    return std::move(*memory);
}

std::vector<std::uint64_t> kernelHashes(const analysis::FileModel& model) {
    std::vector<std::uint64_t> hashes;
    for (const analysis::KernelModel& kernel : model.kernels)
        hashes.push_back(kernel.normalisedHash);
    return hashes;
}

/// Whether the review failed for a reason that holds for any edit of the kernel, an original that
/// does not end among them. A failed control is none: other edits may be proved, or differ on these
/// inputs.
bool standsAgainstEveryEdit(const Verdict& verdict) {
    constexpr std::array checks{"can be launched", "the original compiles", "the original runs",
                                "writes something"};
    const auto failed = std::ranges::find(verdict.checks, false, &Check::passed);
    return !verdict.isAboutEdit && failed != verdict.checks.end() &&
           std::ranges::find(checks, failed->name) != checks.end();
}

/// Puts a kernel of a header, or of a file with an includer, into one text with its launches.
/// nullopt if the kernel stands in the main file already, or if no such text could be made.
std::optional<OneText> oneTextOf(KernelRef kernel, const analysis::Toolchain& toolchain) {
    const ProgramSource& program = kernel.program;
    const bool hasIncluder = !program.command.includer.empty();
    if (!hasIncluder && kernel.kernel.file == program.file)
        return std::nullopt;
    auto whole = hasIncluder ? OneText::ofIncluder(program, toolchain)
                             : OneText::make(program, kernel.kernel.file, toolchain);
    if (!whole ||
        analysis::kernelNamed(*whole->program().model, kernel.kernel.qualifiedName) == nullptr)
        return std::nullopt;
    return std::move(*whole);
}

/// Whether the edits change nothing but the kernel's definition.
bool isOfKernelAlone(const analysis::EditSet& edits, const analysis::KernelModel& kernel) {
    return std::ranges::all_of(edits, [&](const auto& file) {
        return file.first == kernel.file &&
               std::ranges::all_of(file.second, [&](const analysis::TextEdit& edit) {
                   return kernel.span.contains(edit.span);
               });
    });
}

/// A kernel as it is searched: in one text with its launches, if there is one.
struct SearchedText {
    ProgramSource program; ///< In the files.
    std::optional<OneText> whole;
    KernelVersion version;
};

/// The kernel with edits of its files.
Result<SearchedText> searchedText(KernelRef kernel, const analysis::EditSet& edits,
                                  const analysis::Toolchain& toolchain,
                                  const std::stop_token& stop) {
    const std::string& name = kernel.kernel.qualifiedName;
    SearchedText text{kernel.program, {}, {}};
    if (!edits.empty()) {
        auto draft = draftOf({kernel.program, name}, edits, {}, toolchain, stop);
        if (!draft)
            return std::unexpected(std::move(draft.error()));
        text.program = std::move(draft->text.program);
    }
    text.whole =
        oneTextOf({text.program, *analysis::kernelNamed(*text.program.model, name)}, toolchain);
    text.version = {text.whole ? text.whole->program() : text.program, name};
    return text;
}

} // namespace

SkillAdvisor::SkillAdvisor(const skills::SkillLibrary& library, Machines& machines,
                           KernelKnowledge& knowledge, const Profiler& profiler,
                           const std::filesystem::path& longTermMemory)
    : library_(library), machines_(machines), knowledge_(knowledge), profiler_(profiler),
      planner_(library.skills, library.documents), drafter_(library.skills, library.documents),
      reviewer_(machines.emulator().value_or(nullptr), machines.toolchain(), machines.gpuSource()),
      longTermMemory_(openLongTermMemory(longTermMemory)) {}

Plan SkillAdvisor::plan(KernelRef kernel, analysis::Span range, const ShortTermMemory& memory,
                        Alternatives alternatives) {
    const auto features = knowledge_.features(kernel);
    const auto bottleneck = knowledge_.diagnosis(kernel);
    const auto remembered = recall_.entries(memory, kernelHashes(kernel.file()));
    const auto prepared = knowledge_.insights().prepared(kernel, knowledge_.compiled(kernel));
    PlannerInput input{kernel.file(), kernel.kernel, *features, *bottleneck,
                       range,         *remembered,   {}};
    input.compiled = prepared->compiled() ? &*prepared->compiled() : nullptr;
    input.prepared = prepared.get();
    input.wantsAlternatives = alternatives == Alternatives::Wanted;
    const auto plain =
        knowledge_.insights().plainOffers(kernel, library_.skills, machines_.toolchain());
    input.plain = plain.get();
    if (longTermMemory_) {
        if (auto records = longTermMemory_->records(
                std::string(spelling(bottleneck->kind)),
                analysis::architectureName(machines_.estimatedGpu().capability)))
            input.records = std::move(*records);
    }
    Plan plan = planner_.plan(input, {});
    plan.uncheckable = knowledge_.checkObstacle(kernel);
    return plan;
}

void SkillAdvisor::prepare(const ProgramSource& program, const ShortTermMemory& memory,
                           const std::function<bool()>& isOvertaken) {
    for (const analysis::KernelModel& kernel : program.model->kernels) {
        if (isOvertaken())
            return;
        if (kernel.file == program.file)
            std::ignore = plan({program, kernel}, kernel.span, memory);
    }
}

Result<ReviewedEdit> SkillAdvisor::apply(KernelRef kernel, const skills::Offer& offer,
                                         const ShortTermMemory& memory, std::stop_token stop,
                                         const ProgressSink& progress) {
    OptimizationOptions options;
    options.measure = true; // Takes effect only where there is a GPU.
    WorkbenchSteps steps({machines_, knowledge_, profiler_, library_, planner_, drafter_, reviewer_,
                          recall_, memory, longTermMemory()},
                         options);
    const KernelVersion text{kernel.program, kernel.kernel.qualifiedName};
    Attempt attempt;
    attempt.plan.offer = offer;
    attempt.bottleneck = knowledge_.diagnosis(kernel);
    auto draft = draftAttempt(steps, text, attempt, stop);
    if (!draft)
        return std::unexpected(std::move(draft.error()));
    steps.remember(OptimizationSteps::Moment::Drafted, text, attempt, &*draft);
    auto verdict = steps.review(text, draft->edits, draft->accuracy, std::move(stop), progress);
    if (!verdict)
        return std::unexpected(std::move(verdict.error()));
    attempt.verdict = std::move(*verdict);
    attempt.decision = firstFailedCheck(*attempt.verdict);
    if (standsAgainstEveryEdit(*attempt.verdict))
        knowledge_.noteCheckObstacle(
            kernel, Error{ErrorKind::Failed, attempt.decision, kernel.kernel.file, ""});
    steps.remember(OptimizationSteps::Moment::Reviewed, text, attempt, &*draft);
    ReviewedEdit reviewed{offer.skillId, std::move(draft->edits), std::move(*attempt.verdict),
                          std::move(draft->diff), steps.notRemembered()};
    if (!reviewed.notRemembered.empty())
        reviewed.verdict.summary += " Not remembered: " + reviewed.notRemembered;
    return reviewed;
}

std::vector<DraftedOffer> SkillAdvisor::hostOffers(KernelRef kernel, const ShortTermMemory& memory,
                                                   const std::stop_token& stop) {
    std::vector<DraftedOffer> found;
    if (kernel.kernel.file != kernel.program.file)
        return found;
    for (const RankedSkill& ranked : plan(kernel, kernel.kernel.span, memory).ranked) {
        if (stop.stop_requested())
            break;
        auto edits = draft(kernel, ranked.offer);
        if (!edits || isOfKernelAlone(*edits, kernel.kernel))
            continue;
        const auto drafted = draftOf({kernel.program, kernel.kernel.qualifiedName}, *edits, {},
                                     machines_.toolchain(), stop);
        if (drafted && changesHostOrder(kernel.file(), *drafted->text.program.model))
            found.push_back({ranked.offer, std::move(*edits)});
    }
    return found;
}

Result<analysis::EditSet> SkillAdvisor::draft(KernelRef kernel, const skills::Offer& offer) {
    const auto plain =
        knowledge_.insights().plainOffers(kernel, library_.skills, machines_.toolchain());
    auto proposed = drafter_.propose(kernel.file(), kernel.kernel, *knowledge_.features(kernel),
                                     offer, plain->form ? &*plain->form : nullptr, {});
    if (!proposed)
        return std::unexpected(std::move(proposed.error()));
    return std::move(proposed->edits);
}

Result<Optimization> SkillAdvisor::optimize(KernelRef kernel, const OptimizationOptions& options,
                                            const ShortTermMemory& memory, std::stop_token stop,
                                            const ProgressSink& progress, LanguageModel* model,
                                            ProgramPause* pause, const analysis::EditSet& begun) {
    if (auto emulator = machines_.emulator(); !emulator)
        return std::unexpected(emulator.error());
    OptimizationOptions seeded = options;
    seeded.measure = options.measure || pause != nullptr;
    if (seeded.measure && pause == nullptr) {
        if (auto gpu = machines_.gpu(); !gpu)
            return std::unexpected(gpu.error());
    }
    if (!seeded.seed)
        seeded.seed = std::random_device()();
    KERNELSKILL_TRY(const SearchedText start,
                    searchedText(kernel, begun, machines_.toolchain(), stop));
    std::optional<SearchedText> built; // Where the search begins from another text.
    std::optional<ProgramPlace> place;
    if (pause != nullptr) {
        if (!begun.empty()) {
            KERNELSKILL_TRY(built, searchedText(kernel, {}, machines_.toolchain(), stop));
        }
        place.emplace(machines_, *pause, (built ? *built : start).version.ref());
        KERNELSKILL_CHECK(place->reproducesOriginal(stop));
    }
    WorkbenchSteps steps({machines_, knowledge_, profiler_, library_, planner_, drafter_, reviewer_,
                          recall_, memory, longTermMemory(), place ? &*place : nullptr},
                         seeded);
    std::optional<ModelEditDrafter> proposer;
    std::optional<ModelSteps> withModel;
    if (model != nullptr) {
        proposer.emplace(*model, machines_.toolchain());
        withModel.emplace(steps, *proposer, machines_.toolchain(), library_.documents);
    }
    OptimizationSearch search(withModel ? static_cast<OptimizationSteps&>(*withModel) : steps,
                              seeded);
    KERNELSKILL_TRY(auto found, search.run(start.version, std::move(stop), progress));
    if (start.whole && !found.edits.empty()) {
        KERNELSKILL_TRY(found.edits, start.whole->inFiles(found.edits));
        found.diff = diffOf(start.program, found.edits);
    }
    if (!begun.empty() && !found.edits.empty()) {
        KERNELSKILL_TRY(const ProgramSource after, withEdits(start.program, found.edits));
        KERNELSKILL_TRY(found.edits, editsBetween(kernel.program, after));
        found.diff = diffOf(kernel.program, found.edits);
    }
    found.executor = pause != nullptr  ? "program"
                     : options.measure ? machines_.gpuExecutorName()
                                       : "emulator";
    found.seed = *seeded.seed;
    return found;
}

Result<GpuMeasurement> SkillAdvisor::measureInProgram(KernelRef kernel,
                                                      const analysis::EditSet& before,
                                                      const analysis::EditSet& after,
                                                      bool isChecked, ProgramPause& pause,
                                                      const std::stop_token& stop) const {
    const analysis::Toolchain& toolchain = machines_.toolchain();
    KERNELSKILL_TRY(const SearchedText built, searchedText(kernel, {}, toolchain, stop));
    KERNELSKILL_TRY(const SearchedText old, searchedText(kernel, before, toolchain, stop));
    KERNELSKILL_TRY(const SearchedText edited, searchedText(kernel, after, toolchain, stop));
    ProgramPlace place(machines_, pause, built.version.ref());
    KERNELSKILL_CHECK(place.reproducesOriginal(stop));
    const skills::Accuracy exact;
    return place.measure({old.version.ref(), edited.version.ref(), exact, 1, isChecked}, stop);
}

} // namespace kernelskill::engine
