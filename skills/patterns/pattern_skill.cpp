#include "skills/patterns/pattern_skill.h"

#include "skills/patterns/pattern_matcher.h"
#include "skills/patterns/pattern_rewriter.h"
#include "skills/rewriting/gates.h"
#include "skills/rewriting/shared_analysis.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <utility>

namespace kernelskill::skills {

using namespace analysis;

namespace {

/// Of a quotation in a menu or a sentence.
constexpr std::size_t longestQuotation = 40;

std::string quoted(std::string_view code) {
    std::string line(code.substr(0, code.find_first_of("\r\n")));
    if (line.size() > longestQuotation || line.size() < code.size()) {
        line.resize(std::min(line.size(), longestQuotation));
        line += " ...";
    }
    return "`" + line + "`";
}

class PatternSkill final : public Skill {
public:
    PatternSkill(std::string id, std::string title, std::vector<CodePattern> patterns)
        : id_(std::move(id)), title_(std::move(title)), patterns_(std::move(patterns)) {}

    [[nodiscard]] std::string_view id() const override { return id_; }

    [[nodiscard]] std::expected<Offer, Refusal>
    prepare(const SkillContext& context) const override {
        if (auto editable = requireEditable(context); !editable)
            return std::unexpected(editable.error());
        const PatternMatcher& matcher = context.shared().patterns();
        for (std::size_t i = 0; i < patterns_.size(); ++i) {
            const std::vector<PatternMatch> wanted =
                wantedOf(context, matcher.matches(patterns_[i]));
            if (!wanted.empty())
                return offer(context, static_cast<int>(i), wanted);
        }
        return refuse("no-match", fmt::format("nothing here in {} is what the skill replaces",
                                              context.kernel.name));
    }

    [[nodiscard]] Result<EditSet> apply(const SkillContext& context,
                                        const Offer& offer) const override {
        if (offer.option < 0 || static_cast<std::size_t>(offer.option) >= patterns_.size())
            return std::unexpected(unsupported(
                context,
                {"no-pattern", fmt::format("'{}' has no pattern number {}", id_, offer.option)}));
        const CodePattern& pattern = patterns_[static_cast<std::size_t>(offer.option)];
        const PatternMatcher& matcher = context.shared().patterns();
        std::vector<TextEdit> edits;
        for (const PatternMatch& match : matcher.matches(pattern))
            if (offer.anchor == context.kernel.span || offer.anchor == match.span)
                edits.push_back(rewriteOf(context, pattern, match));
        if (edits.empty())
            return std::unexpected(
                unsupported(context, {"no-match", "the code is not there any more"}));
        return EditSet{{context.file.file, std::move(edits)}};
    }

private:
    static bool isWholeKernel(const SkillContext& context) {
        return context.range.begin < context.kernel.bodySpan.begin;
    }

    static std::vector<PatternMatch> wantedOf(const SkillContext& context,
                                              std::vector<PatternMatch> matches) {
        if (!isWholeKernel(context))
            std::erase_if(matches, [&](const PatternMatch& match) {
                return !touches(context.range, match.span);
            });
        return matches;
    }

    [[nodiscard]] Offer offer(const SkillContext& context, int pattern,
                              const std::vector<PatternMatch>& matches) const {
        const bool areAll = isWholeKernel(context);
        const Span first = matches.front().span;
        Offer offer;
        offer.skillId = id_;
        offer.kernelName = context.kernel.qualifiedName;
        offer.anchor = areAll ? context.kernel.span : first;
        offer.title = areAll && matches.size() > 1
                          ? fmt::format("{} ({} places)", title_, matches.size())
                          : title_;
        offer.why = fmt::format("line {} has {}", lineNumber(context, first.begin),
                                quoted(context.file.source->slice(first)));
        offer.option = pattern;
        return offer;
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
