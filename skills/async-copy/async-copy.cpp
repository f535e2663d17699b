/// Copies the next tile into a second buffer of shared memory, past the registers, while the one
/// that is there is used.
#include "analysis/queries/source_layout.h"
#include "skills/async-copy/copied_tiles.h"
#include "skills/base/planned_skill.h"
#include "skills/editing/added_include.h"
#include "skills/editing/code_lines.h"
#include "skills/editing/staged_rounds.h"
#include "skills/gates/resource_gates.h"
#include "skills/gates/round_estimate.h"
#include "skills/gates/staged_loop.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

namespace kernelskill::skills {

using namespace analysis;

namespace {

/// The min gain that is worth a second buffer.
constexpr double minGain = 1.05;

class Writer {
public:
    Writer(const SkillContext& context, const CodeMap& code, const CopiedTiles& tiles)
        : context_(context), code_(code), body_(code.body()), source_(*context.file.source),
          tiles_(tiles), rounds_(context, code, tiles.staged), stage_(freshName(body_, "stage")) {}

    [[nodiscard]] std::vector<TextEdit> edits() const {
        std::vector<TextEdit> edits = rounds_.withoutDeclarations();
        if (auto include = addedInclude(context_, "<cuda_pipeline.h>"))
            edits.push_back(std::move(*include));
        const auto insert = [&](std::uint32_t at, std::string text) {
            edits.push_back({{at, at}, std::move(text)});
        };
        for (const VariableId array : tiles_.arrays) {
            const Variable& variable = body_.variable(array);
            insert(variable.span.begin + static_cast<std::uint32_t>(variable.name.size()), "[2]");
            for (const ExprId use : code_.uses(array))
                if (!isTarget(use))
                    insert(body_.expr(use).span.end, fmt::format("[{}]", stage_));
        }
        for (const CopiedElement& element : tiles_.elements)
            edits.push_back({rounds_.lineOf(element.statement), ""});
        const SourceLayout& layout = rounds_.layout();
        insert(rounds_.begin(), firstTile());
        insert(layout.lineBegin(body_.stmt(tiles_.staged.barrier).span.begin), nextTile());
        const Loop& loop = context_.kernel.loops[tiles_.staged.counted.loop];
        CodeLines exchange = rounds_.linesInside();
        exchange.add(fmt::format("{} ^= 1;", stage_));
        insert(layout.lineBegin(body_.stmt(loop.body).span.end - 1), exchange.text());
        return edits;
    }

private:
    [[nodiscard]] std::string firstTile() const {
        CodeLines lines = rounds_.linesAhead();
        lines.add("// Each tile is copied into one buffer while the one before it is used in the "
                  "other.");
        lines.add(fmt::format("int {} = 0;", stage_));
        addCopies(lines, rounds_.openFirst(lines), "0", true);
        lines.close();
        lines.add("__pipeline_commit();");
        return lines.text();
    }

    [[nodiscard]] std::string nextTile() const {
        CodeLines lines = rounds_.linesInside();
        addCopies(lines, rounds_.openNext(lines), stage_ + " ^ 1", false);
        lines.close();
        lines.add("__pipeline_commit();");
        lines.add("__pipeline_wait_prior(1);");
        return lines.text();
    }

    /// Adds the copies of a round, `withComments` with those of the statements that they replace.
    void addCopies(CodeLines& lines, const std::string& round, const std::string& buffer,
                   bool withComments) const {
        rounds_.addDeclarations(lines, round, withComments);
        const SourceLayout& layout = rounds_.layout();
        for (const CopiedElement& element : tiles_.elements) {
            const Span span = body_.stmt(element.statement).span;
            const std::string indentation = layout.indentation(span.begin);
            std::string text =
                fmt::format("__pipeline_memcpy_async(&{}, {}{}, sizeof({})",
                            target(element, round, buffer), element.isPointer ? "" : "&",
                            rounds_.inRound(body_.expr(element.source).span, round), element.type);
            if (element.condition != noId)
                text += fmt::format(",{}{}{}{} ? 0 : sizeof({})", layout.newline(), indentation,
                                    layout.unit(), condition(element, round), element.type);
            text += ");";
            if (withComments)
                text += source_.slice({span.end, layout.endOfLineTrivia(span.end)});
            lines.addBlock(text, indentation);
        }
    }

    [[nodiscard]] std::string target(const CopiedElement& element, const std::string& round,
                                     const std::string& buffer) const {
        const Span span = body_.expr(element.target).span;
        for (const VariableId array : tiles_.arrays)
            for (const ExprId use : code_.uses(array))
                if (const Span at = body_.expr(use).span; span.contains(at))
                    return rounds_.inRound(span, round,
                                           {{{at.end, at.end}, fmt::format("[{}]", buffer)}});
        return rounds_.inRound(span, round);
    }

    [[nodiscard]] std::string condition(const CopiedElement& element,
                                        const std::string& round) const {
        const Expr& expr = body_.expr(element.condition);
        const std::string text = rounds_.inRound(expr.span, round);
        return expr.kind == ExprKind::Conditional ? fmt::format("({})", text) : text;
    }

    [[nodiscard]] bool isTarget(ExprId use) const {
        return std::ranges::any_of(tiles_.elements, [&](const CopiedElement& element) {
            return body_.expr(element.target).span.contains(body_.expr(use).span);
        });
    }

    const SkillContext& context_;
    const CodeMap& code_;
    const FunctionBody& body_;
    const SourceText& source_;
    const CopiedTiles& tiles_;
    StagedRounds rounds_;
    std::string stage_; ///< The name of the index of the buffer that is used.
};

struct Study {
    RoundEstimate round;
    std::uint64_t addedBytes = 0;
    Occupancy occupancy; ///< The occupancy with two buffers.
    double gain = 1;
};

/// Returns the gain if `blocks` take turns: while one waits, the others compute.
double gainOf(const RoundEstimate& round, double blocks) {
    const double shared = blocks * round.issuing();
    return std::max(round.waiting() + round.computing(), shared) /
           std::max({round.waiting(), round.computing(), shared});
}

/// Returns the gain of a second buffer; refuses one that is too small.
Gated<Study> study(const SkillContext& context, const CopiedTiles& tiles) {
    KERNELSKILL_TRY(const auto known, requireCompiled(context));
    const CompiledKernel& compiled = *known;
    const auto capability = computeCapabilityOf(compiled.architecture);
    if (!capability || capability->major < 8)
        return refuse(
            "before-sm-80",
            fmt::format("{} has no asynchronous copies into shared memory", compiled.architecture));
    Study found;
    found.addedBytes = tiles.bytes.value_or(compiled.staticSharedBytes);
    KERNELSKILL_TRY(const auto occupancy, requireRoomForShared(compiled, found.addedBytes));
    found.occupancy = occupancy;
    found.round = estimateRound(context, context.code(), tiles.staged);
    found.gain = gainOf(found.round, found.occupancy.blocks);
    if (gainOf(found.round, 1) < minGain)
        return refuse("nothing-to-overlap",
                      fmt::format("a round computes for about {:.0f} cycles and waits for about "
                                  "{:.0f}: one hides little of the other",
                                  found.round.computing(), found.round.waiting()));
    if (found.gain < minGain)
        return refuse("enough-blocks",
                      fmt::format("{} blocks of {} threads on a multiprocessor compute while one "
                                  "waits for its tile",
                                  found.occupancy.blocks, compiled.blockThreads));
    return found;
}

class AsyncCopySkill : public PlannedSkill<CopiedTiles> {
    Gated<CopiedTiles> plan(const SkillContext& context) const override {
        return findCopiedTiles(context, context.code());
    }

    Gated<Offer> offer(const SkillContext& context, const CopiedTiles& tiles) const override {
        KERNELSKILL_TRY(const Study found, study(context, tiles));
        const FunctionBody& body = context.kernel.body;
        std::string arrays;
        for (const VariableId array : tiles.arrays)
            arrays += fmt::format("{}{}", arrays.empty() ? "" : ", ", body.variable(array).name);
        const StagedLoop& staged = tiles.staged;
        Offer offer =
            newOffer(context, body.stmt(context.kernel.loops[staged.counted.loop].statement).span);
        offer.title =
            fmt::format("Copy the next tile of {} asynchronously while this one is used", arrays);
        offer.why = fmt::format(
            "each round of the loop on line {} waits for what it copies into {}, and only behind "
            "the barrier on line {} computes; {} bytes more of shared memory leave {} blocks of {} "
            "threads resident on {}, as many as now",
            lineNumber(context, offer.anchor.begin), arrays,
            lineNumber(context, body.stmt(staged.barrier).span.begin), found.addedBytes,
            found.occupancy.blocks, context.compiled->blockThreads, context.compiled->architecture);
        offer.gain = ExpectedGain{
            found.gain,
            fmt::format("a round waits about {:.0f} cycles for its tile and computes "
                        "for about {:.0f}, with {} blocks that take turns",
                        found.round.waiting(), found.round.computing(), found.occupancy.blocks)};
        return offer;
    }

    GatedEdits edits(const SkillContext& context, const CopiedTiles& tiles) const override {
        return Writer(context, context.code(), tiles).edits();
    }
};

} // namespace

KERNELSKILL_SKILL(AsyncCopySkill)

} // namespace kernelskill::skills
