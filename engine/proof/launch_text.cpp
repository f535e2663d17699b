#include "engine/proof/launch_text.h"

#include "engine/proof/thread_run.h"

namespace kernelskill::engine {

using namespace analysis;

std::optional<std::int64_t> LaunchText::block() const {
    const auto& block = site_.constantBlock;
    if (block.empty() || block[0] <= 0)
        return std::nullopt;
    for (std::size_t axis = 1; axis < block.size(); ++axis)
        if (block[axis] != 1)
            return std::nullopt;
    return block[0];
}

ExprId LaunchText::blocks() const {
    const ExprId grid = bare(site_.grid);
    if (grid == noId)
        return noId;
    const Expr& list = body_.expr(grid);
    if (list.kind != ExprKind::InitList)
        return isPlainNumber(list.type) ? grid : noId;
    for (std::size_t i = 1; i < list.children.size(); ++i)
        if (number(list.children[i]) != 1)
            return noId;
    return list.children.empty() ? noId : bare(list.children[0]);
}

std::vector<LaunchText::Covered> LaunchText::covered(std::int64_t width) const {
    const auto threads = block();
    return threads ? covered(blocks(), *threads * width) : std::vector<Covered>{};
}

std::vector<LaunchText::Covered> LaunchText::covered(ExprId grid, std::int64_t block) const {
    grid = bare(grid);
    if (grid == noId || block <= 0)
        return {};
    const Expr& expr = body_.expr(grid);
    if (const auto value = number(grid))
        return {{"", *value * block}};
    if (expr.kind != ExprKind::Binary || expr.children.size() != 2)
        return {};
    const ExprId left = bare(expr.children[0]);
    const auto right = number(expr.children[1]);
    if (expr.op == "*" && right && *right > 0)
        return covered(left, block * *right);
    if (expr.op != "/" || !right || *right <= 0 || left == noId)
        return {};
    const Expr& sum = body_.expr(left);
    if (sum.kind != ExprKind::Binary || sum.op != "+" || sum.children.size() != 2)
        return {};
    const auto added = number(sum.children[1]);
    if (!added || *added < *right - 1)
        return {};
    const ExprId counted = bare(sum.children[0]);
    std::vector<Covered> found;
    if (*right == block)
        found.push_back({text(counted), number(counted)});
    const bool divides = block % *right == 0;
    const std::vector<Covered> more = *right == block ? elementsOf(counted)
                                      : divides       ? covered(counted, block / *right)
                                                      : std::vector<Covered>{};
    found.insert(found.end(), more.begin(), more.end());
    return found;
}

/// `counted` elements: X * f of them are those of X blocks of f threads.
std::vector<LaunchText::Covered> LaunchText::elementsOf(ExprId counted) const {
    const Expr& expr = body_.expr(counted);
    if (expr.kind != ExprKind::Binary || expr.op != "*" || expr.children.size() != 2)
        return {};
    const auto factor = number(expr.children[1]);
    return factor ? covered(expr.children[0], *factor) : std::vector<Covered>{};
}

bool LaunchText::reaches(const LaunchText& other, std::int64_t width) const {
    if (!block() || block() != other.block() || blocks() == noId || other.blocks() == noId)
        return false;
    const std::string blocksOfOther = other.text(other.blocks());
    if (text(blocks()) == blocksOfOther)
        return true;
    const Expr& quotient = body_.expr(blocks());
    if (quotient.kind != ExprKind::Binary || quotient.op != "/")
        return false;
    const ExprId left = bare(quotient.children[0]);
    const Expr& sum = body_.expr(left);
    if (sum.kind != ExprKind::Binary || sum.op != "+")
        return false;
    const auto divisor = number(quotient.children[1]);
    const auto added = number(sum.children[1]);
    return divisor && added && *divisor > 0 && *divisor <= width && *added >= *divisor - 1 &&
           text(bare(sum.children[0])) == blocksOfOther;
}

std::string LaunchText::argument(std::size_t index) const {
    return index < site_.argumentSpans.size() ? slice(site_.argumentSpans[index]) : std::string();
}

std::optional<std::int64_t> LaunchText::argumentValue(std::size_t index) const {
    return index < site_.arguments.size() ? number(site_.arguments[index]) : std::nullopt;
}

std::string LaunchText::rest() const {
    return text(site_.sharedBytes) + "," + text(site_.stream);
}

std::pair<std::string, std::int64_t> LaunchText::total() const {
    return total(blocks(), block().value_or(0));
}

std::pair<std::string, std::int64_t> LaunchText::total(ExprId grid, std::int64_t block) const {
    grid = bare(grid);
    if (const auto value = number(grid))
        return {"", *value * block};
    const Expr& expr = body_.expr(grid);
    if (expr.kind == ExprKind::Binary && expr.op == "*" && number(expr.children[1]))
        return total(expr.children[0], block * *number(expr.children[1]));
    return {text(grid), block};
}

ExprId LaunchText::bare(ExprId id) const {
    while (id != noId && body_.expr(id).kind == ExprKind::Cast)
        id = body_.expr(id).children.front();
    return id;
}

std::optional<std::int64_t> LaunchText::number(ExprId id) const {
    id = bare(id);
    if (id == noId)
        return std::nullopt;
    const Expr& expr = body_.expr(id);
    if (expr.kind == ExprKind::Integer && expr.integer != 0)
        return expr.integer;
    if (expr.kind == ExprKind::Variable && expr.variable != noId)
        return body_.variable(expr.variable).constantValue;
    if (expr.kind != ExprKind::Binary || expr.children.size() != 2 || !isPlainNumber(expr.type))
        return std::nullopt;
    // Numbers so small that no type wraps them around.
    constexpr std::int64_t most = std::int64_t{1} << 30;
    const auto left = number(expr.children[0]);
    const auto right = number(expr.children[1]);
    if (!left || !right || *left <= 0 || *right <= 0 || *left > most || *right > most ||
        !isInteger(expr.type.scalar))
        return std::nullopt;
    const std::int64_t value = expr.op == "+"   ? *left + *right
                               : expr.op == "*" ? *left * *right
                               : expr.op == "/" ? *left / *right
                                                : 0;
    return value > 0 && value <= most ? std::optional(value) : std::nullopt;
}

std::string LaunchText::text(ExprId id) const {
    return id == noId ? std::string() : slice(body_.expr(id).span);
}

std::string LaunchText::slice(Span span) const {
    const SourceText* source = sourceOf(kernel_.file(), site_);
    return source == nullptr ? std::string() : std::string(source->slice(span));
}

} // namespace kernelskill::engine
