#include "skills/block-swizzle/block-swizzle.h"

#include "skills/block-swizzle/swizzle_plan.h"
#include "skills/rewriting/gates.h"
#include "skills/rewriting/shared_analysis.h"
#include "skills/rewriting/source_layout.h"

#include <spdlog/fmt/fmt.h>

namespace kernelskill::skills {

using namespace analysis;

namespace {

constexpr std::string_view skillId = "block-swizzle";

/// The lines that give a block its new position, and their names.
class Positions {
public:
    Positions(const SkillContext& context, std::int64_t groupRows)
        : body_(context.kernel.body), layout_(*context.file.source, context.kernel),
          groupRows_(groupRows), x_(freshName(body_, "blockX")), y_(freshName(body_, "blockY")) {}

    [[nodiscard]] std::vector<TextEdit> edits(const std::vector<ExprId>& positions) const {
        std::vector<TextEdit> edits{lines()};
        for (const ExprId id : positions) {
            const Expr& expr = body_.expr(id);
            edits.push_back({expr.span, expr.axis == 0 ? x_ : y_});
        }
        return edits;
    }

private:
    /// Before the line of the first statement.
    [[nodiscard]] TextEdit lines() const {
        const std::uint32_t first = body_.stmt(body_.stmt(body_.root).children.front()).span.begin;
        const std::string row = freshName(body_, "groupRow");
        const std::string rows = freshName(body_, "groupRows");
        const std::string place = freshName(body_, "placeInGroup");
        CodeLines lines(layout_, layout_.indentation(first));
        lines
            .add(fmt::format("// Blocks go down groups of {} rows: those in flight share their "
                             "loads in L2.",
                             groupRows_))
            .add(fmt::format("const unsigned int {} = blockIdx.y / {} * {};", row, groupRows_,
                             groupRows_))
            .add(fmt::format("const unsigned int {} = min({}u, gridDim.y - {});", rows, groupRows_,
                             row))
            .add(fmt::format("const unsigned int {} = (blockIdx.y - {}) * gridDim.x + blockIdx.x;",
                             place, row))
            .add(fmt::format("const unsigned int {} = {} / {};", x_, place, rows))
            .add(fmt::format("const unsigned int {} = {} + {} % {};", y_, row, place, rows));
        const std::uint32_t begin = layout_.lineBegin(first);
        return {{begin, begin}, lines.text()};
    }

    const FunctionBody& body_;
    SourceLayout layout_;
    std::int64_t groupRows_;
    std::string x_;
    std::string y_;
};

class BlockSwizzle final : public Skill {
public:
    [[nodiscard]] std::string_view id() const override { return skillId; }

    [[nodiscard]] std::expected<Offer, Refusal>
    prepare(const SkillContext& context) const override {
        const auto plan = planSwizzle(context);
        if (!plan)
            return std::unexpected(plan.error());
        return offerOf(context, *plan, plan->choices.front());
    }

    [[nodiscard]] std::vector<Offer> alternatives(const SkillContext& context) const override {
        std::vector<Offer> offers;
        const auto plan = planSwizzle(context);
        if (!plan)
            return offers;
        for (std::size_t i = 1; i < plan->choices.size(); ++i)
            offers.push_back(offerOf(context, *plan, plan->choices[i]));
        return offers;
    }

    [[nodiscard]] Result<EditSet> apply(const SkillContext& context,
                                        const Offer& offer) const override {
        const auto plan = planSwizzle(context);
        if (!plan)
            return std::unexpected(unsupported(context, plan.error()));
        return EditSet{
            {context.kernel.file, Positions(context, offer.option).edits(plan->positions)}};
    }

private:
    static Offer offerOf(const SkillContext& context, const SwizzlePlan& plan,
                         const Swizzle& choice) {
        Offer offer;
        offer.skillId = skillId;
        offer.kernelName = context.kernel.qualifiedName;
        offer.anchor = context.kernel.nameSpan;
        offer.title = fmt::format("Take the blocks of {} in groups of {} rows", context.kernel.name,
                                  choice.groupRows);
        offer.why = fmt::format(
            "{} blocks at once, {}, load {:.1f} times what they would in groups of {} rows",
            plan.wave.blocks,
            plan.wave.columns ? fmt::format("of a grid with {} columns", *plan.wave.columns)
                              : std::string("of a grid with rows longer than that"),
            choice.bytes, choice.groupRows);
        offer.option = static_cast<int>(choice.groupRows);
        offer.numerics = Numerics::Exact;
        offer.gain = ExpectedGain{choice.factor,
                                  "the time of device memory, or of what passes on the chip if "
                                  "that is longer, before over after"};
        return offer;
    }
};

} // namespace

std::unique_ptr<Skill> makeBlockSwizzle() {
    return std::make_unique<BlockSwizzle>();
}

} // namespace kernelskill::skills
