/// Updates a table of the block in shared memory, and global memory once a block.
#include "analysis/compile/data_centre_gpu.h"
#include "analysis/source/gpu_constants.h"
#include "analysis/syntax/scalar_bytes.h"
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

/// About how many elements a thread handles, where it handled one before, 0 for usualElements, and
/// `tablesOption` more if the lanes of a warp have several tables.
enum class TableChoice : int {};

constexpr int usualElements = 8;
/// A large grid pays for a table in each of its blocks, unless few of them remain.
constexpr std::array otherElements = {64, 512};
/// Lanes that differ by less use tables of their own: updates of one element by neighbours meet no
/// more, and tables side by side have banks of their own.
constexpr int lanesApart = 16;
constexpr int tablesOption = 10000;
/// A multiprocessor has room for several blocks with so much.
constexpr std::int64_t maxTableBytes = 32 << 10;

TableForm formOf(TableChoice choice) {
    const int elements = static_cast<int>(choice) % tablesOption;
    return {.elements = elements == 0 ? usualElements : elements,
            .tables = static_cast<int>(choice) < tablesOption ? 1 : lanesApart};
}

TableChoice withTables(TableChoice choice) {
    return TableChoice{static_cast<int>(choice) + tablesOption};
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

class AtomicsPrivatizationSkill : public VariedSkill<TableUpdates, TableChoice> {
    Gated<TableUpdates> plan(const SkillContext& context) const override {
        return findTableUpdates(context, context.code());
    }

    Gated<std::vector<Offer>> offers(const SkillContext& context,
                                     const TableUpdates& updates) const override {
        std::vector<TableChoice> choices{TableChoice{}};
        const auto blocks = fewestKnownBlocks(context);
        if (updates.elementwise)
            for (const int elements : otherElements)
                if (!blocks || *blocks / elements >= DataCentreGpu::multiprocessors)
                    choices.push_back(TableChoice{elements});
        if (mayHaveTables(context, updates))
            choices.push_back(withTables(choices.back()));
        std::vector<Offer> all;
        for (const TableChoice choice : choices)
            all.push_back(offer(context, updates, choice));
        return all;
    }

    /// Whether lanes can have tables of their own: the text names each element by its index.
    [[nodiscard]] static bool mayHaveTables(const SkillContext& context,
                                            const TableUpdates& updates) {
        const FunctionBody& body = context.kernel.body;
        const std::int64_t bytes = updates.table.entries * lanesApart * scalarBytes(updates.scalar);
        return updates.launched.isFlat && bytes <= maxTableBytes &&
               std::ranges::all_of(updates.sites, [&](const UpdateSite& site) {
                   return body.expr(site.address).kind == ExprKind::Unary;
               });
    }

    Offer offer(const SkillContext& context, const TableUpdates& updates,
                TableChoice choice) const {
        const TableForm form = formOf(choice);
        const FunctionBody& body = context.kernel.body;
        const Variable& base = body.variable(updates.base);
        const bool isFloating =
            updates.scalar == ScalarKind::Float || updates.scalar == ScalarKind::Double;
        Offer offer = newOffer(context, body.expr(updates.sites.front().call).span, choice);
        const std::string elements = !updates.elementwise ? ""
                                     : form.elements == usualElements
                                         ? ", several elements a thread"
                                         : fmt::format(", {} elements a thread", form.elements);
        offer.title = fmt::format(
            "Update {} through {} in shared memory{}", base.name,
            form.tables == 1 ? "a table" : fmt::format("{} tables", form.tables), elements);
        const std::uint32_t elementSize = base.type.elementSize > 0 ? base.type.elementSize : 4;
        offer.why = fmt::format("{} on line {} updates {}: {}", updates.function,
                                lineNumber(context, offer.anchor.begin), base.name,
                                comparison(updates, elementSize, form.elements));
        if (!updates.table.open.empty())
            offer.why += fmt::format("; an index that is not one of the {} elements updates {} as "
                                     "before",
                                     updates.table.entries, base.name);
        offer.gain = gainOf(updates, elementSize, form.elements);
        offer.numerics = isFloating ? Numerics::Reassociates : Numerics::Exact;
        return offer;
    }

    GatedEdits editsFor(const SkillContext& context, const TableUpdates& updates,
                        TableChoice choice) const override {
        return privatizationEdits(context, context.code(), updates, formOf(choice));
    }
};

} // namespace

KERNELSKILL_SKILL(AtomicsPrivatizationSkill)

} // namespace kernelskill::skills
