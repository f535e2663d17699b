#include "skills/memory-level-parallelism/load_place.h"

#include "analysis/queries/loop_effects.h"

#include <algorithm>

namespace kernelskill::skills {

using namespace analysis;

namespace {

class PlaceReader {
public:
    PlaceReader(const SkillContext& context, const AdvancingLoop& head)
        : context_(context), code_(context.code()), body_(code_.body()), head_(head),
          loop_(context.kernel.loops[head.counted.loop]) {}

    [[nodiscard]] std::optional<std::vector<StmtId>> read(ExprId place) {
        if (!follow(place) || !usesIndex_)
            return std::nullopt;
        std::ranges::sort(locals_, {}, [&](StmtId id) { return body_.stmt(id).span.begin; });
        return locals_;
    }

private:
    bool follow(ExprId id) {
        const Expr& expr = body_.expr(id);
        switch (expr.kind) {
        case ExprKind::Variable:
            return followVariable(id);
        case ExprKind::Subscript:
            return isReadOnlyPointer(code_, expr.children[0]) && follow(expr.children[1]);
        case ExprKind::Call:
            return isArithmetic(expr) && followAll(expr);
        case ExprKind::Unary:
        case ExprKind::Binary:
        case ExprKind::Cast:
            return isOperator(expr) && followAll(expr);
        default:
            return isFixed(code_, loop_, id, head_.advance);
        }
    }

    bool followAll(const Expr& expr) {
        return std::ranges::all_of(expr.children, [&](ExprId child) { return follow(child); });
    }

    bool followVariable(ExprId id) {
        const VariableId variable = body_.expr(id).variable;
        usesIndex_ |= variable == head_.index && variable != noId;
        const StmtId declaration = variable == noId ? noId : code_.declarationOf(variable);
        if (declaration == noId || !code_.encloses(loop_.body, declaration))
            return isFixed(code_, loop_, id, head_.advance);
        if (std::ranges::find(locals_, declaration) != locals_.end())
            return true;
        const Variable& local = body_.variable(variable);
        if (body_.stmt(declaration).declared.size() != 1 || body_.stmt(declaration).fromMacro ||
            local.init == noId || local.type.isReference || local.type.isVolatile ||
            local.type.pointerDepth > 0 || !local.type.arrayExtents.empty() ||
            code_.isEverWritten(variable) || !isInEveryRound(code_, loop_, local.init) ||
            !follow(local.init))
            return false;
        locals_.push_back(declaration);
        return true;
    }

    [[nodiscard]] static bool isOperator(const Expr& expr) {
        if (expr.type.isVolatile || expr.fromMacro)
            return false;
        if (expr.kind == ExprKind::Unary)
            return expr.op == "-" || expr.op == "~";
        return expr.kind == ExprKind::Cast || !isAssignment(expr.op);
    }

    /// A device function of the file that reaches no memory and calls nothing.
    [[nodiscard]] bool isArithmetic(const Expr& call) const {
        const auto& functions = context_.file.deviceFunctions;
        const auto callee = std::ranges::find(functions, call.name, &KernelModel::name);
        return !call.isMethod && callee != functions.end() &&
               std::ranges::count(functions, call.name, &KernelModel::name) == 1 &&
               callee->accesses.empty() && callee->calls.empty() && callee->barriers.empty() &&
               callee->atomics.empty() && callee->warpOperations.empty() &&
               std::ranges::none_of(callee->parameters, [](const Parameter& parameter) {
                   return parameter.type.isReference || parameter.type.pointerDepth > 0;
               });
    }

    const SkillContext& context_;
    const CodeMap& code_;
    const FunctionBody& body_;
    const AdvancingLoop& head_;
    const Loop& loop_;
    std::vector<StmtId> locals_;
    bool usesIndex_ = false;
};

} // namespace

std::optional<std::vector<StmtId>> localsOfPlace(const SkillContext& context,
                                                 const AdvancingLoop& head, ExprId place) {
    return PlaceReader(context, head).read(place);
}

} // namespace kernelskill::skills
