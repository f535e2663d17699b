#include "engine/generate/function_form.h"

#include "analysis/model/known_functions.h"
#include "analysis/syntax/lexer.h"
#include "engine/generate/written_function.h"
#include "skills/base/gates.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <utility>

namespace kernelskill::engine {

using namespace analysis;
using skills::Refusal;
using skills::refuse;

namespace {

using Gate = std::expected<void, Refusal>;

class FormCheck {
public:
    FormCheck(const FileModel& file, const KernelModel& function)
        : file_(file), function_(function), body_(function.body) {}

    [[nodiscard]] Gate check() const {
        for (const Gate& gate :
             {checkFunction(), checkParameters(), checkStatements(), checkExpressions()})
            if (!gate)
                return gate;
        return {};
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

    const FileModel& file_;
    const KernelModel& function_;
    const FunctionBody& body_;
};

} // namespace

bool isNumber(const Type& type) {
    return type.scalar != ScalarKind::Unknown && type.scalar != ScalarKind::Void &&
           type.lanes == 1 && !type.isVolatile && !type.isReference && !type.isDependent;
}

std::expected<void, Refusal> checkForm(const FileModel& file, const KernelModel& function) {
    return FormCheck(file, function).check();
}

} // namespace kernelskill::engine
