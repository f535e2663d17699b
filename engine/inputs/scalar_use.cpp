#include "engine/inputs/scalar_use.h"

#include "analysis/model/dependence.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

namespace kernelskill::engine {
namespace {

using analysis::Expr;
using analysis::ExprId;
using analysis::ExprKind;
using analysis::noId;
using analysis::Stmt;
using analysis::StmtKind;
using analysis::VariableId;

/// The operands of a value.
struct Origins {
    std::set<VariableId> parameters;
    bool hasBlock = false;  ///< blockIdx, or a rank in a group that may be the grid.
    bool hasThread = false; ///< threadIdx, or any rank.

    /// Returns whether that changes anything.
    bool join(const Origins& more) {
        const auto before = std::tuple(parameters.size(), hasBlock, hasThread);
        parameters.insert(more.parameters.begin(), more.parameters.end());
        hasBlock |= more.hasBlock;
        hasThread |= more.hasThread;
        return before != std::tuple(parameters.size(), hasBlock, hasThread);
    }
};

class UseCollector {
public:
    explicit UseCollector(const analysis::KernelModel& kernel)
        : kernel_(kernel), body_(kernel.body), variables_(body_.variables.size()) {
        for (VariableId id = 0; id < body_.variables.size(); ++id) {
            if (body_.variable(id).storage == analysis::Storage::Parameter)
                variables_[id].parameters.insert(id);
        }
    }

    std::map<std::string, ScalarUse> all() {
        while (propagate()) {
        }
        for (const Stmt& stmt : body_.stmts) {
            const bool isLoop = stmt.kind == StmtKind::For || stmt.kind == StmtKind::While ||
                                stmt.kind == StmtKind::Do;
            if (isLoop && stmt.condition != noId) {
                noteLoop(stmt.condition);
                for (const VariableId parameter : of(stmt.condition).parameters)
                    useOf(parameter).limitsLoop = true;
            }
            if (stmt.kind == StmtKind::Switch && stmt.condition != noId)
                noteLabels(stmt);
        }
        for (ExprId id = 0; id < body_.exprs.size(); ++id)
            note(id);
        return std::move(uses_);
    }

private:
    /// Passes origins on to the variables that are assigned. Returns whether any is new.
    bool propagate() {
        bool isNew = false;
        for (VariableId id = 0; id < variables_.size(); ++id) {
            if (const ExprId init = body_.variable(id).init; init != noId)
                isNew |= variables_[id].join(of(init));
        }
        for (const Expr& expr : body_.exprs) {
            if (!analysis::isAssignment(expr) || expr.children.size() != 2)
                continue;
            const VariableId target = analysis::rootVariable(body_, expr.children[0]);
            if (target != noId)
                isNew |= variables_[target].join(of(expr.children[1]));
        }
        return isNew;
    }

    [[nodiscard]] Origins of(ExprId id) const {
        const Expr& expr = body_.expr(id);
        Origins origins;
        if (expr.kind == ExprKind::Variable && expr.variable != noId)
            return variables_[expr.variable];
        if (isMemory(expr))
            return origins;
        if (expr.kind == ExprKind::BuiltinIndex) {
            origins.hasBlock = expr.name == "blockIdx";
            origins.hasThread = expr.name == "threadIdx";
        }
        if (expr.kind == ExprKind::Call &&
            (expr.name.contains("rank") || expr.name.contains("index") || isOwn(expr)))
            origins.hasBlock = origins.hasThread = true;
        for (const ExprId child : expr.children)
            origins.join(of(child));
        return origins;
    }

    /// Whether the expression is a value from memory, which is no position wherever it lies.
    [[nodiscard]] bool isMemory(const Expr& expr) const {
        if (expr.kind == ExprKind::Unary)
            return expr.op == "*";
        if (expr.kind != ExprKind::Subscript)
            return false;
        const VariableId root = analysis::rootVariable(body_, expr.children.front());
        return root == noId || body_.variable(root).storage != analysis::Storage::Local ||
               body_.variable(root).type.arrayExtents.empty();
    }

    /// Whether the call is of a function of the program, which may ask for its position.
    [[nodiscard]] bool isOwn(const Expr& call) const {
        return std::ranges::any_of(kernel_.calls, [&](const std::string& name) {
            return name == call.name || name.ends_with("::" + call.name);
        });
    }

    [[nodiscard]] static bool isComparison(const Expr& expr) {
        return expr.kind == ExprKind::Binary && expr.children.size() == 2 &&
               (expr.op == "<" || expr.op == "<=" || expr.op == ">" || expr.op == ">=" ||
                expr.op == "==" || expr.op == "!=");
    }

    /// Compares its arguments or may do so.
    [[nodiscard]] bool isComparing(const Expr& expr) const {
        return isComparison(expr) ||
               (expr.kind == ExprKind::Call &&
                (expr.name.ends_with("min") || expr.name.ends_with("max") || isOwn(expr)));
    }

    void note(ExprId id) {
        const Expr& expr = body_.expr(id);
        if (!isComparing(expr))
            return;
        if (isComparison(expr)) {
            noteConstant(expr.children[0], expr.children[1]);
            noteConstant(expr.children[1], expr.children[0]);
        }
        std::vector<Origins> sides;
        for (const ExprId child : expr.children)
            sides.push_back(of(child));
        for (std::size_t i = 0; i < sides.size(); ++i) {
            for (std::size_t j = 0; j < sides.size(); ++j) {
                if (i != j)
                    noteBounds(sides[i], sides[j], inLoop_.contains(id));
            }
            // `n - position >= 0` bounds the position by n.
            Origins inPosition;
            inPosition.parameters = sides[i].parameters;
            noteBounds(inPosition, sides[i], inLoop_.contains(id));
            const ExprId value = withoutCasts(expr.children[i]);
            const Expr& bound = body_.expr(value);
            const bool isPosition = sides.size() == 2 && isComparison(expr) &&
                                    (sides[1 - i].hasBlock || sides[1 - i].hasThread);
            if (isPosition && bound.kind == ExprKind::Variable && isParameter(bound.variable))
                useOf(bound.variable).isGuard = true;
        }
    }

    /// Notes the constant that is compared with the parameter.
    void noteConstant(ExprId value, ExprId constant) {
        const Expr& parameter = body_.expr(withoutCasts(value));
        const Expr* number = &body_.expr(withoutCasts(constant));
        const bool isNegated = number->kind == ExprKind::Unary && number->op == "-";
        if (isNegated)
            number = &body_.expr(withoutCasts(number->children.front()));
        if (parameter.kind != ExprKind::Variable || !isParameter(parameter.variable) ||
            number->kind != ExprKind::Integer)
            return;
        const std::int64_t known = isNegated ? -number->integer : number->integer;
        if (known < 0 || known > 1)
            useOf(parameter.variable).compared.insert(known);
    }

    /// The labels of any `switch` in it count, those of one inside of another too.
    void noteLabels(const Stmt& stmt) {
        for (const Stmt& label : body_.stmts)
            if (label.kind == StmtKind::Case && label.expr != noId &&
                stmt.span.contains(label.span))
                noteConstant(stmt.condition, label.expr);
    }

    void noteBounds(const Origins& bound, const Origins& position, bool isInLoop) {
        for (const VariableId parameter : bound.parameters) {
            if (position.hasBlock && !bound.hasBlock)
                useOf(parameter).boundsGrid = true;
            else if (position.hasThread && !bound.hasThread && !bound.hasBlock && !isInLoop)
                useOf(parameter).boundsBlock = true;
        }
    }

    /// Notes the parameters in the loop's condition, and its comparisons.
    void noteLoop(ExprId condition) {
        std::vector<ExprId> pending{condition};
        while (!pending.empty()) {
            const ExprId id = pending.back();
            pending.pop_back();
            const Expr& expr = body_.expr(id);
            if (isComparing(expr))
                inLoop_.insert(id);
            for (const ExprId child : expr.children) {
                const Expr& side = body_.expr(withoutCasts(child));
                if (isComparison(expr) && side.kind == ExprKind::Variable &&
                    isParameter(side.variable))
                    useOf(side.variable).boundsLoop = true;
                pending.push_back(child);
            }
        }
    }

    [[nodiscard]] ExprId withoutCasts(ExprId id) const {
        while (body_.expr(id).kind == ExprKind::Cast && !body_.expr(id).children.empty())
            id = body_.expr(id).children.front();
        return id;
    }
    [[nodiscard]] bool isParameter(VariableId id) const {
        return id != noId && body_.variable(id).storage == analysis::Storage::Parameter;
    }
    ScalarUse& useOf(VariableId parameter) { return uses_[body_.variable(parameter).name]; }

    const analysis::KernelModel& kernel_;
    const analysis::FunctionBody& body_;
    std::vector<Origins> variables_;
    std::set<ExprId> inLoop_; ///< Comparisons in conditions of loops.
    std::map<std::string, ScalarUse> uses_;
};

} // namespace

std::map<std::string, ScalarUse> scalarUses(const analysis::KernelModel& kernel) {
    return UseCollector(kernel).all();
}

} // namespace kernelskill::engine
