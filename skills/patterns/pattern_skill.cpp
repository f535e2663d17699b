#include "skills/patterns/pattern_skill.h"

#include "skills/base/planned_skill.h"
#include "skills/patterns/pattern_matcher.h"
#include "skills/patterns/pattern_rewriter.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <utility>

namespace kernelskill::skills {

using namespace analysis;

namespace {

/// The max length of a quotation in a menu or a sentence, in characters.
constexpr std::size_t maxQuotation = 40;

std::string quoted(std::string_view code) {
    std::string line(code.substr(0, code.find_first_of("\r\n")));
    if (line.size() > maxQuotation || line.size() < code.size()) {
        line.resize(std::min(line.size(), maxQuotation));
        line += " ...";
    }
    return "`" + line + "`";
}

/// Which of the skill's patterns is meant, in the order of its document.
enum class PatternNumber : int {};

struct PatternPlan {
    PatternNumber pattern{};
    std::vector<PatternMatch> matches; ///< At least one.
};

class PatternSkill final : public PlannedSkill<PatternPlan, PatternNumber> {
public:
    PatternSkill(std::string id, std::string title, std::vector<CodePattern> patterns)
        : id_(std::move(id)), title_(std::move(title)), patterns_(std::move(patterns)) {}

    [[nodiscard]] std::string_view id() const override { return id_; }

private:
    Gated<PatternPlan> plan(const SkillContext& context) const override {
        KERNELSKILL_CHECK(requireEditable(context));
        const PatternMatcher& matcher = matcherOf(context);
        for (std::size_t i = 0; i < patterns_.size(); ++i) {
            std::vector<PatternMatch> matches = matcher.matches(patterns_[i]);
            if (!isWholeKernel(context))
                std::erase_if(matches, [&](const PatternMatch& match) {
                    return !context.cursor().touches(match.span);
                });
            if (!matches.empty())
                return PatternPlan{PatternNumber{static_cast<int>(i)}, std::move(matches)};
        }
        return refuse("no-match", fmt::format("nothing here in {} is what the skill replaces",
                                              context.kernel.name));
    }

    /// All places, or the one that was offered.
    Gated<PatternPlan> planOf(const SkillContext& context, const Offer& offer) const override {
        if (offer.option < 0 || static_cast<std::size_t>(offer.option) >= patterns_.size())
            return refuse("no-pattern",
                          fmt::format("'{}' has no pattern number {}", id_, offer.option));
        PatternPlan plan{PatternNumber{offer.option}, {}};
        for (const PatternMatch& match : matcherOf(context).matches(patternOf(plan)))
            if (offer.anchor == context.kernel.span || offer.anchor == match.span)
                plan.matches.push_back(match);
        if (plan.matches.empty())
            return refuse("no-match", "the code is not there any more");
        return plan;
    }

    Gated<Offer> offer(const SkillContext& context, const PatternPlan& plan) const override {
        const bool areAll = isWholeKernel(context);
        const Span first = plan.matches.front().span;
        Offer offer = newOffer(context, areAll ? context.kernel.span : first, plan.pattern);
        offer.title = areAll && plan.matches.size() > 1
                          ? fmt::format("{} ({} places)", title_, plan.matches.size())
                          : title_;
        offer.why = fmt::format("line {} has {}", lineNumber(context, first.begin),
                                quoted(context.file.source->slice(first)));
        offer.numerics.reset(); // The document tells.
        return offer;
    }

    GatedEdits edits(const SkillContext& context, const PatternPlan& plan) const override {
        std::vector<TextEdit> edits;
        for (const PatternMatch& match : plan.matches)
            edits.push_back(rewriteOf(context, patternOf(plan), match));
        return edits;
    }

    [[nodiscard]] const CodePattern& patternOf(const PatternPlan& plan) const {
        return patterns_[static_cast<std::size_t>(plan.pattern)];
    }

    static bool isWholeKernel(const SkillContext& context) {
        return context.cursor().beginsBefore(context.kernel.bodySpan.begin);
    }

    std::string id_;
    std::string title_;
    std::vector<CodePattern> patterns_;
};

} // namespace

std::unique_ptr<Skill> makePatternSkill(std::string id, std::string title,
                                        std::vector<CodePattern> patterns) {
    return std::make_unique<PatternSkill>(std::move(id), std::move(title), std::move(patterns));
}

} // namespace kernelskill::skills
