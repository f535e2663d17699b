#include "skills/stream-overlap/host_pointers.h"

#include "analysis/queries/kernel_reach.h"

#include <string_view>

namespace kernelskill::skills {

using namespace analysis;

namespace {

PointerOrigin allocatedBy(std::string_view function) {
    if (function == "cudaMallocHost" || function == "cudaHostAlloc")
        return PointerOrigin::Pinned;
    return function.starts_with("cudaMalloc") ? PointerOrigin::Device : PointerOrigin::Unknown;
}

bool isAllocation(PointerOrigin origin) {
    return origin == PointerOrigin::Device || origin == PointerOrigin::Pinned;
}

} // namespace

VariableId HostPointers::rootOf(ExprId id) const {
    const ExprId plain = code_.withoutCasts(id);
    const Expr& expr = code_.body().expr(plain);
    if (expr.kind == ExprKind::Variable)
        return expr.variable;
    if (expr.kind != ExprKind::Binary || (expr.op != "+" && expr.op != "-"))
        return noId;
    VariableId root = noId;
    for (const ExprId child : expr.children) {
        if (code_.body().expr(code_.withoutCasts(child)).type.pointerDepth == 0)
            continue;
        if (root != noId)
            return noId;
        root = rootOf(child);
    }
    return root;
}

PointerOrigin HostPointers::originOf(VariableId id) const {
    if (id == noId)
        return PointerOrigin::Unknown;
    const Variable& variable = code_.body().variable(id);
    if (variable.type.pointerDepth != 1 || variable.type.isReference)
        return PointerOrigin::Unknown;
    if (variable.storage == Storage::Local)
        return allocationOf(id);
    if (variable.storage != Storage::Parameter || code_.isEverWritten(id))
        return PointerOrigin::Unknown;
    return variable.type.isRestrict ? PointerOrigin::RestrictParameter : PointerOrigin::Parameter;
}

bool HostPointers::areApart(VariableId a, VariableId b) const {
    const PointerOrigin first = originOf(a);
    const PointerOrigin second = originOf(b);
    if (a == b || first == PointerOrigin::Unknown || second == PointerOrigin::Unknown)
        return false;
    return isAllocation(first) || isAllocation(second) ||
           (first == PointerOrigin::RestrictParameter &&
            second == PointerOrigin::RestrictParameter);
}

/// `cudaMalloc(&v, bytes)` is all that ever gives it a value.
PointerOrigin HostPointers::allocationOf(VariableId id) const {
    const Variable& variable = code_.body().variable(id);
    if (variable.init != noId && code_.constantValue(variable.init) != 0 &&
        code_.body().expr(code_.withoutCasts(variable.init)).name != "nullptr")
        return PointerOrigin::Unknown;
    auto found = PointerOrigin::Unknown;
    int allocations = 0;
    for (const ExprId use : code_.uses(id)) {
        if (!code_.isWrite(use))
            continue;
        found = allocationAt(use);
        if (found == PointerOrigin::Unknown)
            return found;
        ++allocations;
    }
    return allocations == 1 ? found : PointerOrigin::Unknown;
}

PointerOrigin HostPointers::allocationAt(ExprId use) const {
    const FunctionBody& body = code_.body();
    ExprId inner = use;
    for (ExprId outer = code_.parent(inner); outer != noId; outer = code_.parent(inner)) {
        const Expr& expr = body.expr(outer);
        if (expr.kind == ExprKind::Call)
            return expr.children.front() == inner ? allocatedBy(expr.name) : PointerOrigin::Unknown;
        const bool isAddress = expr.kind == ExprKind::Unary && expr.op == "&";
        if (!isAddress && expr.kind != ExprKind::Cast)
            break;
        inner = outer;
    }
    return PointerOrigin::Unknown;
}

} // namespace kernelskill::skills
