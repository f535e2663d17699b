#include "skills/rewriting/thread_position.h"

#include "skills/rewriting/gates.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <set>
#include <string>

namespace kernelskill::skills {

using namespace analysis;

namespace {

constexpr std::array<std::string_view, 4> builtins = {"threadIdx", "blockIdx", "blockDim",
                                                      "gridDim"};

bool namesBuiltin(const Expr& expr) {
    return std::ranges::find(builtins, expr.name) != builtins.end();
}

/// Of a function that the kernel calls, directly or through others.
bool usesPosition(const KernelModel& function) {
    return !function.warpOperations.empty() ||
           std::ranges::any_of(function.body.exprs, namesBuiltin) ||
           std::ranges::any_of(function.body.stmts,
                               [](const Stmt& stmt) { return stmt.kind == StmtKind::Asm; });
}

const KernelModel* callee(const FileModel& file, const std::string& name) {
    const auto found = std::ranges::find(file.deviceFunctions, name, &KernelModel::qualifiedName);
    return found == file.deviceFunctions.end() ? nullptr : &*found;
}

} // namespace

std::expected<std::vector<ExprId>, Refusal> editablePositions(const SkillContext& context) {
    const KernelModel& kernel = context.kernel;
    const FunctionBody& body = kernel.body;
    const auto lineOf = [&](Span span) { return lineNumber(context, span.begin); };
    if (!kernel.warpOperations.empty())
        return refuse("warp-operation",
                      fmt::format("the warp operation on line {} depends on which lanes are one "
                                  "warp",
                                  lineOf(body.expr(kernel.warpOperations.front().call).span)));
    for (const Stmt& stmt : body.stmts)
        if (stmt.kind == StmtKind::Asm || stmt.kind == StmtKind::Other)
            return refuse("inline-assembly",
                          fmt::format("what line {} does is not known", lineOf(stmt.span)));
    std::vector<std::string> open = kernel.calls;
    std::set<std::string> seen(open.begin(), open.end());
    while (!open.empty()) {
        const KernelModel* called = callee(context.file, open.back());
        const std::string name = open.back();
        open.pop_back();
        if (called == nullptr || usesPosition(*called))
            return refuse(
                "callee-uses-thread-position",
                fmt::format("{} may depend on the position of the thread that calls it", name));
        for (const std::string& further : called->calls)
            if (seen.insert(further).second)
                open.push_back(further);
    }
    std::vector<ExprId> found;
    for (ExprId id = 0; id < body.exprs.size(); ++id) {
        const Expr& expr = body.expr(id);
        if (!namesBuiltin(expr))
            continue;
        if (expr.kind != ExprKind::BuiltinIndex)
            return refuse("thread-position-as-a-whole",
                          fmt::format("line {} uses {} as a whole", lineOf(expr.span), expr.name));
        const std::string_view text = context.file.source->slice(expr.span);
        const std::string_view axis = std::string_view("xyz").substr(expr.axis % 3, 1);
        if (expr.fromMacro || !text.starts_with(expr.name) || !text.ends_with(axis))
            return refuse("from-macro",
                          fmt::format("line {} uses {} in a macro", lineOf(expr.span), expr.name));
        found.push_back(id);
    }
    std::ranges::sort(found, {}, [&](ExprId id) { return body.expr(id).span; });
    return found;
}

bool usesThread(const FunctionBody& body, std::uint8_t axis) {
    return std::ranges::any_of(body.exprs, [&](const Expr& expr) {
        return expr.kind == ExprKind::BuiltinIndex && expr.name == "threadIdx" && expr.axis == axis;
    });
}

std::vector<TextEdit> exchangedThreads(const FunctionBody& body,
                                       const std::vector<ExprId>& positions, Span span) {
    std::vector<TextEdit> edits;
    for (const ExprId id : positions) {
        const Expr& expr = body.expr(id);
        if (expr.name == "threadIdx" && expr.axis < 2 && span.contains(expr.span))
            edits.push_back({{expr.span.end - 1, expr.span.end}, expr.axis == 0 ? "y" : "x"});
    }
    return edits;
}

} // namespace kernelskill::skills
