/// Computes on two 16-bit elements with one instruction.
#include "analysis/queries/source_layout.h"
#include "skills/base/planned_skill.h"
#include "skills/editing/code_lines.h"
#include "skills/editing/group_writer.h"
#include "skills/gates/element_groups.h"
#include "skills/vectorized-math/packed_work.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

namespace kernelskill::skills {

using namespace analysis;

namespace {

/// Instructions of a thread for its index, its bounds check and its addresses.
constexpr double overhead = 6;

class VectorizedMathSkill : public PlannedSkill<PackedWork, Lanes> {
    Gated<PackedWork> plan(const SkillContext& context) const override {
        return packWork(context, context.code());
    }

    Gated<Offer> offer(const SkillContext& context, const PackedWork& packed) const override {
        const ElementGroups& groups = packed.groups;
        std::string names;
        for (const Stream& stream : groups.streams)
            names += fmt::format("{}{}", names.empty() ? "" : ", ", stream.name);
        Offer offer = newOffer(context, groupedSpan(context.code(), groups), Lanes{groups.lanes});
        offer.title = fmt::format("Compute on pairs of {}: {}", names, groups.streams[0].type);
        offer.why = fmt::format(
            "line {} computes on one element of 16 bits an instruction; each of its {} operations "
            "takes two as well; {}",
            lineNumber(context, offer.anchor.begin), packed.operations,
            launchConsequence(context, groups));
        const auto operations = static_cast<double>(packed.operations);
        const auto accesses = static_cast<double>(groups.accesses.size());
        const auto checks = static_cast<double>(groups.streams.size());
        const double element = operations + accesses + overhead;
        offer.gain =
            ExpectedGain{2 * element / (element + checks),
                         fmt::format("two elements take about {} instructions instead of {}",
                                     element + checks, 2 * element)};
        return offer;
    }

    GatedEdits edits(const SkillContext& context, const PackedWork& packed) const override {
        const SourceText& source = *context.file.source;
        const SourceLayout layout(source, context.kernel);
        return groupEdits(context, context.code(), packed.groups, [&](CodeLines& lines) {
            for (const StmtId id : packed.groups.work) {
                const Span span = context.kernel.body.stmt(id).span;
                std::vector<TextEdit> parts;
                std::ranges::copy_if(
                    packed.changes, std::back_inserter(parts),
                    [&](const TextEdit& change) { return span.contains(change.span); });
                lines.addBlock(rewritten(source, span, std::move(parts)),
                               layout.indentation(span.begin));
            }
        });
    }
};

} // namespace

KERNELSKILL_SKILL(VectorizedMathSkill)

} // namespace kernelskill::skills
