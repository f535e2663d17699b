/// Plans skills for a kernel, applies one, or searches for the best sequence of them.
#pragma once

#include "engine/memory/long_term_memory.h"
#include "engine/memory/memory_recall.h"
#include "engine/memory/short_term_memory.h"
#include "engine/model/language_model.h"
#include "engine/optimization/optimization.h"
#include "engine/planning/edit_drafter.h"
#include "engine/planning/planner.h"
#include "engine/review/measuring_place.h"
#include "engine/review/reviewer.h"
#include "engine/workbench/profiler.h"
#include "engine/workbench/program_pause.h"
#include "skills/skill_library.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace kernelskill::engine {

/// A skill's edit with the Reviewer's judgement.
struct ReviewedEdit {
    std::string skill;
    analysis::EditSet edits;
    Verdict verdict;
    std::string diff;          ///< A unified diff of all files.
    std::string notRemembered; ///< Why memory could not be written; empty if it was.
    [[nodiscard]] bool acceptable() const {
        return verdict.status != VerdictStatus::Incorrect &&
               verdict.status != VerdictStatus::Invalid;
    }
};

/// An offer with the edits that it makes, which are not reviewed.
struct DraftedOffer {
    skills::Offer offer;
    analysis::EditSet edits;
};

/// Thread-safe.
class SkillAdvisor {
public:
    /// All references outlive the advisor. `longTermMemory` is a folder; if empty, it is the user's
    /// data folder.
    SkillAdvisor(const skills::SkillLibrary& library, Machines& machines,
                 KernelKnowledge& knowledge, const Profiler& profiler,
                 const std::filesystem::path& longTermMemory);

    /// Whether the further options of each skill are ranked as well.
    enum class Alternatives : std::uint8_t { Left, Wanted };
    /// Returns the skills that fit at `range`, ranked by the bottleneck and by `memory`, and those
    /// that were ruled out. Cheap, because it runs for code actions.
    [[nodiscard]] Plan plan(KernelRef kernel, analysis::Span range, const ShortTermMemory& memory,
                            Alternatives alternatives = Alternatives::Left);
    /// Calls plan() for every kernel of the main file as a whole, so that what skills say of them
    /// is known when it is asked for. Called after a parse, away from the typing path. Ends early
    /// once `isOvertaken` returns true.
    void prepare(const ProgramSource& program, const ShortTermMemory& memory,
                 const std::function<bool()>& isOvertaken);
    /// Applies the skill, reviews the edit and writes plan, edit and verdict to memory. If memory
    /// cannot be written, the verdict's summary says so; the edit is judged all the same. Slow.
    [[nodiscard]] Result<ReviewedEdit> apply(KernelRef kernel, const skills::Offer& offer,
                                             const ShortTermMemory& memory, std::stop_token stop,
                                             const ProgressSink& progress);
    /// The offers whose edits change what the host does around launches, or in which order, as a
    /// graph or a fused kernel does: those that a search of the kernel cannot measure. Only for a
    /// kernel of the main file. Ends early if `stop` is requested. A fraction of a second for each
    /// offer that edits more than the kernel.
    [[nodiscard]] std::vector<DraftedOffer>
    hostOffers(KernelRef kernel, const ShortTermMemory& memory, const std::stop_token& stop);
    /// The edits that a skill proposes, without a review. They may be shown or compiled, but never
    /// applied.
    [[nodiscard]] Result<analysis::EditSet> draft(KernelRef kernel, const skills::Offer& offer);
    /// Searches, see OptimizationSearch. `options.measure` needs a GPU. Fails if the kernel cannot
    /// be run. If cancelled, returns the best result so far. Very slow. If `model` is given, it
    /// proposes kernels as well, see ModelSteps. If `pause` is given, which is at a launch of the
    /// kernel, edits are measured there, whatever `options.measure` says; the program stays held.
    /// Then it fails if the kernel does something else there than its file says. The search begins
    /// from the text with the edits `begun`, which another search has found; those of the result
    /// contain them, and its verdict is about what was added.
    [[nodiscard]] Result<Optimization>
    optimize(KernelRef kernel, const OptimizationOptions& options, const ShortTermMemory& memory,
             std::stop_token stop, const ProgressSink& progress, LanguageModel* model = nullptr,
             ProgramPause* pause = nullptr, const analysis::EditSet& begun = {});
    /// Compares and times at `pause`, which is at a launch of the kernel, the text with the edits
    /// `before` and the one with `after`, both against the kernel's own text. `isChecked` as of
    /// MeasuredEdit. Errors: those of optimize(), and of MeasuringPlace::measure().
    [[nodiscard]] Result<GpuMeasurement> measureInProgram(KernelRef kernel,
                                                          const analysis::EditSet& before,
                                                          const analysis::EditSet& after,
                                                          bool isChecked, ProgramPause& pause,
                                                          const std::stop_token& stop) const;

private:
    [[nodiscard]] LongTermMemory* longTermMemory() {
        return longTermMemory_ ? &*longTermMemory_ : nullptr;
    }

    const skills::SkillLibrary& library_;
    Machines& machines_;
    KernelKnowledge& knowledge_;
    const Profiler& profiler_;
    Planner planner_;
    EditDrafter drafter_;
    Reviewer reviewer_;
    std::optional<LongTermMemory> longTermMemory_;
    MemoryRecall recall_;
};

} // namespace kernelskill::engine
