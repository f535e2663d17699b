#include "engine/agents/generate/parallel_nest.h"

#include "analysis/model/known_functions.h"
#include "analysis/syntax/lexer.h"
#include "engine/agents/generate/written_function.h"
#include "skills/rewriting/index_arithmetic.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <utility>

namespace kernelskill::engine {

using namespace analysis;
using skills::Refusal;

namespace {

constexpr std::size_t mostAxes = 3;
using Gate = std::expected<void, Refusal>;

std::unexpected<Refusal> refuse(std::string gate, std::string reason) {
    return std::unexpected(Refusal{std::move(gate), std::move(reason)});
}

bool isNumber(const Type& type) {
    return type.scalar != ScalarKind::Unknown && type.scalar != ScalarKind::Void &&
           type.lanes == 1 && !type.isVolatile && !type.isReference && !type.isDependent;
}

class NestFinder {
public:
    NestFinder(const FileModel& file, const KernelModel& function)
        : file_(file), function_(function), body_(function.body), code_(function.body),
          dependence_(*file.source, function, code_) {}

    std::expected<ParallelNest, Refusal> find() {
        for (const Gate& gate : {checkFunction(), checkParameters(), checkStatements(),
                                 checkExpressions(), findFirstLoop()})
            if (!gate)
                return std::unexpected(gate.error());
        if (auto gate = mapLoops(); !gate)
            return std::unexpected(std::move(gate.error()));
        if (auto gate = checkAccesses(); !gate)
            return std::unexpected(std::move(gate.error()));
        auto arrays = findArrayUses(*file_.source, function_, dependence_);
        if (!arrays)
            return std::unexpected(std::move(arrays.error()));
        nest_.arrays = std::move(*arrays);
        nest_.rounds = steppedRounds(function_, code_);
        if (auto gate = checkOverlap(); !gate)
            return std::unexpected(std::move(gate.error()));
        chooseAxes();
        return std::move(nest_);
    }

private:
    [[nodiscard]] std::uint32_t line(std::uint32_t offset) const {
        return file_.source->lineColumn(offset).line + 1;
    }

    [[nodiscard]] Gate checkFunction() const {
        if (function_.fromMacro)
            return refuse("function-from-macro",
                          fmt::format("'{}' comes out of a macro", function_.name));
        for (const Diagnostic& diagnostic : file_.diagnostics)
            if (diagnostic.severity == Severity::Error && diagnostic.file == file_.file &&
                function_.span.contains(diagnostic.span.begin))
                return refuse("does-not-compile",
                              fmt::format("line {} does not compile: {}",
                                          line(diagnostic.span.begin), diagnostic.message));
        for (const Stmt& stmt : body_.stmts)
            if (stmt.kind == StmtKind::Return && stmt.expr != noId)
                return refuse("returns-a-value",
                              fmt::format("'{}' returns a value on line {}; results have to go to "
                                          "an array",
                                          function_.name, line(stmt.span.begin)));
        for (const Token& token : lex(file_.source->text(), function_.bodySpan)) {
            if (token.kind == TokenKind::Directive && !isLoopPragma(token.text))
                return refuse("has-directives", fmt::format("line {} is a preprocessor directive",
                                                            line(token.span.begin)));
        }
        return {};
    }

    [[nodiscard]] Gate checkParameters() const {
        for (const Parameter& parameter : function_.parameters) {
            if (parameter.name.empty())
                return refuse("unnamed-parameter", "a parameter has no name");
            if (!isNumber(parameter.type) || parameter.type.pointerDepth > 1 ||
                parameter.type.arrayExtents.size() > 1)
                return refuse("parameter-type",
                              fmt::format("'{}' is neither a number nor a pointer to numbers",
                                          parameter.name));
        }
        return {};
    }

    [[nodiscard]] Gate checkStatements() const {
        for (const Stmt& stmt : body_.stmts) {
            const bool isStrange = stmt.kind == StmtKind::Goto || stmt.kind == StmtKind::Asm ||
                                   stmt.kind == StmtKind::RangeFor || stmt.kind == StmtKind::Other;
            if (isStrange)
                return refuse("unknown-statement",
                              fmt::format("the statement on line {} is not understood",
                                          line(stmt.span.begin)));
        }
        for (const Variable& variable : body_.variables) {
            if (variable.type.isReference)
                return refuse("reference", fmt::format("'{}' is a reference", variable.name));
            const bool isGlobal =
                variable.storage != Storage::Local && variable.storage != Storage::Parameter;
            if (isGlobal && !variable.constantValue)
                return refuse("global-variable",
                              fmt::format("'{}' is a variable outside the function that a kernel "
                                          "does not see",
                                          variable.name));
            if (variable.storage == Storage::Local &&
                file_.source->slice(variable.declarationSpan).starts_with("static"))
                return refuse("static-variable",
                              fmt::format("'{}' keeps its value from call to call", variable.name));
        }
        return {};
    }

    [[nodiscard]] Gate checkExpressions() const {
        for (const Expr& expr : body_.exprs) {
            if (expr.kind == ExprKind::Other || expr.kind == ExprKind::String ||
                expr.kind == ExprKind::BuiltinIndex || expr.isMethod)
                return refuse("unknown-expression",
                              fmt::format("the expression on line {} is not understood",
                                          line(expr.span.begin)));
            if (expr.kind == ExprKind::Call)
                if (auto gate = checkCall(expr); !gate)
                    return gate;
        }
        return {};
    }

    [[nodiscard]] Gate checkCall(const Expr& call) const {
        const std::string_view name = unqualified(call.name);
        for (const ExprId argument : call.children) {
            const Type& type = body_.expr(argument).type;
            if (type.pointerDepth > 0 || !type.arrayExtents.empty())
                return refuse("pointer-argument", fmt::format("line {} hands memory to '{}'",
                                                              line(call.span.begin), call.name));
        }
        if (mathFunction(call.name) != MathKind::None && call.templateArguments.empty())
            return {};
        const auto callee = std::ranges::find_if(file_.deviceFunctions, [&](const auto& function) {
            return function.name == name && function.kind == FunctionKind::HostDevice;
        });
        if (callee != file_.deviceFunctions.end())
            return {};
        return refuse("calls-host-function",
                      fmt::format("line {} calls '{}', which is not __host__ __device__",
                                  line(call.span.begin), call.name));
    }

    /// Declarations, one loop, and at most a `return;`.
    Gate findFirstLoop() {
        bool isDone = false;
        for (const StmtId child : body_.stmt(body_.root).children) {
            const Stmt& stmt = body_.stmt(child);
            const bool isLoop = stmt.kind == StmtKind::For;
            if (stmt.kind == StmtKind::Null || (stmt.kind == StmtKind::Return && isDone))
                continue;
            if (isLoop && isDone)
                return refuse("several-nests",
                              fmt::format("line {} starts a second loop: a kernel is made of one",
                                          line(stmt.span.begin)));
            if (isDone || (!isLoop && stmt.kind != StmtKind::Declaration))
                return refuse("work-outside-loops",
                              fmt::format("the statement on line {} stands outside the loops",
                                          line(stmt.span.begin)));
            if (stmt.fromMacro)
                return refuse("loop-from-macro",
                              fmt::format("line {} comes out of a macro", line(stmt.span.begin)));
            if (isLoop)
                first_ = child;
            else
                nest_.declarations.push_back(child);
            isDone = isLoop;
        }
        if (first_ == noId)
            return refuse("no-loop", fmt::format("'{}' has no loop", function_.name));
        return {};
    }

    [[nodiscard]] std::optional<std::uint32_t> loopOf(StmtId statement) const {
        const auto found = std::ranges::find(function_.loops, statement, &Loop::statement);
        if (found == function_.loops.end())
            return std::nullopt;
        return static_cast<std::uint32_t>(found - function_.loops.begin());
    }

    /// The `for` that is all there is in `body`; noId when there is more.
    [[nodiscard]] StmtId onlyLoopIn(StmtId body) const {
        while (body != noId && body_.stmt(body).kind == StmtKind::Compound)
            body = body_.stmt(body).children.size() == 1 ? body_.stmt(body).children.front() : noId;
        return body != noId && body_.stmt(body).kind == StmtKind::For ? body : noId;
    }

    /// What else keeps a loop from being mapped; the first reason.
    [[nodiscard]] Gate checkForm(std::uint32_t number) const {
        const Loop& loop = function_.loops[number];
        const Stmt& stmt = body_.stmt(loop.statement);
        const std::uint32_t at = line(stmt.span.begin);
        const LoopDecision decision = dependence_.decide(number);
        if (decision.kind != LoopClass::Parallel)
            return std::unexpected(decision.why);
        const bool declares = stmt.init != noId &&
                              body_.stmt(stmt.init).kind == StmtKind::Declaration &&
                              body_.stmt(stmt.init).declared == std::vector{loop.inductionVariable};
        if (stmt.fromMacro || !declares || loop.lowerBound == noId || loop.upperBound == noId)
            return refuse("loop-form", fmt::format("the loop of line {} does not declare its own "
                                                   "variable and nothing else",
                                                   at));
        if (*loop.step < -1 &&
            skills::isUnsignedIndexType(body_.variable(loop.inductionVariable).type))
            return refuse(
                "counts-down",
                fmt::format("the loop of line {} counts an unsigned variable down by more "
                            "than one",
                            at));
        return {};
    }

    Gate mapLoops() {
        StmtId at = first_;
        while (at != noId && nest_.loops.size() < mostAxes) {
            const auto number = loopOf(at);
            const Gate form = number ? checkForm(*number) : refuse("no-loop", "no loop");
            std::optional<IndexExpression> distance;
            std::int64_t step = 1;
            if (form) {
                const LoopRange range = *dependence_.range(*number);
                distance = IterationSpace(outer_).largest(range.distance);
                step = range.step;
                outer_.push_back(range);
            }
            if (!form && nest_.loops.empty())
                return form;
            if (!form || !distance)
                break;
            nest_.loops.push_back({*number, 0, std::move(*distance), step});
            nest_.body = function_.loops[*number].body;
            at = onlyLoopIn(nest_.body);
        }
        if (nest_.loops.empty())
            return refuse("not-counted", "the number of rounds of the outermost loop is not known");
        return {};
    }

    /// Only arrays behind parameters, and what belongs to one thread.
    [[nodiscard]] Gate checkAccesses() const {
        for (const MemoryAccess& access : function_.accesses) {
            const Span span = body_.expr(access.expression).span;
            if (access.base != noId && body_.variable(access.base).storage == Storage::Parameter) {
                if (!code_.holds(nest_.body, access.expression))
                    return refuse("memory-outside-loops",
                                  fmt::format("line {} uses '{}' outside the innermost loop",
                                              line(span.begin), file_.source->slice(span)));
                continue;
            }
            const bool isOwn = access.base != noId && code_.declarationOf(access.base) != noId &&
                               (code_.encloses(nest_.body, code_.declarationOf(access.base)) ||
                                access.kind == AccessKind::Read) &&
                               !body_.variable(access.base).type.arrayExtents.empty();
            if (!isOwn)
                return refuse("unknown-array",
                              fmt::format("'{}' on line {} is no element of an array behind a "
                                          "parameter",
                                          file_.source->slice(span), line(span.begin)));
        }
        for (const Parameter& parameter : function_.parameters)
            if (parameter.escapes)
                return refuse("pointer-escapes",
                              fmt::format("'{}' is stored or handed on", parameter.name));
        if (std::ranges::none_of(function_.parameters, [](const Parameter& parameter) {
                return parameter.type.pointerDepth > 0 && parameter.isWritten;
            }))
            return refuse("writes-nothing", fmt::format("'{}' writes to no array", function_.name));
        return {};
    }

    Gate checkOverlap() {
        const auto isRestrict = [&](const ArrayUse& use) {
            return function_.parameters[use.parameter].type.isRestrict;
        };
        for (const ArrayUse& use : nest_.arrays) {
            const bool meetsAnother = std::ranges::any_of(nest_.arrays, [&](const ArrayUse& other) {
                return other.parameter != use.parameter && (use.isWritten || other.isWritten) &&
                       !isRestrict(use) && !isRestrict(other);
            });
            if (meetsAnother)
                nest_.apart.push_back(function_.parameters[use.parameter].name);
        }
        if (nest_.apart.empty())
            return {};
        for (const CallInText& call : callsOf(*file_.source, function_)) {
            std::map<std::string_view, const ArrayUse*> seen;
            for (const ArrayUse& use : nest_.arrays) {
                if (use.parameter >= call.roots.size() || call.roots[use.parameter].empty())
                    continue;
                const auto [other, isNew] = seen.emplace(call.roots[use.parameter], &use);
                if (!isNew && (use.isWritten || other->second->isWritten))
                    return refuse("arguments-overlap",
                                  fmt::format("line {} passes '{}' as '{}' and as '{}'",
                                              line(call.offset), other->first,
                                              function_.parameters[other->second->parameter].name,
                                              function_.parameters[use.parameter].name));
            }
        }
        return {};
    }

    /// x for the loop along which most accesses are contiguous, else the innermost; y and z for
    /// what is left, from the inside.
    void chooseAxes() {
        const auto contiguous = [&](const MappedLoop& mapped) {
            const Symbol variable{SymbolKind::LoopVariable,
                                  function_.loops[mapped.loop].inductionVariable};
            return std::ranges::count_if(function_.accesses, [&](const MemoryAccess& access) {
                const auto stride =
                    access.index ? access.index->coefficientOf(variable) : std::nullopt;
                return stride == IndexExpression::constant(1);
            });
        };
        auto x = nest_.loops.end() - 1;
        for (auto at = nest_.loops.end(); at-- != nest_.loops.begin();)
            if (contiguous(*at) > contiguous(*x))
                x = at;
        int axis = 1;
        for (auto at = nest_.loops.end(); at-- != nest_.loops.begin();)
            at->axis = at == x ? 0 : axis++;
    }

    const FileModel& file_;
    const KernelModel& function_;
    const FunctionBody& body_;
    skills::CodeMap code_;
    LoopDependence dependence_;
    StmtId first_ = noId;
    std::vector<LoopRange> outer_;
    ParallelNest nest_;
};

} // namespace

std::expected<ParallelNest, Refusal> findParallelNest(const FileModel& file,
                                                      const KernelModel& function) {
    return NestFinder(file, function).find();
}

} // namespace kernelskill::engine
