/// Takes the blocks of a grid in groups of rows, so that those in flight share what L2 holds.
#include "analysis/queries/source_layout.h"
#include "skills/base/planned_skill.h"
#include "skills/block-swizzle/swizzle_plan.h"
#include "skills/editing/code_lines.h"

#include <spdlog/fmt/fmt.h>

namespace kernelskill::skills {

using namespace analysis;

namespace {

/// How many rows of blocks a group has.
enum class GroupRows : int {};

/// The lines that give a block its new position, and their names.
class Positions {
public:
    Positions(const SkillContext& context, GroupRows groupRows)
        : body_(context.kernel.body), layout_(*context.file.source, context.kernel),
          groupRows_(static_cast<int>(groupRows)), x_(freshName(body_, "blockX")),
          y_(freshName(body_, "blockY")) {}

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
    int groupRows_;
    std::string x_;
    std::string y_;
};

class BlockSwizzleSkill : public VariedSkill<SwizzlePlan, GroupRows> {
    Gated<SwizzlePlan> plan(const SkillContext& context) const override {
        return planSwizzle(context);
    }

    Gated<std::vector<Offer>> offers(const SkillContext& context,
                                     const SwizzlePlan& plan) const override {
        std::vector<Offer> offers;
        for (const Swizzle& choice : plan.choices)
            offers.push_back(offerOf(context, plan, choice));
        return offers;
    }

    GatedEdits editsFor(const SkillContext& context, const SwizzlePlan& plan,
                        GroupRows rows) const override {
        return Positions(context, rows).edits(plan.positions);
    }

    Offer offerOf(const SkillContext& context, const SwizzlePlan& plan,
                  const Swizzle& choice) const {
        Offer offer = newOffer(context, context.kernel.nameSpan,
                               GroupRows{static_cast<int>(choice.groupRows)});
        offer.title = fmt::format("Take the blocks of {} in groups of {} rows", context.kernel.name,
                                  choice.groupRows);
        offer.why = fmt::format(
            "{} blocks at once, {}, load {:.1f} times what they would in groups of {} rows",
            plan.wave.blocks,
            plan.wave.columns ? fmt::format("of a grid with {} columns", *plan.wave.columns)
                              : std::string("of a grid with rows longer than that"),
            choice.bytes, choice.groupRows);
        offer.gain = ExpectedGain{choice.factor,
                                  "the time of device memory, or of what passes on the chip if "
                                  "that is longer, before over after"};
        return offer;
    }
};

} // namespace

KERNELSKILL_SKILL(BlockSwizzleSkill)

} // namespace kernelskill::skills
