/// Follows host expressions to places: objects with an offset in bytes, and elements of arrays of
/// streams and events.
#include "analysis/queries/kernel_reach.h"
#include "engine/review/host/host_interpreter.h"

#include <spdlog/fmt/fmt.h>

#include <utility>

namespace kernelskill::engine {

using analysis::Expr;
using analysis::ExprId;
using analysis::ExprKind;
using analysis::noId;
using analysis::Storage;
using analysis::Variable;
using analysis::VariableId;

HostValue HostInterpreter::subscript(const Expr& expr) {
    if (const auto place = handlePlace(expr)) {
        const auto known = elements_.find(*place);
        return known != elements_.end()
                   ? known->second
                   : termValue(fmt::format("object:{}[{}]", body_.variable(place->variable).name,
                                           place->element));
    }
    if (isStopped())
        return termValue("nothing");
    const HostValue base = evaluate(expr.children[0]);
    const HostValue index = evaluate(expr.children[1]);
    HostValue element = termValue(fmt::format("{}[{}]@{}", textOf(base), textOf(index), epoch()));
    readStep(expr.span, element.term, base.object);
    return element;
}

bool HostInterpreter::isHandleArray(VariableId id) const {
    const Variable& variable = body_.variable(id);
    const std::string& type = variable.type.canonical;
    return variable.storage == Storage::Local && variable.type.arrayExtents.size() == 1 &&
           (type.contains("CUstream_st") || type.contains("CUevent_st"));
}

std::optional<HostPlace> HostInterpreter::handlePlace(const Expr& expr) {
    if (expr.kind != ExprKind::Subscript)
        return std::nullopt;
    const VariableId array = code_.namedVariable(expr.children[0]);
    if (array == noId || !isHandleArray(array))
        return std::nullopt;
    const HostValue index = evaluate(expr.children[1]);
    const std::int64_t extent = body_.variable(array).type.arrayExtents.front();
    if (!index.integer || *index.integer < 0 || *index.integer >= extent) {
        fail(expr.span,
             fmt::format("which stream of {} is meant is not known", body_.variable(array).name));
        return std::nullopt;
    }
    return HostPlace{array, *index.integer};
}

HostValue HostInterpreter::stepped(const std::string& op, ExprId pointer, const HostValue& from,
                                   const HostValue& index) const {
    HostValue value = combined(op, from, index);
    const auto number = certainNumber(index);
    if (!value.object.empty() && from.offset && number && (op == "+" || op == "-"))
        value.offset =
            analysis::steppedBytes(*from.offset, op, *number, body_.expr(pointer).type.elementSize);
    return value;
}

HostValue HostInterpreter::addressOf(ExprId operand) {
    const Expr& expr = body_.expr(operand);
    if (const auto place = handlePlace(expr)) {
        HostValue value = termValue("&" + textAt(expr.span));
        value.pointee = place->variable;
        value.element = place->element;
        return value;
    }
    if (isStopped())
        return termValue("nothing");
    const VariableId named = code_.namedVariable(operand);
    if (named != noId && isLocal(named)) {
        HostValue value = termValue("&" + textAt(expr.span));
        value.pointee = named;
        return value;
    }
    if (expr.kind == ExprKind::Subscript && code_.namedVariable(expr.children[0]) != noId) {
        const HostValue base = place(expr.children[0]);
        const HostValue index = evaluate(expr.children[1]);
        return stepped("+", expr.children[0], base, index);
    }
    return termValue("&" + textOf(place(operand)));
}

} // namespace kernelskill::engine
