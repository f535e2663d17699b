/// Loads the next tile into registers while the one in shared memory is used.
#include "skills/base/planned_skill.h"
#include "skills/editing/code_lines.h"
#include "skills/editing/staged_rounds.h"
#include "skills/gates/counted_loop.h"
#include "skills/gates/round_estimate.h"
#include "skills/gates/staged_loop.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

namespace kernelskill::skills {

using namespace analysis;

namespace {

constexpr std::size_t maxElements = 8; ///< Each takes a register for a whole round.

Gated<StagedLoop> findPrefetchable(const SkillContext& context, const CodeMap& code) {
    KERNELSKILL_CHECK(requireEditable(context));
    return chooseLoop(context, code, [&](std::uint32_t loop) -> Gated<StagedLoop> {
        auto staged = readStagedLoop(context, code, loop);
        if (staged && staged->elements.size() > maxElements)
            return refuse("too-many-elements",
                          fmt::format("each thread copies {} elements a round, "
                                      "which would take a register each",
                                      staged->elements.size()));
        return staged;
    });
}

class Writer {
public:
    Writer(const SkillContext& context, const CodeMap& code, const StagedLoop& staged)
        : body_(code.body()), source_(*context.file.source), staged_(staged),
          rounds_(context, code, staged) {
        for (const StagedElement& element : staged_.elements)
            names_.push_back(valueName(element));
    }

    [[nodiscard]] std::vector<TextEdit> edits() const {
        const std::uint32_t begin = rounds_.begin();
        std::vector<TextEdit> edits = rounds_.withoutDeclarations();
        edits.push_back({{begin, begin}, firstTile()});
        for (std::size_t i = 0; i < names_.size(); ++i)
            edits.push_back(fromRegister(i));
        const std::uint32_t after =
            rounds_.layout().endOfLineTrivia(body_.stmt(staged_.barrier).span.end);
        edits.push_back({{after, after}, nextTile()});
        return edits;
    }

private:
    /// The copy with its value in a register; on one line, where nothing but a line end kept the
    /// value from that.
    [[nodiscard]] TextEdit fromRegister(std::size_t i) const {
        const StagedElement& element = staged_.elements[i];
        const Expr& assignment = body_.expr(body_.stmt(element.statement).expr);
        const Span value = body_.expr(element.value).span;
        const std::uint32_t target = body_.expr(assignment.children[0]).span.end;
        const std::string_view between = source_.slice({target, value.begin});
        const bool breaks = between.contains('\n') &&
                            between.find_first_not_of("= \t\r\n") == std::string_view::npos;
        return breaks ? TextEdit{{target, value.end}, " = " + names_[i]}
                      : TextEdit{value, names_[i]};
    }

    /// Ahead of the loop: the values for its first round.
    std::string firstTile() const {
        CodeLines lines = rounds_.linesAhead();
        lines.add("// Each tile is loaded into registers while the one before it is used.");
        for (std::size_t i = 0; i < names_.size(); ++i)
            lines.add(fmt::format("{} {};", staged_.elements[i].type, names_[i]));
        addLoads(lines, rounds_.openFirst(lines), true);
        lines.close();
        return lines.text();
    }

    /// Behind the barrier: the values for the next round.
    std::string nextTile() const {
        CodeLines lines = rounds_.linesInside();
        addLoads(lines, rounds_.openNext(lines), false);
        lines.close();
        const std::string& newline = rounds_.layout().newline();
        std::string result = newline + lines.text();
        result.resize(result.size() - newline.size());
        return result;
    }

    /// The values of the round that `round` names, with the comments of what declares them or not.
    void addLoads(CodeLines& lines, const std::string& round, bool withComments) const {
        rounds_.addDeclarations(lines, round, withComments);
        for (std::size_t i = 0; i < names_.size(); ++i) {
            const Span span = body_.expr(staged_.elements[i].value).span;
            lines.addBlock(fmt::format("{} = {};", names_[i], rounds_.inRound(span, round)),
                           rounds_.layout().indentation(span.begin));
        }
    }

    [[nodiscard]] std::string valueName(const StagedElement& element) const {
        const std::string wanted = element.array + (element.array.contains('_') ? "_next" : "Next");
        std::string name = freshName(body_, wanted);
        for (int number = 2; std::ranges::find(names_, name) != names_.end(); ++number)
            name = freshName(body_, fmt::format("{}{}", wanted, number));
        return name;
    }

    const FunctionBody& body_;
    const SourceText& source_;
    const StagedLoop& staged_;
    StagedRounds rounds_;
    std::vector<std::string> names_; ///< The names of the values, in the order of the elements.
};

class SoftwarePrefetchSkill : public PlannedSkill<StagedLoop> {
    Gated<StagedLoop> plan(const SkillContext& context) const override {
        return findPrefetchable(context, context.code());
    }

    Gated<Offer> offer(const SkillContext& context, const StagedLoop& found) const override {
        std::string arrays;
        for (const StagedElement& element : found.elements)
            if (!arrays.contains(element.array))
                arrays += fmt::format("{}{}", arrays.empty() ? "" : ", ", element.array);
        const FunctionBody& body = context.kernel.body;
        Offer offer =
            newOffer(context, body.stmt(context.kernel.loops[found.counted.loop].statement).span);
        offer.title = fmt::format("Load the next tile of {} while this one is used", arrays);
        offer.why = fmt::format(
            "each round of the loop on line {} waits for what it copies into {}, and only behind "
            "the "
            "barrier on line {} computes; the next round's elements are known before that",
            lineNumber(context, offer.anchor.begin), arrays,
            lineNumber(context, body.stmt(found.barrier).span.begin));
        const RoundEstimate round = estimateRound(context, context.code(), found);
        offer.gain = ExpectedGain{
            (round.waiting() + round.computing()) / std::max(round.waiting(), round.computing()),
            fmt::format("a round waits about {} cycles for its tile and computes for about {}, one "
                        "after the other unless further blocks fill the wait",
                        round.waiting(), round.computing())};
        return offer;
    }

    GatedEdits edits(const SkillContext& context, const StagedLoop& found) const override {
        return Writer(context, context.code(), found).edits();
    }
};

} // namespace

KERNELSKILL_SKILL(SoftwarePrefetchSkill)

} // namespace kernelskill::skills
