#include "skills/gates/thread_position.h"

#include "analysis/queries/feeds.h"
#include "analysis/queries/index_arithmetic.h"
#include "analysis/source/try.h"
#include "analysis/syntax/lexer.h"
#include "skills/base/gates.h"
#include "skills/gates/callees.h"
#include "skills/gates/launch_sites.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>

namespace kernelskill::skills {

using namespace analysis;

namespace {

constexpr std::array<std::string_view, 4> builtins = {"threadIdx", "blockIdx", "blockDim",
                                                      "gridDim"};

bool namesBuiltin(const Expr& expr) {
    return std::ranges::find(builtins, expr.name) != builtins.end();
}

bool hasAssembly(const FunctionBody& body) {
    return std::ranges::any_of(body.stmts,
                               [](const Stmt& stmt) { return stmt.kind == StmtKind::Asm; });
}

std::uint32_t lineOf(const SkillContext& context, Span span) {
    return lineNumber(context, span.begin);
}

Gated<void> requireKnownStatements(const SkillContext& context) {
    for (const Stmt& stmt : context.kernel.body.stmts)
        if (stmt.kind == StmtKind::Asm || stmt.kind == StmtKind::Other)
            return refuse("inline-assembly", fmt::format("what line {} does is not known",
                                                         lineOf(context, stmt.span)));
    return {};
}

/// Whether the places that name a position are to be edited, so that macros must not hold them.
enum class Purpose : std::uint8_t { Edit, Read };

/// The expressions that `isPosition` holds for. Refuses with `gate` those that name no axis.
template <typename Predicate>
Gated<std::vector<ExprId>> plainPositions(const SkillContext& context, const Predicate& isPosition,
                                          std::string gate, Purpose purpose = Purpose::Edit) {
    const FunctionBody& body = context.kernel.body;
    std::vector<ExprId> found;
    for (ExprId id = 0; id < body.exprs.size(); ++id) {
        const Expr& expr = body.expr(id);
        if (!isPosition(expr))
            continue;
        const std::uint32_t line = lineOf(context, expr.span);
        if (expr.kind != ExprKind::BuiltinIndex)
            return refuse(std::move(gate),
                          fmt::format("line {} uses {} as a whole", line, expr.name));
        const std::string_view text = context.file.source->slice(expr.span);
        const std::string_view axis = std::string_view("xyz").substr(expr.axis % 3, 1);
        if (purpose == Purpose::Edit &&
            (expr.fromMacro || !text.starts_with(expr.name) || !text.ends_with(axis)))
            return refuse("from-macro", fmt::format("line {} uses {} in a macro", line, expr.name));
        found.push_back(id);
    }
    std::ranges::sort(found, {}, [&](ExprId id) { return body.expr(id).span; });
    return found;
}

/// Refuses unless `found` has every place at which the text names the builtin.
Gated<void> requireAllSeen(const SkillContext& context, std::string_view builtin,
                           const std::vector<ExprId>& found) {
    const std::vector<Token> tokens = lex(context.file.source->text(), context.kernel.bodySpan);
    const auto seen = std::ranges::count_if(
        found, [&](ExprId id) { return context.kernel.body.expr(id).name == builtin; });
    if (std::ranges::count(tokens, builtin, &Token::text) == seen)
        return {};
    return refuse(
        builtin == "blockIdx" ? "hidden-block-position" : "hidden-thread-position",
        fmt::format("{} uses {} where it cannot be followed", context.kernel.name, builtin));
}

std::unexpected<Refusal> refuseCallee(const std::string& name) {
    return refuse("callee-uses-thread-position",
                  fmt::format("{} may depend on the position of the thread that calls it", name));
}

Gated<std::vector<ExprId>> threadPositions(const SkillContext& context, Purpose purpose) {
    const KernelModel& kernel = context.kernel;
    if (!kernel.warpOperations.empty())
        return refuse(
            "warp-operation",
            fmt::format(
                "the warp operation on line {} depends on which lanes are one warp",
                lineOf(context, kernel.body.expr(kernel.warpOperations.front().call).span)));
    KERNELSKILL_CHECK(requireKnownStatements(context));
    const auto usesPosition = [](const KernelModel& function) {
        return !function.warpOperations.empty() ||
               std::ranges::any_of(function.body.exprs, namesBuiltin) || hasAssembly(function.body);
    };
    if (const auto name = calleeThat(context, usesPosition))
        return refuseCallee(*name);
    return plainPositions(context, namesBuiltin, "thread-position-as-a-whole", purpose);
}

} // namespace

Gated<std::vector<ExprId>> editablePositions(const SkillContext& context) {
    return threadPositions(context, Purpose::Edit);
}

Gated<std::vector<ExprId>> editableThreadPositions(const SkillContext& context) {
    KERNELSKILL_CHECK(requireKnownStatements(context));
    const auto namesThread = [](const Expr& expr) {
        return expr.name == "threadIdx" || expr.name == "blockDim";
    };
    const auto usesPosition = [&](const KernelModel& function) {
        return std::ranges::any_of(function.body.exprs, namesThread) || hasAssembly(function.body);
    };
    if (const auto name = calleeThat(context, usesPosition))
        return refuseCallee(*name);
    KERNELSKILL_TRY(auto found, plainPositions(context, namesThread, "thread-position-as-a-whole"));
    KERNELSKILL_CHECK(requireAllSeen(context, "threadIdx", found));
    KERNELSKILL_CHECK(requireAllSeen(context, "blockDim", found));
    return found;
}

Gated<void> requireKnownPositions(const SkillContext& context) {
    KERNELSKILL_CHECK(threadPositions(context, Purpose::Read));
    return {};
}

Gated<std::vector<ExprId>> editableBlockPositions(const SkillContext& context) {
    constexpr std::string_view builtin = "blockIdx";
    const auto namesBlock = [&](const Expr& expr) { return expr.name == builtin; };
    KERNELSKILL_CHECK(requireKnownStatements(context));
    const auto usesPosition = [&](const KernelModel& function) {
        return std::ranges::any_of(function.body.exprs, namesBlock) || hasAssembly(function.body);
    };
    if (const auto name = calleeThat(context, usesPosition))
        return refuse("callee-uses-block-position",
                      fmt::format("{} may depend on the block that calls it", *name));
    KERNELSKILL_TRY(auto found, plainPositions(context, namesBlock, "block-position-as-a-whole"));
    KERNELSKILL_CHECK(requireAllSeen(context, builtin, found));
    return found;
}

std::optional<std::int64_t> commonBlockExtent(const SkillContext& context, std::uint8_t axis) {
    const auto blocks = launchedBlocks(context);
    if (!blocks)
        return std::nullopt;
    const std::int64_t extent = blocks->front()[axis];
    const bool isCommon =
        std::ranges::all_of(*blocks, [&](const Extents& block) { return block[axis] == extent; });
    return isCommon ? std::optional(extent) : std::nullopt;
}

Gated<void> requireOnlyIndex(const SkillContext& context, const CodeMap& code, VariableId index,
                             std::uint8_t axis) {
    constexpr std::array axisNames{'x', 'y', 'z'};
    const FunctionBody& body = code.body();
    for (ExprId id = 0; id < body.exprs.size(); ++id) {
        const Expr& expr = body.expr(id);
        if (expr.kind == ExprKind::BuiltinIndex && expr.axis == axis && !onlyFeeds(code, id, index))
            return refuse("uses-thread-position",
                          fmt::format("line {} uses {}.{} beside {}",
                                      lineNumber(context, expr.span.begin), expr.name,
                                      axisNames.at(axis), body.variable(index).name));
    }
    return {};
}

ExprId withoutAddedConstant(const CodeMap& code, ExprId expr) {
    const auto whole = polynomialOf(code, expr);
    if (!whole)
        return noId;
    const auto constant = whole->terms().find({});
    if (constant == whole->terms().end())
        return expr;
    const Expr& sum = code.body().expr(expr);
    if (sum.kind != ExprKind::Binary || sum.op != "+" || sum.fromMacro)
        return noId;
    for (const std::size_t side : {0U, 1U}) {
        const auto rest = polynomialOf(code, sum.children[side]);
        if (rest && rest->asConstant() && *rest->asConstant() == constant->second)
            return sum.children[1 - side];
    }
    return noId;
}

bool usesThread(const FunctionBody& body, std::uint8_t axis) {
    return std::ranges::any_of(body.exprs, [&](const Expr& expr) {
        return expr.kind == ExprKind::BuiltinIndex && expr.name == "threadIdx" && expr.axis == axis;
    });
}

} // namespace kernelskill::skills
