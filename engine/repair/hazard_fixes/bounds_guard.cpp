// Fixes accesses past either end of a buffer whose length is a parameter.
#include "engine/repair/hazard_fixes/buffer_bound.h"
#include "engine/repair/hazard_fixes/fix_draft.h"
#include "engine/repair/hazard_fixes/statement_insertion.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace kernelskill::engine {

using namespace analysis;

namespace {

/// The condition under which the access is allowed, and its opposite.
struct Guard {
    std::string condition;
    std::string opposite;
    bool isUpper = true;
    VariableId index = noId; ///< `i` for `i + 1 < n`; noId for more complex conditions.
    std::string bound;       ///< `n`; empty for a lower bound.
};

/// `i`, `i + 1` or `i - 1` with a plain variable; noId otherwise.
struct Offset {
    VariableId variable = noId;
    std::int64_t constant = 0;
};

Offset offsetOf(const HazardCode& code, ExprId subscript) {
    const ExprId bare = code.map().withoutCasts(subscript);
    if (const VariableId plain = code.map().namedVariable(bare); plain != noId)
        return {plain, 0};
    const Expr& expr = code.expr(bare);
    if (expr.kind != ExprKind::Binary || (expr.op != "+" && expr.op != "-"))
        return {};
    VariableId variable = code.map().namedVariable(expr.children[0]);
    auto constant = code.map().constantValue(expr.children[1]);
    if (expr.op == "+" && !constant) {
        variable = code.map().namedVariable(expr.children[1]);
        constant = code.map().constantValue(expr.children[0]);
    }
    if (variable == noId || !constant)
        return {};
    return {variable, expr.op == "-" ? -*constant : *constant};
}

/// The text as an operand of `<`.
std::string operand(const HazardCode& code, ExprId id) {
    const Expr& expr = code.expr(id);
    const bool bindsLooser =
        expr.kind == ExprKind::Conditional ||
        (expr.kind == ExprKind::Binary && expr.op != "+" && expr.op != "-" && expr.op != "*" &&
         expr.op != "/" && expr.op != "%" && expr.op != "<<" && expr.op != ">>");
    return bindsLooser ? "(" + code.text(id) + ")" : code.text(id);
}

bool isSigned(const Type& type) {
    return type.scalar == ScalarKind::Int32 || type.scalar == ScalarKind::Int64 ||
           type.scalar == ScalarKind::Int16;
}

Guard smallerThan(std::string index, const std::string& bound) {
    return {index + " < " + bound, std::move(index) + " >= " + bound, true, noId, bound};
}

std::optional<Guard> lowerGuard(const HazardCode& code, ExprId subscript) {
    const Offset offset = offsetOf(code, subscript);
    if (offset.variable != noId && offset.constant < 0) {
        const std::string& name = code.body().variable(offset.variable).name;
        const std::int64_t least = -offset.constant;
        Guard guard = least == 1
                          ? Guard{name + " > 0", name + " == 0", false, offset.variable, ""}
                          : Guard{fmt::format("{} >= {}", name, least),
                                  fmt::format("{} < {}", name, least), false, offset.variable, ""};
        if (least == 1 && isSigned(code.body().variable(offset.variable).type))
            guard.opposite = name + " <= 0";
        return guard;
    }
    if (!isSigned(code.expr(subscript).type))
        return std::nullopt;
    const std::string text = operand(code, subscript);
    return Guard{text + " >= 0", text + " < 0", false, noId, ""};
}

/// The guard for `row * width + rest`: the row is below its bound. If the rest differs between
/// threads, it is below the width.
std::optional<Guard> rowGuard(const HazardInCode& given, ExprId subscript) {
    const HazardCode& code = given.code;
    const Expr& sum = code.expr(code.map().withoutCasts(subscript));
    if (sum.kind != ExprKind::Binary || sum.op != "+")
        return std::nullopt;
    for (const auto& [product, rest] : {std::pair(sum.children[0], sum.children[1]),
                                        std::pair(sum.children[1], sum.children[0])}) {
        const Expr& scaled = code.expr(code.map().withoutCasts(product));
        if (scaled.kind != ExprKind::Binary || scaled.op != "*")
            continue;
        for (const auto& [row, width] : {std::pair(scaled.children[0], scaled.children[1]),
                                         std::pair(scaled.children[1], scaled.children[0])}) {
            const VariableId rowVariable = code.map().namedVariable(row);
            const VariableId column = code.map().namedVariable(rest);
            if (rowVariable == noId || column == noId)
                continue;
            const std::string bound =
                boundOf(code, given.launches, given.hazard.details.object, width);
            if (bound.empty())
                continue;
            Guard guard = smallerThan(code.text(row), bound);
            const bool isLoopIndex =
                std::ranges::any_of(code.kernel().loops, [&](const Loop& loop) {
                    return loop.inductionVariable == column;
                });
            if (isLoopIndex)
                return guard;
            const Guard side = smallerThan(code.text(rest), operand(code, width));
            return Guard{side.condition + " && " + guard.condition,
                         side.opposite + " || " + guard.opposite, true, noId, bound};
        }
    }
    return std::nullopt;
}

std::optional<Guard> upperGuard(const HazardInCode& given, ExprId subscript) {
    const std::string bound =
        boundOf(given.code, given.launches, given.hazard.details.object, noId);
    if (bound.empty())
        return rowGuard(given, subscript);
    Guard guard = smallerThan(operand(given.code, subscript), bound);
    guard.index = offsetOf(given.code, subscript).variable;
    return guard;
}

bool hasSideEffect(const HazardCode& code, ExprId id) {
    return std::ranges::any_of(code.map().expressionsBelow(id), [&](ExprId part) {
        const Expr& expr = code.expr(part);
        return expr.fromMacro || expr.kind == ExprKind::Call || isAssignment(expr) ||
               isIncrement(expr);
    });
}

/// Makes the edits that add a guard to a statement.
class Guarding {
public:
    Guarding(const HazardCode& code, StmtId statement, const Guard& guard)
        : code_(code), statement_(statement), guard_(guard) {}

    std::vector<HazardFixDraft> drafts() {
        if (tighten())
            return std::move(drafts_);
        if (!returnEarly() && code_.stmt(statement_).kind == StmtKind::Expression)
            add(fmt::format("put line {} under 'if ({})'", lineOf(statement_), guard_.condition),
                putUnder(code_, statement_, guard_.condition));
        return std::move(drafts_);
    }

private:
    [[nodiscard]] std::uint32_t lineOf(StmtId statement) const {
        return code_.lineOf(code_.stmt(statement).span.begin) + 1;
    }

    void add(std::string title, Edits edits) {
        if (edits)
            drafts_.push_back({std::move(title), std::move(*edits), FixEffect::Skips});
    }

    /// Extends an existing `if` whose statements all depend on the access.
    bool tighten() {
        StmtId branch = statement_;
        StmtId around = code_.stmt(branch).parent;
        if (around != noId && code_.stmt(around).kind == StmtKind::Compound &&
            code_.stmt(around).parent != noId) {
            if (!dependOnStatement(around))
                return false;
            branch = around;
            around = code_.stmt(branch).parent;
        }
        if (around == noId || code_.stmt(around).kind != StmtKind::If ||
            code_.stmt(around).children.size() != 1 || code_.stmt(around).fromMacro)
            return false;
        const ExprId condition = code_.stmt(around).condition;
        if (condition == noId || code_.expr(condition).fromMacro)
            return false;
        std::vector<ExprId> parts;
        if (!conjuncts(condition, parts))
            return false;
        for (const ExprId part : parts) {
            if (guard_.isUpper && guard_.index != noId && isUpperBound(part)) {
                add(fmt::format("tighten '{}' to '{}'", code_.text(part), guard_.condition),
                    std::vector{TextEdit{code_.expr(part).span, guard_.condition}});
                return true;
            }
        }
        const Span span = code_.expr(condition).span;
        const bool comesFirst = !guard_.isUpper;
        add(fmt::format("add '{}' to the condition on line {}", guard_.condition,
                        code_.lineOf(span.begin) + 1),
            std::vector{comesFirst ? TextEdit{{span.begin, span.begin}, guard_.condition + " && "}
                                   : TextEdit{{span.end, span.end}, " && " + guard_.condition}});
        return true;
    }

    /// Whether the other statements of a block only declare, or use a declaration of `statement_`.
    [[nodiscard]] bool dependOnStatement(StmtId block) const {
        const auto& declared = code_.stmt(statement_).declared;
        return std::ranges::all_of(code_.stmt(block).children, [&](StmtId other) {
            if (other == statement_ || code_.stmt(other).kind == StmtKind::Declaration)
                return true;
            return std::ranges::any_of(declared, [&](VariableId variable) {
                return std::ranges::any_of(code_.map().uses(variable), [&](ExprId use) {
                    return code_.map().holds(other, use);
                });
            });
        });
    }

    /// The operands of a chain of `&&`; false if another operator such as `||` is on top.
    bool conjuncts(ExprId condition, std::vector<ExprId>& parts) const {
        const Expr& expr = code_.expr(condition);
        if (expr.kind == ExprKind::Binary && expr.op == "&&")
            return conjuncts(expr.children[0], parts) && conjuncts(expr.children[1], parts);
        if (expr.kind == ExprKind::Conditional ||
            (expr.kind == ExprKind::Binary && (expr.op == "||" || isAssignment(expr))))
            return false;
        parts.push_back(condition);
        return true;
    }

    /// Whether this is `i < n` or `i <= n` with the guard's own operands.
    [[nodiscard]] bool isUpperBound(ExprId part) const {
        const Expr& expr = code_.expr(code_.map().withoutCasts(part));
        if (expr.kind != ExprKind::Binary || (expr.op != "<" && expr.op != "<="))
            return false;
        const VariableId limit = code_.map().namedVariable(expr.children[1]);
        return code_.map().namedVariable(expr.children[0]) == guard_.index && limit != noId &&
               code_.body().variable(limit).name == guard_.bound;
    }

    /// Adds an early return, if threads share only buffers so that each may leave.
    bool returnEarly() {
        const KernelModel& kernel = code_.kernel();
        const bool isAlone = kernel.barriers.empty() && kernel.warpOperations.empty() &&
                             kernel.sharedArrays.empty() && kernel.atomics.empty();
        const Stmt& root = code_.stmt(kernel.body.root);
        if (!isAlone || !guard_.isUpper || code_.stmt(statement_).parent != kernel.body.root ||
            root.children.back() == statement_)
            return false;
        add(fmt::format("return early if '{}'", guard_.opposite),
            insertedBefore(
                code_, statement_,
                earlyReturn(code_, guard_.opposite,
                            code_.layout().indentation(code_.stmt(statement_).span.begin))));
        return !drafts_.empty();
    }

    const HazardCode& code_;
    StmtId statement_;
    const Guard& guard_;
    std::vector<HazardFixDraft> drafts_;
};

} // namespace

std::vector<HazardFixDraft> boundsGuards(const HazardInCode& given) {
    const Hazard& hazard = given.hazard;
    const HazardCode& code = given.code;
    if (hazard.kind != HazardKind::OutOfBounds || !hazard.certain || !hazard.details.element)
        return {};
    const LaunchSpec& launch = given.launches.front();
    const auto touched =
        accessTouching(code, launch, hazard.block, hazard.thread, *hazard.details.element,
                       code.accessesOn(hazard.line, hazard.details.object));
    if (!touched)
        return {};
    const MemoryAccess& access = code.kernel().accesses[*touched];
    const Expr& place = code.expr(access.expression);
    // Through a pointer into the buffer, the subscript is not the element's index.
    if (place.kind != ExprKind::Subscript || place.fromMacro || access.subscripts.size() != 1 ||
        access.base == noId || code.map().namedVariable(place.children[0]) != access.base ||
        hasSideEffect(code, place.children[1]))
        return {};
    const StmtId statement = code.map().statement(access.expression);
    if (statement == noId || code.stmt(statement).fromMacro)
        return {};
    const ExprId subscript = place.children[1];
    const auto guard =
        *hazard.details.element < 0 ? lowerGuard(code, subscript) : upperGuard(given, subscript);
    return guard ? Guarding(code, statement, *guard).drafts() : std::vector<HazardFixDraft>{};
}

} // namespace kernelskill::engine
