/// Gives loads and stores of data that is touched once cache hints, so that caches keep the rest.
#include "skills/base/planned_skill.h"
#include "skills/read-only-path/streams.h"
#include "skills/schedule/draft.h"

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

#include <algorithm>

namespace kernelskill::skills {

using namespace analysis;

namespace {

/// The best ratio in SKILL.md: a table of 32 MiB, on one H100.
constexpr double measuredGain = 1.14;

class ReadOnlyPathSkill : public PlannedSkill<Streams> {
    Gated<Streams> plan(const SkillContext& context) const override {
        KERNELSKILL_CHECK(requireEditable(context));
        return findStreams(context);
    }

    Gated<Offer> offer(const SkillContext& context, const Streams& streams) const override {
        const Nest& nest = context.shared().nest();
        const NestAccess& gathered = nest.accesses[streams.gathered];
        const std::string& kept = nest.arrays[gathered.array].name;
        Offer offer = newOffer(context, context.kernel.nameSpan);
        offer.title = fmt::format("Stream {} past the caches, which then keep {}",
                                  names(context, streams), kept);
        offer.why = fmt::format("{} is read on line {} at places that are read from memory, and "
                                "may be read there again; "
                                "each element of {} is touched once",
                                kept, lineNumber(context, nest.node(gathered.node).span.begin),
                                names(context, streams));
        offer.gain = ExpectedGain{
            measuredGain,
            fmt::format("measured where {} fills half of the L2 cache or all of it", kept)};
        return offer;
    }

    GatedEdits edits(const SkillContext& context, const Streams& streams) const override {
        const FunctionBody& body = context.kernel.body;
        Draft draft(context);
        const auto insert = [&](std::uint32_t offset, std::string text) {
            draft.replace({offset, offset}, std::move(text));
        };
        const auto open = [&](ExprId element, const std::string& call) {
            const Expr& expr = body.expr(element);
            const std::uint32_t begin = expr.span.begin;
            if (expr.kind == ExprKind::Subscript)
                insert(begin, call + "(&");
            else // `*p`
                draft.replace({begin, begin + 1}, call + "(");
        };
        for (const StreamedAccess& load : streams.loads) {
            open(load.expression, "__ldcs");
            insert(body.expr(load.expression).span.end, ")");
        }
        for (const StreamedAccess& store : streams.stores) {
            open(store.expression, "__stcs");
            draft.replace(store.sign, ",");
            insert(body.expr(store.assignment).span.end, ")");
        }
        return draft.edits();
    }

    static std::string names(const SkillContext& context, const Streams& streams) {
        const Nest& nest = context.shared().nest();
        std::vector<std::string> all;
        for (const auto* each : {&streams.loads, &streams.stores})
            for (const StreamedAccess& stream : *each)
                if (const std::string& name = nest.arrays[nest.accesses[stream.access].array].name;
                    std::ranges::find(all, name) == all.end())
                    all.push_back(name);
        return fmt::format("{}", fmt::join(all, ", "));
    }
};

} // namespace

KERNELSKILL_SKILL(ReadOnlyPathSkill)

} // namespace kernelskill::skills
