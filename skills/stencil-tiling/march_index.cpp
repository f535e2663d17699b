#include "skills/stencil-tiling/march_index.h"

#include "analysis/queries/feeds.h"
#include "analysis/queries/index_arithmetic.h"
#include "analysis/source/try.h"
#include "skills/base/gates.h"
#include "skills/gates/launch_sites.h"
#include "skills/gates/thread_position.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <optional>

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
    [[nodiscard]] const std::string& name() const { return body_.variable(found_.variable).name; }
    [[nodiscard]] std::uint32_t lineOf(ExprId expr) const {
        return lineNumber(context_, body_.expr(expr).span.begin);
    }

    /// The block's extent along the axis; nullopt if launches differ or do not tell.
    [[nodiscard]] std::optional<std::int64_t> extentOfBlocks() const {
        const auto blocks = launchedBlocks(context_);
        if (!blocks)
            return std::nullopt;
        const std::int64_t extent = blocks->front()[axis_];
        const bool isSame = std::ranges::all_of(
            *blocks, [&](const Extents& block) { return block[axis_] == extent; });
        return isSame ? std::optional(extent) : std::nullopt;
    }

    /// The block and the thread along the axis, a constant aside, numbered without a gap.
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
        const auto extent = extentOfBlocks();
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
                if (!value || !isPosition(*value) || !findBase(candidate.init, *value))
                    continue;
                found_.variable = variable;
                found_.statement = id;
                if (const auto blocks = editableBlockPositions(context_); !blocks)
                    return std::unexpected(blocks.error());
                if (const auto threads = editablePositions(context_); !threads)
                    return std::unexpected(threads.error());
                return requireOnlyPosition();
            }
        return refuse("no-axis", fmt::format("{} has no index blockIdx.{} * blockDim.{} + "
                                             "threadIdx.{}",
                                             kernel_.name, axisNames[axis_], axisNames[axis_],
                                             axisNames[axis_]));
    }

    /// The part of the initialiser that is multiplied: without `+ 1` at its end.
    [[nodiscard]] bool findBase(ExprId init, const IndexExpression& value) {
        const Expr& expr = body_.expr(init);
        if (!value.terms().contains({})) {
            found_.base = init;
            return true;
        }
        if (expr.kind != ExprKind::Binary || expr.op != "+" || expr.fromMacro)
            return false;
        for (const std::size_t side : {0U, 1U}) {
            const auto rest = polynomialOf(code_, expr.children[side]);
            if (!rest || !rest->asConstant() || rest->asConstant() != value.terms().at({}))
                continue;
            found_.base = expr.children[1 - side];
            return true;
        }
        return false;
    }

    /// Nothing but the index knows of the axis, other than through locals that feed it alone.
    Gated<void> requireOnlyPosition() const {
        for (ExprId id = 0; id < body_.exprs.size(); ++id) {
            const Expr& expr = body_.expr(id);
            if (expr.kind == ExprKind::BuiltinIndex && expr.axis == axis_ &&
                !onlyFeeds(code_, id, found_.variable))
                return refuse("uses-thread-position",
                              fmt::format("line {} uses {}.{} beside {}", lineOf(id), expr.name,
                                          axisNames[axis_], name()));
        }
        return {};
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
