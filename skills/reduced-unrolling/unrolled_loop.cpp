#include "skills/reduced-unrolling/unrolled_loop.h"

#include "skills/base/gates.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

namespace kernelskill::skills {

using namespace analysis;

namespace {

constexpr std::int64_t minRounds = 4; ///< Side by side, of a loop that may be at fault.

constexpr std::string_view blanks = " \t";

/// The number of `unroll`, `unroll 8`, `unroll(8)`; 0: none is said. nullopt: something else is.
struct Factor {
    std::int64_t rounds = 0;
    Span span;
};

std::optional<Factor> factorOf(const SkillContext& context, const Stmt& stmt) {
    constexpr std::string_view keyword = "unroll";
    const std::string_view line = context.file.source->slice(stmt.pragmaSpan);
    const std::size_t word = line.find(keyword);
    const std::size_t directive = line.find('#');
    if (word == std::string_view::npos || directive > word)
        return std::nullopt;
    const std::size_t begin = word + keyword.size();
    const auto spanTo = [&](std::size_t end) {
        return Span{stmt.pragmaSpan.begin + static_cast<std::uint32_t>(begin),
                    stmt.pragmaSpan.begin + static_cast<std::uint32_t>(end)};
    };
    std::size_t at = std::min(line.find_first_not_of(blanks, begin), line.size());
    if (at == line.size() || line[at] == '\r' || line[at] == '\n' || line[at] == '/')
        return Factor{0, spanTo(begin)};
    const bool hasBracket = line[at] == '(';
    if (hasBracket)
        at = std::min(line.find_first_not_of(blanks, at + 1), line.size());
    Factor found;
    const auto [end, error] =
        std::from_chars(line.data() + at, line.data() + line.size(), found.rounds);
    at = static_cast<std::size_t>(end - line.data());
    if (error != std::errc{})
        return std::nullopt;
    std::size_t behind = std::min(line.find_first_not_of(blanks, at), line.size());
    if (hasBracket) {
        if (behind == line.size() || line[behind] != ')')
            return std::nullopt;
        at = behind + 1;
        behind = std::min(line.find_first_not_of(blanks, at), line.size());
    }
    if (behind != line.size() && line[behind] != '\r' && line[behind] != '\n' &&
        line[behind] != '/')
        return std::nullopt;
    found.span = spanTo(at);
    return found;
}

/// The local that `element` is a part of: `kept[j]`, `fragment.x[j]`, `reinterpret_cast<float*>(
/// &vector)[j]`. noId where it is reached through a pointer.
VariableId ownMemoryOf(const CodeMap& code, ExprId element) {
    const FunctionBody& body = code.body();
    ExprId at = element;
    for (;;) {
        at = code.withoutCasts(at);
        const Expr& expr = body.expr(at);
        const bool isPart = expr.kind == ExprKind::Subscript ||
                            (expr.kind == ExprKind::Member && !expr.isArrow) ||
                            (expr.kind == ExprKind::Unary && expr.op == "&");
        if (!isPart || expr.children.empty())
            break;
        at = expr.children[0];
    }
    const VariableId root = code.namedVariable(at);
    const bool isOwn = root != noId && body.variable(root).storage == Storage::Local &&
                       !body.variable(root).type.isReference &&
                       (body.variable(root).type.pointerDepth == 0 ||
                        !body.variable(root).type.arrayExtents.empty());
    return isOwn ? root : noId;
}

/// The kernel's own array that each round indexes by its number: such an array is in registers
/// only while all rounds stand side by side. Empty: nothing.
std::string indexedByRound(const SkillContext& context, const CodeMap& code, const Loop& loop) {
    const FunctionBody& body = code.body();
    const auto isInnerIndex = [&](VariableId variable) {
        return std::ranges::any_of(context.kernel.loops, [&](const Loop& other) {
            return other.inductionVariable == variable && other.statement != loop.statement;
        });
    };
    const auto changesByRound = [&](ExprId id) {
        const Expr& expr = body.expr(id);
        if (expr.kind != ExprKind::Variable || expr.variable == noId)
            return false;
        if (expr.variable == loop.inductionVariable)
            return true;
        const StmtId declaration = code.declarationOf(expr.variable);
        return declaration != noId && code.encloses(loop.body, declaration) &&
               !isInnerIndex(expr.variable);
    };
    for (const ExprId id : code.expressionsIn(loop.body)) {
        const Expr& expr = body.expr(id);
        if (expr.kind != ExprKind::Subscript)
            continue;
        const VariableId array = ownMemoryOf(code, id);
        if (array == noId)
            continue;
        for (ExprId part = id; body.expr(part).kind == ExprKind::Subscript;
             part = code.withoutCasts(body.expr(part).children[0]))
            if (std::ranges::any_of(code.expressionsBelow(body.expr(part).children[1]),
                                    changesByRound))
                return body.variable(array).name;
    }
    return {};
}

Gated<UnrolledLoop> study(const SkillContext& context, const CodeMap& code, std::uint32_t index) {
    const Loop& loop = context.kernel.loops[index];
    const Stmt& stmt = code.body().stmt(loop.statement);
    const std::uint32_t line = lineNumber(context, stmt.span.begin);
    const auto factor = factorOf(context, stmt);
    if (!factor || stmt.fromMacro)
        return refuse(
            "factor-not-literal",
            fmt::format("how far the loop on line {} is unrolled is not said by a number", line));
    UnrolledLoop found;
    found.loop = index;
    found.rounds = factor->rounds;
    found.factor = factor->span;
    if (loop.tripCount && (found.rounds == 0 || found.rounds >= *loop.tripCount)) {
        found.rounds = *loop.tripCount;
        found.isComplete = true;
    }
    if (found.rounds == 0)
        return refuse("unknown-rounds",
                      fmt::format("how many rounds the loop on line {} has is not known, so that "
                                  "`#pragma unroll` may have done nothing",
                                  line));
    if (found.rounds < minRounds)
        return refuse("few-rounds", fmt::format("{} rounds of the loop on line {} stand side by "
                                                "side, which takes few registers",
                                                found.rounds, line));
    if (const std::string array = indexedByRound(context, code, loop); !array.empty())
        return refuse("indexes-registers",
                      fmt::format("the loop on line {} chooses elements of {} by its index: with "
                                  "fewer rounds side by side the whole array would be in memory",
                                  line, array));
    found.size = static_cast<std::size_t>(found.rounds) * code.expressionsIn(loop.body).size();
    return found;
}

} // namespace

Gated<UnrolledLoop> findUnrolledLoop(const SkillContext& context, const CodeMap& code) {
    const KernelModel& kernel = context.kernel;
    std::optional<UnrolledLoop> found;
    std::optional<Refusal> first;
    bool isFoundAtCursor = false;
    for (std::uint32_t i = 0; i < kernel.loops.size(); ++i) {
        const Stmt& stmt = code.body().stmt(kernel.loops[i].statement);
        if (!stmt.pragma.starts_with("unroll"))
            continue;
        auto loop = study(context, code, i);
        if (!loop) {
            if (!first)
                first = loop.error();
            continue;
        }
        const bool isAtCursor =
            context.isCursorAt(stmt.span) || context.isCursorAt(stmt.pragmaSpan);
        // Loops come from the outside in: of those at the cursor the last is the innermost.
        if (!found || isAtCursor || (!isFoundAtCursor && loop->size > found->size)) {
            found = std::move(*loop);
            isFoundAtCursor = isAtCursor;
        }
    }
    if (found)
        return *found;
    if (first)
        return std::unexpected(*first);
    return refuse("no-unrolled-loop",
                  fmt::format("no loop of {} has a `#pragma unroll`", kernel.name));
}

} // namespace kernelskill::skills
