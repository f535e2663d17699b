/// Updates a table of the block in shared memory, and global memory once a block.
#include "analysis/compile/data_centre_gpu.h"
#include "analysis/source/gpu_constants.h"
#include "skills/atomics-privatization/privatization_edits.h"
#include "skills/atomics-privatization/table_updates.h"
#include "skills/base/planned_skill.h"
#include "skills/gates/launch_sites.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

namespace kernelskill::skills {

using namespace analysis;

namespace {

/// About how many elements a thread handles, where it handled one before. 0: usualElements.
enum class Elements : int {};

constexpr int usualElements = 8;
/// A large grid pays for a table in each of its blocks, unless few of them remain.
constexpr std::array otherElements = {64, 512};

int countOf(Elements elements) {
    const int count = static_cast<int>(elements);
    return count == 0 ? usualElements : count;
}

std::int64_t sectorsOf(const TableUpdates& updates, std::uint32_t elementSize) {
    return (updates.table.entries * elementSize + sectorBytes - 1) / sectorBytes;
}

/// Says how many updates reach global memory before and after.
std::string comparison(const TableUpdates& updates, std::uint32_t elementSize, int elements) {
    const std::int64_t threads = updates.launched.most;
    const std::string before =
        updates.isRepeated ? "an atomic on global memory for every update of every thread"
        : threads == 0     ? "an atomic on global memory from every thread"
        : updates.elementwise
            ? fmt::format("{} atomics on global memory from {} blocks of {} threads",
                          updatesOfBlock(updates, elements), elements, threads)
            : fmt::format("{} atomics on global memory from a block of {} threads",
                          updatesOfBlock(updates, elements), threads);
    return fmt::format("{}, at most {} neighbouring elements in {} sectors {} after", before,
                       updates.table.entries, sectorsOf(updates, elementSize),
                       updates.elementwise ? "from one block with as much work" : "a block");
}

std::optional<ExpectedGain> gainOf(const TableUpdates& updates, std::uint32_t elementSize,
                                   int elements) {
    if (updates.isRepeated || updates.launched.most == 0)
        return std::nullopt;
    const std::int64_t before = updatesOfBlock(updates, elements);
    const std::int64_t after = std::max<std::int64_t>(1, sectorsOf(updates, elementSize));
    if (after >= before)
        return std::nullopt;
    return ExpectedGain{static_cast<double>(before) / static_cast<double>(after),
                        fmt::format("{} updates become {} at the L2 cache, if they take all the "
                                    "time and no two of a warp are combined before",
                                    before, after)};
}

class AtomicsPrivatizationSkill : public VariedSkill<TableUpdates, Elements> {
    Gated<TableUpdates> plan(const SkillContext& context) const override {
        return findTableUpdates(context, context.code());
    }

    Gated<std::vector<Offer>> offers(const SkillContext& context,
                                     const TableUpdates& updates) const override {
        std::vector<Offer> all{offer(context, updates, Elements{})};
        if (!updates.elementwise)
            return all;
        const auto blocks = fewestKnownBlocks(context);
        for (const int elements : otherElements)
            if (!blocks || *blocks / elements >= DataCentreGpu::multiprocessors)
                all.push_back(offer(context, updates, Elements{elements}));
        return all;
    }

    Offer offer(const SkillContext& context, const TableUpdates& updates, Elements elements) const {
        const FunctionBody& body = context.kernel.body;
        const Variable& base = body.variable(updates.base);
        const bool isFloating =
            updates.scalar == ScalarKind::Float || updates.scalar == ScalarKind::Double;
        Offer offer = newOffer(context, body.expr(updates.sites.front().call).span, elements);
        offer.title = fmt::format("Update {} through a table in shared memory{}", base.name,
                                  !updates.elementwise ? ""
                                  : elements == Elements{}
                                      ? ", several elements a thread"
                                      : fmt::format(", {} elements a thread", countOf(elements)));
        const std::uint32_t elementSize = base.type.elementSize > 0 ? base.type.elementSize : 4;
        offer.why = fmt::format("{} on line {} updates {}: {}", updates.function,
                                lineNumber(context, offer.anchor.begin), base.name,
                                comparison(updates, elementSize, countOf(elements)));
        offer.gain = gainOf(updates, elementSize, countOf(elements));
        offer.numerics = isFloating ? Numerics::Reassociates : Numerics::Exact;
        return offer;
    }

    GatedEdits editsFor(const SkillContext& context, const TableUpdates& updates,
                        Elements elements) const override {
        return privatizationEdits(context, context.code(), updates, countOf(elements));
    }
};

} // namespace

KERNELSKILL_SKILL(AtomicsPrivatizationSkill)

} // namespace kernelskill::skills
