#include "skills/editing/condition_text.h"

#include "analysis/queries/guarded_work.h"

#include <spdlog/fmt/fmt.h>

namespace kernelskill::skills {

using namespace analysis;

namespace {

std::string negatedAt(const SkillContext& context, const CodeMap& code, ExprId id, bool inAnd) {
    const Expr& expr = code.body().expr(id);
    const auto text = [&](ExprId part) {
        return std::string(context.file.source->slice(code.body().expr(part).span));
    };
    if (!expr.fromMacro && expr.kind == ExprKind::Binary && expr.children.size() == 2) {
        const ExprId left = expr.children[0];
        const ExprId right = expr.children[1];
        if (expr.op == "||")
            return fmt::format("{} && {}", negatedAt(context, code, left, true),
                               negatedAt(context, code, right, true));
        if (expr.op == "&&") {
            const std::string either =
                fmt::format("{} || {}", negatedAt(context, code, left, false),
                            negatedAt(context, code, right, false));
            return inAnd ? fmt::format("({})", either) : either;
        }
        // An unordered comparison of floating-point values has no opposite.
        const std::string_view turned = oppositeComparison(code.body(), expr);
        if (!turned.empty())
            return fmt::format("{} {} {}", text(left), turned, text(right));
    }
    if (expr.kind == ExprKind::Variable)
        return "!" + text(id);
    return fmt::format("!({})", text(id));
}

} // namespace

std::string negated(const SkillContext& context, const CodeMap& code, ExprId condition) {
    return negatedAt(context, code, condition, false);
}

} // namespace kernelskill::skills
