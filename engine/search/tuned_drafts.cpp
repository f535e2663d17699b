#include "engine/search/tuned_drafts.h"

#include "engine/comparison/program_difference.h"
#include "engine/search/model_steps.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace kernelskill::engine {
namespace {

/// Makes the steps after `changed` again, on the text with that step's other option.
class Replay {
public:
    Replay(const OptimizationSteps& steps, const std::vector<AppliedStep>& path,
           std::stop_token stop)
        : steps_(steps), path_(path), stop_(std::move(stop)) {}

    [[nodiscard]] std::optional<TunedDraft> with(std::size_t changed, RankedSkill plan) const {
        TunedDraft tuned;
        tuned.path.assign(path_.begin(), path_.begin() + static_cast<std::ptrdiff_t>(changed));
        KernelVersion text = path_[changed].before;
        for (std::size_t at = changed; at < path_.size(); ++at) {
            const auto offer = at == changed ? std::optional(plan.offer) : offerOn(text, path_[at]);
            if (!offer || stop_.stop_requested())
                return std::nullopt;
            auto draft = steps_.draft(text, *offer, stop_);
            if (!draft)
                return std::nullopt;
            tuned.path.push_back(
                {std::move(text), path_[at].standing, *offer, std::move(draft->accuracy)});
            text = draft->text;
            tuned.draft = std::move(*draft);
        }
        tuned.draft.accuracy = {};
        for (const AppliedStep& step : tuned.path)
            tuned.draft.accuracy = skills::combined(tuned.draft.accuracy, step.accuracy);
        tuned.plan = std::move(plan);
        return tuned;
    }

private:
    /// Returns the offer on another text of the same skill with the same option.
    [[nodiscard]] std::optional<skills::Offer> offerOn(const KernelVersion& text,
                                                       const AppliedStep& step) const {
        for (RankedSkill& ranked : steps_.plan(text, step.standing, stop_).ranked)
            if (ranked.offer.skillId == step.offer.skillId &&
                ranked.offer.option == step.offer.option)
                return std::move(ranked.offer);
        return std::nullopt;
    }

    const OptimizationSteps& steps_;
    const std::vector<AppliedStep>& path_;
    std::stop_token stop_;
};

} // namespace

std::vector<TunedDraft> tunedDrafts(const OptimizationSteps& steps,
                                    const std::vector<AppliedStep>& path,
                                    const KernelVersion& version, std::set<std::uint64_t>& known,
                                    const std::stop_token& stop) {
    std::vector<TunedDraft> result;
    const Replay replay(steps, path, stop);
    for (std::size_t changed = path.size(); changed-- > 0;) {
        const AppliedStep& step = path[changed];
        if (step.offer.skillId == languageModelSkill)
            break; // Other options of this step or an earlier one would ask the model again.
        const bool isLast = changed + 1 == path.size();
        for (RankedSkill& ranked : steps.plan(step.before, step.standing, stop).ranked) {
            if (ranked.offer.skillId != step.offer.skillId ||
                ranked.offer.option == step.offer.option || (isLast && ranked.failedBefore))
                continue;
            auto tuned = replay.with(changed, std::move(ranked));
            if (stop.stop_requested())
                return result;
            if (!tuned || !known.insert(tuned->draft.codeHash).second)
                continue;
            auto edits = editsBetween(version.program, tuned->draft.text.program);
            if (!edits)
                continue;
            tuned->draft.edits = std::move(*edits);
            tuned->draft.diff = diffOf(version.program, tuned->draft.edits);
            result.push_back(std::move(*tuned));
        }
    }
    return result;
}

} // namespace kernelskill::engine
