/// Unrolls counted loops, and gives floating-point reductions separate accumulators.
#include "analysis/queries/source_layout.h"
#include "analysis/queries/source_words.h"
#include "skills/base/planned_skill.h"
#include "skills/loop-unrolling/accumulators.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <optional>

namespace kernelskill::skills {

using namespace analysis;

namespace {

/// Rounds in flight at once when the number of rounds is not small and known.
constexpr int partialFactor = 4;
/// The max number of rounds of a loop that is unrolled completely.
constexpr std::int64_t maxFullTripCount = 32;
/// The max number of expressions after unrolling. More would cost the instruction cache and
/// registers.
constexpr std::size_t maxUnrolledBody = 1024;

/// How many rounds are side by side; 0: all of them.
enum class Rounds : int {};

enum class Method : std::uint8_t {
    Full,         ///< `#pragma unroll`
    Partial,      ///< `#pragma unroll 4`
    Accumulators, ///< Written out, one accumulator a round
};

struct Choice {
    std::uint32_t loop = noId;
    Method method = Method::Full;
    std::vector<Accumulator> accumulators;
};

Gated<Choice> study(const SkillContext& context, const CodeMap& code, std::uint32_t index) {
    const Loop& loop = context.kernel.loops[index];
    const FunctionBody& body = code.body();
    const Stmt& stmt = body.stmt(loop.statement);
    const std::uint32_t line = lineNumber(context, stmt.span.begin);
    if (stmt.fromMacro || !isWrittenAs(*context.file.source, stmt.span, {"for", "while", "do"}))
        return refuse("from-macro", fmt::format("the loop on line {} comes out of a macro", line));
    if (!stmt.pragma.empty())
        return refuse("already-unrolled",
                      fmt::format("the loop on line {} already has #pragma {}", line, stmt.pragma));
    if (loop.kind != LoopKind::For || loop.inductionVariable == noId ||
        (loop.stepOperator != "+=" && loop.stepOperator != "-=" && !loop.tripCount))
        return refuse("not-counted", fmt::format("the loop on line {} is not counted", line));
    if (isUnrolledByHand(context.kernel, code, loop))
        return refuse("already-unrolled", fmt::format("the loop on line {} is unrolled by hand, or "
                                                      "does what such a loop left over",
                                                      line));
    if (loop.tripCount && *loop.tripCount < 2)
        return refuse("trivial-loop", fmt::format("the loop on line {} runs {} times", line,
                                                  std::max<std::int64_t>(0, *loop.tripCount)));
    const std::size_t size = code.expressionsIn(loop.body).size();
    Choice choice;
    choice.loop = index;
    if (loop.tripCount && *loop.tripCount <= maxFullTripCount) {
        if (size * static_cast<std::size_t>(*loop.tripCount) > maxUnrolledBody)
            return refuse("body-too-large",
                          fmt::format("{} rounds of the loop on line {} would be too "
                                      "much code",
                                      *loop.tripCount, line));
        choice.method = Method::Full;
        return choice;
    }
    const bool hasInnerLoop = std::ranges::any_of(
        context.kernel.loops, [&](const Loop& other) { return other.parent == index; });
    if (hasInnerLoop)
        return refuse("not-innermost", fmt::format("the loop on line {} holds another loop", line));
    if (loop.hasBarrier)
        return refuse(
            "barrier-in-loop",
            fmt::format("the loop on line {} holds a barrier and its number of rounds is not "
                        "known to be small",
                        line));
    if (size * partialFactor > maxUnrolledBody)
        return refuse("body-too-large",
                      fmt::format("{} rounds of the loop on line {} would be too much "
                                  "code",
                                  partialFactor, line));
    if (loop.hasEarlyExit)
        return refuse("early-exit",
                      fmt::format("the loop on line {} may end early, so its rounds cannot "
                                  "overlap",
                                  line));
    if (auto accumulators = findAccumulators(context, code, loop)) {
        choice.method = Method::Accumulators;
        choice.accumulators = std::move(*accumulators);
        return choice;
    }
    // Partial unrolling pays when it puts loads of several rounds in flight.
    const bool loads =
        std::ranges::any_of(context.kernel.accesses, [&](const MemoryAccess& access) {
            return access.kind == AccessKind::Read && access.space != MemorySpace::Local &&
                   code.holds(loop.body, access.expression) &&
                   std::ranges::any_of(code.expressionsBelow(access.expression), [&](ExprId id) {
                       return body.expr(id).kind == ExprKind::Variable &&
                              body.expr(id).variable == loop.inductionVariable;
                   });
        });
    if (!loads)
        return refuse("no-independent-loads",
                      fmt::format("the rounds of the loop on line {} load nothing that could be in "
                                  "flight together",
                                  line));
    choice.method = Method::Partial;
    return choice;
}

/// The loop at the cursor, innermost first; with the cursor outside all loops, the first that fits.
Gated<Choice> choose(const SkillContext& context, const CodeMap& code) {
    KERNELSKILL_CHECK(requireEditable(context));
    const KernelModel& kernel = context.kernel;
    std::optional<std::uint32_t> innermost;
    for (std::uint32_t i = 0; i < kernel.loops.size(); ++i) {
        const Span span = code.body().stmt(kernel.loops[i].statement).span;
        const bool isInside =
            context.cursor().beginsIn(span) && context.cursor().endsBefore(span.end + 1);
        // The cursor before the `for` on its line is on the loop too.
        const SourceText& source = *context.file.source;
        const Span line = source.lineSpan(source.lineColumn(span.begin).line);
        const bool isOnFirstLine = context.cursor().beginsIn({line.begin, span.begin + 1});
        if ((isInside || isOnFirstLine) && !context.cursor().holds(kernel.bodySpan) &&
            (!innermost || kernel.loops[i].depth >= kernel.loops[*innermost].depth))
            innermost = i;
    }
    if (innermost)
        return study(context, code, *innermost);
    std::optional<Refusal> first;
    for (std::uint32_t i = 0; i < kernel.loops.size(); ++i) {
        auto choice = study(context, code, i);
        if (choice)
            return choice;
        if (!first)
            first = choice.error();
    }
    if (first)
        return std::unexpected(*first);
    return refuse("no-loop", fmt::format("{} has no loop", kernel.name));
}

class LoopUnrollingSkill : public PlannedSkill<Choice, Rounds> {
    Gated<Choice> plan(const SkillContext& context) const override {
        return choose(context, context.code());
    }

    Gated<Choice> planOf(const SkillContext& context, const Offer& offer) const override {
        return plan(context.at({offer.anchor.begin, offer.anchor.begin}));
    }

    Gated<Offer> offer(const SkillContext& context, const Choice& choice) const override {
        const FunctionBody& body = context.kernel.body;
        const Loop& loop = context.kernel.loops[choice.loop];
        const Span span = body.stmt(loop.statement).span;
        const std::uint32_t line = lineNumber(context, span.begin);
        const std::string& index = body.variable(loop.inductionVariable).name;
        if (choice.method == Method::Full) {
            Offer offer = newOffer(context, span);
            offer.title = fmt::format("Unroll the loop over {} completely", index);
            offer.why = fmt::format("the loop on line {} runs {} times, known when compiling", line,
                                    *loop.tripCount);
            offer.role = SkillRole::Hygiene; // The compiler unrolls most such loops by itself.
            return offer;
        }
        Offer offer = newOffer(context, span, Rounds{partialFactor});
        if (choice.method == Method::Partial) {
            offer.title = fmt::format("Unroll the loop over {} by {}", index, partialFactor);
            offer.why =
                fmt::format("the loads of {} rounds of the loop on line {} do not wait for each "
                            "other",
                            partialFactor, line);
            return offer;
        }
        std::string names;
        bool isExact = true;
        for (const Accumulator& accumulator : choice.accumulators) {
            names += fmt::format("{}{}", names.empty() ? "" : ", ",
                                 body.variable(accumulator.variable).name);
            isExact = isExact && (accumulator.reduction == Reduction::Minimum ||
                                  accumulator.reduction == Reduction::Maximum);
        }
        offer.title = fmt::format("Unroll the loop over {} by {}, with separate accumulators of {}",
                                  index, partialFactor, names);
        offer.why = fmt::format(
            "each round of the loop on line {} waits for the last one to update {}", line, names);
        offer.numerics = isExact ? Numerics::Exact : Numerics::Reassociates;
        return offer;
    }

    GatedEdits edits(const SkillContext& context, const Choice& choice) const override {
        const Loop& loop = context.kernel.loops[choice.loop];
        if (choice.method == Method::Accumulators)
            return splitAccumulators(context, context.code(), loop, choice.accumulators,
                                     partialFactor);
        const SourceLayout layout(*context.file.source, context.kernel);
        const std::uint32_t begin = context.kernel.body.stmt(loop.statement).span.begin;
        const std::string pragma = choice.method == Method::Full
                                       ? std::string("#pragma unroll")
                                       : fmt::format("#pragma unroll {}", partialFactor);
        std::string text = pragma + layout.newline() + layout.indentation(begin);
        if (!layout.startsLine(begin)) // a directive needs a line of its own
            text = layout.newline() + layout.indentation(begin) + text;
        return std::vector<TextEdit>{{{begin, begin}, std::move(text)}};
    }
};

} // namespace

KERNELSKILL_SKILL(LoopUnrollingSkill)

} // namespace kernelskill::skills
