#include "engine/workbench/workbench_steps.h"

#include "engine/findings/compiled_facts.h"
#include "engine/memory/edit_hash.h"
#include "engine/review/edited_program.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace kernelskill::engine {
namespace {

/// Rules out skills that lower precision: only the user can say how much is enough.
void ruleOutLessPrecise(Plan& plan, const std::vector<skills::SkillMetadata>& documents) {
    const auto isLessPrecise = [&](const RankedSkill& ranked) {
        const auto document =
            std::ranges::find(documents, ranked.offer.skillId, &skills::SkillMetadata::id);
        const auto numerics = ranked.offer.numerics.value_or(
            document == documents.end() ? skills::Numerics::Exact : document->numerics);
        return numerics == skills::Numerics::ReducedPrecision;
    };
    for (const RankedSkill& ranked : plan.ranked) {
        if (isLessPrecise(ranked))
            plan.ruledOut.push_back(
                {ranked.offer.skillId,
                 "lower-precision: it would change results by more than rounding, which a search "
                 "never does by itself; apply the skill directly"});
    }
    std::erase_if(plan.ranked, isLessPrecise);
}

Standing standingOf(const KernelReport& report) {
    Standing standing;
    standing.bottleneck = report.bottleneck;
    standing.measured = report.measured;
    standing.launch = report.profile->launch;
    standing.profile = report.profile;
    standing.occupancy = report.occupancy;
    if (report.facts && *report.facts)
        standing.facts = **report.facts;
    if (report.facts && !*report.facts && report.facts->error().kind == ErrorKind::Failed)
        standing.compilerRefusal = report.facts->error().describe();
    return standing;
}

} // namespace

std::string WorkbenchSteps::architecture() const {
    if (tools_.place != nullptr)
        return tools_.place->kernel().pause().architecture();
    return options_.measure ? tools_.machines.architecture()
                            : analysis::architectureName(tools_.machines.estimatedGpu().capability);
}

Result<Standing> WorkbenchSteps::assess(const KernelVersion& text, std::stop_token stop,
                                        const ProgressSink& progress) const {
    const Profiler& profiler = tools_.profiler;
    // Who searches a program has measured its kernel before.
    const auto known = options_.measure ? profiler.measuredReport(text.ref()) : std::nullopt;
    const auto report = known ? Result<KernelReport>(*known)
                        : options_.measure
                            ? profiler.profileOnGpu(text.ref(), stop, progress)
                            : profiler.profile(text.ref(), stop, progress, Profiler::Facts::Quick);
    if (!report && tools_.place != nullptr && !stop.stop_requested())
        return assessUnmeasured(text, stop, progress);
    if (!report)
        return std::unexpected(report.error());
    Standing standing = standingOf(*report);
    if (!options_.measure)
        standing.cost =
            costOf({text.kernel(), *tools_.knowledge.features(text.ref()), *report->profile,
                    tools_.machines.estimatedGpu(), standing.facts ? &*standing.facts : nullptr});
    return standing;
}

Result<Standing> WorkbenchSteps::assessUnmeasured(const KernelVersion& text,
                                                  const std::stop_token& stop,
                                                  const ProgressSink& progress) const {
    if (const auto report = tools_.profiler.profile(text.ref(), stop, progress))
        return standingOf(*report);
    auto version = tools_.place->kernel().versionOf(text.ref(), stop, CodeFor::Glance);
    if (!version)
        return std::unexpected(version.error());
    Standing standing;
    standing.bottleneck = tools_.knowledge.diagnosis(text.ref());
    if (auto occupancy = occupancyOf(version->facts, version->launch))
        standing.occupancy = std::move(*occupancy);
    standing.launch = std::move(version->launch);
    standing.facts = std::move(version->facts);
    return standing;
}

MemoryRecall::Entries WorkbenchSteps::remembered(const KernelVersion& text) const {
    if (!options_.usesShortTermMemory)
        return std::make_shared<const std::vector<MemoryEntry>>();
    std::vector<std::uint64_t> hashes;
    for (const analysis::KernelModel& kernel : text.program.model->kernels)
        hashes.push_back(kernel.normalisedHash);
    return tools_.recall.entries(tools_.shortTermMemory, hashes);
}

std::shared_ptr<const PlainOffers> WorkbenchSteps::plainOffers(const KernelVersion& text) const {
    return tools_.knowledge.insights().plainOffers(text.ref(), tools_.library.skills,
                                                   tools_.machines.toolchain());
}

Plan WorkbenchSteps::plan(const KernelVersion& text, const Standing& standing,
                          const std::stop_token& stop) const {
    if (stop.stop_requested())
        return {};
    const analysis::KernelModel& kernel = text.kernel();
    const auto features = tools_.knowledge.features(text.ref());
    const auto bottleneck =
        standing.bottleneck ? standing.bottleneck : tools_.knowledge.diagnosis(text.ref());
    const auto memory = remembered(text);
    PlannerInput input{*text.program.model, kernel,  *features, *bottleneck,
                       kernel.span,         *memory, {}};
    if (options_.usesLongTermMemory && tools_.longTermMemory != nullptr) {
        if (auto records = tools_.longTermMemory->records(std::string(spelling(bottleneck->kind)),
                                                          architecture()))
            input.records = std::move(*records);
    }
    std::optional<skills::CompiledKernel> compiled;
    if (standing.facts && standing.launch)
        compiled = compiledKernelOf(*standing.facts, *standing.launch);
    input.compiled = compiled ? &*compiled : nullptr;
    input.wantsAlternatives = options_.measure; // The model cannot tell most alternatives apart.
    const auto plain = plainOffers(text);
    input.plain = plain.get();
    Plan plan = tools_.planner.plan(input, stop);
    ruleOutLessPrecise(plan, tools_.library.documents);
    return plan;
}

Result<Draft> WorkbenchSteps::draft(const KernelVersion& text, const skills::Offer& offer,
                                    std::stop_token stop) const {
    const analysis::KernelModel& kernel = text.kernel();
    const auto features = tools_.knowledge.features(text.ref());
    const auto plain = plainOffers(text);
    auto proposed = tools_.drafter.propose(*text.program.model, kernel, *features, offer,
                                           plain->form ? &*plain->form : nullptr, stop);
    if (!proposed)
        return std::unexpected(proposed.error());
    return draftOf(text, std::move(proposed->edits), proposed->accuracy,
                   tools_.machines.toolchain(), stop);
}

std::vector<Result<Screening>> WorkbenchSteps::screen(const KernelVersion& original,
                                                      std::span<const Draft* const> drafts,
                                                      std::stop_token stop) const {
    std::vector<KernelRef> candidates;
    for (const Draft* draft : drafts)
        candidates.push_back(draft->text.ref());
    return tools_.reviewer.screen(original.ref(), candidates, stop, reviewOptions());
}

Result<Verdict> WorkbenchSteps::review(const KernelVersion& original,
                                       const analysis::EditSet& edits,
                                       const skills::Accuracy& accuracy, std::stop_token stop,
                                       const ProgressSink& progress) const {
    return tools_.reviewer.review(original.ref(), edits, accuracy, std::move(stop), progress,
                                  reviewOptions());
}

Result<Verdict> WorkbenchSteps::reviewSum(const KernelVersion& original,
                                          const analysis::EditSet& edits,
                                          const skills::Accuracy& accuracy,
                                          std::stop_token stop) const {
    ReviewOptions options = reviewOptions();
    options.isSumOfReviewed = true;
    return tools_.reviewer.review(original.ref(), edits, accuracy, std::move(stop), {}, options);
}

std::optional<RememberedOutcome> WorkbenchSteps::recall(const KernelVersion& text,
                                                        const skills::Offer& offer,
                                                        const Draft& draft) const {
    const std::uint64_t before = text.kernel().normalisedHash;
    const std::uint64_t after = draft.text.kernel().normalisedHash;
    const auto entries = remembered(text);
    const auto isAbout = [&](const MemoryEntry& entry) {
        return entry.kind == EntryKind::Verdict && entry.isKept && entry.kernelHash == before &&
               (entry.resultHash == after || entry.resultHash == 0) &&
               entry.skill == offer.skillId && entry.option == offer.option &&
               entry.architecture == architecture();
    };
    const auto last = std::find_if(entries->rbegin(), entries->rend(), isAbout);
    if (last == entries->rend())
        return std::nullopt;
    const auto status = statusSpelled(last->status);
    // A modelled verdict is no evidence for a measuring search, nor the other way round.
    if (!status || (*status != VerdictStatus::Unmeasured) != options_.measure)
        return std::nullopt;
    RememberedOutcome outcome{last->time, {}, *last->isKept, last->diagnosis};
    outcome.verdict.status = *status;
    outcome.verdict.speedup = last->speedup;
    outcome.verdict.summary = last->detail;
    return outcome;
}

std::optional<CandidateDiagnosis> WorkbenchSteps::diagnose(const DroppedCandidate& dropped,
                                                           std::stop_token stop) const {
    // A measured text that is not faster was not profiled, so its compiler facts come from the
    // cache.
    Standing compiled;
    DroppedCandidate known = dropped;
    const auto own = tools_.knowledge.launch(dropped.after.ref());
    const auto& launch = dropped.standingBefore.launch;
    if (known.standingAfter == nullptr && dropped.verdict.speedup && own && launch) {
        compiled.launch = launch;
        compiled.launch->block = own->block;
        compiled.launch->dynamicSharedBytes = own->dynamicSharedBytes;
        if (auto facts = tools_.profiler.quickFacts(dropped.after.ref(), *compiled.launch,
                                                    architecture(), stop)) {
            if (auto occupancy = occupancyOf(*facts, *compiled.launch))
                compiled.occupancy = std::move(*occupancy);
            compiled.facts = std::move(*facts);
        }
        known.standingAfter = &compiled;
    }
    return diagnoseCandidate(known, tools_.machines.toolchain(), stop);
}

void WorkbenchSteps::append(const MemoryEntry& entry) {
    const auto appended = tools_.shortTermMemory.append(entry);
    const std::scoped_lock lock(mutex_);
    if (!appended && notRemembered_.empty())
        notRemembered_ = appended.error().describe();
}

void WorkbenchSteps::remember(Moment moment, const KernelVersion& text, const Attempt& attempt,
                              const Draft* draft) {
    const analysis::KernelModel& kernel = text.kernel();
    const skills::Offer& offer = attempt.plan.offer;
    const bool isOutcome =
        (moment == Moment::Decided || moment == Moment::Reviewed) && attempt.verdict;
    // An edit that could not be tried is not a failure of the skill.
    const bool isEvidence = isOutcome && attempt.verdict->isAboutEdit;
    if (options_.usesShortTermMemory) {
        MemoryEntry entry;
        entry.time = timestamp();
        entry.kernel = kernel.qualifiedName;
        entry.kernelHash = kernel.normalisedHash;
        entry.skill = offer.skillId;
        entry.option = offer.option;
        if (draft != nullptr)
            entry.editHash = hashOf(draft->edits);
        switch (moment) {
        case Moment::Begins:
            entry.kind = EntryKind::Plan;
            entry.detail = offer.why;
            break;
        case Moment::Drafted:
            entry.kind = EntryKind::Edit;
            entry.detail = offer.title;
            break;
        case Moment::Reviewed:
        case Moment::Decided:
            entry.kind = isOutcome ? EntryKind::Verdict : EntryKind::Failure;
            entry.detail = attempt.decision;
            if (!isEvidence)
                break;
            entry.status = spelling(attempt.verdict->status);
            entry.architecture = architecture();
            entry.speedup = attempt.verdict->speedup;
            if (moment == Moment::Decided)
                entry.isKept = attempt.isKept;
            entry.diagnosis = attempt.diagnosis;
            if (draft != nullptr)
                entry.resultHash = draft->text.kernel().normalisedHash;
            break;
        }
        append(entry);
    }
    if (isEvidence && draft != nullptr && attempt.bottleneck != nullptr &&
        options_.usesLongTermMemory && tools_.longTermMemory != nullptr) {
        // These are statistics for ranking: a search need not fail if they are lost.
        static_cast<void>(tools_.longTermMemory->record(outcomeOf(
            *attempt.verdict, offer.skillId, std::string(spelling(attempt.bottleneck->kind)),
            kernel.normalisedHash, architecture())));
    }
}

std::string WorkbenchSteps::notRemembered() const {
    const std::scoped_lock lock(mutex_);
    return notRemembered_;
}

} // namespace kernelskill::engine
