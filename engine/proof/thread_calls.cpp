#include "analysis/model/known_functions.h"
#include "engine/proof/thread_run.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>

namespace kernelskill::engine {

using namespace analysis;

namespace {

/// Functions of CUDA that only compute, beside those of known_functions.h.
constexpr auto pureFunctions = std::to_array<std::string_view>({"__builtin_inff",
                                                                "__builtin_inf",
                                                                "__builtin_huge_valf",
                                                                "__popc",
                                                                "__popcll",
                                                                "__clz",
                                                                "__clzll",
                                                                "__ffs",
                                                                "__ffsll",
                                                                "__brev",
                                                                "__brevll",
                                                                "__mul24",
                                                                "__umul24",
                                                                "__mulhi",
                                                                "__umulhi",
                                                                "__byte_perm",
                                                                "__funnelshift_l",
                                                                "__funnelshift_r",
                                                                "__float2half",
                                                                "__half2float",
                                                                "__float2half_rn",
                                                                "__float2int_rn",
                                                                "__float2int_rd",
                                                                "__float2int_rz",
                                                                "__float2uint_rn",
                                                                "__int_as_float",
                                                                "__float_as_int",
                                                                "__uint_as_float",
                                                                "__float_as_uint",
                                                                "__half2half2",
                                                                "__low2half",
                                                                "__high2half",
                                                                "__low2float",
                                                                "__high2float",
                                                                "__halves2half2",
                                                                "__float2bfloat16",
                                                                "__bfloat162float",
                                                                "__float22half2_rn",
                                                                "__half22float2",
                                                                "__vadd4",
                                                                "__dp4a",
                                                                "__sad",
                                                                "lroundf",
                                                                "lrintf",
                                                                "llroundf",
                                                                "signbit",
                                                                "isfinite"});

/// Of these the order of the arguments does not matter, not even for what is not a number.
constexpr auto symmetric =
    std::to_array<std::string_view>({"min", "max", "fminf", "fmaxf", "fmin", "fmax"});

template <std::size_t N>
bool isOneOf(const std::array<std::string_view, N>& names, std::string_view name) {
    return std::ranges::find(names, name) != names.end();
}

/// The name of the type, one for both integers of 64 bits.
std::string numberName(const Type& type) {
    const std::string name = plainTypeName(type);
    return name == "unsigned long long" ? "unsigned long" : name == "long long" ? "long" : name;
}

} // namespace

bool ThreadRun::isUsers(std::string_view name) const {
    return std::ranges::any_of(kernel_.file().deviceFunctions, [&](const KernelModel& function) {
        return function.name == unqualified(name);
    });
}

/// Whether every function of this name only computes a value from its arguments.
bool ThreadRun::isPure(std::string_view name, int depth) const {
    constexpr int maxDepth = 4;
    const auto isOne = [&](const KernelModel& function) {
        const bool touches = !function.accesses.empty() || !function.barriers.empty() ||
                             !function.atomics.empty() || !function.warpOperations.empty() ||
                             function.body.root == noId;
        const bool hasOuter =
            std::ranges::any_of(function.body.variables, [](const Variable& variable) {
                return (variable.storage != Storage::Local &&
                        variable.storage != Storage::Parameter &&
                        variable.storage != Storage::HostGlobal) ||
                       variable.type.isVolatile || variable.type.isReference ||
                       (variable.storage == Storage::Parameter && isAddress(variable.type));
            });
        const bool hasOther = std::ranges::any_of(function.body.stmts, [](const Stmt& stmt) {
            return stmt.kind == StmtKind::Asm || stmt.kind == StmtKind::Other ||
                   (stmt.kind == StmtKind::Declaration && stmt.declared.empty());
        });
        const bool calls = std::ranges::any_of(function.body.exprs, [&](const Expr& expr) {
            if (expr.kind == ExprKind::Other || expr.kind == ExprKind::BuiltinIndex)
                return true;
            if (expr.kind != ExprKind::Call)
                return false;
            if (expr.isMethod)
                return true;
            if (isUsers(expr.name))
                return !isPure(expr.name, depth + 1);
            return mathFunction(expr.name) == MathKind::None &&
                   !isOneOf(pureFunctions, unqualified(expr.name)) &&
                   !expr.name.starts_with("make_");
        });
        return !touches && !hasOuter && !hasOther && !calls;
    };
    return depth < maxDepth && std::ranges::all_of(
                                   kernel_.file().deviceFunctions,
                                   [&](const KernelModel& function) {
                                       return function.name != unqualified(name) || isOne(function);
                                   });
}

/// Other threads may have written anything where they can.
void ThreadRun::forget(ThreadState& state) {
    for (auto& [name, contents] : state.memories)
        if (!name.starts_with("local:"))
            contents =
                terms_.choice(takesPart(state), terms_.apply("since", {contents, state.effects}),
                              contents, false);
}

Term ThreadRun::call(const Expr& expr, ThreadState& state) {
    const Term nothing = terms_.integer(0);
    const std::string name(unqualified(expr.name));
    if (expr.isMethod || std::ranges::any_of(expr.children, [&](ExprId child) {
            return body().expr(child).isOutput;
        })) {
        // An atomic takes an address; what takes a reference may change a variable.
        give(fmt::format("the call of {}", expr.name), expr.span);
        return nothing;
    }
    const Type& type = expr.type;
    const bool isNumber = isPlainNumber(type) && !isAddress(type) && isInteger(type.scalar);
    const IntegerRange values = isNumber ? valuesOf(type.scalar) : TermTable::unbounded();
    const auto asType = [&](Term value) {
        return isTruthType(type) ? terms_.negation(terms_.isZero(value, {})) : value;
    };
    const bool isOwn = isUsers(name);
    const auto cached = isOwn ? std::nullopt : cachedAccess(name);
    if (cached && !expr.children.empty() && name != "__ldcv") {
        Place at;
        at.address = evaluate(expr.children[0], state);
        at.type = type;
        if (*cached == AccessKind::Read)
            return read(at, state, expr.span, name == "__ldg" ? "ldg" : "load");
        if (expr.children.size() == 2) {
            at.type = body().expr(expr.children[1]).type;
            const Type& pointer = body().expr(expr.children[0]).type;
            if (pointer.scalar != at.type.scalar || pointer.lanes != at.type.lanes)
                give("a write that converts", expr.span);
            write(at, evaluate(expr.children[1], state), state, expr.span);
            return nothing;
        }
    }
    std::vector<Term> arguments;
    std::string signature = expr.name;
    for (const std::string& argument : expr.templateArguments)
        signature += "<" + argument + ">";
    bool areAlike = true;
    for (const ExprId child : expr.children) {
        const Expr& argument = body().expr(child);
        arguments.push_back(evaluate(child, state));
        signature += ":" + (isOwn ? plainTypeName(argument.type) : numberName(argument.type));
        areAlike = areAlike && plainTypeName(argument.type) ==
                                   plainTypeName(body().expr(expr.children[0]).type);
        if (isAddress(argument.type) && argument.kind != ExprKind::String &&
            (memoryOf(arguments.back()).empty() ||
             memoryOf(arguments.back()).starts_with("local:")))
            give("a pointer to a local variable or of unknown origin", argument.span);
        if (rules_.subscriptsInBounds && isOwn && isAddress(argument.type) &&
            memoryOf(arguments.back()).starts_with("shared:"))
            give("a pointer into a shared array", argument.span);
    }
    if (isOwn)
        return usersCall(expr, signature, std::move(arguments), state);
    const auto kind = barrier(name, false, "");
    const auto warp = warpOperation(name);
    if (warp == WarpOperationKind::ActiveMask) {
        give("__activemask()", expr.span);
        return nothing;
    }
    if (kind || warp || isAtomic(name) || leavesPointersAlone(name)) {
        effect(state, signature, std::move(arguments), expr.span);
        if (kind || isAtomic(name))
            forget(state);
        return asType(terms_.apply("result", {state.effects}, values));
    }
    const bool makes = name.starts_with("make_") && type.lanes >= 1;
    if (makes && arguments.size() == type.lanes && type.scalar != ScalarKind::Unknown) {
        Type lane = type;
        lane.lanes = 1;
        constexpr std::array<std::pair<ScalarKind, std::string_view>, 3> followed = {
            {{ScalarKind::Float, "float"},
             {ScalarKind::Int32, "int"},
             {ScalarKind::Double, "double"}}};
        const auto known = std::ranges::find(followed, type.scalar,
                                             &std::pair<ScalarKind, std::string_view>::first);
        if (known != followed.end()) {
            lane.canonical = known->second;
            for (std::size_t i = 0; i < arguments.size(); ++i)
                arguments[i] = converted(arguments[i], body().expr(expr.children[i]).type, lane,
                                         state, expr.span);
            return terms_.apply("make:" + plainTypeName(type), std::move(arguments));
        }
    }
    const bool isPureFunction =
        makes || mathFunction(name) != MathKind::None || isOneOf(pureFunctions, name);
    const bool hasPointer = std::ranges::any_of(
        expr.children, [&](ExprId child) { return isAddress(body().expr(child).type); });
    if (!isPureFunction || hasPointer) {
        give(fmt::format("the call of {}", expr.name), expr.span);
        return nothing;
    }
    // std::min and std::max tell their arguments apart where one is not a number.
    if (areAlike && isOneOf(symmetric, name) && (isNumber || !expr.name.contains("::")))
        std::ranges::sort(arguments);
    return asType(terms_.apply("call:" + signature, std::move(arguments), values));
}

Term ThreadRun::usersCall(const Expr& expr, const std::string& signature,
                          std::vector<Term> arguments, ThreadState& state) {
    const Type& type = expr.type;
    const bool isNumber = isPlainNumber(type) && !isAddress(type) && isInteger(type.scalar);
    const IntegerRange values = isNumber ? valuesOf(type.scalar) : TermTable::unbounded();
    if (isAddress(type) || type.isReference)
        give(fmt::format("the pointer that {} returns", expr.name), expr.span);
    const bool takesReference =
        std::ranges::any_of(kernel_.file().deviceFunctions, [&](const KernelModel& function) {
            return function.name == unqualified(expr.name) &&
                   std::ranges::any_of(function.parameters, [](const Parameter& parameter) {
                       return parameter.type.isReference &&
                              !parameter.type.canonical.starts_with("const ");
                   });
        });
    if (takesReference)
        give(fmt::format("{}, which takes a reference", expr.name), expr.span);
    Term value = terms_.integer(0);
    if (isPure(expr.name)) {
        value = terms_.apply("users call:" + signature, std::move(arguments), values);
    } else {
        effect(state, "users call:" + signature, std::move(arguments), expr.span);
        if (!trouble_.empty())
            return value;
        // It sees the thread's memory as it is.
        std::vector<Term> seen{state.effects};
        for (const auto& [name, contents] : state.memories)
            if (!name.starts_with("local:"))
                seen.push_back(contents);
        state.effects = terms_.apply("saw", std::move(seen));
        trace_.log.back().upTo = state.effects;
        forget(state);
        value = terms_.apply("result", {state.effects}, values);
    }
    return isTruthType(type) ? terms_.negation(terms_.isZero(value, {})) : value;
}

} // namespace kernelskill::engine
