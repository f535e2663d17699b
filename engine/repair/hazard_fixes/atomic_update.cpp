// Fixes races between threads that update the same element.
#include "engine/repair/hazard_fixes/fix_draft.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace kernelskill::engine {

using namespace analysis;

namespace {

bool isInteger(ScalarKind kind) {
    return kind == ScalarKind::Int32 || kind == ScalarKind::UInt32 || kind == ScalarKind::UInt64;
}

bool hasAtomicAdd(const Type& type) {
    return type.lanes == 1 && type.pointerDepth == 0 &&
           (isInteger(type.scalar) || type.scalar == ScalarKind::Float ||
            type.scalar == ScalarKind::Double);
}

struct Update {
    std::string function;
    ExprId target = noId;
    std::string operand;
};

/// The atomic function for an expression statement that updates one place in memory.
std::optional<Update> updateBy(const HazardCode& code, ExprId id) {
    const Expr& expr = code.expr(id);
    if (expr.fromMacro || expr.children.empty())
        return std::nullopt;
    const ExprId target = expr.children.front();
    const Type& type = code.expr(target).type;
    if (!hasAtomicAdd(type))
        return std::nullopt;
    if (isIncrement(expr)) {
        const bool up = expr.op.ends_with("++");
        if (!up && type.scalar == ScalarKind::UInt64)
            return std::nullopt;
        const bool isFloating = !isInteger(type.scalar);
        return Update{up || isFloating ? "atomicAdd" : "atomicSub", target,
                      up || !isFloating ? "1" : "-1"};
    }
    if (expr.kind != ExprKind::Binary || expr.children.size() != 2)
        return std::nullopt;
    const std::string operand = code.text(expr.children[1]);
    if (expr.op == "+=")
        return Update{"atomicAdd", target, operand};
    if (expr.op == "-=" && type.scalar != ScalarKind::UInt64)
        return isInteger(type.scalar) ? Update{"atomicSub", target, operand}
                                      : Update{"atomicAdd", target, "-(" + operand + ")"};
    if (!isInteger(type.scalar))
        return std::nullopt;
    if (expr.op == "|=")
        return Update{"atomicOr", target, operand};
    if (expr.op == "&=")
        return Update{"atomicAnd", target, operand};
    if (expr.op == "^=")
        return Update{"atomicXor", target, operand};
    return std::nullopt;
}

/// Whether the operand reads memory that others update: then atomic updates do not give one value.
bool readsObject(const HazardCode& code, ExprId update, ExprId target) {
    const VariableId object = rootVariable(code.body(), target);
    return std::ranges::any_of(code.kernel().accesses, [&](const MemoryAccess& access) {
        const auto below = code.map().expressionsBelow(update);
        return access.base == object && access.expression != target &&
               std::ranges::find(below, access.expression) != below.end();
    });
}

} // namespace

std::vector<HazardFixDraft> atomicUpdates(const HazardInCode& given) {
    const Hazard& hazard = given.hazard;
    if (hazard.kind != HazardKind::Race || hazard.line != hazard.otherLine ||
        hazard.otherFile != hazard.file)
        return {};
    std::vector<HazardFixDraft> drafts;
    const HazardCode& code = given.code;
    for (const StmtId statement : code.statementsOn(hazard.line, hazard.details.object)) {
        if (code.stmt(statement).kind != StmtKind::Expression)
            continue;
        const ExprId expr = code.stmt(statement).expr;
        const auto update = updateBy(code, expr);
        if (!update || readsObject(code, expr, update->target))
            continue;
        const std::string text = fmt::format("{}(&{}, {})", update->function,
                                             code.text(update->target), update->operand);
        drafts.push_back(
            {fmt::format("use '{}'", text), {{code.expr(expr).span, text}}, FixEffect::Orders});
    }
    return drafts;
}

} // namespace kernelskill::engine
