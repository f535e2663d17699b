#include "skills/grid-stride-loop/grid-stride-loop.h"

#include "skills/rewriting/elementwise_kernel.h"
#include "skills/rewriting/gates.h"
#include "skills/rewriting/grid_stride_form.h"
#include "skills/rewriting/shared_analysis.h"

#include <spdlog/fmt/fmt.h>

namespace kernelskill::skills {

using namespace analysis;

namespace {

constexpr std::string_view skillId = "grid-stride-loop";

class GridStrideLoopSkill final : public Skill {
public:
    [[nodiscard]] std::string_view id() const override { return skillId; }

    [[nodiscard]] std::expected<Offer, Refusal>
    prepare(const SkillContext& context) const override {
        const CodeMap& code = context.shared().code();
        const auto found = recognise(context, code);
        if (!found)
            return std::unexpected(found.error());
        const FunctionBody& body = code.body();
        const std::string& name = body.variable(found->index).name;
        const std::string limit{context.file.source->slice(body.expr(found->limit).span)};
        Offer offer;
        offer.skillId = skillId;
        offer.kernelName = context.kernel.qualifiedName;
        offer.anchor = body.stmt(found->guard).span;
        offer.title =
            fmt::format("Turn the bounds check of {} into a grid-stride loop", context.kernel.name);
        offer.why = fmt::format(
            "{} handles element {} alone, checked against {} on line {}; every launch stays valid, "
            "since a grid that covers {} runs the loop once",
            context.kernel.name, name, limit,
            lineNumber(context, body.stmt(found->guard).span.begin), limit);
        offer.numerics = Numerics::Exact;
        return offer;
    }

    [[nodiscard]] Result<EditSet> apply(const SkillContext& context, const Offer&) const override {
        const CodeMap& code = context.shared().code();
        const auto found = recognise(context, code);
        if (!found)
            return std::unexpected(unsupported(context, found.error()));
        return EditSet{{context.kernel.file, gridStrideEdits(context, code, *found)}};
    }

private:
    static std::expected<ElementwiseKernel, Refusal> recognise(const SkillContext& context,
                                                               const CodeMap& code) {
        if (auto editable = requireEditable(context); !editable)
            return std::unexpected(editable.error());
        if (!findGridStrideLoops(context.kernel, code).empty())
            return refuse("already-grid-stride",
                          fmt::format("{} already has a grid-stride loop", context.kernel.name));
        auto found = recogniseElementwise(context, code);
        if (!found)
            return found;
        if (auto lines = requireLoopLines(context, code, *found); !lines)
            return std::unexpected(lines.error());
        return found;
    }
};

} // namespace

std::unique_ptr<Skill> makeGridStrideLoop() {
    return std::make_unique<GridStrideLoopSkill>();
}

} // namespace kernelskill::skills
