#include "analysis/model/fact_collector.h"
#include "analysis/model/known_functions.h"
#include "analysis/model/memory_space.h"

#include <algorithm>

namespace kernelskill::analysis {

namespace {

bool pointsSomewhere(const Type& type) {
    return type.pointerDepth > 0 || !type.arrayExtents.empty();
}

AccessKind accessKind(bool reads, bool writes) {
    if (reads && writes)
        return AccessKind::ReadWrite;
    return writes ? AccessKind::Write : AccessKind::Read;
}

} // namespace

/// Whether an lvalue is in memory and not in the thread's registers.
bool FactCollector::isMemory(const Expr& expr) const {
    if (expr.kind == ExprKind::Subscript || (expr.kind == ExprKind::Unary && expr.op == "*"))
        return true;
    if (expr.kind == ExprKind::Member && !expr.children.empty())
        return expr.isArrow ? body_.expr(expr.children.front()).type.pointerDepth > 0
                            : isMemory(body_.expr(expr.children.front()));
    if (expr.kind != ExprKind::Variable || expr.variable == noId)
        return false;
    const Variable& variable = body_.variable(expr.variable);
    if (variable.type.isReference)
        return evaluator_.environment().pointers.contains(expr.variable);
    const bool inMemory = variable.storage == Storage::Shared ||
                          variable.storage == Storage::DynamicShared ||
                          variable.storage == Storage::DeviceGlobal ||
                          (variable.storage == Storage::Constant && !variable.constantValue);
    return inMemory && variable.type.arrayExtents.empty();
}

void FactCollector::visit(ExprId expression, Use use) {
    if (expression == noId)
        return;
    const Expr& expr = body_.expr(expression);
    if (isAssignment(expr) || isIncrement(expr)) {
        visitAssignment(expression);
        return;
    }
    if (expr.kind == ExprKind::Call) {
        visitCall(expression);
        return;
    }
    if (expr.kind == ExprKind::Unary && expr.op == "&") {
        visitPointer(expression);
        return;
    }
    if (isMemory(expr)) {
        if (expr.type.arrayExtents.empty()) {
            const Address address = evaluator_.place(expression);
            const bool reads = use != Use::Write;
            const bool writes = use != Use::Read;
            addAccess(expression, address, expr.type.size, accessKind(reads, writes));
        }
        visitPointer(expression);
        return;
    }
    if (expr.kind == ExprKind::Variable) {
        if (use != Use::Write && expr.variable != noId &&
            !pointsSomewhere(body_.variable(expr.variable).type))
            markParameter(expr.variable, {true, false, false});
        return;
    }
    if (expr.kind == ExprKind::Other) {
        for (const ExprId child : expr.children) {
            visit(child);
            // The use of a pointer in here, for example in a lambda, is unknown.
            if (!isOpaque(expr))
                continue;
            if (pointsSomewhere(body_.expr(child).type))
                if (const VariableId base = evaluator_.pointer(child).base; base != noId)
                    markParameter(base, {true, !body_.expr(child).type.pointeeConst, true});
            if (const VariableId mentioned = rootVariable(body_, child);
                mentioned != noId && expr.name == omittedCode)
                evaluator_.forget(mentioned);
        }
        return;
    }
    for (const ExprId child : expr.children)
        visit(child);
}

/// Visits an address: its parts are read, the place itself is not.
void FactCollector::visitPointer(ExprId expression) {
    const Expr& expr = body_.expr(expression);
    if (expr.kind == ExprKind::Unary && expr.op == "&") {
        const Expr& operand = body_.expr(expr.children.front());
        if (operand.kind != ExprKind::Variable)
            visitPointer(expr.children.front());
        return;
    }
    if (expr.kind == ExprKind::Subscript) {
        const Expr& base = body_.expr(expr.children[0]);
        if (base.kind == ExprKind::Subscript && !base.type.arrayExtents.empty())
            visitPointer(expr.children[0]); // A row, without a load of its own.
        else
            visit(expr.children[0]);
        visit(expr.children[1]);
        return;
    }
    if (expr.kind == ExprKind::Member && !expr.isArrow && !expr.children.empty()) {
        visitPointer(expr.children.front());
        return;
    }
    if (expr.kind == ExprKind::Variable)
        return;
    for (const ExprId child : expr.children)
        visit(child);
}

void FactCollector::visitAssignment(ExprId expression) {
    const Expr& expr = body_.expr(expression);
    const ExprId target = expr.children.front();
    const ExprId value = expr.children.size() > 1 ? expr.children[1] : noId;
    if (value != noId)
        visit(value);
    const bool plain = expr.op == "=";
    visit(target, plain ? Use::Write : Use::ReadWrite);
    const Type& targetType = body_.expr(target).type;
    if (value != noId && plain && pointsSomewhere(targetType) && isMemory(body_.expr(target)))
        if (const VariableId base = evaluator_.pointer(value).base; base != noId)
            markParameter(base, {false, false, true}); // The pointer itself is stored.
    if (plain)
        evaluator_.assign(target, value);
    else if (isIncrement(expr))
        evaluator_.adjust(target, expr.op.ends_with("++") ? "+" : "-", noId);
    else if (expr.op == "+=" || expr.op == "-=")
        evaluator_.adjust(target, expr.op.substr(0, 1), value);
    else if (const Expr& variable = body_.expr(target);
             variable.kind == ExprKind::Variable && variable.variable != noId)
        evaluator_.forget(variable.variable);
}

void FactCollector::visitCall(ExprId call) {
    if (visitKnownCall(call))
        return;
    const Expr& expr = body_.expr(call);
    const CallEffect* effect = effectOf_(call);
    if (effect != nullptr && effect->hasBarrier) {
        function_.barriers.push_back({BarrierKind::SyncThreads, call, divergence_ > 0});
        for (const std::uint32_t loop : loops_)
            function_.loops[loop].hasBarrier = true;
    }
    const bool harmless = leavesPointersAlone(expr.name) ||
                          mathFunction(expr.name) != MathKind::None ||
                          warpOperation(expr.name).has_value();
    for (std::size_t i = 0; i < expr.children.size(); ++i) {
        const ExprId argument = expr.children[i];
        if (expr.isMethod && i == 0) {
            visit(argument);
            continue;
        }
        const std::size_t position = expr.isMethod ? i - 1 : i;
        ParameterEffect onArgument;
        if (effect != nullptr && position < effect->parameters.size())
            onArgument = effect->parameters[position];
        else if (!harmless)
            onArgument = {true, !body_.expr(argument).type.pointeeConst, true};
        visitArgument(argument, onArgument);
    }
}

void FactCollector::visitArgument(ExprId argument, const ParameterEffect& effect) {
    const Expr& expr = body_.expr(argument);
    const bool addressOfLocal = expr.kind == ExprKind::Unary && expr.op == "&";
    if (addressOfLocal || pointsSomewhere(expr.type)) {
        const Address address = evaluator_.pointer(argument);
        if (address.base != noId)
            markParameter(address.base, effect);
        visitPointer(argument);
        if (addressOfLocal)
            if (const VariableId root = rootVariable(body_, argument);
                root != noId && body_.variable(root).type.pointerDepth == 0 &&
                body_.variable(root).type.arrayExtents.empty())
                evaluator_.forget(root);
        return;
    }
    // The callee may write through a reference parameter.
    const bool mayBeReference = effect.writes && isMemory(expr);
    visit(argument, mayBeReference && !effect.escapes ? Use::ReadWrite : Use::Read);
    if (effect.writes && expr.kind == ExprKind::Variable && expr.variable != noId)
        evaluator_.forget(expr.variable);
}

bool FactCollector::visitKnownCall(ExprId call) {
    const Expr& expr = body_.expr(call);
    const std::string_view objectType =
        expr.isMethod && !expr.children.empty()
            ? std::string_view(body_.expr(expr.children.front()).type.canonical)
            : std::string_view{};
    if (const std::optional<BarrierKind> kind = barrier(expr.name, expr.isMethod, objectType)) {
        function_.barriers.push_back({*kind, call, divergence_ > 0});
        if (*kind != BarrierKind::Fence)
            for (const std::uint32_t loop : loops_)
                function_.loops[loop].hasBarrier = true;
        for (const ExprId argument : expr.children)
            visit(argument);
        return true;
    }
    if (expr.isMethod)
        return false;
    const auto visitRest = [&] {
        for (std::size_t i = 1; i < expr.children.size(); ++i)
            visit(expr.children[i]);
    };
    if (isAtomic(expr.name) && !expr.children.empty()) {
        const std::uint32_t access = addPointerAccess(expr.children.front(), AccessKind::Atomic);
        function_.atomics.push_back({call, access});
        visitRest();
        return true;
    }
    if (const std::optional<AccessKind> kind = cachedAccess(expr.name);
        kind && !expr.children.empty()) {
        addPointerAccess(expr.children.front(), *kind);
        visitRest();
        return true;
    }
    if (const std::optional<WarpOperationKind> kind = warpOperation(expr.name)) {
        function_.warpOperations.push_back({*kind, call});
        for (const ExprId argument : expr.children)
            visit(argument);
        return true;
    }
    if (const MathKind kind = mathFunction(expr.name); kind != MathKind::None)
        function_.mathCalls.push_back({call, kind == MathKind::Special});
    if (unqualified(expr.name) == "this_thread_block" || unqualified(expr.name) == "this_grid" ||
        unqualified(expr.name).starts_with("tiled_partition")) {
        for (const ExprId argument : expr.children)
            visit(argument);
        return true;
    }
    if (unqualified(expr.name) == "sync" && !expr.children.empty()) { // For cg::sync(group).
        function_.barriers.push_back({BarrierKind::GroupSync, call, divergence_ > 0});
        for (const std::uint32_t loop : loops_)
            function_.loops[loop].hasBarrier = true;
        return true;
    }
    return false;
}

std::uint32_t FactCollector::addPointerAccess(ExprId pointer, AccessKind kind) {
    const Expr& expr = body_.expr(pointer);
    Address address = evaluator_.pointer(pointer);
    std::uint32_t width = expr.type.elementSize;
    if (expr.kind == ExprKind::Unary && expr.op == "&")
        width = body_.expr(expr.children.front()).type.size;
    if (address.extents.empty() && address.base != noId)
        address = IndexEvaluator::inUnits(std::move(address), width);
    const std::uint32_t index = addAccess(pointer, address, width, kind);
    visitPointer(pointer);
    return index;
}

std::uint32_t FactCollector::addAccess(ExprId expression, const Address& address,
                                       std::uint32_t width, AccessKind kind) {
    MemoryAccess access;
    access.expression = expression;
    access.kind = kind;
    access.base = address.base;
    access.width = width;
    access.space =
        address.base == noId ? MemorySpace::Generic : memorySpaceOf(body_.variable(address.base));
    access.index = address.offset;
    access.subscripts = address.subscripts;
    access.loops = loops_;
    access.conditions = conditions_;
    if (address.base != noId) {
        const bool reads = kind != AccessKind::Write;
        const bool writes = kind != AccessKind::Read;
        markParameter(address.base, {reads, writes, false});
    }
    function_.accesses.push_back(std::move(access));
    return static_cast<std::uint32_t>(function_.accesses.size() - 1);
}

void FactCollector::markParameter(VariableId variable, const ParameterEffect& effect) {
    for (Parameter& parameter : function_.parameters) {
        if (parameter.variable != variable)
            continue;
        parameter.isRead = parameter.isRead || effect.reads;
        parameter.isWritten = parameter.isWritten || effect.writes;
        parameter.escapes = parameter.escapes || effect.escapes;
    }
}

} // namespace kernelskill::analysis
