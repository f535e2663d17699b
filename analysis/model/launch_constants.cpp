#include "analysis/model/launch_constants.h"

#include "analysis/model/dependence.h"
#include "analysis/model/index_evaluator.h"

#include <algorithm>

namespace kernelskill::analysis {

namespace {

class Constants {
public:
    explicit Constants(const FunctionBody& host)
        : host_(host), dependence_(host), evaluator_(host, dependence_) {}

    std::vector<std::int64_t> dimensions(ExprId expression, int depth = 0) {
        constexpr int maximumDepth = 8;
        if (expression == noId || depth > maximumDepth)
            return {};
        const Expr& expr = host_.expr(expression);
        if (expr.kind == ExprKind::InitList) {
            std::vector<std::int64_t> axes(3, 1);
            for (std::size_t i = 0; i < std::min<std::size_t>(expr.children.size(), 3); ++i)
                axes[i] = scalar(expr.children[i]);
            return axes;
        }
        const bool isDim3 = expr.type.scalar == ScalarKind::Unknown && !expr.type.isDependent;
        if (expr.kind == ExprKind::Variable && expr.variable != noId && isDim3) {
            const Variable& variable = host_.variable(expr.variable);
            if (variable.init == noId || dependence_.changes(expr.variable) > 0)
                return {};
            return dimensions(variable.init, depth + 1);
        }
        const std::int64_t x = scalar(expression);
        return x > 0 ? std::vector<std::int64_t>{x, 1, 1} : std::vector<std::int64_t>{};
    }

private:
    std::int64_t scalar(ExprId expression, int depth = 0) {
        constexpr int maximumDepth = 8;
        const Expr& expr = host_.expr(expression);
        if (expr.kind == ExprKind::Variable && expr.variable != noId && depth < maximumDepth) {
            const Variable& variable = host_.variable(expr.variable);
            if (!variable.constantValue && variable.init != noId &&
                variable.storage == Storage::Local && dependence_.changes(expr.variable) == 0)
                return scalar(variable.init, depth + 1);
        }
        const std::optional<IndexExpression> value = evaluator_.integer(expression);
        const std::optional<std::int64_t> constant = value ? value->asConstant() : std::nullopt;
        return constant && *constant > 0 ? *constant : 0;
    }

    const FunctionBody& host_;
    DependenceAnalysis dependence_;
    IndexEvaluator evaluator_;
};

} // namespace

std::vector<std::int64_t> constantDimensions(const FunctionBody& host, ExprId dimensions) {
    return Constants(host).dimensions(dimensions);
}

} // namespace kernelskill::analysis
