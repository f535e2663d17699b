/// Keeps an element of an array that every round of a loop uses in a register.
#include "skills/base/planned_skill.h"
#include "skills/schedule/promote.h"

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

#include <algorithm>

namespace kernelskill::skills {

using namespace analysis;

namespace {

/// The elements of one loop, with the names of their registers.
struct Promotion {
    std::vector<KeptElement> elements;
    std::vector<std::string> names;
};

/// Loads and stores of a round, in the loops that use the elements most deeply.
double accessesOfRound(const SkillContext& context, const KeptElement& element) {
    const Nest& nest = context.shared().nest();
    const CodeMap& code = context.code();
    StmtId innermost = element.loop;
    for (const Loop& loop : context.kernel.loops) {
        const bool usesIt = std::ranges::any_of(
            element.uses, [&](ExprId use) { return code.holds(loop.statement, use); });
        if (usesIt && code.encloses(innermost, loop.statement))
            innermost = loop.statement;
    }
    double count = 0;
    for (const NestAccess& access : nest.accesses) {
        if (access.frame != 0 || access.array == noId || access.expression == noId ||
            !code.holds(innermost, access.expression))
            continue;
        const NestArray& array = nest.arrays[access.array];
        if (!array.isVariable && array.space != MemorySpace::Local)
            count += access.kind == AccessKind::ReadWrite ? 2 : 1;
    }
    return count;
}

class ScalarPromotionSkill : public PlannedSkill<Promotion> {
    [[nodiscard]] Gated<Promotion> plan(const SkillContext& context) const override {
        KERNELSKILL_CHECK(requireEditable(context));
        KERNELSKILL_TRY(std::vector<KeptElement> all,
                        keptElements(context, KeptElements::Reloaded));
        const FunctionBody& body = context.kernel.body;
        StmtId loop = all.front().loop;
        for (const KeptElement& element : all) {
            const Span span = body.stmt(element.loop).span;
            if (context.isCursorAt(span))
                loop = element.loop;
        }
        std::erase_if(all, [&](const KeptElement& element) { return element.loop != loop; });
        Promotion kept;
        kept.names = registerNames(context, all);
        kept.elements = std::move(all);
        return kept;
    }

    [[nodiscard]] Gated<Offer> offer(const SkillContext& context,
                                     const Promotion& kept) const override {
        const Stmt& loop = context.kernel.body.stmt(kept.elements.front().loop);
        Offer offer = newOffer(context, loop.span);
        std::vector<std::string> texts;
        double removed = 0;
        for (const KeptElement& element : kept.elements) {
            texts.push_back(element.text);
            removed += element.roundUses;
        }
        const bool isOne = texts.size() == 1;
        offer.title = fmt::format("Keep {} in {} during the loop", fmt::join(texts, " and "),
                                  isOne ? "a register" : "registers");
        const double before = accessesOfRound(context, kept.elements.front());
        const double after = std::max(before - removed, 1.0);
        offer.why = fmt::format(
            "the loop on line {} keeps to {}, and the compiler has to load and store {} in every "
            "round, since other pointers might lead there; {}",
            lineNumber(context, loop.span.begin), fmt::join(texts, " and "), isOne ? "it" : "them",
            "the file shows that none does");
        if (before > after)
            offer.gain = ExpectedGain{
                .factor = before / after,
                .basis = fmt::format("a round has {:g} loads and stores instead of {:g}", after,
                                     before)};
        return offer;
    }

    [[nodiscard]] GatedEdits edits(const SkillContext& context,
                                   const Promotion& kept) const override {
        Draft draft(context);
        for (std::size_t i = 0; i < kept.elements.size(); ++i)
            promote(draft, context, kept.elements[i], kept.names[i]);
        storeBack(draft, kept.elements, kept.names);
        return draft.edits();
    }
};

} // namespace

KERNELSKILL_SKILL(ScalarPromotionSkill)

} // namespace kernelskill::skills
