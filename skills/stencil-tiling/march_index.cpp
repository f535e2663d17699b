#include "skills/stencil-tiling/march_index.h"

#include "analysis/queries/index_arithmetic.h"
#include "analysis/source/try.h"
#include "skills/base/gates.h"
#include "skills/gates/thread_position.h"

#include <spdlog/fmt/fmt.h>

#include <array>

namespace kernelskill::skills {

using namespace analysis;

namespace {

constexpr std::array axisNames{'x', 'y', 'z'};

class MarchIndexFinder {
public:
    MarchIndexFinder(const SkillContext& context, std::uint8_t axis)
        : context_(context), kernel_(context.kernel), code_(context.code()), body_(code_.body()),
          axis_(axis) {}

    Gated<MarchIndex> find() {
        KERNELSKILL_CHECK(search());
        return found_;
    }

private:
    /// Whether the value numbers blocks and threads along the axis without a gap, from any constant
    /// that is not negative.
    [[nodiscard]] bool isPosition(const IndexExpression& value) const {
        const auto symbol = [&](SymbolKind kind) { return IndexExpression::symbol({kind, axis_}); };
        const auto isFrom = [&](const IndexExpression& first) {
            const auto rest = (value - first).asConstant();
            return rest && *rest >= 0;
        };
        const IndexExpression block = symbol(SymbolKind::BlockIdx);
        const IndexExpression thread = symbol(SymbolKind::ThreadIdx);
        if (isFrom(block * symbol(SymbolKind::BlockDim) + thread))
            return true;
        if (!value.dependsOn({SymbolKind::BlockIdx, axis_}))
            return false;
        const auto extent = commonBlockExtent(context_, axis_);
        if (!extent)
            return false;
        return isFrom(block * IndexExpression::constant(*extent) + thread) ||
               (*extent == 1 && isFrom(block));
    }

    Gated<void> search() {
        for (const StmtId id : body_.stmt(body_.root).children)
            for (const VariableId variable : body_.stmt(id).declared) {
                const Variable& candidate = body_.variable(variable);
                if (candidate.init == noId || !isIndexType(candidate.type) || candidate.fromMacro ||
                    code_.isEverWritten(variable) || body_.expr(candidate.init).fromMacro)
                    continue;
                const auto value = polynomialOf(code_, candidate.init);
                if (!value || !isPosition(*value))
                    continue;
                found_.base = withoutAddedConstant(code_, candidate.init);
                if (found_.base == noId)
                    continue;
                found_.variable = variable;
                found_.statement = id;
                if (const auto blocks = editableBlockPositions(context_); !blocks)
                    return std::unexpected(blocks.error());
                if (const auto threads = editablePositions(context_); !threads)
                    return std::unexpected(threads.error());
                return requireOnlyIndex(context_, code_, variable, axis_);
            }
        return refuse("no-axis", fmt::format("{} has no index blockIdx.{} * blockDim.{} + "
                                             "threadIdx.{}",
                                             kernel_.name, axisNames[axis_], axisNames[axis_],
                                             axisNames[axis_]));
    }

    const SkillContext& context_;
    const KernelModel& kernel_;
    const CodeMap& code_;
    const FunctionBody& body_;
    std::uint8_t axis_;
    MarchIndex found_;
};

} // namespace

Gated<MarchIndex> marchIndex(const SkillContext& context, std::uint8_t axis) {
    return MarchIndexFinder(context, axis).find();
}

} // namespace kernelskill::skills
