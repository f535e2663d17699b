#include "skills/vectorized-access/neighbour_groups.h"

#include "analysis/queries/loop_effects.h"
#include "analysis/source/gpu_constants.h"
#include "analysis/source/try.h"
#include "skills/base/gates.h"
#include "skills/gates/elementwise_kernel.h"
#include "skills/gates/launch_sites.h"
#include "skills/gates/vector_types.h"
#include "skills/schedule/term_loop.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

namespace kernelskill::skills {

using namespace analysis;

namespace {

/// More statements than this, copied once for each element, are unreadable.
constexpr std::size_t maxCopiedStatements = 8;

/// A row has at least so many groups.
constexpr std::int64_t fewestGroups = 2;

class NeighbourReader {
public:
    NeighbourReader(const SkillContext& context, ElementGuard guard)
        : context_(context), code_(context.code()), body_(code_.body()),
          steps_(context, guard.index) {
        found_.guard = std::move(guard);
    }

    Gated<NeighbourGroups> read() {
        KERNELSKILL_CHECK(requireScalars(context_));
        KERNELSKILL_CHECK(requireSimpleWork());
        KERNELSKILL_CHECK(requireIndependentWork(context_, code_, work(),
                                                 found_.guard.isLoop ? WorkPosition::Unknown
                                                                     : WorkPosition::Seen));
        KERNELSKILL_CHECK(requireKnownCalls());
        KERNELSKILL_TRY(found_.moved, neighbourPlaces(context_, steps_, work()));
        KERNELSKILL_CHECK(requireLoadsFirst());
        KERNELSKILL_CHECK(findDeclarations());
        KERNELSKILL_CHECK(requireWholeGroups());
        if (!found_.guard.isLoop)
            KERNELSKILL_CHECK(requireResizableGrids(context_));
        found_.dividesGrids =
            !found_.guard.isLoop || (requireResizableGrids(context_) && doGridsFollowElements());
        return std::move(found_);
    }

private:
    [[nodiscard]] const std::vector<StmtId>& work() const { return found_.guard.work; }
    [[nodiscard]] std::uint32_t lineOf(ExprId expr) const {
        return lineNumber(context_, body_.expr(expr).span.begin);
    }
    [[nodiscard]] std::uint32_t lineOfStatement(StmtId stmt) const {
        return lineNumber(context_, body_.stmt(stmt).span.begin);
    }
    [[nodiscard]] bool isInWork(ExprId expr) const {
        return std::ranges::any_of(work(), [&](StmtId top) { return code_.holds(top, expr); });
    }

    /// Whether each launch computes its number of blocks by dividing a number that it passes to the
    /// kernel, as in `(n + 255) / 256`. The number of a GPU's multiprocessors is none.
    [[nodiscard]] bool doGridsFollowElements() const {
        return std::ranges::all_of(context_.kernel.launches, [&](const LaunchSite& launch) {
            const CodeMap& host = context_.shared().host(launch.host);
            std::vector<ExprId> blocks;
            addParts(host, launch.grid, blocks);
            std::vector<ExprId> told;
            for (const ExprId argument : launch.arguments)
                addParts(host, argument, told);
            return std::ranges::any_of(blocks, [&](ExprId id) {
                return host.body().expr(id).op == "/" &&
                       isMadeOf(host, host.body().expr(id).children[0], told);
            });
        });
    }
    /// Adds the expressions below `id`, and below the values of the variables that it names.
    static void addParts(const CodeMap& host, ExprId id, std::vector<ExprId>& parts) {
        constexpr std::size_t maxParts = 256;
        for (const ExprId part : host.expressionsBelow(id)) {
            if (parts.size() > maxParts)
                return;
            parts.push_back(part);
            const VariableId named = host.namedVariable(part);
            const ExprId value = named != noId ? FixedValues(host).fixedValue(named) : noId;
            if (value != noId)
                addParts(host, value, parts);
        }
    }
    /// Whether `id` contains an integer that is among `told`, other than a constant that may be the
    /// size of a block.
    static bool isMadeOf(const CodeMap& host, ExprId id, const std::vector<ExprId>& told) {
        std::vector<ExprId> parts;
        addParts(host, id, parts);
        return std::ranges::any_of(parts, [&](ExprId part) {
            const auto constant = host.constantValue(part);
            return host.body().expr(part).type.pointerDepth == 0 &&
                   (!constant || *constant > maxBlockThreads) &&
                   std::ranges::any_of(
                       told, [&](ExprId each) { return host.sameExpression(part, each); });
        });
    }

    [[nodiscard]] Gated<void> requireSimpleWork() const {
        std::size_t statements = 0;
        for (const StmtId top : work())
            for (const StmtId id : code_.statementsIn(top)) {
                const Stmt& stmt = body_.stmt(id);
                statements += stmt.kind != StmtKind::Compound ? 1 : 0;
                if (stmt.fromMacro)
                    return refuse("from-macro",
                                  fmt::format("line {} comes out of a macro", lineOfStatement(id)));
                if (stmt.kind == StmtKind::Continue || stmt.kind == StmtKind::Break ||
                    stmt.kind == StmtKind::Return)
                    return refuse("early-exit", fmt::format("line {} skips the rest of the work",
                                                            lineOfStatement(id)));
                if (stmt.kind != StmtKind::Compound && stmt.kind != StmtKind::Declaration &&
                    stmt.kind != StmtKind::Expression && stmt.kind != StmtKind::If &&
                    stmt.kind != StmtKind::Null)
                    return refuse("loop-in-work", fmt::format("line {} does more than to compute "
                                                              "one element",
                                                              lineOfStatement(id)));
                for (const VariableId declared : stmt.declared)
                    if (body_.variable(declared).type.isReference)
                        return refuse("strided-access",
                                      fmt::format("{} on line {} is another name for what it "
                                                  "refers to",
                                                  body_.variable(declared).name,
                                                  lineOfStatement(id)));
            }
        if (statements > maxCopiedStatements)
            return refuse("work-too-large",
                          fmt::format("{} statements would be copied for each element of a vector",
                                      statements));
        for (VariableId id = 0; id < body_.variables.size(); ++id)
            if (steps_.followsIndex(id))
                for (const ExprId use : code_.uses(id))
                    if (isInWork(use) && body_.expr(use).fromMacro)
                        return refuse("from-macro",
                                      fmt::format("line {} uses {} inside a macro", lineOf(use),
                                                  body_.variable(id).name));
        return {};
    }

    [[nodiscard]] Gated<void> requireKnownCalls() const {
        if (!context_.kernel.atomics.empty())
            return refuse("atomic", fmt::format("{} uses atomics, which have no vector form",
                                                context_.kernel.name));
        for (ExprId id = 0; id < body_.exprs.size(); ++id) {
            const Expr& expr = body_.expr(id);
            if (isOfClass(expr) && isInWork(id))
                return refuse("call-in-work",
                              fmt::format("what an operator of a class on line {} does is not "
                                          "known",
                                          lineOf(id)));
            if (expr.kind != ExprKind::Call || !isInWork(id))
                continue;
            if (!isKnownCall(context_.file, context_.kernel, expr) && !isIntrinsic(expr) &&
                cacheHintAt(id).empty())
                return refuse("call-in-work",
                              fmt::format("what {} on line {} does beside its result is not known",
                                          expr.name, lineOf(id)));
            if (const KernelModel* callee = calleeOf(expr);
                callee != nullptr && !callee->loops.empty())
                return refuse("loop-in-work", fmt::format("{} on line {} loops for each element",
                                                          expr.name, lineOf(id)));
        }
        return {};
    }

    /// Whether the operator may be one of a class. To copy a class of numbers is not.
    [[nodiscard]] bool isOfClass(const Expr& expr) const {
        const bool isOperator = expr.kind == ExprKind::Subscript || expr.kind == ExprKind::Unary ||
                                expr.kind == ExprKind::Binary;
        return isOperator && expr.op != "&" &&
               std::ranges::any_of(expr.children, [&](ExprId operand) {
                   const Type& type = body_.expr(operand).type;
                   return type.scalar == ScalarKind::Unknown && type.pointerDepth == 0 &&
                          type.arrayExtents.empty() && !type.isDependent &&
                          !(type.isPlainClass && expr.op == "=");
               });
    }

    /// Whether it computes a number from numbers by a name that no user's function has, as in
    /// `__half2float(x)`.
    [[nodiscard]] bool isIntrinsic(const Expr& call) const {
        return call.name.starts_with("__") && !call.isMethod && calleeOf(call) == nullptr &&
               call.type.pointerDepth == 0 && call.type.scalar != ScalarKind::Void &&
               !call.children.empty() && std::ranges::all_of(call.children, [&](ExprId argument) {
                   const Expr& expr = body_.expr(argument);
                   return expr.type.pointerDepth == 0 && !expr.isOutput;
               });
    }

    /// Returns the name of a call that loads or stores past a cache; empty for another call.
    [[nodiscard]] std::string_view cacheHintAt(ExprId call) const {
        for (const MemoryAccess& access : context_.kernel.accesses)
            if (body_.expr(call).span.contains(body_.expr(access.expression).span))
                if (const auto hint = cacheHintAround(code_, access.expression);
                    hint == body_.expr(call).name)
                    return hint;
        return {};
    }

    /// All vectors are loaded first and stored last: a load behind a store to another place might
    /// have seen it.
    [[nodiscard]] Gated<void> requireLoadsFirst() const {
        for (const MemoryAccess& store : context_.kernel.accesses) {
            if (store.kind == AccessKind::Read || !accessesMemory(code_, work(), store))
                continue;
            const auto isBehind = [&](ExprId load) {
                return statementBegin(load) > statementBegin(store.expression);
            };
            const auto refused = [&](ExprId load) {
                return refuse("load-after-store",
                              fmt::format("line {} loads after the store on line {}, and the two "
                                          "may alias",
                                          lineOf(load), lineOf(store.expression)));
            };
            for (const MemoryAccess& load : context_.kernel.accesses)
                if (load.kind != AccessKind::Write && accessesMemory(code_, work(), load) &&
                    isBehind(load.expression) &&
                    !code_.sameExpression(elementOf(code_, load.expression),
                                          elementOf(code_, store.expression)))
                    return refused(load.expression);
            for (ExprId id = 0; id < body_.exprs.size(); ++id)
                if (const KernelModel* callee = calleeOf(body_.expr(id));
                    callee != nullptr && !callee->accesses.empty() && isInWork(id) && isBehind(id))
                    return refused(id);
        }
        return {};
    }

    [[nodiscard]] std::uint32_t statementBegin(ExprId expr) const {
        return body_.stmt(code_.statement(expr)).span.begin;
    }

    /// The device function that is called; nullptr for another expression.
    [[nodiscard]] const KernelModel* calleeOf(const Expr& expr) const {
        const auto& functions = context_.file.deviceFunctions;
        const auto callee = expr.kind == ExprKind::Call
                                ? std::ranges::find(functions, expr.name, &KernelModel::name)
                                : functions.end();
        return callee != functions.end() ? &*callee : nullptr;
    }

    Gated<void> findDeclarations() {
        for (const NeighbourPlace& place : found_.moved.places) {
            steps_.addRowLengths(place.place, found_.rowLengths);
            KERNELSKILL_CHECK(addHead(place.place));
        }
        const ExprId limit = found_.guard.limit;
        if (std::ranges::any_of(found_.moved.places, [&](const NeighbourPlace& place) {
                return isMultiplied(place.place, limit);
            }))
            found_.rowLengths.push_back(limit);
        for (const ExprId length : found_.rowLengths) {
            KERNELSKILL_CHECK(addHead(length));
            found_.areRowsWhole = found_.areRowsWhole || isFactor(limit, length);
        }
        std::ranges::sort(found_.head, {}, [&](StmtId id) { return body_.stmt(id).span.begin; });
        for (auto id = found_.guard.declarations.rbegin(); id != found_.guard.declarations.rend();
             ++id)
            KERNELSKILL_CHECK(addOuter(*id));
        std::ranges::reverse(found_.outer);
        return {};
    }

    /// Follows a name that keeps its value to its initialiser; returns another expression as it is.
    [[nodiscard]] ExprId meaning(ExprId expr) const {
        const ExprId inner = code_.withoutCasts(expr);
        const VariableId named = code_.namedVariable(inner);
        return named != noId && code_.declarationOf(named) != noId && !code_.isEverWritten(named) &&
                       body_.variable(named).init != noId && body_.variable(named).init < inner
                   ? meaning(body_.variable(named).init)
                   : inner;
    }

    /// Whether the product is a multiple of the factor.
    [[nodiscard]] bool isFactor(ExprId product, ExprId factor) const {
        const Expr& expr = body_.expr(meaning(product));
        return code_.sameExpression(meaning(product), meaning(factor)) ||
               (expr.kind == ExprKind::Binary && expr.op == "*" &&
                std::ranges::any_of(expr.children,
                                    [&](ExprId child) { return isFactor(child, factor); }));
    }

    /// Whether a multiple of the length is part of the address: where rows of that length begin.
    [[nodiscard]] bool isMultiplied(ExprId address, ExprId length) const {
        std::vector<ExprId> parts{address};
        std::vector<VariableId> seen;
        while (!parts.empty()) {
            const ExprId part = parts.back();
            parts.pop_back();
            for (const ExprId id : code_.expressionsBelow(part)) {
                const Expr& expr = body_.expr(id);
                if (expr.kind == ExprKind::Binary && expr.op == "*" && isFactor(id, length))
                    return true;
                if (expr.kind == ExprKind::Variable && expr.variable != noId &&
                    expr.variable != found_.guard.index && meaning(id) != id &&
                    std::ranges::find(seen, expr.variable) == seen.end()) {
                    seen.push_back(expr.variable);
                    parts.push_back(body_.variable(expr.variable).init);
                }
            }
        }
        return false;
    }

    /// Adds the declarations of the work that the expression is made of, and what settles them.
    Gated<void> addHead(ExprId root) {
        for (const ExprId id : code_.expressionsBelow(root)) {
            const Expr& expr = body_.expr(id);
            if (expr.kind != ExprKind::Variable || expr.variable == noId)
                continue;
            for (const StmtId made :
                 {code_.declarationOf(expr.variable), steps_.settled(expr.variable).statement})
                KERNELSKILL_CHECK(addToHead(made));
        }
        return {};
    }

    Gated<void> addToHead(StmtId made) {
        const auto isIn = [](const std::vector<StmtId>& statements, StmtId id) {
            return std::ranges::find(statements, id) != statements.end();
        };
        if (made == noId || isIn(found_.head, made) ||
            std::ranges::none_of(work(), [&](StmtId top) { return code_.encloses(top, made); }))
            return {};
        if (!isIn(work(), made) || !isRepeatable(made))
            return refuse(
                "strided-access",
                fmt::format("what line {} sets is not one element's alone", lineOfStatement(made)));
        found_.head.push_back(made);
        for (const VariableId named : steps_.namedBy(made))
            for (const ExprId definition : steps_.definitionsOf(named))
                KERNELSKILL_CHECK(addHead(definition));
        return {};
    }

    /// Adds a declaration before the work if elements of a group need their own. Those behind it
    /// are there already.
    Gated<void> addOuter(StmtId id) {
        const auto isNeeded = [&](VariableId declared) {
            return declared != found_.guard.index && steps_.followsIndex(declared) &&
                   std::ranges::any_of(code_.uses(declared), [&](ExprId use) {
                       return isInWork(use) ||
                              std::ranges::find(found_.outer, code_.statement(use)) !=
                                  found_.outer.end();
                   });
        };
        const Stmt& stmt = body_.stmt(id);
        if (std::ranges::none_of(stmt.declared, isNeeded))
            return {};
        if (!isRepeatable(id) ||
            std::ranges::find(stmt.declared, found_.guard.index) != stmt.declared.end())
            return refuse("strided-access",
                          fmt::format("what line {} declares is not one element's alone",
                                      lineOfStatement(id)));
        found_.outer.push_back(id);
        return {};
    }

    /// Whether the statement only gives variables their values, and may run again for each element.
    [[nodiscard]] bool isRepeatable(StmtId id) const {
        return !body_.stmt(id).fromMacro &&
               std::ranges::all_of(steps_.namedBy(id), [&](VariableId named) {
                   return !body_.variable(named).type.isReference &&
                          std::ranges::all_of(steps_.definitionsOf(named), [&](ExprId definition) {
                              return isPure(context_, definition);
                          });
               });
    }

    /// Refuses rows in which groups are never whole, or seldom.
    [[nodiscard]] Gated<void> requireWholeGroups() const {
        for (const ExprId length : found_.rowLengths)
            if (const auto known = code_.constantValue(length);
                known && *known % found_.moved.lanes != 0)
                return refuse("short-rows", fmt::format("no groups of {} fill a row of {} elements",
                                                        found_.moved.lanes, *known));
        if (const auto known = code_.constantValue(found_.guard.limit);
            known && *known < fewestGroups * found_.moved.lanes)
            return refuse("short-rows",
                          fmt::format("the {} elements of a row leave few groups of {}", *known,
                                      found_.moved.lanes));
        return {};
    }

    const SkillContext& context_;
    const CodeMap& code_;
    const FunctionBody& body_;
    ElementSteps steps_;
    NeighbourGroups found_;
};

} // namespace

Gated<NeighbourGroups> neighbourGroups(const SkillContext& context) {
    KERNELSKILL_CHECK(requireEditable(context));
    KERNELSKILL_TRY(auto guard, readElementGuard(context));
    return NeighbourReader(context, std::move(guard)).read();
}

} // namespace kernelskill::skills
