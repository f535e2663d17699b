#include "skills/vectorized-access/vectorized-access.h"

#include "skills/rewriting/element_groups.h"
#include "skills/rewriting/gates.h"
#include "skills/rewriting/shared_analysis.h"

#include <spdlog/fmt/fmt.h>

namespace kernelskill::skills {

using namespace analysis;

namespace {

constexpr std::string_view skillId = "vectorized-access";

class VectorizedAccess final : public Skill {
public:
    [[nodiscard]] std::string_view id() const override { return skillId; }

    [[nodiscard]] std::expected<Offer, Refusal>
    prepare(const SkillContext& context) const override {
        const CodeMap& code = context.shared().code();
        const auto plan = planElementGroups(context, code);
        if (!plan)
            return std::unexpected(plan.error());
        Offer offer;
        offer.skillId = skillId;
        offer.kernelName = context.kernel.qualifiedName;
        offer.anchor = groupedSpan(code, *plan);
        std::string names;
        for (const Stream& stream : plan->streams)
            names += fmt::format("{}{} as {}", names.empty() ? "" : ", ", stream.name, stream.type);
        offer.title = fmt::format("Access {} elements at once: {}", plan->lanes, names);
        offer.why = fmt::format(
            "neighbouring threads touch neighbouring elements, one at a time (line {}); {}",
            lineNumber(context, offer.anchor.begin), launchConsequence(context, *plan));
        offer.option = plan->lanes;
        offer.numerics = Numerics::Exact;
        return offer;
    }

    [[nodiscard]] Result<EditSet> apply(const SkillContext& context, const Offer&) const override {
        const CodeMap& code = context.shared().code();
        const auto plan = planElementGroups(context, code);
        if (!plan)
            return std::unexpected(unsupported(context, plan.error()));
        return groupEdits(context, code, *plan);
    }
};

} // namespace

std::unique_ptr<Skill> makeVectorizedAccess() {
    return std::make_unique<VectorizedAccess>();
}

} // namespace kernelskill::skills
