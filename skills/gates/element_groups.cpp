#include "skills/gates/element_groups.h"

#include "analysis/queries/grid_stride_loops.h"
#include "analysis/queries/index_arithmetic.h"
#include "analysis/source/try.h"
#include "analysis/syntax/scalar_bytes.h"
#include "skills/base/gates.h"
#include "skills/gates/counted_grid.h"
#include "skills/gates/launch_sites.h"
#include "skills/gates/vector_types.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <map>

namespace kernelskill::skills {

using namespace analysis;

namespace {

/// More statements than this, copied once per element, are unreadable and raise register pressure.
constexpr std::size_t maximumStatements = 8;

/// float2 and its kin: two components of 4 bytes.
bool isPair(const Type& type) {
    return type.lanes == 2 && type.pointerDepth <= 1 &&
           (type.scalar == ScalarKind::Float || type.scalar == ScalarKind::Int32 ||
            type.scalar == ScalarKind::UInt32);
}

/// The index expression of `p[i]` or `*(p + i)` names exactly the element index.
bool isAtIndex(const CodeMap& code, ExprId expression, VariableId index) {
    const Expr& expr = code.body().expr(elementOf(code, expression));
    return expr.kind == ExprKind::Subscript && code.namedVariable(expr.children[1]) == index &&
           code.body().expr(code.withoutCasts(expr.children[0])).kind == ExprKind::Variable;
}

class Planner {
public:
    Planner(const SkillContext& context, const CodeMap& code, GroupedElements elements)
        : context_(context), code_(code), elements_(elements) {}

    Gated<ElementGroups> plan() {
        KERNELSKILL_CHECK(requireEditable(context_));
        KERNELSKILL_CHECK(findForm());
        KERNELSKILL_CHECK(requireSimpleWork());
        KERNELSKILL_CHECK(findStreams());
        KERNELSKILL_CHECK(requireLoadsFirst());
        if (!plan_.isGridStride)
            KERNELSKILL_CHECK(requireCountableGrids(context_));
        return plan_;
    }

private:
    [[nodiscard]] std::uint32_t lineOf(ExprId expr) const {
        return lineNumber(context_, code_.body().expr(expr).span.begin);
    }

    Gated<void> findForm() {
        const KernelModel& kernel = context_.kernel;
        const FunctionBody& body = code_.body();
        bool anyPairs = false;
        for (const Parameter& parameter : kernel.parameters) {
            if (parameter.type.pointerDepth != 1 || parameter.type.lanes == 1)
                continue;
            anyPairs = anyPairs || isPair(parameter.type);
            if (elements_ == GroupedElements::Numbers || !isPair(parameter.type))
                return refuse(
                    "already-vectorized",
                    fmt::format("{} already is a {}", parameter.name, parameter.type.spelling));
        }
        if (elements_ == GroupedElements::Pairs && !anyPairs)
            return refuse("no-pairs",
                          fmt::format("no pointer of {} has elements of two components of 4 bytes",
                                      kernel.name));
        KERNELSKILL_CHECK(requireScalars(context_));
        const std::vector<GridStrideLoop> loops = findGridStrideLoops(kernel, code_);
        if (!loops.empty()) {
            const Stmt& stmt = body.stmt(kernel.loops[loops[0].loop].statement);
            if (loops.size() > 1 || stmt.parent != body.root || stmt.fromMacro)
                return refuse(
                    "not-elementwise",
                    fmt::format("{} has more than one plain grid-stride loop", kernel.name));
            if (!isUniformInput(loops[0].limit))
                return refuse(
                    "compound-guard",
                    fmt::format("the limit on line {} is not a parameter", lineOf(loops[0].limit)));
            plan_.isGridStride = true;
            plan_.loop = kernel.loops[loops[0].loop].statement;
            plan_.index = loops[0].index;
            plan_.limit = loops[0].limit;
            plan_.work = code_.statementsOf(kernel.loops[loops[0].loop].body);
            return requireIndependentWork(context_, code_, plan_.work);
        }
        KERNELSKILL_TRY(auto guarded, recogniseElementwise(context_, code_, FlatIndex::Numbered));
        plan_.guarded = guarded;
        plan_.index = guarded.index;
        plan_.limit = guarded.limit;
        plan_.work = guarded.work;
        for (ExprId id = 0; id < body.exprs.size(); ++id)
            if (const Expr& expr = body.expr(id); expr.kind == ExprKind::BuiltinIndex &&
                                                  expr.name == "gridDim" &&
                                                  !code_.holds(guarded.declaration, id))
                return refuse("uses-grid-size",
                              fmt::format("line {} depends on the size of the grid",
                                          lineNumber(context_, expr.span.begin)));
        return {};
    }

    /// A parameter, or arithmetic on parameters and constants.
    [[nodiscard]] bool isUniformInput(ExprId limit) const {
        return std::ranges::all_of(code_.expressionsBelow(limit), [&](ExprId id) {
            const Expr& expr = code_.body().expr(id);
            if (expr.kind == ExprKind::Variable)
                return expr.variable != noId && !code_.isEverWritten(expr.variable) &&
                       (code_.body().variable(expr.variable).storage == Storage::Parameter ||
                        code_.body().variable(expr.variable).constantValue.has_value());
            return expr.kind == ExprKind::Integer || expr.kind == ExprKind::Cast ||
                   (expr.kind == ExprKind::Binary && !isAssignment(expr.op));
        });
    }

    Gated<void> requireSimpleWork() {
        const FunctionBody& body = code_.body();
        std::size_t statements = 0;
        for (const StmtId top : plan_.work) {
            for (const StmtId id : code_.statementsIn(top)) {
                const Stmt& stmt = body.stmt(id);
                const std::uint32_t line = lineNumber(context_, stmt.span.begin);
                statements += stmt.kind != StmtKind::Compound ? 1 : 0;
                if (stmt.fromMacro)
                    return refuse("from-macro", fmt::format("line {} comes out of a macro", line));
                if (stmt.kind == StmtKind::For || stmt.kind == StmtKind::While ||
                    stmt.kind == StmtKind::Do || stmt.kind == StmtKind::RangeFor ||
                    stmt.kind == StmtKind::Switch)
                    return refuse("loop-in-work",
                                  fmt::format("line {} loops for each element", line));
                if (stmt.kind == StmtKind::Continue || stmt.kind == StmtKind::Break)
                    return refuse("early-exit",
                                  fmt::format("line {} skips the rest of the work", line));
            }
        }
        if (statements > maximumStatements)
            return refuse("work-too-large",
                          fmt::format("{} statements would be copied for each element of a vector",
                                      statements));
        if (!context_.kernel.atomics.empty())
            return refuse("atomic", fmt::format("{} uses atomics, which have no vector form",
                                                context_.kernel.name));
        for (const ExprId use : code_.uses(plan_.index))
            if (body.expr(use).fromMacro)
                return refuse("from-macro",
                              fmt::format("line {} uses {} inside a macro", lineOf(use),
                                          body.variable(plan_.index).name));
        return {};
    }

    Gated<void> findStreams() {
        const KernelModel& kernel = context_.kernel;
        const FunctionBody& body = code_.body();
        std::uint32_t widest = 0;
        bool hasPairsOnly = false;
        std::map<VariableId, std::string> scalarBecause;
        for (const Parameter& parameter : kernel.parameters) {
            if (parameter.type.pointerDepth != 1)
                continue;
            const std::string reason = scalarReason(parameter);
            if (!reason.empty()) {
                scalarBecause[parameter.variable] = reason;
                continue;
            }
            const std::uint32_t bytes =
                analysis::scalarBytes(parameter.type.scalar) * (isPair(parameter.type) ? 2 : 1);
            widest = std::max(widest, bytes);
            hasPairsOnly = hasPairsOnly || vectorType(parameter.type.scalar, 4).empty();
            Stream stream;
            stream.base = parameter.variable;
            stream.name = parameter.name;
            plan_.streams.push_back(stream);
        }
        const bool hasPairs = std::ranges::any_of(plan_.streams, [&](const Stream& stream) {
            return isPair(body.variable(stream.base).type);
        });
        if (plan_.streams.empty() || (elements_ == GroupedElements::Pairs && !hasPairs))
            return refuse(
                "no-unit-stride-access",
                scalarBecause.empty()
                    ? fmt::format("{} has no pointer to move vectors through", kernel.name)
                    : scalarBecause.begin()->second);
        plan_.lanes = hasPairsOnly || widest > 4 ? 2 : 4;
        for (std::size_t i = 0; i < plan_.streams.size(); ++i) {
            Stream& stream = plan_.streams[i];
            const Type& type = body.variable(stream.base).type;
            const int components = isPair(type) ? 2 * plan_.lanes : plan_.lanes;
            stream.type = vectorType(type.scalar, components);
            stream.bytes =
                analysis::scalarBytes(type.scalar) * static_cast<std::uint32_t>(components);
            stream.vector = freshName(body, fmt::format("{}{}", stream.name, components));
            if (isPair(type)) {
                stream.pairType = vectorType(type.scalar, 2);
                for (int lane = 0; lane < plan_.lanes; ++lane)
                    stream.pairs.push_back(freshName(body, fmt::format("{}{}", stream.name, lane)));
            }
            for (const MemoryAccess& access : kernel.accesses) {
                if (access.base != stream.base)
                    continue;
                const bool isPart = body.expr(access.expression).kind == ExprKind::Member;
                ExprId replaced = isPart ? elementOf(code_, access.expression) : access.expression;
                if (const ExprId call = readOnlyLoadAround(code_, access.expression); call != noId)
                    replaced = call;
                plan_.accesses.push_back({replaced, i});
                // A part that is stored leaves the other one as it was.
                stream.isRead = stream.isRead || access.kind != AccessKind::Write || isPart;
                if (access.kind != AccessKind::Read) {
                    stream.isWritten = true;
                    stream.lastWrite = std::max(stream.lastWrite, body.expr(replaced).span.begin);
                }
            }
        }
        return {};
    }

    /// Why a pointer's accesses stay scalar; empty when they need not.
    [[nodiscard]] std::string scalarReason(const Parameter& parameter) const {
        const FunctionBody& body = code_.body();
        if (parameter.type.isDependent || vectorType(parameter.type.scalar, 2).empty())
            return fmt::format("{} has no vector type for its elements", parameter.name);
        if (parameter.type.isVolatile)
            return fmt::format("{} is volatile", parameter.name);
        bool anyUnconditional = false;
        std::size_t accessCount = 0;
        for (const MemoryAccess& access : context_.kernel.accesses) {
            if (access.base != parameter.variable)
                continue;
            ++accessCount;
            const std::uint32_t line = lineOf(access.expression);
            if (!isAtIndex(code_, access.expression, plan_.index) ||
                body.expr(access.expression).fromMacro)
                return fmt::format("{} on line {} is not indexed by {} alone", parameter.name, line,
                                   body.variable(plan_.index).name);
            if (const auto hint = cacheHintAround(code_, access.expression); !hint.empty())
                return fmt::format("{} is accessed by {} on line {}", parameter.name, hint, line);
            const bool always = isUnconditional(code_, plan_.work, access.expression);
            anyUnconditional = anyUnconditional || always;
            if (access.kind != AccessKind::Read && !always)
                return fmt::format("{} is stored under a condition on line {}", parameter.name,
                                   line);
        }
        if (accessCount == 0)
            return fmt::format("{} is not accessed", parameter.name);
        if (!anyUnconditional)
            return fmt::format("{} is only read under a condition", parameter.name);
        if (code_.uses(parameter.variable).size() != accessCount)
            return fmt::format("{} is also used other than by subscript", parameter.name);
        return {};
    }

    /// All vectors are loaded first; a load that came after a store to another pointer might have
    /// seen it.
    Gated<void> requireLoadsFirst() {
        const FunctionBody& body = code_.body();
        for (const MemoryAccess& store : context_.kernel.accesses) {
            if (store.kind == AccessKind::Read)
                continue;
            for (const MemoryAccess& load : context_.kernel.accesses) {
                const bool isLater =
                    statementOrder(load.expression) > statementOrder(store.expression);
                if (load.kind == AccessKind::Write || !isLater || load.base == store.base)
                    continue;
                const auto isStream = [&](VariableId base) {
                    return std::ranges::any_of(plan_.streams,
                                               [&](const Stream& s) { return s.base == base; });
                };
                if (load.base != noId && body.variable(load.base).storage != Storage::Parameter)
                    continue;
                if (isStream(load.base) || isStream(store.base))
                    return refuse(
                        "load-after-store",
                        fmt::format("line {} loads after the store on line {}, and the two "
                                    "may alias",
                                    lineOf(load.expression), lineOf(store.expression)));
            }
        }
        return {};
    }

    [[nodiscard]] std::uint32_t statementOrder(ExprId expr) const {
        StmtId at = code_.statement(expr);
        return code_.body().stmt(at).span.begin;
    }

    const SkillContext& context_;
    const CodeMap& code_;
    GroupedElements elements_;
    ElementGroups plan_;
};

} // namespace

Gated<ElementGroups> planElementGroups(const SkillContext& context, const CodeMap& code,
                                       GroupedElements elements) {
    return Planner(context, code, elements).plan();
}

} // namespace kernelskill::skills
