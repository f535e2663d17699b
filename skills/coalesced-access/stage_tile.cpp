#include "analysis/queries/code_map.h"
#include "analysis/queries/guarded_work.h"
#include "analysis/queries/launch_extents.h"
#include "analysis/queries/source_layout.h"
#include "analysis/source/try.h"
#include "skills/base/gates.h"
#include "skills/coalesced-access/coalescing_rewrite.h"
#include "skills/editing/code_lines.h"
#include "skills/gates/launch_sites.h"
#include "skills/gates/thread_position.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <set>

namespace kernelskill::skills {

using namespace analysis;

namespace {

/// The element type of a pointer, as written.
std::string elementType(const Type& pointer) {
    std::string text = pointer.spelling.substr(0, pointer.spelling.find('*'));
    while (text.ends_with(' '))
        text.pop_back();
    return text;
}

class TileStaging {
public:
    explicit TileStaging(const SkillContext& context)
        : context_(context), kernel_(context.kernel), code_(context.code()), body_(code_.body()),
          source_(*context.file.source), layout_(source_, kernel_) {}

    FoundRewrite find() {
        if (!kernel_.sharedArrays.empty() || !kernel_.barriers.empty() || !kernel_.loops.empty() ||
            !kernel_.atomics.empty())
            return refuse("other-shape", "more than a guarded copy");
        if (!usesThread(body_, 0) || !usesThread(body_, 1) || !findCopy())
            return refuse("other-shape", "no single guarded store");
        CoalescingRewrite rewrite;
        if (auto turned = chooseSide({32, 32, 1}, rewrite);
            !turned || rewrite.after.sectors > 1.5 * rewrite.after.least)
            return refuse("other-shape", "loads and stores do not run across each other");
        KERNELSKILL_TRY(const auto blocks, launchedBlocks(context_));
        side_ = blocks.front()[0];
        for (const Extents& block : blocks)
            if (block != Extents{side_, side_, 1} || side_ < 8)
                return refuse("block-not-square",
                              fmt::format("blocks of {} x {} threads: a tile that is read across "
                                          "needs as many rows as columns, at least 8",
                                          block[0], block[1]));
        KERNELSKILL_CHECK(chooseSide(blocks.front(), rewrite));
        KERNELSKILL_TRY(auto positions, editablePositions(context_));
        positions_ = positions;
        KERNELSKILL_CHECK(findAcross());
        KERNELSKILL_CHECK(requireKnownLaunches(context_));
        rewrite.anchor = body_.stmt(guard_).span;
        rewrite.title =
            fmt::format("Stage a {0} x {0} tile of {1} in shared memory", side_, kernel_.name);
        rewrite.why = fmt::format(
            "{} on line {} go across: {:.1f} sectors a request on average, and {:.1f} if a tile "
            "turns them",
            storesAcross_ ? "the stores" : "the loads",
            lineNumber(context_, body_.stmt(store_).span.begin),
            rewrite.before.sectors / rewrite.before.requests,
            rewrite.after.sectors / rewrite.after.requests);
        rewrite.edits = edits();
        return rewrite;
    }

private:
    /// `if (x < w && y < h) out[...] = ...;` or the same behind an early return, as the last
    /// statements of the kernel.
    bool findCopy() {
        const auto guarded = findGuardedWork(*context_.file.source, code_);
        if (!guarded)
            return false;
        guard_ = guarded->guard;
        returnsEarly_ = guarded->returnsEarly;
        std::vector<StmtId> work = guarded->work;
        store_ = work.back();
        work.pop_back();
        locals_ = work;
        for (const StmtId id : locals_)
            if (body_.stmt(id).kind != StmtKind::Declaration || body_.stmt(id).fromMacro)
                return false;
        const Stmt& store = body_.stmt(store_);
        if (store.kind != StmtKind::Expression || store.fromMacro ||
            body_.expr(store.expr).fromMacro)
            return false;
        const Expr& assignment = body_.expr(store.expr);
        if (assignment.kind != ExprKind::Binary || !isAssignment(assignment.op))
            return false;
        const auto writes = std::ranges::count_if(kernel_.accesses, [](const MemoryAccess& a) {
            return a.kind != AccessKind::Read && a.space != MemorySpace::Local;
        });
        target_ = assignment.children[0];
        value_ = assignment.children[1];
        const auto access = std::ranges::find_if(kernel_.accesses, [&](const MemoryAccess& a) {
            return a.kind != AccessKind::Read &&
                   code_.withoutCasts(a.expression) == code_.withoutCasts(target_);
        });
        if (writes != 1 || access == kernel_.accesses.end() || access->base == noId ||
            body_.variable(access->base).type.pointerDepth != 1)
            return false;
        base_ = access->base;
        return std::ranges::none_of(body_.exprs, [&](const Expr& expr) {
            return expr.kind == ExprKind::Unary &&
                   (expr.op.ends_with("++") || expr.op.ends_with("--"));
        });
    }

    /// Whether loads or stores are made by the exchanged threads.
    Gated<void> chooseSide(const Extents& block, CoalescingRewrite& rewrite) {
        const LaneSymbols lanes = lanesOfBlock(block);
        const LaneSymbols across = [lanes](int lane) {
            std::map<Symbol, std::int64_t> values = lanes(lane);
            std::swap(values[{SymbolKind::ThreadIdx, 0}], values[{SymbolKind::ThreadIdx, 1}]);
            return values;
        };
        const WarpTraffic turnedStores =
            loadTraffic(context_, lanes) + storeTraffic(context_, across);
        const WarpTraffic turnedLoads =
            loadTraffic(context_, across) + storeTraffic(context_, lanes);
        storesAcross_ = turnedStores.sectors <= turnedLoads.sectors;
        rewrite.before = warpTraffic(context_, lanes);
        rewrite.after = storesAcross_ ? turnedStores : turnedLoads;
        if (rewrite.after.sectors >= rewrite.before.sectors)
            return refuse("other-shape", "turning a tile would touch no fewer sectors");
        return {};
    }

    /// The locals that the exchanged threads work out anew: all that hold a thread's position and
    /// that their part of the work, or the guard, needs.
    Gated<void> findAcross() {
        std::vector<ExprId> open = code_.expressionsBelow(body_.stmt(guard_).condition);
        const auto need = [&](ExprId expr) {
            const auto below = code_.expressionsBelow(expr);
            open.insert(open.end(), below.begin(), below.end());
        };
        need(storesAcross_ ? target_ : value_);
        if (!storesAcross_)
            for (const StmtId id : locals_)
                for (const VariableId local : body_.stmt(id).declared)
                    if (body_.variable(local).init != noId)
                        need(body_.variable(local).init);
        std::set<VariableId> seen;
        while (!open.empty()) {
            const Expr expr = body_.expr(open.back());
            open.pop_back();
            if (expr.kind != ExprKind::Variable || expr.variable == noId ||
                body_.variable(expr.variable).storage != Storage::Local ||
                !seen.insert(expr.variable).second)
                continue;
            const VariableId local = expr.variable;
            const StmtId declaration = code_.declarationOf(local);
            const bool isInWork = std::ranges::find(locals_, declaration) != locals_.end();
            if (isInWork && !storesAcross_)
                continue; // moves with the loads
            if (declaration == noId || body_.variable(local).init == noId ||
                code_.isEverWritten(local) || isInWork || body_.stmt(declaration).fromMacro)
                return refuse("place-not-recomputable",
                              fmt::format("{} takes part in the address on line {} and is not an "
                                          "index that is computed once",
                                          body_.variable(local).name,
                                          lineNumber(context_, body_.stmt(store_).span.begin)));
            need(body_.variable(local).init);
        }
        for (const StmtId id : body_.stmt(body_.root).children) {
            if (id == guard_)
                break;
            for (const VariableId local : body_.stmt(id).declared)
                if (seen.contains(local) && dependsOnThread(body_.variable(local).init))
                    across_.push_back(local);
        }
        for (const VariableId local : across_)
            for (const ExprId use : code_.uses(local))
                if (body_.expr(use).fromMacro)
                    return refuse("from-macro",
                                  fmt::format("line {} uses {} inside a macro",
                                              lineNumber(context_, body_.expr(use).span.begin),
                                              body_.variable(local).name));
        return {};
    }

    [[nodiscard]] bool dependsOnThread(ExprId init) const {
        return std::ranges::any_of(code_.expressionsBelow(init), [&](ExprId id) {
            const Expr& expr = body_.expr(id);
            return (expr.kind == ExprKind::BuiltinIndex && expr.name == "threadIdx") ||
                   (expr.kind == ExprKind::Variable &&
                    std::ranges::find(across_, expr.variable) != across_.end());
        });
    }

    /// The text of `span` as the exchanged threads need it.
    [[nodiscard]] std::string acrossText(Span span) const {
        std::vector<TextEdit> parts = exchangedThreads(body_, positions_, span);
        for (const VariableId local : across_)
            for (const ExprId use : code_.uses(local))
                if (span.contains(body_.expr(use).span))
                    parts.push_back({body_.expr(use).span, acrossName(local)});
        return rewritten(source_, span, std::move(parts));
    }

    [[nodiscard]] std::string acrossName(VariableId local) const {
        return freshName(body_, body_.variable(local).name + "Across");
    }

    [[nodiscard]] std::string textOf(Span span, bool isAcross) const {
        return isAcross ? acrossText(span) : std::string(source_.slice(span));
    }

    /// The condition under which a thread works.
    [[nodiscard]] std::string condition(ExprId id, bool isAcross) const {
        const Expr& expr = body_.expr(id);
        if (!returnsEarly_)
            return textOf(expr.span, isAcross);
        if (expr.kind == ExprKind::Binary && (expr.op == "||" || expr.op == "&&")) {
            // Operands that need brackets are not split further.
            const bool isPlain = std::ranges::all_of(expr.children, [&](ExprId child) {
                const Expr& part = body_.expr(child);
                return part.op == expr.op || !oppositeComparison(body_, part).empty();
            });
            if (isPlain)
                return fmt::format("{} {} {}", condition(expr.children[0], isAcross),
                                   expr.op == "||" ? "&&" : "||",
                                   condition(expr.children[1], isAcross));
        }
        if (!oppositeComparison(body_, expr).empty())
            return fmt::format("{} {} {}", textOf(body_.expr(expr.children[0]).span, isAcross),
                               oppositeComparison(body_, expr),
                               textOf(body_.expr(expr.children[1]).span, isAcross));
        return fmt::format("!({})", textOf(expr.span, isAcross));
    }

    [[nodiscard]] std::vector<TextEdit> edits() const {
        const std::string tile = freshName(body_, "tile");
        const std::string in = tile + "[threadIdx.y][threadIdx.x]";
        const std::string out = tile + "[threadIdx.x][threadIdx.y]";
        const Stmt& guard = body_.stmt(guard_);
        const Span replaced{guard.span.begin, body_.stmt(store_).span.end > guard.span.end
                                                  ? body_.stmt(store_).span.end
                                                  : guard.span.end};
        CodeLines lines(layout_, layout_.indentation(guard.span.begin));
        const auto declareAcross = [&] {
            for (const VariableId local : across_) {
                const Variable& variable = body_.variable(local);
                const std::string type = variable.type.spelling.starts_with("const ")
                                             ? variable.type.spelling
                                             : "const " + variable.type.spelling;
                lines.add(fmt::format("{} {} = {};", type, acrossName(local),
                                      acrossText(body_.expr(variable.init).span)));
            }
        };
        for (const std::string& comment : commentsIn(source_, replaced))
            lines.add(comment);
        lines.add(fmt::format("__shared__ {} {}[{}][{} + 1];",
                              elementType(body_.variable(base_).type), tile, side_, side_));
        const bool loadsAcross = !storesAcross_;
        if (loadsAcross)
            declareAcross();
        lines.open(fmt::format("if ({}){}", condition(guard.condition, loadsAcross),
                               locals_.empty() ? "" : " {"));
        for (const StmtId id : locals_) {
            const Span span = body_.stmt(id).span;
            lines.addBlock(textOf(span, loadsAcross), layout_.indentation(span.begin));
        }
        lines.addBlock(fmt::format("{} = {};", in, textOf(body_.expr(value_).span, loadsAcross)),
                       layout_.indentation(body_.stmt(store_).span.begin));
        if (locals_.empty())
            lines.leave();
        else
            lines.close();
        lines.add("__syncthreads();");
        if (storesAcross_)
            declareAcross();
        lines.open(fmt::format("if ({})", condition(guard.condition, storesAcross_)));
        lines.add(fmt::format("{} {} {};", textOf(body_.expr(target_).span, storesAcross_),
                              body_.expr(body_.stmt(store_).expr).op, out));
        std::string text = lines.text();
        text.resize(text.size() - layout_.newline().size());
        text.erase(0, layout_.indentation(guard.span.begin).size());
        return {{replaced, std::move(text)}};
    }

    const SkillContext& context_;
    const KernelModel& kernel_;
    const CodeMap& code_;
    const FunctionBody& body_;
    const SourceText& source_;
    SourceLayout layout_;
    StmtId guard_ = noId;
    StmtId store_ = noId;
    ExprId target_ = noId;
    ExprId value_ = noId;
    VariableId base_ = noId;
    bool returnsEarly_ = false;
    bool storesAcross_ = true;
    std::int64_t side_ = 0;
    std::vector<StmtId> locals_;
    std::vector<ExprId> positions_;
    std::vector<VariableId> across_; ///< In the order of their declarations.
};

} // namespace

FoundRewrite stageTile(const SkillContext& context) {
    return TileStaging(context).find();
}

} // namespace kernelskill::skills
