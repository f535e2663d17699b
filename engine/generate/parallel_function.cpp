#include "engine/generate/parallel_function.h"

#include "analysis/queries/code_map.h"
#include "engine/generate/function_form.h"
#include "engine/generate/written_function.h"
#include "skills/base/gates.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <map>
#include <utility>

namespace kernelskill::engine {

using namespace analysis;
using skills::Refusal;
using skills::refuse;

namespace {

using Gate = std::expected<void, Refusal>;

class FunctionFinder {
public:
    FunctionFinder(const FileModel& file, const KernelModel& function)
        : file_(file), function_(function), body_(function.body), code_(function.body),
          dependence_(*file.source, function, code_) {}

    std::expected<ParallelFunction, Refusal> find() {
        if (auto form = checkForm(file_, function_); !form)
            return std::unexpected(std::move(form.error()));
        using Step = Gate (FunctionFinder::*)();
        for (const Step step :
             {&FunctionFinder::readStatements, &FunctionFinder::checkReturns,
              &FunctionFinder::findNests, &FunctionFinder::checkHostWork,
              &FunctionFinder::checkParameters, &FunctionFinder::checkKernelInputs,
              &FunctionFinder::findArrays, &FunctionFinder::checkOverlap})
            if (auto gate = (this->*step)(); !gate)
                return std::unexpected(std::move(gate.error()));
        return std::move(result_);
    }

private:
    [[nodiscard]] std::uint32_t line(std::uint32_t offset) const {
        return file_.source->lineColumn(offset).line + 1;
    }
    [[nodiscard]] std::uint32_t lineOf(StmtId statement) const {
        return line(body_.stmt(statement).span.begin);
    }

    /// Accepts loops, declarations, assignments, and at most one `return` at the end.
    Gate readStatements() {
        const std::vector<StmtId>& all = body_.stmt(body_.root).children;
        for (const StmtId child : all) {
            const Stmt& stmt = body_.stmt(child);
            if (stmt.kind == StmtKind::Null)
                continue;
            if (stmt.kind == StmtKind::Return && child == all.back()) {
                result_.returned = stmt.expr;
                continue;
            }
            if (stmt.kind != StmtKind::For && stmt.kind != StmtKind::Declaration &&
                stmt.kind != StmtKind::Expression)
                return refuse("work-outside-loops",
                              fmt::format("the statement on line {} stands outside the loops",
                                          lineOf(child)));
            if (stmt.fromMacro)
                return refuse("loop-from-macro",
                              fmt::format("line {} comes out of a macro", lineOf(child)));
            result_.statements.push_back(child);
        }
        return {};
    }

    Gate checkReturns() {
        for (const Stmt& stmt : body_.stmts)
            if (stmt.kind == StmtKind::Return && stmt.expr != noId && stmt.expr != result_.returned)
                return refuse("returns-a-value",
                              fmt::format("'{}' returns a value on line {}, before its end",
                                          function_.name, line(stmt.span.begin)));
        if (result_.returned == noId)
            return {};
        result_.resultType = resultType(*file_.source, function_);
        if (result_.resultType.empty() || body_.expr(result_.returned).type.pointerDepth > 0)
            return refuse("returns-a-value",
                          fmt::format("what '{}' returns is not a number of a type that its "
                                      "definition names",
                                      function_.name));
        return {};
    }

    Gate findNests() {
        for (const StmtId statement : result_.statements) {
            if (body_.stmt(statement).kind != StmtKind::For)
                continue;
            auto nest = findParallelNest(file_, function_, code_, dependence_, statement);
            if (!nest)
                return std::unexpected(std::move(nest.error()));
            result_.nests.push_back(std::move(*nest));
        }
        if (result_.nests.empty())
            return refuse("no-loop", fmt::format("'{}' has no loop", function_.name));
        const bool hasOnlyDeclarations =
            std::ranges::all_of(result_.statements, [&](StmtId statement) {
                return body_.stmt(statement).kind == StmtKind::Declaration ||
                       statement == result_.statements.back();
            });
        result_.isOneKernel =
            result_.nests.size() == 1 && result_.nests.front().reductions.empty() &&
            result_.returned == noId && hasOnlyDeclarations &&
            result_.nests.front().statement == result_.statements.back() &&
            std::ranges::all_of(function_.accesses, [&](const MemoryAccess& access) {
                return isInNest(access) || (access.base != noId &&
                                            body_.variable(access.base).storage == Storage::Local);
            });
        return {};
    }

    [[nodiscard]] bool isInNest(const MemoryAccess& access) const {
        return std::ranges::any_of(result_.nests, [&](const ParallelNest& nest) {
            return code_.holds(nest.statement, access.expression);
        });
    }

    [[nodiscard]] bool isTouched(VariableId array) const {
        return std::ranges::any_of(function_.accesses, [&](const MemoryAccess& access) {
            return access.base == array && isInNest(access);
        });
    }

    [[nodiscard]] bool isWrittenBefore(VariableId array, std::uint32_t offset) const {
        return std::ranges::any_of(function_.accesses, [&](const MemoryAccess& access) {
            return access.base == array && access.kind != AccessKind::Read && isInNest(access) &&
                   body_.expr(access.expression).span.begin < offset;
        });
    }

    /// Between the first and the last nest, the host's arrays differ from the GPU's.
    Gate checkHostWork() {
        if (result_.isOneKernel)
            return {};
        const std::uint32_t first = body_.stmt(result_.nests.front().statement).span.begin;
        const std::uint32_t last = body_.stmt(result_.nests.back().statement).span.begin;
        for (const MemoryAccess& access : function_.accesses) {
            const Span span = body_.expr(access.expression).span;
            if (isInNest(access) || span.begin < first || span.begin > last)
                continue;
            // A value that no loop touches may belong to an array that a loop has written.
            const bool isAsItWas = access.base != noId && access.kind == AccessKind::Read &&
                                   isTouched(access.base) &&
                                   !isWrittenBefore(access.base, span.begin);
            if (!isAsItWas)
                return refuse("memory-outside-loops",
                              fmt::format("line {} uses '{}' between loops, while the arrays are "
                                          "on the GPU",
                                          line(span.begin), file_.source->slice(span)));
        }
        for (const StmtId statement : result_.statements)
            if (result_.nestAt(statement) == nullptr)
                if (auto gate = checkScalars(statement); !gate)
                    return gate;
        return {};
    }

    /// A statement of the host must not change pointers.
    [[nodiscard]] Gate checkScalars(StmtId statement) const {
        for (const VariableId variable : body_.stmt(statement).declared)
            if (body_.variable(variable).type.pointerDepth > 0)
                return refuse("pointer-variable",
                              fmt::format("line {} declares '{}', a pointer", lineOf(statement),
                                          body_.variable(variable).name));
        for (const ExprId expr : code_.expressionsIn(statement)) {
            const VariableId variable = code_.namedVariable(expr);
            if (variable != noId && body_.variable(variable).type.pointerDepth > 0 &&
                code_.isWrite(expr) && body_.expr(expr).kind == ExprKind::Variable)
                return refuse("pointer-variable",
                              fmt::format("line {} changes '{}', a pointer", lineOf(statement),
                                          body_.variable(variable).name));
        }
        return {};
    }

    Gate checkParameters() {
        for (const Parameter& parameter : function_.parameters)
            if (parameter.escapes)
                return refuse("pointer-escapes",
                              fmt::format("'{}' is stored or handed on", parameter.name));
        if (result_.returned == noId &&
            std::ranges::none_of(function_.parameters, [](const Parameter& parameter) {
                return parameter.type.pointerDepth > 0 && parameter.isWritten;
            }))
            return refuse("writes-nothing", fmt::format("'{}' writes to no array", function_.name));
        return {};
    }

    /// A kernel's parameters from the host's variables must be numbers.
    Gate checkKernelInputs() {
        if (result_.isOneKernel)
            return {};
        for (const ParallelNest& nest : result_.nests)
            for (const ExprId expr : code_.expressionsIn(nest.statement)) {
                const VariableId variable = body_.expr(expr).variable;
                if (body_.expr(expr).kind != ExprKind::Variable || variable == noId ||
                    body_.variable(variable).storage != Storage::Local ||
                    code_.encloses(nest.statement, code_.declarationOf(variable)))
                    continue;
                const Type& type = body_.variable(variable).type;
                if (!isNumber(type) || type.pointerDepth > 0 || !type.arrayExtents.empty())
                    return refuse("unknown-array",
                                  fmt::format("line {} uses '{}', which is declared outside of the "
                                              "loops and is no number",
                                              line(body_.expr(expr).span.begin),
                                              body_.variable(variable).name));
            }
        return {};
    }

    Gate findArrays() {
        result_.rounds = steppedRounds(function_, code_);
        std::vector<StmtId> statements;
        for (ParallelNest& nest : result_.nests) {
            statements.push_back(nest.statement);
            auto own =
                findArrayUses(*file_.source, function_, code_, dependence_, {nest.statement});
            if (!own)
                return std::unexpected(std::move(own.error()));
            nest.arrays = std::move(*own);
        }
        auto all = findArrayUses(*file_.source, function_, code_, dependence_, statements);
        if (!all)
            return std::unexpected(std::move(all.error()));
        result_.arrays = std::move(*all);
        return {};
    }

    /// Arrays are separate in the GPU's memory, even if they overlap on the host.
    Gate checkOverlap() {
        const auto isRestrict = [&](const ArrayUse& use) {
            return function_.parameters[use.parameter].type.isRestrict;
        };
        for (const ArrayUse& use : result_.arrays) {
            const bool meetsAnother =
                std::ranges::any_of(result_.arrays, [&](const ArrayUse& other) {
                    return other.parameter != use.parameter && (use.isWritten || other.isWritten) &&
                           !isRestrict(use) && !isRestrict(other);
                });
            if (meetsAnother)
                result_.apart.push_back(function_.parameters[use.parameter].name);
        }
        if (result_.apart.empty())
            return {};
        for (const CallInText& call : callsOf(*file_.source, function_)) {
            std::map<std::string_view, const ArrayUse*> seen;
            for (const ArrayUse& use : result_.arrays) {
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

    const FileModel& file_;
    const KernelModel& function_;
    const FunctionBody& body_;
    analysis::CodeMap code_;
    LoopDependence dependence_;
    ParallelFunction result_;
};

} // namespace

const ParallelNest* ParallelFunction::nestAt(StmtId statement) const {
    const auto found = std::ranges::find(nests, statement, &ParallelNest::statement);
    return found == nests.end() ? nullptr : &*found;
}

std::expected<ParallelFunction, Refusal> findParallelFunction(const FileModel& file,
                                                              const KernelModel& function) {
    return FunctionFinder(file, function).find();
}

} // namespace kernelskill::engine
