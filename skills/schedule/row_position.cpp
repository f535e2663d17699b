#include "skills/schedule/row_position.h"

#include "analysis/queries/launch_extents.h"
#include "analysis/source/gpu_constants.h"
#include "analysis/source/try.h"
#include "skills/base/gates.h"
#include "skills/gates/launch_sites.h"
#include "skills/schedule/draft.h"
#include "skills/schedule/position_numbers.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <optional>
#include <set>

namespace kernelskill::skills {

using namespace analysis;

namespace {

constexpr Symbol widthX{SymbolKind::BlockDim, 0};
constexpr Symbol gridX{SymbolKind::GridDim, 0};

bool isPositionAlongX(const Expr& expr) {
    return expr.kind == ExprKind::BuiltinIndex && expr.axis == 0;
}

class PositionReader {
public:
    explicit PositionReader(const SkillContext& context)
        : context_(context), code_(context.code()), body_(code_.body()),
          layout_(*context.file.source, context.kernel) {
        if (const auto blocks = launchedBlocks(context)) {
            blockWidth_ = blocks->front()[0];
            for (const Extents& block : *blocks) {
                if (block[0] != *blockWidth_)
                    blockWidth_ = std::nullopt;
                found_.isAxisShared |= block[1] > 1 || block[2] > 1;
                if (!blockWidth_)
                    break;
            }
        }
    }

    Gated<RowPosition> find() {
        KERNELSKILL_CHECK(collect());
        KERNELSKILL_CHECK(requireNumbers());
        if (usesConstantWidth_)
            KERNELSKILL_CHECK(takeConstantWidths());
        findSums();
        findDeclaration();
        return std::move(found_);
    }

private:
    [[nodiscard]] std::uint32_t line(ExprId id) const {
        return lineNumber(context_, body_.expr(id).span.begin);
    }

    Gated<void> collect() {
        for (ExprId id = 0; id < body_.exprs.size(); ++id) {
            const Expr& expr = body_.expr(id);
            if (!isPositionAlongX(expr))
                continue;
            if (expr.name != "threadIdx" && expr.name != "blockDim")
                continue;
            const std::string_view text = context_.file.source->slice(expr.span);
            if (expr.fromMacro || !text.starts_with(expr.name) || !text.ends_with('x'))
                return refuse("from-macro",
                              fmt::format("line {} uses {} in a macro", line(id), expr.name));
            (expr.name == "threadIdx" ? found_.threads : found_.widths).push_back(id);
        }
        if (found_.threads.empty())
            return refuse("no-row-index",
                          fmt::format("{} does not ask for threadIdx.x", context_.kernel.name));
        const auto place = [&](ExprId id) { return body_.expr(id).span.begin; };
        std::ranges::sort(found_.threads, {}, place);
        std::ranges::sort(found_.widths, {}, place);
        return {};
    }

    Gated<void> requireNumbers() {
        const auto isNumber = [&](const IndexExpression& value) { return takeNumber(value); };
        const auto other = PositionUses(code_, 0, isNumber).firstOtherUse();
        if (!other)
            return {};
        return refuse("uses-thread-position",
                      fmt::format("line {} uses {} other than for the thread's number in the grid",
                                  line(*other),
                                  context_.file.source->slice(body_.expr(*other).span)));
    }

    /// Whether the value is by the thread's number alone. It may be so with a constant in the place
    /// of blockDim.x if all blocks have that width, which is noted.
    bool takeNumber(const IndexExpression& value) {
        if (isByNumberAlone(byNumber(value, 0, IndexExpression::symbol(widthX)), 0))
            return true;
        const bool hasWidth = value.dependsOn(widthX) || value.dependsOn(gridX);
        const bool isNumber =
            blockWidth_ && !hasWidth &&
            isByNumberAlone(byNumber(value, 0, IndexExpression::constant(*blockWidth_)), 0);
        usesConstantWidth_ |= isNumber;
        return isNumber;
    }

    /// Takes the constants that blockIdx.x is multiplied by as widths.
    Gated<void> takeConstantWidths() {
        for (ExprId id = 0; id < body_.exprs.size(); ++id) {
            const Expr& expr = body_.expr(id);
            if (expr.kind != ExprKind::BuiltinIndex || expr.name != "blockIdx" || expr.axis != 0)
                continue;
            ExprId at = id;
            while (code_.parent(at) != noId && body_.expr(code_.parent(at)).kind == ExprKind::Cast)
                at = code_.parent(at);
            const ExprId product = code_.parent(at);
            const bool isProduct = product != noId &&
                                   body_.expr(product).kind == ExprKind::Binary &&
                                   body_.expr(product).op == "*";
            const ExprId width = !isProduct ? noId
                                 : body_.expr(product).children[0] == at
                                     ? body_.expr(product).children[1]
                                     : body_.expr(product).children[0];
            if (width == noId || code_.constantValue(width) != blockWidth_ ||
                *blockWidth_ % warpLanes != 0)
                return refuse("uses-thread-position",
                              fmt::format("line {} uses blockIdx.x other than in a product with "
                                          "the width of a block",
                                          line(id)));
            found_.widths.push_back(width);
        }
        return {};
    }

    void findSums() {
        std::set<ExprId> left(found_.threads.begin(), found_.threads.end());
        left.insert(found_.widths.begin(), found_.widths.end());
        for (const ExprId thread : found_.threads) {
            const ExprId sum = parentOf(thread);
            if (sum == noId || body_.expr(sum).kind != ExprKind::Binary ||
                body_.expr(sum).op != "+" || body_.expr(sum).fromMacro)
                break;
            const auto isThread = [&](ExprId id) { return code_.withoutCasts(id) == thread; };
            const std::vector<ExprId>& terms = body_.expr(sum).children;
            const ExprId product = code_.withoutCasts(isThread(terms[0]) ? terms[1] : terms[0]);
            if (body_.expr(product).kind != ExprKind::Binary || body_.expr(product).op != "*")
                break;
            for (const int side : {0, 1}) {
                const ExprId width = code_.withoutCasts(body_.expr(product).children[side]);
                if (std::ranges::find(found_.widths, width) == found_.widths.end())
                    continue;
                found_.sums.push_back({sum, body_.expr(product).children[1 - side]});
                left.erase(thread);
                left.erase(width);
                break;
            }
        }
        if (!left.empty())
            found_.sums.clear();
    }
    [[nodiscard]] ExprId parentOf(ExprId id) const {
        id = code_.parent(id);
        while (id != noId && body_.expr(id).kind == ExprKind::Cast)
            id = code_.parent(id);
        return id;
    }

    void findDeclaration() {
        for (const StmtId id : body_.stmt(body_.root).children) {
            const Stmt& stmt = body_.stmt(id);
            if (stmt.kind != StmtKind::Declaration || !hasOwnLines(body_, layout_, id, id))
                continue;
            if (std::ranges::any_of(found_.threads,
                                    [&](ExprId thread) { return code_.holds(id, thread); })) {
                found_.declaration = id;
                return;
            }
        }
    }

    const SkillContext& context_;
    const CodeMap& code_;
    const FunctionBody& body_;
    SourceLayout layout_;
    std::optional<std::int64_t> blockWidth_; ///< Of all launches.
    bool usesConstantWidth_ = false;
    RowPosition found_;
};

} // namespace

Gated<RowPosition> rowPosition(const SkillContext& context) {
    return context.held<Gated<RowPosition>>(nullptr,
                                            [&] { return PositionReader(context).find(); });
}

} // namespace kernelskill::skills
