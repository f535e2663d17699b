/// Folds the segments of irregular data by lanes: those of a ragged row, or those with one target.
#include "skills/base/planned_skill.h"
#include "skills/editing/added_include.h"
#include "skills/schedule/share_rows.h"
#include "skills/segmented-reduction/keyed_atomic.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <variant>

namespace kernelskill::skills {

using namespace analysis;

namespace {

/// How many lanes share a row, or Alike: the lanes with one target, however many.
enum class Lanes : int { Alike = 0 };

using Segments = std::variant<KeyedAtomic, LaneRows>;

class SegmentedReductionSkill : public VariedSkill<Segments, Lanes> {
    [[nodiscard]] Gated<Segments> plan(const SkillContext& context) const override {
        auto atomic = keyedAtomic(context);
        if (atomic)
            return Segments{*std::move(atomic)};
        auto rows = raggedRows(context);
        if (rows)
            return Segments{*std::move(rows)};
        return std::unexpected(atomic.error().gate == "no-atomic" ? std::move(rows.error())
                                                                  : std::move(atomic.error()));
    }

    /// Reads rows whose lengths data decide.
    [[nodiscard]] static Gated<LaneRows> raggedRows(const SkillContext& context) {
        KERNELSKILL_TRY(LaneRows rows, laneRows(context, RowSharers::Warp));
        const Nest& nest = context.shared().nest();
        const auto isOfData = [&](const std::optional<IndexExpression>& bound) {
            return !bound || nest.symbols.contains(*bound, NestSymbolKind::Value);
        };
        if (std::ranges::none_of(rows.shared.loops, [&](const LaneLoop& each) {
                const NestLoop& loop = *nest.node(each.node).loop();
                return isOfData(loop.first) || isOfData(loop.end);
            }))
            return refuse("even-rows", fmt::format("the rows of {} are of one length as far as "
                                                   "the text tells",
                                                   context.kernel.name));
        return rows;
    }

    [[nodiscard]] Gated<std::vector<Offer>> offers(const SkillContext& context,
                                                   const Segments& segments) const override {
        const FunctionBody& body = context.kernel.body;
        if (const auto* atomic = std::get_if<KeyedAtomic>(&segments)) {
            Offer offer = newOffer(context, body.stmt(atomic->statement).span);
            const std::uint32_t line = lineNumber(context, offer.anchor.begin);
            offer.title = fmt::format("Let lanes with one target update {} once", atomic->array);
            offer.why = fmt::format("data choose which element of {} a lane updates (line {}): "
                                    "where neighbours have the same one, their updates take turns",
                                    atomic->array, line);
            if (atomic->operation == "plus" &&
                (atomic->scalar == ScalarKind::Float || atomic->scalar == ScalarKind::Double))
                offer.numerics = Numerics::Reassociates;
            return std::vector{std::move(offer)};
        }
        const LaneRows& rows = std::get<LaneRows>(segments);
        std::vector<Offer> offers;
        constexpr std::array<int, 4> choices{8, 4, 16, 2};
        for (const int lanes : choices) {
            Offer offer = newOffer(context, body.stmt(rows.shared.loops.front().statement).span,
                                   static_cast<Lanes>(lanes));
            offer.title =
                fmt::format("Give each row of {} to {} lanes", context.kernel.name, lanes);
            offer.why = fmt::format("the thread of a row walks along it (line {}), and how far "
                                    "the data decide: {} lanes a row leave few without work where "
                                    "rows are short",
                                    lineNumber(context, offer.anchor.begin), lanes);
            if (reassociates(rows.shared))
                offer.numerics = Numerics::Reassociates;
            offers.push_back(std::move(offer));
        }
        return offers;
    }

    [[nodiscard]] GatedEdits editsFor(const SkillContext& context, const Segments& segments,
                                      Lanes lanes) const override {
        if (const auto* atomic = std::get_if<KeyedAtomic>(&segments)) {
            std::vector<TextEdit> edits = aggregate(context, *atomic);
            // Both go to one place, where two edits would have no order.
            std::string includes;
            Span at;
            for (const std::string_view header :
                 {"<cooperative_groups.h>", "<cooperative_groups/reduce.h>"})
                if (auto include = addedInclude(context, header)) {
                    includes += include->newText;
                    at = include->span;
                }
            if (!includes.empty())
                edits.push_back({at, std::move(includes)});
            return edits;
        }
        LaneRows rows = std::get<LaneRows>(segments);
        KERNELSKILL_CHECK(requireIndependentRounds(context, rows.shared));
        rows.lanes = static_cast<int>(lanes);
        Draft draft(context);
        shareRows(draft, context, rows);
        return draft.edits();
    }
};

} // namespace

KERNELSKILL_SKILL(SegmentedReductionSkill)

} // namespace kernelskill::skills
