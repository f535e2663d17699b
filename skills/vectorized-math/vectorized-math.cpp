#include "skills/vectorized-math/vectorized-math.h"

#include "skills/rewriting/gates.h"
#include "skills/rewriting/shared_analysis.h"
#include "skills/vectorized-math/packed_work.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

namespace kernelskill::skills {

using namespace analysis;

namespace {

constexpr std::string_view skillId = "vectorized-math";

/// Instructions of a thread for its index, its bounds check and its addresses.
constexpr double overhead = 6;

class VectorizedMath final : public Skill {
public:
    [[nodiscard]] std::string_view id() const override { return skillId; }

    [[nodiscard]] std::expected<Offer, Refusal>
    prepare(const SkillContext& context) const override {
        const CodeMap& code = context.shared().code();
        const auto packed = packWork(context, code);
        if (!packed)
            return std::unexpected(packed.error());
        const ElementGroups& groups = packed->groups;
        std::string names;
        for (const Stream& stream : groups.streams)
            names += fmt::format("{}{}", names.empty() ? "" : ", ", stream.name);
        Offer offer;
        offer.skillId = skillId;
        offer.kernelName = context.kernel.qualifiedName;
        offer.anchor = groupedSpan(code, groups);
        offer.title = fmt::format("Compute on pairs of {}: {}", names, groups.streams[0].type);
        offer.why = fmt::format(
            "line {} computes on one element of 16 bits an instruction; each of its {} operations "
            "takes two as well; {}",
            lineNumber(context, offer.anchor.begin), packed->operations,
            launchConsequence(context, groups));
        offer.option = groups.lanes;
        offer.numerics = Numerics::Exact;
        const auto operations = static_cast<double>(packed->operations);
        const auto accesses = static_cast<double>(groups.accesses.size());
        const auto checks = static_cast<double>(groups.streams.size());
        const double element = operations + accesses + overhead;
        offer.gain =
            ExpectedGain{2 * element / (element + checks),
                         fmt::format("two elements take about {} instructions instead of {}",
                                     element + checks, 2 * element)};
        return offer;
    }

    [[nodiscard]] Result<EditSet> apply(const SkillContext& context, const Offer&) const override {
        const CodeMap& code = context.shared().code();
        const auto packed = packWork(context, code);
        if (!packed)
            return std::unexpected(unsupported(context, packed.error()));
        const SourceText& source = *context.file.source;
        const SourceLayout layout(source, context.kernel);
        return groupEdits(context, code, packed->groups, [&](CodeLines& lines) {
            for (const StmtId id : packed->groups.work) {
                const Span span = code.body().stmt(id).span;
                std::vector<TextEdit> parts;
                std::ranges::copy_if(
                    packed->changes, std::back_inserter(parts),
                    [&](const TextEdit& change) { return span.contains(change.span); });
                lines.addBlock(rewritten(source, span, std::move(parts)),
                               layout.indentation(span.begin));
            }
        });
    }
};

} // namespace

std::unique_ptr<Skill> makeVectorizedMath() {
    return std::make_unique<VectorizedMath>();
}

} // namespace kernelskill::skills
