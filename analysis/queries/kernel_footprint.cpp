#include "analysis/queries/kernel_footprint.h"

#include "analysis/model/known_functions.h"

#include <algorithm>
#include <set>

namespace kernelskill::analysis {

namespace {

/// A number or a vector of numbers: nothing to follow.
bool isPlainValue(const Type& type) {
    return type.pointerDepth == 0 && !type.isReference && type.scalar > ScalarKind::Void &&
           !type.spelling.contains("Object_t"); // of textures and surfaces
}

bool isPlainPointer(const Type& type) {
    return type.pointerDepth == 1 && !type.isReference && type.scalar > ScalarKind::Void;
}

class FootprintReader {
public:
    explicit FootprintReader(const FileModel& file) : file_(file) {}

    /// Why more than the parameters may be touched; empty where it is not.
    std::string unknownIn(const KernelModel& function) {
        if (!seen_.insert(&function).second)
            return {};
        for (const Parameter& parameter : function.parameters)
            if (parameter.escapes)
                return function.name + " hands " + parameter.name + " on";
        for (const MemoryAccess& access : function.accesses)
            if (!isOwn(function, access))
                return function.name + " uses memory that is not behind its parameters";
        for (const Stmt& stmt : function.body.stmts)
            if (stmt.kind == StmtKind::Asm || stmt.kind == StmtKind::Other)
                return function.name + " holds a statement that is not understood";
        for (const Expr& expr : function.body.exprs) {
            if (expr.kind == ExprKind::Other)
                return function.name + " holds an expression that is not understood";
            if (expr.kind == ExprKind::Call && !isHarmless(function, expr))
                return function.name + " calls " + expr.name;
        }
        for (const std::string& name : function.calls)
            for (const KernelModel& callee : file_.deviceFunctions)
                if (callee.qualifiedName == name)
                    if (std::string unknown = unknownIn(callee); !unknown.empty())
                        return unknown;
        return {};
    }

private:
    static bool isOwn(const KernelModel& function, const MemoryAccess& access) {
        if (access.space == MemorySpace::Shared || access.space == MemorySpace::Local)
            return true;
        if (access.space == MemorySpace::Constant && access.kind == AccessKind::Read)
            return true;
        return access.base != noId &&
               std::ranges::find(function.parameters, access.base, &Parameter::variable) !=
                   function.parameters.end();
    }

    /// The memory that a pointer leads into is that of one parameter or variable: what the callee
    /// does with it is put down there.
    static bool isTraced(const FunctionBody& body, ExprId pointer) {
        const Expr& expr = body.expr(pointer);
        if (expr.kind == ExprKind::Variable && expr.variable != noId) {
            const Variable& variable = body.variable(expr.variable);
            return variable.storage == Storage::Parameter || variable.storage == Storage::Shared ||
                   variable.storage == Storage::DynamicShared ||
                   (variable.storage == Storage::Local &&
                    (variable.type.pointerDepth == 0 || !variable.type.arrayExtents.empty()));
        }
        const bool isStep = expr.kind == ExprKind::Cast || expr.kind == ExprKind::Subscript ||
                            (expr.kind == ExprKind::Unary && expr.op == "&") ||
                            (expr.kind == ExprKind::Binary && (expr.op == "+" || expr.op == "-"));
        return isStep && isTraced(body, expr.children.front());
    }

    /// A function of CUDA from values to a value: __dp4a, __brev, make_uint2. Names that begin with
    /// two underscores are not the user's.
    static bool isIntrinsic(const FunctionBody& body, const Expr& call) {
        const bool isOfCuda =
            call.name.starts_with("__") || (call.name.starts_with("make_") && call.type.lanes > 1);
        return isOfCuda && isPlainValue(call.type) &&
               std::ranges::all_of(call.children, [&](ExprId argument) {
                   const Expr& expr = body.expr(argument);
                   return isPlainValue(expr.type) && expr.type.arrayExtents.empty();
               });
    }

    [[nodiscard]] bool isHarmless(const KernelModel& function, const Expr& call) const {
        const std::string_view name = unqualified(call.name);
        if (name == "printf" || name == "malloc" || name == "free" || name == "assert" ||
            call.isMethod)
            return false;
        if (leavesPointersAlone(name) || mathFunction(name) != MathKind::None || isAtomic(name) ||
            cachedAccess(name) || warpOperation(name) || barrier(name, false, {}))
            return true;
        if (isIntrinsic(function.body, call))
            return true;
        for (const ExprId argument : call.children) {
            const Expr& expr = function.body.expr(argument);
            const bool isPointer = expr.type.pointerDepth > 0 || !expr.type.arrayExtents.empty() ||
                                   (expr.kind == ExprKind::Unary && expr.op == "&");
            if (isPointer && !isTraced(function.body, argument))
                return false;
        }
        // Its body is looked at in its turn.
        return std::ranges::any_of(function.calls, [&](const std::string& callee) {
            return unqualified(callee) == name &&
                   std::ranges::any_of(file_.deviceFunctions, [&](const KernelModel& known) {
                       return known.qualifiedName == callee;
                   });
        });
    }

    const FileModel& file_;
    std::set<const KernelModel*> seen_;
};

} // namespace

KernelFootprint footprintOf(const FileModel& file, const KernelModel& kernel) {
    KernelFootprint footprint;
    for (const Parameter& parameter : kernel.parameters) {
        if (!isPlainValue(parameter.type) && !isPlainPointer(parameter.type) &&
            footprint.unknown.empty())
            footprint.unknown =
                "what " + parameter.name + " of " + kernel.name + " leads to is not known";
        const bool isPointer = isPlainPointer(parameter.type);
        footprint.parameters.push_back(
            {isPointer, isPointer && parameter.isRead, isPointer && parameter.isWritten});
    }
    if (footprint.unknown.empty())
        footprint.unknown = FootprintReader(file).unknownIn(kernel);
    return footprint;
}

} // namespace kernelskill::analysis
