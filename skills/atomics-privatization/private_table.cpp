#include "skills/atomics-privatization/private_table.h"

#include "analysis/queries/stated_lengths.h"
#include "analysis/queries/value_range.h"
#include "analysis/source/gpu_constants.h"
#include "analysis/source/try.h"
#include "skills/base/gates.h"
#include "skills/editing/replaced_statement.h"
#include "skills/gates/launch_sites.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

namespace kernelskill::skills {

using namespace analysis;

namespace {

/// The shared memory that a block may have without asking for more, CUDA C++ Programming Guide,
/// technical specifications.
constexpr std::int64_t sharedBytesOfBlock = 48 * 1024;

/// Whether a table that starts with zeros changes no result.
bool startsAtZero(FoldKind fold) {
    return fold == FoldKind::Sum || fold == FoldKind::BitOr || fold == FoldKind::BitXor;
}

std::int64_t bytesOf(ScalarKind scalar) {
    const bool isWide =
        scalar == ScalarKind::Int64 || scalar == ScalarKind::UInt64 || scalar == ScalarKind::Double;
    return isWide ? 8 : 4;
}

class TableFinder {
public:
    TableFinder(const SkillContext& context, const CodeMap& code, const TableUpdates& updates)
        : context_(context), kernel_(context.kernel), code_(code), body_(code.body()),
          updates_(updates) {}

    Gated<PrivateTable> find() const {
        const std::string& name = body_.variable(updates_.base).name;
        if (!startsAtZero(updates_.fold))
            return refuse("table-not-a-sum",
                          fmt::format("{} on the elements of {} has no zero to start from",
                                      updates_.function, name));
        PrivateTable table;
        for (const UpdateSite& site : updates_.sites) {
            if (lanesAreApart(site))
                return refuse("lanes-apart",
                              fmt::format("neighbouring lanes update different elements of {} on "
                                          "line {}",
                                          name, line(site.call)));
            KERNELSKILL_TRY(PrivateTable reach, reachOf(site));
            const bool areLimitsEqual = table.entries == 0 || table.limit == reach.limit;
            reach.open.insert(reach.open.begin(), table.open.begin(), table.open.end());
            if (reach.entries > table.entries)
                table = std::move(reach);
            else
                table.open = std::move(reach.open);
            if (!areLimitsEqual || !table.open.empty())
                table.limit = table.extent;
        }
        return requireWorthIt(table);
    }

private:
    [[nodiscard]] std::uint32_t line(ExprId expr) const {
        return lineNumber(context_, body_.expr(expr).span.begin);
    }
    [[nodiscard]] std::string text(ExprId expr) const {
        return std::string(context_.file.source->slice(body_.expr(expr).span));
    }

    /// Returns `index` of `&base[index]` or `base + index`; noId for anything else.
    [[nodiscard]] ExprId indexOf(ExprId address) const {
        const Expr& at = body_.expr(address);
        if (at.kind == ExprKind::Unary && at.op == "&") {
            const Expr& element = body_.expr(at.children[0]);
            return element.kind == ExprKind::Subscript &&
                           code_.namedVariable(element.children[0]) == updates_.base
                       ? element.children[1]
                       : noId;
        }
        if (at.kind != ExprKind::Binary || at.op != "+" || at.children.size() != 2)
            return noId;
        if (code_.namedVariable(at.children[0]) == updates_.base)
            return at.children[1];
        return code_.namedVariable(at.children[1]) == updates_.base ? at.children[0] : noId;
    }

    [[nodiscard]] bool lanesAreApart(const UpdateSite& site) const {
        const auto atomic = std::ranges::find(kernel_.atomics, site.call, &Atomic::call);
        const auto features =
            std::ranges::find(context_.features.accesses, atomic->access, &AccessFeatures::access);
        return features != context_.features.accesses.end() && features->laneStride &&
               *features->laneStride != 0;
    }

    /// Returns a table for the elements of the base that this update can reach.
    [[nodiscard]] Gated<PrivateTable> reachOf(const UpdateSite& site) const {
        const Variable& base = body_.variable(updates_.base);
        if (base.storage == Storage::DeviceGlobal && base.type.arrayExtents.size() == 1 &&
            base.type.arrayExtents[0] > 0)
            return tableOf(base.type.arrayExtents[0]);
        const ExprId index = indexOf(site.address);
        if (index == noId)
            return refuse("unknown-table-size",
                          fmt::format("{} on line {} is not an element of {} by its index",
                                      text(site.address), line(site.call), base.name));
        const auto range = valueRangeOf(context_.kernel, code_, index);
        const bool isNatural = range && range->low >= 0;
        std::optional<PrivateTable> limited;
        for (const ExprId limit : guardLimits(code_, index))
            if (!limited)
                limited = namedLimit(limit);
        if (isNatural && limited)
            return *limited;
        if (isNatural && range->high < sharedBytesOfBlock / bytesOf(updates_.scalar))
            return tableOf(range->high + 1);
        if (auto open = limited ? limited : statedTable();
            open && range && mayBeOpen(site, index)) {
            open->open = {{site.call, index}};
            return *std::move(open);
        }
        if (!isNatural)
            return refuse("index-may-be-negative",
                          fmt::format("{} on line {} is not known to be at least 0, nor how many "
                                      "elements {} has",
                                      text(index), line(site.call), base.name));
        return refuse("unknown-table-size",
                      fmt::format("nothing near line {} keeps {} below what shared memory holds, "
                                  "nor is known how many elements {} has",
                                  line(site.call), text(index), base.name));
    }

    [[nodiscard]] static PrivateTable tableOf(std::int64_t entries) {
        const std::string text = std::to_string(entries);
        return {entries, text, text, {}};
    }

    /// Whether the update can be written twice, under a comparison of its index.
    [[nodiscard]] bool mayBeOpen(const UpdateSite& site, ExprId index) const {
        return !body_.expr(index).fromMacro && hasOwnPlace(context_, code_.statement(site.call));
    }

    /// Returns a table as long as the array that the launches pass, if the host code states that
    /// length: of several the largest that fits, else the smallest. nullopt if it states none.
    [[nodiscard]] std::optional<PrivateTable> statedTable() const {
        const auto parameter =
            std::ranges::find(kernel_.parameters, updates_.base, &Parameter::variable);
        const std::int64_t element = bytesOf(updates_.scalar);
        if (parameter == kernel_.parameters.end())
            return std::nullopt;
        const auto position = static_cast<std::size_t>(parameter - kernel_.parameters.begin());
        const std::int64_t room = (sharedBytesOfBlock - bytesTaken().value_or(0)) / element;
        std::optional<std::int64_t> best;
        for (const LaunchSite& launch : kernel_.launches) {
            if (launch.host >= context_.file.hostFunctions.size() ||
                position >= launch.arguments.size())
                continue;
            const auto bytes =
                statedBytes(context_.shared().host(launch.host), launch.arguments[position]);
            if (!bytes || *bytes < element)
                continue;
            const std::int64_t length = *bytes / element;
            const bool isBetter =
                best && (*best > room ? length < *best : length > *best && length <= room);
            if (!best || isBetter)
                best = length;
        }
        return best ? std::optional(tableOf(*best)) : std::nullopt;
    }

    /// The bytes of shared memory that the kernel has already; nullopt if that is not known.
    [[nodiscard]] std::optional<std::int64_t> bytesTaken() const {
        std::int64_t taken = 0;
        for (const SharedArray& array : kernel_.sharedArrays) {
            if (array.isDynamic || array.bytes == 0)
                return std::nullopt;
            taken += static_cast<std::int64_t>(array.bytes);
        }
        return taken;
    }

    /// Returns a table of `limit` elements if that is a constant, or a parameter for which every
    /// launch passes a constant.
    [[nodiscard]] std::optional<PrivateTable> namedLimit(ExprId limit) const {
        const Expr& expr = body_.expr(limit);
        if (const auto value = code_.constantValue(limit); value && *value > 0) {
            const VariableId named = code_.namedVariable(limit);
            const bool isConstant = named == noId || body_.variable(named).constantValue;
            const std::string extent = isConstant ? text(limit) : std::to_string(*value);
            return PrivateTable{*value, extent, extent, {}};
        }
        const auto parameter =
            std::ranges::find(kernel_.parameters, code_.namedVariable(limit), &Parameter::variable);
        if (parameter == kernel_.parameters.end() || expr.fromMacro ||
            code_.isEverWritten(parameter->variable) || kernel_.launches.empty() ||
            !requireKnownLaunches(context_))
            return std::nullopt;
        const auto position = static_cast<std::size_t>(parameter - kernel_.parameters.begin());
        std::int64_t largest = 0;
        for (const LaunchSite& launch : kernel_.launches) {
            if (position >= launch.arguments.size())
                return std::nullopt;
            const auto value =
                context_.shared().host(launch.host).constantValue(launch.arguments[position]);
            if (!value || *value <= 0)
                return std::nullopt;
            largest = std::max(largest, *value);
        }
        return PrivateTable{largest, std::to_string(largest), parameter->name, {}};
    }

    [[nodiscard]] Gated<PrivateTable> requireWorthIt(const PrivateTable& table) const {
        const Variable& base = body_.variable(updates_.base);
        const std::int64_t element = bytesOf(updates_.scalar);
        const auto taken = bytesTaken();
        if (!taken)
            return refuse(
                "shared-memory-taken",
                fmt::format("how much shared memory {} has left is not known", kernel_.name));
        // More than fits by itself need not be told exactly.
        const std::int64_t used = std::min(table.entries, sharedBytesOfBlock) * element + *taken;
        if (used > sharedBytesOfBlock)
            return refuse("table-too-large",
                          fmt::format("{} elements of {} and what {} has already take {} bytes of "
                                      "shared memory or more; a block has {}",
                                      table.entries, base.name, kernel_.name, used,
                                      sharedBytesOfBlock));
        // Worst case for the flush: every element, each sector of them once.
        const std::int64_t flushed = table.entries * element / analysis::sectorBytes;
        if (!updates_.isRepeated && updates_.launched.most > 0 &&
            flushed >= updates_.launched.most * static_cast<std::int64_t>(updates_.sites.size()))
            return refuse("table-larger-than-work",
                          fmt::format("a block of {} threads makes {} updates, and would add up to "
                                      "{} sectors of {} at its end",
                                      updates_.launched.most,
                                      updates_.launched.most *
                                          static_cast<std::int64_t>(updates_.sites.size()),
                                      flushed, base.name));
        return table;
    }

    const SkillContext& context_;
    const KernelModel& kernel_;
    const CodeMap& code_;
    const FunctionBody& body_;
    const TableUpdates& updates_;
};

} // namespace

Gated<PrivateTable> findPrivateTable(const SkillContext& context, const CodeMap& code,
                                     const TableUpdates& updates) {
    return TableFinder(context, code, updates).find();
}

} // namespace kernelskill::skills
