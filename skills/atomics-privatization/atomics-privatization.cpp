/// Updates a table of the block in shared memory, and global memory once a block.
#include "analysis/source/gpu_constants.h"
#include "skills/atomics-privatization/privatization_edits.h"
#include "skills/atomics-privatization/table_updates.h"
#include "skills/base/planned_skill.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <optional>

namespace kernelskill::skills {

using namespace analysis;

namespace {

std::int64_t sectorsOf(const TableUpdates& updates, std::uint32_t elementSize) {
    return (updates.table.entries * elementSize + sectorBytes - 1) / sectorBytes;
}

/// Says how many updates reach global memory before and after.
std::string comparison(const TableUpdates& updates, std::uint32_t elementSize) {
    const std::int64_t threads = updates.launched.most;
    const std::string before =
        updates.isRepeated ? "an atomic on global memory for every update of every thread"
        : threads == 0     ? "an atomic on global memory from every thread"
        : updates.elementwise
            ? fmt::format("{} atomics on global memory from {} blocks of {} threads",
                          updatesOfBlock(updates), elementsPerThread, threads)
            : fmt::format("{} atomics on global memory from a block of {} threads",
                          updatesOfBlock(updates), threads);
    return fmt::format("{}, at most {} neighbouring elements in {} sectors {} after", before,
                       updates.table.entries, sectorsOf(updates, elementSize),
                       updates.elementwise ? "from one block with as much work" : "a block");
}

std::optional<ExpectedGain> gainOf(const TableUpdates& updates, std::uint32_t elementSize) {
    if (updates.isRepeated || updates.launched.most == 0)
        return std::nullopt;
    const std::int64_t before = updatesOfBlock(updates);
    const std::int64_t after = std::max<std::int64_t>(1, sectorsOf(updates, elementSize));
    if (after >= before)
        return std::nullopt;
    return ExpectedGain{static_cast<double>(before) / static_cast<double>(after),
                        fmt::format("{} updates become {} at the L2 cache, if they take all the "
                                    "time and no two of a warp are combined before",
                                    before, after)};
}

class AtomicsPrivatizationSkill : public PlannedSkill<TableUpdates> {
    Gated<TableUpdates> plan(const SkillContext& context) const override {
        return findTableUpdates(context, context.code());
    }

    Gated<Offer> offer(const SkillContext& context, const TableUpdates& updates) const override {
        const FunctionBody& body = context.kernel.body;
        const Variable& base = body.variable(updates.base);
        const bool isFloating =
            updates.scalar == ScalarKind::Float || updates.scalar == ScalarKind::Double;
        Offer offer = newOffer(context, body.expr(updates.sites.front().call).span);
        offer.title = fmt::format("Update {} through a table in shared memory{}", base.name,
                                  updates.elementwise ? ", several elements a thread" : "");
        const std::uint32_t elementSize = base.type.elementSize > 0 ? base.type.elementSize : 4;
        offer.why = fmt::format("{} on line {} updates {}: {}", updates.function,
                                lineNumber(context, offer.anchor.begin), base.name,
                                comparison(updates, elementSize));
        offer.gain = gainOf(updates, elementSize);
        offer.numerics = isFloating ? Numerics::Reassociates : Numerics::Exact;
        return offer;
    }

    GatedEdits edits(const SkillContext& context, const TableUpdates& updates) const override {
        return privatizationEdits(context, context.code(), updates);
    }
};

} // namespace

KERNELSKILL_SKILL(AtomicsPrivatizationSkill)

} // namespace kernelskill::skills
