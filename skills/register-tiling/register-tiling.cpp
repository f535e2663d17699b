/// Gives each thread several outputs of a contraction, from tiles in shared memory.
#include "skills/base/planned_skill.h"
#include "skills/schedule/tile_contraction.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

namespace kernelskill::skills {

using namespace analysis;

namespace {

/// The outputs of a thread: 10 times those along the slow axis plus those along the fast one.
enum class MicroTile : int {};

constexpr int ofSlow = 10;

MicroTile optionOf(const TileShape& shape) {
    return MicroTile{shape.slow * ofSlow + shape.fast};
}

struct TilingPlan {
    Contraction found;
    std::vector<TileShape> shapes; ///< Best first.
};

class RegisterTilingSkill : public VariedSkill<TilingPlan, MicroTile> {
    [[nodiscard]] Gated<TilingPlan> plan(const SkillContext& context) const override {
        KERNELSKILL_TRY(Contraction found, contraction(context));
        KERNELSKILL_TRY(std::vector<TileShape> shapes, microTiles(context, found));
        return TilingPlan{std::move(found), std::move(shapes)};
    }

    [[nodiscard]] Gated<std::vector<Offer>> offers(const SkillContext& context,
                                                   const TilingPlan& plan) const override {
        std::vector<Offer> all;
        for (const TileShape& shape : plan.shapes)
            all.push_back(offerOf(context, plan.found, shape));
        return all;
    }

    [[nodiscard]] GatedEdits editsFor(const SkillContext& context, const TilingPlan& plan,
                                      MicroTile option) const override {
        const auto shape = std::ranges::find(plan.shapes, option, optionOf);
        if (shape == plan.shapes.end())
            return refuse("no-such-tile", "the outputs of a thread are not among those that fit");
        Draft draft(context);
        tileContraction(draft, context, plan.found, *shape);
        return draft.edits();
    }

    [[nodiscard]] Offer offerOf(const SkillContext& context, const Contraction& found,
                                const TileShape& shape) const {
        const FunctionBody& body = context.kernel.body;
        const StmtId loop = found.loops.front().statement;
        Offer offer = newOffer(context, body.stmt(loop).span, optionOf(shape));
        offer.title = fmt::format("Give each thread of {} {} x {} outputs, from shared tiles",
                                  context.kernel.name, shape.slow, shape.fast);
        const double before = loadsBefore(found);
        const double after = loadsOfATerm(found, shape);
        offer.why = fmt::format(
            "all outputs of a {0} use the same operands, and all of a {1} (line {2}): {3:g} loads "
            "of global memory a term and output become {4:.2g} of shared memory, where a block "
            "stages tiles of {5} x {6} outputs",
            body.variable(found.axes.slow.variable).name,
            body.variable(found.axes.fast.variable).name, lineNumber(context, offer.anchor.begin),
            before, after, found.axes.slow.threads * shape.slow,
            found.axes.fast.threads * shape.fast);
        offer.gain = ExpectedGain{before / after,
                                  fmt::format("{:g} loads a term become {:.2g}", before, after)};
        return offer;
    }
};

} // namespace

KERNELSKILL_SKILL(RegisterTilingSkill)

} // namespace kernelskill::skills
