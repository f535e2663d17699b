#include "engine/search/model_steps.h"

#include "engine/comparison/program_difference.h"
#include "engine/review/edited_program.h"

#include <algorithm>
#include <string>
#include <utility>

namespace kernelskill::engine {
namespace {

constexpr std::size_t maxRepairs = 2;

bool isFailure(const Attempt& attempt) {
    return attempt.verdict && attempt.verdict->isAboutEdit &&
           (attempt.verdict->status == VerdictStatus::Incorrect ||
            attempt.verdict->status == VerdictStatus::Invalid);
}

RankedSkill modelPlan(const KernelVersion& text, int option, std::string title, std::string why) {
    RankedSkill plan;
    plan.offer.skillId = languageModelSkill;
    plan.offer.kernelName = text.kernelName;
    plan.offer.anchor = text.kernel().span;
    plan.offer.title = std::move(title);
    plan.offer.why = why;
    plan.offer.option = option;
    plan.why = std::move(why);
    plan.expected = "not known before it is reviewed";
    return plan;
}

} // namespace

const skills::SkillMetadata* ModelSteps::methodOf(const skills::Offer& offer) const {
    const auto index = static_cast<std::size_t>(offer.option);
    return offer.option > 0 && index <= documents_.size() ? &documents_[index - 1] : nullptr;
}

Plan ModelSteps::plan(const KernelVersion& text, const Standing& standing,
                      const std::stop_token& stop) const {
    Plan plan = inner_.plan(text, standing, stop);
    if (stop.stop_requested())
        return {};
    std::vector<std::string> failures;
    {
        const std::scoped_lock lock(mutex_);
        bottlenecks_[codeHash(text)] = standing.bottleneck;
        if (const auto known = failures_.find(text.kernel().normalisedHash);
            known != failures_.end())
            failures = known->second;
    }
    const double below = plan.ranked.empty() ? 0 : std::min(0.0, plan.ranked.back().score);
    const std::string kind =
        standing.bottleneck ? std::string(spelling(standing.bottleneck->kind)) : std::string();
    const auto fits = [&](const skills::SkillMetadata& document) {
        return document.numerics != skills::Numerics::ReducedPrecision &&
               std::ranges::find(document.bottlenecks, kind) != document.bottlenecks.end() &&
               std::ranges::none_of(plan.ranked, [&](const RankedSkill& ranked) {
                   return ranked.offer.skillId == document.id;
               });
    };
    const auto method = std::ranges::find_if(documents_, fits);
    if (method != documents_.end()) {
        const int option = static_cast<int>(method - documents_.begin()) + 1;
        plan.ranked.push_back(modelPlan(text, option, method->title + ", by a language model",
                                        method->title + " is meant for " + kind +
                                            ", and its own rewrite does not fit here"));
        plan.ranked.back().score = below;
    }
    plan.ranked.push_back(modelPlan(text, 0, "Ask a language model",
                                    "a language model may find what no skill covers"));
    plan.ranked.back().score = below;
    for (std::size_t i = 0; i < std::min(failures.size(), maxRepairs); ++i) {
        plan.ranked.push_back(modelPlan(text, static_cast<int>(documents_.size() + i) + 1,
                                        "Ask a language model again, with the cause of the failure",
                                        "a language model's kernel failed: " + failures[i]));
        plan.ranked.back().score = below;
    }
    return plan;
}

Result<Draft> ModelSteps::draft(const KernelVersion& text, const skills::Offer& offer,
                                std::stop_token stop) const {
    if (offer.skillId != languageModelSkill)
        return inner_.draft(text, offer, std::move(stop));
    const analysis::KernelModel& kernel = text.kernel();
    const analysis::Features features = analysis::extractFeatures(kernel);
    const skills::SkillMetadata* method = methodOf(offer);
    ModelTask task{text.program, kernel, features};
    task.skill = method;
    task.numerics = method != nullptr ? method->numerics : skills::Numerics::Exact;
    task.why = offer.why;
    std::shared_ptr<const Bottleneck> bottleneck;
    {
        const std::scoped_lock lock(mutex_);
        if (const auto known = bottlenecks_.find(codeHash(text)); known != bottlenecks_.end())
            bottleneck = known->second;
        task.history = history_;
    }
    task.bottleneck = bottleneck.get();
    auto proposal = drafter_.propose(task, stop);
    if (!proposal)
        return std::unexpected(proposal.error());
    return draftOf(text, std::move(proposal->edit.edits), proposal->edit.accuracy, toolchain_,
                   stop);
}

void ModelSteps::remember(Moment moment, const KernelVersion& text, const Attempt& attempt,
                          const Draft* draft) {
    inner_.remember(moment, text, attempt, draft);
    if (moment != Moment::Decided)
        return;
    MemoryEntry entry;
    entry.kind = attempt.verdict ? EntryKind::Verdict : EntryKind::Failure;
    entry.kernelHash = text.kernel().normalisedHash;
    entry.skill = attempt.plan.offer.title;
    entry.status = attempt.verdict ? spelling(attempt.verdict->status) : "not tried";
    entry.detail = attempt.decision;
    entry.diagnosis = attempt.diagnosis;
    const std::scoped_lock lock(mutex_);
    if (attempt.plan.offer.skillId == languageModelSkill && isFailure(attempt))
        failures_[entry.kernelHash].push_back(attempt.diagnosis ? attempt.diagnosis->cause + ", " +
                                                                      attempt.diagnosis->sentence
                                                                : entry.detail);
    history_.push_back(std::move(entry));
}

} // namespace kernelskill::engine
