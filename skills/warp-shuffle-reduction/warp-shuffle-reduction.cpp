#include "skills/warp-shuffle-reduction/warp-shuffle-reduction.h"

#include "skills/rewriting/gates.h"
#include "skills/rewriting/shared_analysis.h"
#include "skills/warp-shuffle-reduction/reduction_gates.h"
#include "skills/warp-shuffle-reduction/shuffle_rewriter.h"

#include <spdlog/fmt/fmt.h>

namespace kernelskill::skills {

using namespace analysis;

namespace {

constexpr std::string_view skillId = "warp-shuffle-reduction";

class WarpShuffleReduction final : public Skill {
public:
    [[nodiscard]] std::string_view id() const override { return skillId; }

    [[nodiscard]] std::expected<Offer, Refusal>
    prepare(const SkillContext& context) const override {
        const CodeMap& code = context.shared().code();
        const auto tree = findTree(context, code);
        if (!tree)
            return std::unexpected(tree.error());
        std::string names;
        bool isExact = true;
        for (const FoldedArray& folded : tree->arrays) {
            const Variable& array = code.body().variable(folded.array);
            names += fmt::format("{}{}", names.empty() ? "" : ", ", array.name);
            const bool isInteger =
                array.type.scalar >= ScalarKind::Bool && array.type.scalar <= ScalarKind::UInt64;
            isExact =
                isExact &&
                (isInteger || (folded.fold != FoldKind::Sum && folded.fold != FoldKind::Product));
        }
        Offer offer;
        offer.skillId = skillId;
        offer.kernelName = context.kernel.qualifiedName;
        offer.anchor = code.body().stmt(context.kernel.loops[tree->loop].statement).span;
        offer.title = fmt::format("Reduce {} with warp shuffles", names);
        offer.why =
            fmt::format("the loop on line {} folds {} in shared memory with a barrier each step; "
                        "every launch has whole warps",
                        lineNumber(context, offer.anchor.begin), names);
        offer.numerics = isExact ? Numerics::Exact : Numerics::Reassociates;
        return offer;
    }

    [[nodiscard]] Result<EditSet> apply(const SkillContext& context,
                                        const Offer& offer) const override {
        const CodeMap& code = context.shared().code();
        const SkillContext atAnchor = context.at(offer.anchor);
        const auto tree = findTree(atAnchor, code);
        if (!tree)
            return std::unexpected(unsupported(context, tree.error()));
        return shuffleEdits(context, code, *tree);
    }
};

} // namespace

std::unique_ptr<Skill> makeWarpShuffleReduction() {
    return std::make_unique<WarpShuffleReduction>();
}

} // namespace kernelskill::skills
