#include "skills/hierarchical-scan/thread_guard.h"

#include "analysis/queries/index_arithmetic.h"
#include "analysis/queries/source_layout.h"
#include "analysis/queries/source_words.h"
#include "analysis/source/gpu_constants.h"
#include "analysis/source/try.h"
#include "skills/base/gates.h"
#include "skills/gates/aliasing.h"
#include "skills/gates/launch_sites.h"
#include "skills/schedule/draft.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

namespace kernelskill::skills {

using namespace analysis;

namespace {

/// Finds the loops of the region, whether they touch fewer sectors or not: one lane worked alone.
Gated<SharedLoops> loopsOf(const SkillContext& context, StmtId region) {
    const LoopGate anyLoop = [](NestNodeId) { return Gated<void>{}; };
    return sharedLoops(context, anyLoop, {.scans = LoopScans::Allowed, .region = region});
}

class GuardFinder {
public:
    explicit GuardFinder(const SkillContext& context)
        : context_(context), code_(context.code()), body_(code_.body()),
          nest_(context.shared().nest()) {}

    Gated<ThreadWork> find() const {
        KERNELSKILL_CHECK(requireEditable(context_));
        Refusal refusal{"no-thread-guard",
                        fmt::format("no part of {} is left to the first thread of a block",
                                    context_.kernel.name)};
        for (StmtId id = 0; id < body_.stmts.size(); ++id) {
            const auto guard = guardOf(id);
            if (!guard)
                continue;
            auto work = workUnder(*guard);
            if (work)
                return work;
            refusal = std::move(work.error());
        }
        return std::unexpected(std::move(refusal));
    }

private:
    /// Reads `if (threadIdx.x == 0 && ...) { ... }` without an else.
    [[nodiscard]] std::optional<ThreadGuard> guardOf(StmtId id) const {
        const Stmt& stmt = body_.stmt(id);
        const SourceLayout layout(*context_.file.source, context_.kernel);
        if (stmt.kind != StmtKind::If || stmt.children.size() != 1 || stmt.parent == noId ||
            body_.stmt(stmt.children[0]).kind != StmtKind::Compound ||
            body_.stmt(stmt.parent).kind != StmtKind::Compound || stmt.fromMacro ||
            !isWrittenAs(*context_.file.source, stmt.span, {"if"}) ||
            !hasOwnLines(body_, layout, id, id))
            return std::nullopt;
        ThreadGuard guard;
        guard.statement = id;
        std::vector<ExprId> parts{stmt.condition};
        while (!parts.empty()) {
            const ExprId part = parts.back();
            parts.pop_back();
            const Expr& expr = body_.expr(part);
            if (expr.kind == ExprKind::Binary && expr.op == "&&") {
                parts.insert(parts.end(), expr.children.begin(), expr.children.end());
                continue;
            }
            const ExprId position = firstThread(expr);
            if (position != noId && guard.comparison == noId) {
                guard.comparison = part;
                guard.position = position;
            } else if (!isOfBlock(part)) {
                return std::nullopt;
            }
        }
        return guard.comparison == noId ? std::nullopt : std::optional(guard);
    }
    /// Returns `i` of `i == 0` if it is the thread's index in its block or in the grid; else noId.
    [[nodiscard]] ExprId firstThread(const Expr& expr) const {
        if (expr.kind != ExprKind::Binary || expr.op != "==" || expr.fromMacro)
            return noId;
        for (const int side : {0, 1}) {
            if (code_.constantValue(expr.children[1 - side]) != 0)
                continue;
            const auto value = polynomialOf(code_, expr.children[side]);
            if (value && (*value == IndexExpression::symbol({SymbolKind::ThreadIdx, 0}) ||
                          *value == flatThreadIndex()))
                return expr.children[side];
        }
        return noId;
    }
    /// Whether the comparison is made of block indices, extents and constants alone.
    [[nodiscard]] bool isOfBlock(ExprId part) const {
        const Expr& expr = body_.expr(part);
        return expr.kind == ExprKind::Binary && expr.children.size() == 2 &&
               std::ranges::all_of(expr.children, [&](ExprId child) {
                   const auto known = polynomialOf(code_, child);
                   return known && std::ranges::all_of(known->terms(), [](const auto& term) {
                              return std::ranges::all_of(term.first, [](Symbol symbol) {
                                  return symbol.kind == SymbolKind::BlockIdx ||
                                         symbol.kind == SymbolKind::GridDim ||
                                         symbol.kind == SymbolKind::BlockDim;
                              });
                          });
               });
    }

    [[nodiscard]] Gated<ThreadWork> workUnder(const ThreadGuard& guard) const {
        ThreadWork work;
        work.rows.guard = guard;
        auto shared = loopsOf(context_, guard.statement);
        if (shared && scannedLoop(*shared) != nullptr) {
            work.rows.shared = *std::move(shared);
            KERNELSKILL_CHECK(requireWarp());
            return work;
        }
        KERNELSKILL_CHECK(findCallee(work));
        if (work.callee == noId)
            return shared ? refuse("no-scan",
                                   fmt::format("the first thread of a block stores no running "
                                               "value in {}",
                                               context_.kernel.name))
                          : std::unexpected(std::move(shared.error()));
        KERNELSKILL_CHECK(requireWarp());
        return work;
    }

    /// Refuses unless every block is one-dimensional and consists of whole warps.
    [[nodiscard]] Gated<void> requireWarp() const {
        KERNELSKILL_CHECK(requireKnownLaunches(context_));
        KERNELSKILL_TRY(const auto blocks, launchedBlocks(context_));
        for (const Extents& block : blocks)
            if (block[0] % warpLanes != 0 || block[1] != 1 || block[2] != 1)
                return refuse("partial-warps",
                              fmt::format("blocks of {} x {} x {} threads do not begin with a "
                                          "whole warp of one row",
                                          block[0], block[1], block[2]));
        return {};
    }

    /// Finds a function that is called under the guard, as a statement of its own, and nowhere
    /// else.
    [[nodiscard]] Gated<void> findCallee(ThreadWork& work) const {
        const StmtId guard = work.rows.guard->statement;
        for (const NestFrame& frame : nest_.frames) {
            if (frame.caller != 0 || frame.call == noId || !code_.holds(guard, frame.call))
                continue;
            const KernelModel& function = context_.file.deviceFunctions.at(frame.function);
            const StmtId call = code_.statement(frame.call);
            if (body_.stmt(call).kind != StmtKind::Expression ||
                body_.stmt(call).expr != frame.call ||
                body_.stmt(call).parent != body_.stmt(guard).children[0] ||
                function.kind != FunctionKind::Device || function.fromMacro ||
                function.file != context_.file.file || !function.templateParameters.empty() ||
                callsOf(function.name) != 1)
                continue;
            work.callee = frame.function;
            return readCallee(work, call);
        }
        return {};
    }
    [[nodiscard]] std::size_t callsOf(const std::string& name) const {
        std::size_t calls = 0;
        for (const auto* functions : {&context_.file.kernels, &context_.file.deviceFunctions})
            for (const KernelModel& function : *functions)
                calls += static_cast<std::size_t>(
                    std::ranges::count_if(function.body.exprs, [&](const Expr& expr) {
                        return (expr.kind == ExprKind::Call && expr.name == name) ||
                               (expr.kind == ExprKind::Variable && expr.name == name);
                    }));
        return calls;
    }
    Gated<void> readCallee(ThreadWork& work, StmtId call) const {
        const SkillContext callee = calleeContext(context_, work);
        KERNELSKILL_TRY(work.called.shared, loopsOf(callee, callee.kernel.body.root));
        if (scannedLoop(work.called.shared) == nullptr)
            return refuse("no-scan",
                          fmt::format("no loop of {} stores a running value", callee.kernel.name));
        KERNELSKILL_CHECK(readBeside(work, call));
        KERNELSKILL_CHECK(requireDistinctWrites(context_));
        work.called.guard = ThreadGuard{};
        work.call = call;
        return {};
    }
    /// Requires that all lanes make the call with the same arguments. The statements beside it are
    /// left to one lane.
    [[nodiscard]] Gated<void> readBeside(ThreadWork& work, StmtId call) const {
        const SourceLayout layout(*context_.file.source, context_.kernel);
        const StmtId block = body_.stmt(work.rows.guard->statement).children[0];
        for (const StmtId id : code_.statementsOf(block)) {
            const Stmt& stmt = body_.stmt(id);
            if (!hasOwnLines(body_, layout, id, id) ||
                (id != call && (stmt.kind != StmtKind::Expression || changesLocals(id))))
                return refuse("row-memory",
                              fmt::format("line {} is not a store that one lane could make",
                                          lineNumber(context_, stmt.span.begin)));
            if (id != call)
                work.rows.shared.stores.push_back(id);
        }
        for (const ExprId argument : body_.expr(body_.stmt(call).expr).children)
            for (const ExprId id : code_.expressionsBelow(argument))
                if (!isOfLaunch(id))
                    return refuse("lanes-differ",
                                  fmt::format("{} on line {} may differ between the lanes of the "
                                              "warp",
                                              context_.file.source->slice(body_.expr(id).span),
                                              lineNumber(context_, body_.expr(id).span.begin)));
        return {};
    }
    [[nodiscard]] bool changesLocals(StmtId statement) const {
        const auto all = code_.expressionsIn(statement);
        return std::ranges::any_of(all, [&](ExprId id) {
            const Expr& expr = body_.expr(id);
            return expr.kind == ExprKind::Variable && expr.variable != noId && code_.isWrite(id) &&
                   body_.variable(expr.variable).storage != Storage::Shared;
        });
    }
    [[nodiscard]] bool isOfLaunch(ExprId id) const {
        const Expr& expr = body_.expr(id);
        if (expr.kind != ExprKind::Variable)
            return isPlainOperation(expr) ||
                   (expr.kind == ExprKind::BuiltinIndex && expr.name != "threadIdx");
        if (expr.variable == noId)
            return false;
        const Variable& variable = body_.variable(expr.variable);
        return variable.storage != Storage::Local && !code_.isEverWritten(expr.variable);
    }

    const SkillContext& context_;
    const CodeMap& code_;
    const FunctionBody& body_;
    const Nest& nest_;
};

} // namespace

Gated<ThreadWork> threadWork(const SkillContext& context) {
    return GuardFinder(context).find();
}

SkillContext calleeContext(const SkillContext& context, const ThreadWork& work) {
    return context.in(context.file.deviceFunctions.at(work.callee));
}

} // namespace kernelskill::skills
