#include "engine/generate/reduction.h"

#include "analysis/model/known_functions.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace kernelskill::engine {

using namespace analysis;
using skills::Refusal;

namespace {

bool isFloating(const Type& type) {
    return type.scalar == ScalarKind::Float || type.scalar == ScalarKind::Double;
}

/// Whether warps can shuffle the type, and arithmetic is not done in a wider one.
bool isFoldable(const Type& type) {
    constexpr auto kinds =
        std::to_array({ScalarKind::Int32, ScalarKind::Int64, ScalarKind::UInt32, ScalarKind::UInt64,
                       ScalarKind::Float, ScalarKind::Double});
    return type.lanes == 1 && type.pointerDepth == 0 && type.arrayExtents.empty() &&
           std::ranges::find(kinds, type.scalar) != kinds.end();
}

/// One statement that folds a value into the variable.
struct FoldStep {
    Fold fold = Fold::Sum;
    std::vector<ExprId> uses; ///< Uses of the variable, including the write.
    ExprId value = noId;      ///< The folded value with its casts; noId for a constant.
};

class FoldReader {
public:
    FoldReader(const FunctionBody& body, const analysis::CodeMap& code)
        : body_(body), code_(code) {}

    /// The step that writes the variable at `use`.
    [[nodiscard]] std::optional<FoldStep> stepAt(ExprId use) const {
        ExprId assignment = code_.parent(use);
        while (assignment != noId && body_.expr(assignment).kind == ExprKind::Cast)
            assignment = code_.parent(assignment);
        if (assignment == noId || code_.parent(assignment) != noId)
            return std::nullopt;
        const StmtId statement = code_.statement(assignment);
        if (statement == noId || body_.stmt(statement).kind != StmtKind::Expression)
            return std::nullopt;
        const Expr& expr = body_.expr(assignment);
        if (expr.kind == ExprKind::Unary && (expr.op.ends_with("++") || expr.op.ends_with("--")))
            return FoldStep{Fold::Sum, {use}, noId};
        if (expr.kind != ExprKind::Binary || code_.withoutCasts(expr.children[0]) != use)
            return std::nullopt;
        const ExprId value = expr.children[1];
        if (expr.op == "=")
            return assigned(use, value, statement);
        const auto fold = foldOf(expr.op.substr(0, expr.op.size() - 1));
        return fold ? std::optional(FoldStep{*fold, {use}, value}) : std::nullopt;
    }

private:
    [[nodiscard]] static std::optional<Fold> foldOf(std::string_view op) {
        if (op == "+" || op == "-")
            return Fold::Sum;
        return op == "^" ? std::optional(Fold::Xor) : std::nullopt;
    }

    [[nodiscard]] bool names(ExprId expr, VariableId variable) const {
        return code_.namedVariable(expr) == variable;
    }

    /// For `s = value`: a sum, a call of max, a conditional expression, or the comparison in an
    /// `if` around it.
    [[nodiscard]] std::optional<FoldStep> assigned(ExprId use, ExprId value,
                                                   StmtId statement) const {
        const VariableId variable = body_.expr(use).variable;
        const Expr& expr = body_.expr(code_.withoutCasts(value));
        const auto with = [&](Fold fold, std::size_t own, std::size_t other) {
            return FoldStep{
                fold, {use, code_.withoutCasts(expr.children[own])}, expr.children[other]};
        };
        if (expr.kind == ExprKind::Binary) {
            const auto fold = foldOf(expr.op);
            if (fold && names(expr.children[0], variable))
                return with(*fold, 0, 1);
            if (fold && expr.op != "-" && names(expr.children[1], variable))
                return with(*fold, 1, 0);
        }
        if (expr.kind == ExprKind::Call && !expr.isMethod)
            return called(use, expr);
        if (expr.kind == ExprKind::Conditional) {
            const bool keepsFirst = names(expr.children[1], variable);
            if (!keepsFirst && !names(expr.children[2], variable))
                return std::nullopt;
            const ExprId other = expr.children[keepsFirst ? 2 : 1];
            auto step = compared(expr.children[0], variable, other, !keepsFirst);
            if (step)
                step->uses.insert(step->uses.end(),
                                  {use, code_.withoutCasts(expr.children[keepsFirst ? 1 : 2])});
            return step;
        }
        return underIf(use, value, statement);
    }

    [[nodiscard]] std::optional<FoldStep> called(ExprId use, const Expr& call) const {
        const VariableId variable = body_.expr(use).variable;
        const std::string_view name = unqualified(call.name);
        const bool isMaximum = name == "max" || name == "fmax" || name == "fmaxf";
        const bool isMinimum = name == "min" || name == "fmin" || name == "fminf";
        if ((isMaximum || isMinimum) && call.children.size() == 2)
            for (const std::size_t own : {0, 1})
                if (names(call.children[own], variable))
                    return FoldStep{isMaximum ? Fold::Maximum : Fold::Minimum,
                                    {use, code_.withoutCasts(call.children[own])},
                                    call.children[1 - own]};
        if ((name == "fma" || name == "fmaf") && call.children.size() == 3 &&
            names(call.children[2], variable))
            return FoldStep{
                Fold::Sum, {use, code_.withoutCasts(call.children[2])}, call.children[0]};
        return std::nullopt;
    }

    /// For `if (value > s) s = value;` without else.
    [[nodiscard]] std::optional<FoldStep> underIf(ExprId use, ExprId value,
                                                  StmtId statement) const {
        StmtId at = body_.stmt(statement).parent;
        if (at != noId && body_.stmt(at).kind == StmtKind::Compound &&
            body_.stmt(at).children.size() == 1)
            at = body_.stmt(at).parent;
        if (at == noId || body_.stmt(at).kind != StmtKind::If ||
            body_.stmt(at).children.size() != 1)
            return std::nullopt;
        auto step = compared(body_.stmt(at).condition, body_.expr(use).variable, value, true);
        if (step)
            step->uses.push_back(use);
        return step;
    }

    /// For `other > s` in either direction. `takesOther`: if it holds, s becomes `other`.
    [[nodiscard]] std::optional<FoldStep> compared(ExprId condition, VariableId variable,
                                                   ExprId other, bool takesOther) const {
        const Expr& expr = body_.expr(code_.withoutCasts(condition));
        if (expr.kind != ExprKind::Binary || expr.children.size() != 2)
            return std::nullopt;
        const bool isGreater = expr.op == ">" || expr.op == ">=";
        if (!isGreater && expr.op != "<" && expr.op != "<=")
            return std::nullopt;
        for (const std::size_t own : {0, 1}) {
            const ExprId compared = code_.withoutCasts(expr.children[1 - own]);
            if (!names(expr.children[own], variable) ||
                !code_.sameExpression(compared, code_.withoutCasts(other)))
                continue;
            const bool otherIsGreater = isGreater == (own == 1);
            return FoldStep{otherIsGreater == takesOther ? Fold::Maximum : Fold::Minimum,
                            {code_.withoutCasts(expr.children[own])},
                            other};
        }
        return std::nullopt;
    }

    const FunctionBody& body_;
    const analysis::CodeMap& code_;
};

class ReductionFinder {
public:
    ReductionFinder(const SourceText& source, const KernelModel& function,
                    const analysis::CodeMap& code, StmtId nest)
        : source_(source), body_(function.body), code_(code), nest_(nest), reader_(body_, code) {}

    /// nullopt if the variable is no reduction.
    std::expected<std::optional<Reduction>, Refusal> find(VariableId variable) const {
        Reduction reduction{variable, Fold::Sum, false};
        std::set<ExprId> accounted;
        bool isFirst = true;
        for (const ExprId use : usesInNest(variable)) {
            if (!code_.isWrite(use))
                continue;
            const auto step = reader_.stepAt(use);
            if (!step || (!isFirst && step->fold != reduction.fold))
                return std::nullopt;
            reduction.fold = step->fold;
            isFirst = false;
            accounted.insert(step->uses.begin(), step->uses.end());
            if (auto type = checkType(variable, *step); !type)
                return std::unexpected(std::move(type.error()));
        }
        if (isFirst)
            return std::nullopt;
        for (const ExprId use : usesInNest(variable))
            if (!accounted.contains(use))
                return std::unexpected(
                    Refusal{"reduction",
                            fmt::format("all iterations fold values into '{0}', and line {1} uses "
                                        "'{0}' while they do",
                                        body_.variable(variable).name, line(use))});
        reduction.startsNeutral = startsNeutral(reduction);
        return reduction;
    }

private:
    [[nodiscard]] std::uint32_t line(ExprId expr) const {
        return source_.lineColumn(body_.expr(expr).span.begin).line + 1;
    }

    [[nodiscard]] std::vector<ExprId> usesInNest(VariableId variable) const {
        std::vector<ExprId> uses;
        std::ranges::copy_if(code_.uses(variable), std::back_inserter(uses),
                             [&](ExprId use) { return code_.holds(nest_, use); });
        return uses;
    }

    [[nodiscard]] std::expected<void, Refusal> checkType(VariableId variable,
                                                         const FoldStep& step) const {
        const Variable& folded = body_.variable(variable);
        const auto refuse = [&](std::string_view why) {
            return std::unexpected(
                Refusal{"reduction-type", fmt::format("line {} folds values into '{}', {}",
                                                      line(step.uses.front()), folded.name, why)});
        };
        if (!isFoldable(folded.type))
            return refuse("whose type threads cannot hand to each other");
        // An integer that takes floating-point values is truncated in each iteration.
        if (step.value != noId && !isFloating(folded.type) &&
            isFloating(body_.expr(step.value).type))
            return refuse("an integer that rounds each time: the order matters");
        const bool isExtreme = step.fold == Fold::Minimum || step.fold == Fold::Maximum;
        if (step.value != noId && isExtreme && !isFloating(folded.type) &&
            body_.expr(step.value).type.scalar != folded.type.scalar &&
            body_.expr(step.value).type.size >= folded.type.size)
            return refuse("which is compared as another type than it has");
        return {};
    }

    /// Whether the variable is declared as 0 and changed only by this nest.
    [[nodiscard]] bool startsNeutral(const Reduction& reduction) const {
        if (isIdempotent(reduction.fold) ||
            body_.variable(reduction.variable).storage != Storage::Local)
            return false;
        const bool isChangedElsewhere =
            std::ranges::any_of(code_.uses(reduction.variable), [&](ExprId use) {
                return code_.isWrite(use) && !code_.holds(nest_, use);
            });
        const ExprId init = body_.variable(reduction.variable).init;
        if (isChangedElsewhere || init == noId)
            return false;
        const Expr& start = body_.expr(code_.withoutCasts(init));
        return (start.kind == ExprKind::Integer && start.integer == 0) ||
               (start.kind == ExprKind::Floating && start.floating == 0);
    }

    const SourceText& source_;
    const FunctionBody& body_;
    const analysis::CodeMap& code_;
    StmtId nest_;
    FoldReader reader_;
};

} // namespace

bool isIdempotent(Fold fold) {
    return fold == Fold::Minimum || fold == Fold::Maximum;
}

bool rounds(const FunctionBody& body, const Reduction& reduction) {
    return reduction.fold == Fold::Sum && isFloating(body.variable(reduction.variable).type);
}

std::expected<std::vector<Reduction>, Refusal> findReductions(const SourceText& source,
                                                              const KernelModel& function,
                                                              const analysis::CodeMap& code,
                                                              StmtId nest) {
    const ReductionFinder finder(source, function, code, nest);
    std::vector<Reduction> found;
    for (VariableId variable = 0; variable < function.body.variables.size(); ++variable) {
        const StmtId declaration = code.declarationOf(variable);
        const Storage storage = function.body.variable(variable).storage;
        if ((storage != Storage::Local && storage != Storage::Parameter) ||
            function.body.variable(variable).type.pointerDepth > 0 ||
            (declaration != noId && code.encloses(nest, declaration)))
            continue;
        auto reduction = finder.find(variable);
        if (!reduction)
            return std::unexpected(std::move(reduction.error()));
        if (*reduction)
            found.push_back(**reduction);
    }
    return found;
}

} // namespace kernelskill::engine
