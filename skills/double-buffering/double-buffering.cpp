/// Lets two shared arrays change roles instead of copying one to the other between barriers.
#include "analysis/queries/value_spelling.h"
#include "skills/base/planned_skill.h"
#include "skills/double-buffering/stepped_loop.h"
#include "skills/schedule/draft.h"

#include <spdlog/fmt/fmt.h>

namespace kernelskill::skills {

using namespace analysis;

namespace {

class DoubleBufferingSkill : public PlannedSkill<SteppedLoop> {
    Gated<SteppedLoop> plan(const SkillContext& context) const override {
        return findSteppedLoop(context);
    }

    Gated<Offer> offer(const SkillContext& context, const SteppedLoop& found) const override {
        const FunctionBody& body = context.kernel.body;
        Offer offer = newOffer(context, body.stmt(found.loop).span);
        const std::string& now = body.variable(found.now).name;
        const std::string& next = body.variable(found.next).name;
        offer.title = fmt::format("Let {} and {} change roles from step to step", now, next);
        offer.why = fmt::format(
            "line {} copies {} back to {}, and a barrier on each side waits for all threads",
            lineNumber(context, body.stmt(found.copy).span.begin), next, now);
        offer.gain =
            ExpectedGain{2, "one barrier a step instead of two, if a step does little else"};
        return offer;
    }

    GatedEdits edits(const SkillContext& context, const SteppedLoop& found) const override {
        const FunctionBody& body = context.kernel.body;
        Draft draft(context);
        const std::string current = freshName(body, "current");
        const std::string following = freshName(body, "following");
        const std::string done = freshName(body, "done");
        draft.before(found.loop, {pointer(context, found.now, current) + " = " +
                                      body.variable(found.now).name + ";",
                                  pointer(context, found.now, following) + " = " +
                                      body.variable(found.next).name + ";"});
        if (!found.unless.empty())
            draft.before(found.barrier, draft.controlled("if (" + found.unless + ")",
                                                         {fmt::format("{0}{2} = {1}{2};", following,
                                                                      current, found.own)}));
        for (const ExprId use : found.nowUses)
            draft.replace(body.expr(use).span, current);
        for (const ExprId use : found.nextUses)
            draft.replace(body.expr(use).span, following);
        const Span copy = body.stmt(found.copy).span;
        const std::string line = draft.layout().newline() + draft.layout().indentation(copy.begin);
        draft.replace(copy, "// All threads have read: the arrays may change roles." + line +
                                pointer(context, found.now, done) + " = " + current + ";" + line +
                                current + " = " + following + ";" + line + following + " = " +
                                done + ";");
        const Span barrier = body.stmt(found.lastBarrier).span; // And what is said of it.
        draft.replace(
            {draft.layout().lineBegin(barrier.begin), draft.layout().lineAfter(barrier.end)}, {});
        return draft.edits();
    }

    /// "float (*current)[16]" for an array that is declared as `tile[16][16]`.
    static std::string pointer(const SkillContext& context, VariableId array,
                               const std::string& name) {
        const Variable& variable = context.kernel.body.variable(array);
        const std::string element = elementSpelling(variable.type);
        if (variable.type.arrayExtents.size() == 1)
            return fmt::format("{}* {}", element, name);
        // The extents as the program writes them, without the outermost.
        std::string extents(context.file.source->slice(variable.span));
        extents.erase(0, extents.find(']') + 1);
        return fmt::format("{} (*{}){}", element, name, extents);
    }
};

} // namespace

KERNELSKILL_SKILL(DoubleBufferingSkill)

} // namespace kernelskill::skills
