#include "skills/editing/grid_size.h"

#include "analysis/queries/launch_extents.h"
#include "skills/gates/counted_grid.h"

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

#include <algorithm>
#include <string>

namespace kernelskill::skills {

using namespace analysis;

namespace {

/// `text` as an operand of an operator that binds as `*` (or, `isSum`, as `+`).
std::string operand(const Expr& expr, std::string text, bool isSum) {
    const bool isSumOp = expr.op == "+" || expr.op == "-";
    const bool isProductOp = expr.op == "*" || expr.op == "/" || expr.op == "%";
    const bool bindsLooser = (expr.kind == ExprKind::Binary && !isProductOp && !isSumOp) ||
                             (isSumOp && expr.kind == ExprKind::Binary && !isSum) ||
                             expr.kind == ExprKind::Conditional;
    return bindsLooser ? "(" + text + ")" : text;
}

/// `resized` makes the new number of blocks, or the count that a function makes them from, from the
/// old one's expression and text.
template <typename Resized>
TextEdit resizedGrid(const SkillContext& context, const LaunchSite& launch,
                     const Resized& resized) {
    const FunctionBody& host = context.file.hostFunctions[launch.host].body;
    const SourceText& source = *context.file.source;
    ExprId id = launch.grid;
    const Expr& grid = host.expr(id);
    if (isDim3Name(grid)) {
        const std::string name{source.slice(grid.span)};
        Expr member;
        member.kind = ExprKind::Member;
        return {grid.span,
                fmt::format("dim3({1}, {0}.y, {0}.z)", name, resized(member, name + ".x"))};
    }
    if (const ExprId count = countOfGrid(context, launch); count != noId)
        id = count;
    else if (grid.kind == ExprKind::InitList)
        id = grid.children[0];
    const Expr& blocks = host.expr(id);
    return {blocks.span, resized(blocks, std::string(source.slice(blocks.span)))};
}

} // namespace

TextEdit dividedGrid(const SkillContext& context, const LaunchSite& launch, int divisor) {
    return resizedGrid(context, launch, [&](const Expr& blocks, std::string text) {
        return fmt::format("({} + {}) / {}", operand(blocks, std::move(text), true), divisor - 1,
                           divisor);
    });
}

std::vector<TextEdit> dividedGridAxes(const SkillContext& context, const LaunchSite& launch,
                                      const std::array<int, 3>& divisors) {
    const FunctionBody& host = context.file.hostFunctions[launch.host].body;
    const Expr& grid = host.expr(launch.grid);
    const auto divided = [](const std::string& blocks, int divisor) {
        return divisor == 1 ? blocks : fmt::format("({} + {}) / {}", blocks, divisor - 1, divisor);
    };
    if (isDim3Name(grid)) {
        const std::string name{context.file.source->slice(grid.span)};
        return {{grid.span, fmt::format("dim3({}, {}, {})", divided(name + ".x", divisors[0]),
                                        divided(name + ".y", divisors[1]),
                                        divided(name + ".z", divisors[2]))}};
    }
    // An axis that is not named has one block.
    const std::vector<ExprId> axes =
        grid.kind == ExprKind::InitList ? grid.children : std::vector{launch.grid};
    std::vector<TextEdit> edits;
    for (std::size_t axis = 0; axis < std::min(axes.size(), divisors.size()); ++axis) {
        if (divisors[axis] == 1)
            continue;
        const Expr& blocks = host.expr(axes[axis]);
        edits.push_back(
            {blocks.span,
             divided(operand(blocks, std::string(context.file.source->slice(blocks.span)), true),
                     divisors[axis])});
    }
    return edits;
}

std::optional<std::vector<TextEdit>> regroupedGrid(const SkillContext& context,
                                                   const LaunchSite& launch, const Extents& from,
                                                   const Extents& to,
                                                   const std::array<std::string, 3>& given) {
    const FunctionBody& host = context.file.hostFunctions[launch.host].body;
    const Expr& grid = host.expr(launch.grid);
    const auto regrouped = [&](const Expr& blocks, std::string text, std::size_t axis) {
        if (!given[axis].empty())
            return given[axis];
        const std::int64_t a = from[axis];
        const std::int64_t b = to[axis];
        if (a == b)
            return text;
        if (a % b == 0)
            return fmt::format("{} * {}", operand(blocks, std::move(text), false), a / b);
        if (b % a == 0)
            return fmt::format("({} + {}) / {}", operand(blocks, std::move(text), true), b / a - 1,
                               b / a);
        return fmt::format("({} * {} + {}) / {}", operand(blocks, std::move(text), false), a, b - 1,
                           b);
    };
    if (isDim3Name(grid)) {
        const std::string name{context.file.source->slice(grid.span)};
        Expr member;
        member.kind = ExprKind::Member;
        return std::vector<TextEdit>{
            {grid.span,
             fmt::format("dim3({}, {}, {})", regrouped(member, name + ".x", 0),
                         regrouped(member, name + ".y", 1), regrouped(member, name + ".z", 2))}};
    }
    const std::vector<ExprId> axes =
        grid.kind == ExprKind::InitList ? grid.children : std::vector{launch.grid};
    std::vector<TextEdit> edits;
    std::vector<std::string> texts;
    for (std::size_t axis = 0; axis < from.size(); ++axis) {
        if (axis >= axes.size()) {
            if (from[axis] > to[axis] && given[axis].empty())
                return std::nullopt;
            texts.push_back(given[axis].empty() ? "1" : given[axis]);
            continue;
        }
        const Expr& blocks = host.expr(axes[axis]);
        texts.push_back(
            regrouped(blocks, std::string(context.file.source->slice(blocks.span)), axis));
        if (from[axis] != to[axis])
            edits.push_back({blocks.span, texts.back()});
    }
    if (std::ranges::all_of(given, &std::string::empty))
        return edits;
    if (texts.back() == "1")
        texts.pop_back();
    return std::vector<TextEdit>{{grid.span, fmt::format("dim3({})", fmt::join(texts, ", "))}};
}

TextEdit multipliedGrid(const SkillContext& context, const LaunchSite& launch, int factor) {
    return resizedGrid(context, launch, [&](const Expr& blocks, std::string text) {
        return fmt::format("{} * {}", operand(blocks, std::move(text), false), factor);
    });
}

TextEdit scaledGrid(const SkillContext& context, const LaunchSite& launch, int from, int to) {
    return resizedGrid(context, launch, [&](const Expr& blocks, std::string text) {
        return fmt::format("({} * {} + {}) / {}", operand(blocks, std::move(text), false), from,
                           to - 1, to);
    });
}

} // namespace kernelskill::skills
