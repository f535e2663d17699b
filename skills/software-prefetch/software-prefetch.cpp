#include "skills/software-prefetch/software-prefetch.h"

#include "skills/rewriting/gates.h"
#include "skills/rewriting/operand_text.h"
#include "skills/rewriting/shared_analysis.h"
#include "skills/rewriting/source_layout.h"
#include "skills/software-prefetch/staged_loop.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

namespace kernelskill::skills {

using namespace analysis;

namespace {

constexpr std::string_view skillId = "software-prefetch";

/// Cycles until global memory answers (CUDA C++ Best Practices Guide: 400 to 800).
constexpr double memoryLatency = 600;
constexpr double assumedRounds = 16; ///< Of an inner loop whose count is not known.
constexpr double assumedWarps = 8;   ///< Of a block whose size is not known.

class Writer {
public:
    Writer(const SkillContext& context, const CodeMap& code, const StagedLoop& staged)
        : kernel_(context.kernel), code_(code), body_(code.body()), source_(*context.file.source),
          layout_(source_, context.kernel), staged_(staged),
          loop_(context.kernel.loops[staged.counted.loop]), stmt_(body_.stmt(loop_.statement)) {
        for (const StagedElement& element : staged_.elements)
            names_.push_back(valueName(element));
    }

    EditSet edits() const {
        const Span head = stmt_.pragma.empty() ? stmt_.span : stmt_.pragmaSpan;
        const std::uint32_t begin = layout_.lineBegin(head.begin);
        std::vector<TextEdit> edits{{{begin, begin}, firstTile()}};
        for (std::size_t i = 0; i < names_.size(); ++i)
            edits.push_back(fromRegister(i));
        for (const StmtId declaration : staged_.declarations)
            if (!isNeededElsewhere(declaration))
                edits.push_back({lineOf(declaration), ""});
        const std::uint32_t after = layout_.endOfLineTrivia(body_.stmt(staged_.barrier).span.end);
        edits.push_back({{after, after}, nextTile()});
        return EditSet{{kernel_.file, std::move(edits)}};
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
        const std::string indentation = layout_.indentation(stmt_.span.begin);
        CodeLines lines(layout_, indentation);
        lines.add("// Each tile is loaded into registers while the one before it is used.");
        for (std::size_t i = 0; i < names_.size(); ++i)
            lines.add(fmt::format("{} {};", staged_.elements[i].type, names_[i]));
        const std::string start = text(staged_.counted.start);
        const bool isSure = loop_.tripCount && *loop_.tripCount > 0;
        lines.open(isSure
                       ? "{"
                       : fmt::format("if ({} < {}) {{",
                                     besideComparison(source_, body_.expr(staged_.counted.start)),
                                     limit()));
        lines.add(fmt::format("const {} {} = {};", indexType(), index().name, start));
        addLoads(lines, index().name, true);
        lines.close();
        return lines.text();
    }

    /// Behind the barrier: the values for the next round.
    std::string nextTile() const {
        CodeLines lines(layout_, layout_.indentation(body_.stmt(staged_.barrier).span.begin));
        const std::string next = freshName(body_, "next");
        lines.add(fmt::format("const {} {} = {} + {};", indexType(), next, index().name, step()));
        lines.open(fmt::format("if ({} < {}) {{", next, limit()));
        addLoads(lines, next, false);
        lines.close();
        std::string result = layout_.newline() + lines.text();
        result.resize(result.size() - layout_.newline().size());
        return result;
    }

    /// The values of the round that `round` names, with the comments of what declares them or not.
    void addLoads(CodeLines& lines, const std::string& round, bool withComments) const {
        for (const StmtId declaration : staged_.declarations) {
            Span span = body_.stmt(declaration).span;
            const std::string indentation = layout_.indentation(span.begin);
            if (withComments)
                span.end = layout_.endOfLineTrivia(span.end);
            lines.addBlock(inRound(span, round), indentation);
        }
        for (std::size_t i = 0; i < names_.size(); ++i) {
            const Span span = body_.expr(staged_.elements[i].value).span;
            lines.addBlock(fmt::format("{} = {};", names_[i], inRound(span, round)),
                           layout_.indentation(span.begin));
        }
    }

    /// The text of `span` with the loop's index under another name.
    [[nodiscard]] std::string inRound(Span span, const std::string& round) const {
        std::vector<TextEdit> parts;
        for (const ExprId use : code_.uses(loop_.inductionVariable))
            if (const Span at = body_.expr(use).span; span.contains(at))
                parts.push_back({at, round});
        return rewritten(source_, span, std::move(parts));
    }

    /// Something but the values that move away uses what the statement declares.
    [[nodiscard]] bool isNeededElsewhere(StmtId declaration) const {
        return std::ranges::any_of(body_.stmt(declaration).declared, [&](VariableId variable) {
            return std::ranges::any_of(code_.uses(variable), [&](ExprId use) {
                const Span at = body_.expr(use).span;
                const bool isInValue =
                    std::ranges::any_of(staged_.elements, [&](const StagedElement& element) {
                        return body_.expr(element.value).span.contains(at);
                    });
                const StmtId holder = code_.statement(use);
                const bool isInMoved =
                    std::ranges::find(staged_.declarations, holder) != staged_.declarations.end() &&
                    (holder == declaration || !isNeededElsewhere(holder));
                return !isInValue && !isInMoved;
            });
        });
    }

    [[nodiscard]] Span lineOf(StmtId statement) const {
        const Span span = body_.stmt(statement).span;
        const std::uint32_t end = layout_.endOfLineTrivia(span.end);
        return layout_.statementWithLine({span.begin, end});
    }

    [[nodiscard]] std::string valueName(const StagedElement& element) const {
        const std::string wanted = element.array + (element.array.contains('_') ? "_next" : "Next");
        std::string name = freshName(body_, wanted);
        for (int number = 2; std::ranges::find(names_, name) != names_.end(); ++number)
            name = freshName(body_, fmt::format("{}{}", wanted, number));
        return name;
    }

    [[nodiscard]] const Variable& index() const { return body_.variable(loop_.inductionVariable); }
    [[nodiscard]] std::string indexType() const { return valueSpelling(index().type); }

    [[nodiscard]] std::string step() const {
        const ExprId step = staged_.counted.step;
        return step == noId ? "1" : besideComparison(source_, body_.expr(step));
    }

    [[nodiscard]] std::string limit() const {
        return besideComparison(source_, body_.expr(staged_.counted.limit));
    }

    [[nodiscard]] std::string text(ExprId expr) const {
        return std::string(source_.slice(body_.expr(expr).span));
    }

    const KernelModel& kernel_;
    const CodeMap& code_;
    const FunctionBody& body_;
    const SourceText& source_;
    SourceLayout layout_;
    const StagedLoop& staged_;
    const Loop& loop_;
    const Stmt& stmt_;
    std::vector<std::string> names_; ///< Of the values, as the elements.
};

/// Operations that a thread makes on a tile, each as often as the loops around it run.
double operationsOf(const SkillContext& context, const CodeMap& code, const StagedLoop& staged) {
    double count = 0;
    for (const StmtId use : staged.use) {
        for (const ExprId id : code.expressionsIn(use)) {
            const ExprKind kind = code.body().expr(id).kind;
            if (kind != ExprKind::Binary && kind != ExprKind::Subscript && kind != ExprKind::Call)
                continue;
            double times = 1;
            for (const Loop& inner : context.kernel.loops)
                if (code.holds(inner.body, id) && code.encloses(use, inner.statement))
                    times *=
                        inner.tripCount ? static_cast<double>(*inner.tripCount) : assumedRounds;
            count += times;
        }
    }
    return count;
}

double warpsOf(const SkillContext& context) {
    double most = 0;
    for (const LaunchSite& launch : context.kernel.launches) {
        if (launch.constantBlock.empty() || std::ranges::count(launch.constantBlock, 0) > 0)
            continue;
        double threads = 1;
        for (const std::int64_t extent : launch.constantBlock)
            threads *= static_cast<double>(extent);
        most = std::max(most, threads / 32);
    }
    return most > 0 ? most : assumedWarps;
}

class SoftwarePrefetch final : public Skill {
public:
    [[nodiscard]] std::string_view id() const override { return skillId; }

    [[nodiscard]] std::expected<Offer, Refusal>
    prepare(const SkillContext& context) const override {
        const CodeMap& code = context.shared().code();
        const auto found = findStagedLoop(context, code);
        if (!found)
            return std::unexpected(found.error());
        std::string arrays;
        for (const StagedElement& element : found->elements)
            if (!arrays.contains(element.array))
                arrays += fmt::format("{}{}", arrays.empty() ? "" : ", ", element.array);
        const FunctionBody& body = code.body();
        Offer offer;
        offer.skillId = skillId;
        offer.kernelName = context.kernel.qualifiedName;
        offer.anchor = body.stmt(context.kernel.loops[found->counted.loop].statement).span;
        offer.title = fmt::format("Load the next tile of {} while this one is used", arrays);
        offer.why = fmt::format(
            "each round of the loop on line {} waits for what it copies into {}, and only behind "
            "the "
            "barrier on line {} computes; the next round's elements are known before that",
            lineNumber(context, offer.anchor.begin), arrays,
            lineNumber(context, body.stmt(found->barrier).span.begin));
        offer.numerics = Numerics::Exact;
        // A multiprocessor starts instructions of four warps a cycle; an instruction of one warp
        // waits some four cycles for the one before.
        const double computing =
            operationsOf(context, code, *found) * std::max(4.0, warpsOf(context) / 4);
        offer.gain = ExpectedGain{
            (memoryLatency + computing) / std::max(memoryLatency, computing),
            fmt::format("a round waits about {} cycles for its tile and computes for about {}, one "
                        "after the other unless further blocks fill the wait",
                        memoryLatency, computing)};
        return offer;
    }

    [[nodiscard]] Result<EditSet> apply(const SkillContext& context,
                                        const Offer& offer) const override {
        const CodeMap& code = context.shared().code();
        const auto found = findStagedLoop(context.at(offer.anchor), code);
        if (!found)
            return std::unexpected(unsupported(context, found.error()));
        return Writer(context, code, *found).edits();
    }
};

} // namespace

std::unique_ptr<Skill> makeSoftwarePrefetch() {
    return std::make_unique<SoftwarePrefetch>();
}

} // namespace kernelskill::skills
