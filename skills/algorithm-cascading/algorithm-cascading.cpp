/// Lets each thread sum several elements before its block adds the threads' sums up.
#include "analysis/compile/data_centre_gpu.h"
#include "analysis/queries/source_layout.h"
#include "analysis/queries/value_spelling.h"
#include "skills/algorithm-cascading/block_sum.h"
#include "skills/base/planned_skill.h"
#include "skills/editing/code_lines.h"
#include "skills/editing/grid_size.h"
#include "skills/editing/operand_text.h"
#include "skills/gates/launch_sites.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>

namespace kernelskill::skills {

using namespace analysis;

namespace {

/// The number of elements that a thread sums if the grid covers the data once.
enum class Elements : int {};

/// The first one is the default: with blocks of 256 threads, four times eight bytes in flight for
/// each load of it fill the memory's pipes.
constexpr std::array elementCounts = {8, 4, 16, 32};
/// The min number of blocks: fewer leave multiprocessors of a data-centre GPU idle.
constexpr std::int64_t enoughBlocks = DataCentreGpu::multiprocessors;

class Writer {
public:
    Writer(const SkillContext& context, const BlockSum& sum)
        : context_(context), code_(context.code()), body_(code_.body()),
          source_(*context.file.source), layout_(source_, context.kernel), sum_(sum),
          index_(body_.variable(sum.index)) {}

    std::vector<TextEdit> edits(int elements) {
        if (sum_.movesIndex)
            edits_.push_back({layout_.statementWithLine(index_.declarationSpan), ""});
        const std::string head = fmt::format(
            "for ({}; {} < {}; {} += blockDim.x * gridDim.x)",
            sum_.movesIndex ? fmt::format("{} {} = {}", valueSpelling(index_.type), index_.name,
                                          text(index_.init))
                            : "",
            index_.name, besideComparison(source_, body_.expr(sum_.limit)), index_.name);
        if (sum_.form == ElementForm::Guarded)
            guarded(head);
        else
            chosen(head);
        for (const LaunchSite& launch : context_.kernel.launches)
            edits_.push_back(dividedGrid(context_, launch, elements));
        return std::move(edits_);
    }

private:
    [[nodiscard]] std::string text(ExprId id) const {
        return std::string(source_.slice(body_.expr(id).span));
    }

    void guarded(const std::string& head) {
        const Stmt& stmt = body_.stmt(sum_.statement);
        const Stmt& then = body_.stmt(stmt.children.front());
        const std::string between(
            source_.slice({body_.expr(stmt.condition).span.end, then.span.begin}));
        const std::size_t bracket = between.find(')');
        edits_.push_back({{stmt.span.begin, body_.expr(stmt.condition).span.end +
                                                static_cast<std::uint32_t>(bracket) + 1},
                          head});
        const Span operators{body_.expr(sum_.target).span.end, body_.expr(sum_.element).span.begin};
        const std::string set(source_.slice(operators));
        if (!set.contains("+=")) {
            const auto at = operators.begin + static_cast<std::uint32_t>(set.find('='));
            edits_.push_back({{at, at}, "+"});
        }
    }

    void chosen(const std::string& head) {
        const Stmt& stmt = body_.stmt(sum_.statement);
        const std::string indentation = layout_.indentation(stmt.span.begin);
        const Variable& variable = body_.variable(sum_.variable);
        const bool isShared =
            sum_.target != noId && body_.expr(sum_.target).kind != ExprKind::Variable;
        const std::string name = isShared ? freshName(body_, "sum") : variable.name;
        CodeLines lines(layout_, indentation);
        if (isShared)
            lines.add(
                fmt::format("{} {} = {};", elementSpelling(variable.type), name, text(sum_.zero)));
        else if (sum_.target == noId)
            lines.add(
                fmt::format("{} {} = {};", valueSpelling(variable.type), name, text(sum_.zero)));
        else
            lines.add(fmt::format("{} = {};", name, text(sum_.zero)));
        lines.open(head);
        lines.add(fmt::format("{} += {};", name, text(sum_.element)));
        lines.leave();
        if (isShared)
            lines.add(fmt::format("{} = {};", text(sum_.target), name));
        std::string replaced = lines.text();
        replaced.resize(replaced.size() - layout_.newline().size());
        replaced.erase(0, indentation.size());
        edits_.push_back({stmt.span, std::move(replaced)});
    }

    const SkillContext& context_;
    const CodeMap& code_;
    const FunctionBody& body_;
    const SourceText& source_;
    SourceLayout layout_;
    const BlockSum& sum_;
    const Variable& index_;
    std::vector<TextEdit> edits_;
};

class AlgorithmCascadingSkill : public VariedSkill<BlockSum, Elements> {
    [[nodiscard]] Gated<BlockSum> plan(const SkillContext& context) const override {
        return findBlockSum(context);
    }

    [[nodiscard]] Gated<std::vector<Offer>> offers(const SkillContext& context,
                                                   const BlockSum& sum) const override {
        const FunctionBody& body = context.kernel.body;
        const auto blocks = fewestKnownBlocks(context);
        std::vector<Offer> offers;
        for (const int elements : elementCounts) {
            if (blocks && *blocks / elements < enoughBlocks)
                continue;
            Offer offer = newOffer(context, body.stmt(sum.statement).span, Elements{elements});
            offer.title =
                fmt::format("Sum {} elements a thread before the block adds up", elements);
            offer.why = fmt::format(
                "each thread hands one element to its block's sum (line {}), so that barriers and "
                "the atomic are paid for a block of elements; with a loop over the data {} times "
                "fewer blocks do",
                lineNumber(context, offer.anchor.begin), elements);
            if (sum.scalar == ScalarKind::Float || sum.scalar == ScalarKind::Double)
                offer.numerics = Numerics::Reassociates;
            offers.push_back(std::move(offer));
        }
        if (offers.empty())
            return refuse("few-blocks",
                          fmt::format("a quarter of the {} blocks would leave multiprocessors of a "
                                      "large GPU idle",
                                      *blocks));
        return offers;
    }

    [[nodiscard]] GatedEdits editsFor(const SkillContext& context, const BlockSum& sum,
                                      Elements elements) const override {
        return Writer(context, sum).edits(static_cast<int>(elements));
    }
};

} // namespace

KERNELSKILL_SKILL(AlgorithmCascadingSkill)

} // namespace kernelskill::skills
