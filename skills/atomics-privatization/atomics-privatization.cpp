#include "skills/atomics-privatization/atomics-privatization.h"

#include "skills/atomics-privatization/contended_updates.h"
#include "skills/atomics-privatization/privatization_edits.h"
#include "skills/rewriting/gates.h"
#include "skills/rewriting/shared_analysis.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <optional>

namespace kernelskill::skills {

using namespace analysis;

namespace {

constexpr std::string_view skillId = "atomics-privatization";

std::int64_t sectorsOf(const ContendedUpdates& updates, std::uint32_t elementSize) {
    return (updates.table->entries * elementSize + 31) / 32;
}

/// What reaches global memory before and after.
std::string comparison(const ContendedUpdates& updates, std::uint32_t elementSize) {
    const std::string before =
        updates.isRepeated     ? "an atomic on global memory for every update of every thread"
        : updates.threads == 0 ? "an atomic on global memory from every thread"
        : updates.elementwise
            ? fmt::format("{} atomics on global memory from {} blocks of {} threads",
                          updatesOfBlock(updates), elementsPerThread, updates.threads)
            : fmt::format("{} atomics on global memory from a block of {} threads",
                          updatesOfBlock(updates), updates.threads);
    if (!updates.table)
        return before + (updates.threads > 32 ? ", one a block after" : ", one a warp after");
    return fmt::format("{}, at most {} neighbouring elements in {} sectors {} after", before,
                       updates.table->entries, sectorsOf(updates, elementSize),
                       updates.elementwise ? "from one block with as much work" : "a block");
}

std::optional<ExpectedGain> gainOf(const ContendedUpdates& updates, std::uint32_t elementSize) {
    if (updates.isRepeated || updates.threads == 0)
        return std::nullopt;
    const std::int64_t before = updatesOfBlock(updates);
    const std::int64_t after =
        updates.table ? std::max<std::int64_t>(1, sectorsOf(updates, elementSize)) : 1;
    if (after >= before)
        return std::nullopt;
    return ExpectedGain{static_cast<double>(before) / static_cast<double>(after),
                        fmt::format("{} updates become {} at the L2 cache, if they take all the "
                                    "time and no two of a warp are combined before",
                                    before, after)};
}

class AtomicsPrivatization final : public Skill {
public:
    [[nodiscard]] std::string_view id() const override { return skillId; }

    [[nodiscard]] std::expected<Offer, Refusal>
    prepare(const SkillContext& context) const override {
        const CodeMap& code = context.shared().code();
        const auto updates = findContendedUpdates(context, code);
        if (!updates)
            return std::unexpected(updates.error());
        const Variable& base = code.body().variable(updates->base);
        const bool isFloating =
            updates->scalar == ScalarKind::Float || updates->scalar == ScalarKind::Double;
        Offer offer;
        offer.skillId = skillId;
        offer.kernelName = context.kernel.qualifiedName;
        offer.anchor = code.body().expr(updates->sites.front().call).span;
        offer.title = updates->table
                          ? fmt::format("Update {} through a table in shared memory{}", base.name,
                                        updates->elementwise ? ", several elements a thread" : "")
                          : fmt::format("Reduce {} in registers before the atomic", base.name);
        offer.why = fmt::format(
            "{} on line {} updates {}: {}", updates->function,
            lineNumber(context, offer.anchor.begin), base.name,
            comparison(*updates, base.type.elementSize > 0 ? base.type.elementSize : 4));
        offer.gain = gainOf(*updates, base.type.elementSize > 0 ? base.type.elementSize : 4);
        offer.numerics = isFloating ? Numerics::Reassociates : Numerics::Exact;
        return offer;
    }

    [[nodiscard]] Result<EditSet> apply(const SkillContext& context,
                                        const Offer& offer) const override {
        const CodeMap& code = context.shared().code();
        const auto updates = findContendedUpdates(context.at(offer.anchor), code);
        if (!updates)
            return std::unexpected(unsupported(context, updates.error()));
        return privatizationEdits(context, code, *updates);
    }
};

} // namespace

std::unique_ptr<Skill> makeAtomicsPrivatization() {
    return std::make_unique<AtomicsPrivatization>();
}

} // namespace kernelskill::skills
