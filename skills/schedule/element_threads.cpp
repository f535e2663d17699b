#include "skills/schedule/element_threads.h"

#include "analysis/nest/dependences.h"
#include "analysis/queries/grid_stride_loops.h"
#include "analysis/queries/launch_values.h"
#include "analysis/queries/loop_effects.h"
#include "analysis/queries/source_layout.h"
#include "analysis/queries/source_words.h"
#include "skills/base/gates.h"
#include "skills/editing/launch_text.h"
#include "skills/gates/elementwise_kernel.h"
#include "skills/gates/launch_sites.h"
#include "skills/gates/order_free.h"
#include "skills/gates/thread_position.h"
#include "skills/schedule/draft.h"
#include "skills/schedule/nest_queries.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

namespace kernelskill::skills {

using namespace analysis;

namespace {

constexpr std::string_view continued = "continue";

class ElementThreadWriter {
public:
    explicit ElementThreadWriter(const SkillContext& context)
        : context_(context), kernel_(context.kernel), code_(context.code()), body_(code_.body()),
          source_(*context.file.source), layout_(source_, context.kernel) {}

    std::vector<TextEdit> edits() {
        const auto loops = findGridStrideLoops(kernel_, code_);
        if (loops.size() != 1)
            return {};
        found_ = loops.front();
        loop_ = kernel_.loops[found_.loop].statement;
        if (!isAllOfKernel() || !hasEditableHead() || !areRoundsAlike() || !writeExits() ||
            !writeLaunches() || !areRoundsIndependent())
            return {};
        writeHead();
        removeUnused();
        return std::move(edits_);
    }

private:
    [[nodiscard]] const Stmt& stmt() const { return body_.stmt(loop_); }

    /// Whether nothing but declarations stands beside the loop.
    [[nodiscard]] bool isAllOfKernel() const {
        const std::vector<StmtId>& all = body_.stmt(body_.root).children;
        return stmt().parent == body_.root && all.back() == loop_ &&
               std::ranges::all_of(all, [&](StmtId id) {
                   return id == loop_ || body_.stmt(id).kind == StmtKind::Declaration;
               });
    }

    [[nodiscard]] bool hasEditableHead() const {
        const Variable& index = body_.variable(found_.index);
        const bool isNameKnown =
            std::ranges::count(body_.variables, index.name, &Variable::name) == 1;
        return !stmt().fromMacro && stmt().pragma.empty() &&
               isWrittenAs(source_, stmt().span, {"for"}) &&
               layout_.startsLine(stmt().span.begin) &&
               body_.stmt(stmt().init).declared.size() == 1 && isNameKnown &&
               !body_.expr(stmt().condition).fromMacro && !index.fromMacro &&
               source_.slice(index.declarationSpan).ends_with(';') && writesIndexInHeadAlone();
    }
    [[nodiscard]] bool writesIndexInHeadAlone() const {
        return std::ranges::none_of(code_.uses(found_.index), [&](ExprId use) {
            return code_.isWrite(use) && code_.statement(use) != loop_;
        });
    }

    /// Whether a round does the same in any thread of any grid.
    [[nodiscard]] bool areRoundsAlike() const {
        const std::vector<StmtId> work = code_.statementsOf(kernel_.loops[found_.loop].body);
        if (!requireKnownPositions(context_) || !requireIndependentWork(context_, code_, work) ||
            !requireNoRedundantThreads(context_))
            return false;
        for (const NestFrame& frame : context_.shared().nest().frames) {
            const FunctionBody& body = functionOf(context_.file, kernel_, frame).body;
            const bool isOwn = &body == &kernel_.body;
            if (std::ranges::any_of(body.exprs, [&](const Expr& expr) {
                    return expr.kind == ExprKind::BuiltinIndex &&
                           (isOwn ? expr.axis != 0 : expr.name != "blockDim");
                }))
                return false;
        }
        return std::ranges::all_of(body_.stmt(body_.root).children,
                                   [&](StmtId id) { return id == loop_ || declaresAlike(id); });
    }
    /// Whether what the statement declares is the same for all threads of all grids where rounds
    /// use it.
    [[nodiscard]] bool declaresAlike(StmtId declaration) const {
        return std::ranges::all_of(body_.stmt(declaration).declared, [&](VariableId id) {
            const Variable& variable = body_.variable(id);
            const bool isUsed = std::ranges::any_of(code_.uses(id), [&](ExprId use) {
                return code_.holds(stmt().children.front(), use);
            });
            if (variable.init != noId && !hasNoEffect(code_, variable.init))
                return false;
            return !isUsed || (variable.init != noId && variable.type.arrayExtents.empty() &&
                               !code_.isEverWritten(id) && isForAll(variable.init));
        });
    }
    [[nodiscard]] bool isForAll(ExprId value) const {
        return std::ranges::all_of(code_.expressionsBelow(value), [&](ExprId id) {
            const Expr& expr = body_.expr(id);
            if (expr.kind == ExprKind::BuiltinIndex)
                return expr.name == "blockDim";
            if (expr.kind != ExprKind::Variable || expr.variable == noId ||
                code_.declarationOf(expr.variable) == noId)
                return true;
            const Variable& variable = body_.variable(expr.variable);
            return !code_.isEverWritten(expr.variable) && variable.init != noId &&
                   isForAll(variable.init);
        });
    }

    /// Whether no round depends on another one by memory, atomics aside, so that several threads
    /// may run them.
    [[nodiscard]] bool areRoundsIndependent() const {
        const Nest& nest = context_.shared().nest();
        if (std::ranges::any_of(nest.nodes, [](const NestNode& node) {
                return node.computation() != nullptr && !node.computation()->opaque.empty();
            }))
            return false;
        Polyhedra polyhedra;
        const NestDependences found = dependencesOf(nest, polyhedra);
        const auto isAtomic = [&](NestAccessId id) {
            return nest.accesses[id].kind == AccessKind::Atomic;
        };
        return found.isComplete &&
               std::ranges::none_of(found.dependences, [&](const NestDependence& dependence) {
                   return dependence.carrier.level == NestCarrier::Level::Loop &&
                          nest.node(dependence.carrier.loop).statement == loop_ &&
                          nest.node(dependence.carrier.loop).frame == 0 &&
                          !isThreadsOwn(nest, nest.accesses[dependence.from]) &&
                          !(isAtomic(dependence.from) && isAtomic(dependence.to)) &&
                          dependence.independence == NestCertainty::Broken;
               });
    }

    /// Launches `elements / block + 1` blocks: a grid may not be empty.
    bool writeLaunches() {
        if (kernel_.launches.empty() || !requireFollowableLaunches(context_))
            return false;
        for (const LaunchSite& launch : kernel_.launches) {
            const Expr& grid = context_.file.hostFunctions[launch.host].body.expr(launch.grid);
            const LaunchValues values(context_.shared(), launch);
            const bool isAlongX = values.grid()[1] == 1 && values.grid()[2] == 1;
            const auto limit = textAtLaunch(context_, launch, found_.limit);
            const auto width = blockWidthText(context_, launch);
            if (grid.fromMacro || !isAlongX || !limit || !width)
                return false;
            edits_.push_back({grid.span, fmt::format("{} / {} + 1", *limit, *width)});
        }
        return true;
    }

    void writeHead() {
        const Variable& index = body_.variable(found_.index);
        const std::size_t bracket =
            source_.text().rfind(')', body_.stmt(stmt().children.front()).span.begin);
        edits_.push_back({{stmt().span.begin, static_cast<std::uint32_t>(bracket + 1)},
                          fmt::format("{}{}{}if ({})", source_.slice(index.declarationSpan),
                                      layout_.newline(), layout_.indentation(stmt().span.begin),
                                      source_.slice(body_.expr(stmt().condition).span))});
    }

    /// Replaces `continue` by `return`, since a thread has one round. False if a round may end the
    /// loop.
    bool writeExits() {
        const Loop& loop = kernel_.loops[found_.loop];
        for (const StmtId id : code_.statementsIn(loop.body)) {
            const Stmt& exit = body_.stmt(id);
            if ((exit.kind != StmtKind::Continue && exit.kind != StmtKind::Break) ||
                !isAbout(code_, exit, loop))
                continue;
            if (exit.kind == StmtKind::Break || !isWrittenAs(source_, exit.span, {continued}))
                return false;
            const std::uint32_t begin = exit.span.begin;
            edits_.push_back(
                {{begin, begin + static_cast<std::uint32_t>(continued.size())}, "return"});
        }
        return true;
    }

    /// Removes the declaration of a stride that only the loop's head named.
    void removeUnused() {
        for (const ExprId id : code_.expressionsBelow(stmt().increment)) {
            const VariableId named = body_.expr(id).variable;
            const StmtId declaration =
                named == noId || named == found_.index ? noId : code_.declarationOf(named);
            if (declaration != noId && code_.uses(named).size() == 1 &&
                body_.stmt(declaration).declared.size() == 1 &&
                hasOwnLines(body_, layout_, declaration, declaration))
                edits_.push_back({layout_.statementWithLine(body_.stmt(declaration).span), ""});
        }
    }

    const SkillContext& context_;
    const KernelModel& kernel_;
    const CodeMap& code_;
    const FunctionBody& body_;
    const SourceText& source_;
    SourceLayout layout_;
    GridStrideLoop found_;
    StmtId loop_ = noId;
    std::vector<TextEdit> edits_;
};

} // namespace

std::vector<TextEdit> elementThreads(const SkillContext& context) {
    return ElementThreadWriter(context).edits();
}

} // namespace kernelskill::skills
