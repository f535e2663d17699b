#include "analysis/syntax/lexer.h"
#include "engine/proof/thread_run.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

namespace kernelskill::engine {

using namespace analysis;

namespace {

/// The number of a member of a vector type: x, y, z, w; -1 for any other.
int laneOf(std::string_view member) {
    constexpr std::string_view lanes = "xyzw";
    const auto at = member.size() == 1 ? lanes.find(member) : std::string_view::npos;
    return at == std::string_view::npos ? -1 : static_cast<int>(at);
}

/// Whether the text spells the number 0: what could not be evaluated is 0 in the tree as well.
bool spellsZero(std::string_view text) {
    return text == "0" || text == "0u" || text == "0U" || text == "0x0" || text == "0ull" ||
           text == "0ul" || text == "0l" || text == "0ll" || text == "false" || text == "nullptr" ||
           text == "NULL" || text == "0.0f" || text == "0.0" || text == "0.f" || text == "0.";
}

} // namespace

Term ThreadRun::literal(const Expr& expr) {
    const bool isZero = expr.kind == ExprKind::Integer ? expr.integer == 0 : expr.floating == 0;
    const std::string text = textOf(expr.span);
    if (isZero && !spellsZero(text))
        return isTruthType(expr.type)
                   ? terms_.apply("truth of " + text, {}, {0, 1})
                   : terms_.symbol("value of " + text + " as " + plainTypeName(expr.type));
    if (isTruthType(expr.type))
        return terms_.truth(expr.integer != 0);
    if (expr.kind == ExprKind::Floating) {
        if (!isFloatingKind(expr.type.scalar) || expr.type.lanes != 1)
            give("a number that is not followed", expr.span);
        return floating(expr.floating, expr.type.scalar);
    }
    const bool isLarge = expr.integer < 0 && expr.type.scalar == ScalarKind::UInt64;
    return terms_.integer(isLarge ? Wide{expr.integer} + (Wide{1} << 64) : Wide{expr.integer});
}

Term ThreadRun::baseOf(VariableId id) {
    const Variable& variable = body().variable(id);
    std::size_t number = 0;
    for (VariableId other = 0; other < id; ++other)
        number += body().variable(other).name == variable.name ? 1U : 0U;
    const bool isOuter = variable.storage >= Storage::DeviceGlobal;
    const std::string kind = variable.storage == Storage::Shared          ? "shared"
                             : variable.storage == Storage::DynamicShared ? "dynamic"
                             : variable.storage == Storage::DeviceGlobal  ? "device"
                             : variable.storage == Storage::Constant      ? "constant"
                             : isOuter                                    ? "outer"
                                                                          : "local";
    const std::string name =
        isOuter || number == 0 ? variable.name : fmt::format("{}#{}", variable.name, number);
    const Term base = terms_.symbol(fmt::format("address of {}:{}", kind, name));
    bases_[base] = variable.storage == Storage::DeviceGlobal ? "global"
                   : isOuter                                 ? "constant"
                   // Arrays of dynamic shared memory begin at the same place.
                   : variable.storage == Storage::DynamicShared ? "dynamic"
                                                                : fmt::format("{}:{}", kind, name);
    return base;
}

std::string ThreadRun::memoryOf(Term address) const {
    std::string memory;
    for (const TermTable::Monomial& part : terms_.monomials(address)) {
        for (const Term atom : part.atoms) {
            const auto base = bases_.find(atom);
            if (base == bases_.end())
                continue;
            if (part.atoms.size() > 1 || part.factor != 1 || !memory.empty())
                return {};
            memory = base->second;
        }
    }
    return memory;
}

Term ThreadRun::named(const Expr& expr, ThreadState& state) {
    if (expr.variable == noId) {
        give(fmt::format("the name {}", expr.name), expr.span);
        return terms_.integer(0);
    }
    const Variable& variable = body().variable(expr.variable);
    if (variable.storage == Storage::HostGlobal) {
        if (variable.constantValue && isInteger(variable.type.scalar) &&
            !isAddress(variable.type) && !isTruthType(variable.type))
            return terms_.integer(*variable.constantValue);
        if (!isAddress(variable.type)) {
            const std::string name =
                fmt::format("outer {} as {}", variable.name, textOf(expr.span));
            const bool isNumber = isPlainNumber(variable.type) && isInteger(variable.type.scalar);
            return isTruthType(variable.type)
                       ? terms_.apply("outer truth " + name, {}, {0, 1})
                       : terms_.symbol(name, isNumber ? valuesOf(variable.type.scalar)
                                                      : TermTable::unbounded());
        }
    }
    if (variable.type.isReference || variable.type.isVolatile) {
        give(fmt::format("{}, a reference or volatile", variable.name), expr.span);
        return terms_.integer(0);
    }
    if (!variable.type.arrayExtents.empty())
        return baseOf(expr.variable);
    Place at;
    at.type = variable.type;
    at.variable = expr.variable;
    if (variable.storage != Storage::Local && variable.storage != Storage::Parameter) {
        at.variable = noId;
        at.address = baseOf(expr.variable);
    }
    return read(at, state, expr.span);
}

ThreadRun::Place ThreadRun::place(ExprId id, ThreadState& state) {
    const Expr& expr = body().expr(id);
    Place result;
    result.type = expr.type;
    if (expr.type.isVolatile)
        give("a volatile access", expr.span);
    switch (expr.kind) {
    case ExprKind::Variable: {
        if (expr.variable == noId)
            break;
        const Variable& variable = body().variable(expr.variable);
        if (variable.type.isReference || variable.type.isVolatile)
            break;
        result.type = variable.type;
        const bool isOwn =
            variable.storage == Storage::Local || variable.storage == Storage::Parameter;
        if (isOwn && variable.type.arrayExtents.empty())
            result.variable = expr.variable;
        else
            result.address = baseOf(expr.variable);
        return result;
    }
    case ExprKind::Subscript: {
        const Expr& array = body().expr(expr.children[0]);
        const Expr& index = body().expr(expr.children[1]);
        if (!isAddress(array.type) || isAddress(index.type) || !isInteger(index.type.scalar) ||
            !isPlainNumber(index.type))
            break;
        const Term base = array.type.arrayExtents.empty() ? evaluate(expr.children[0], state)
                                                          : place(expr.children[0], state).address;
        Type number;
        number.scalar = ScalarKind::Int64;
        number.canonical = "long";
        const Term subscript =
            firstEqual(isTruthType(index.type) ? evaluateAs(expr.children[1], number, state)
                                               : evaluate(expr.children[1], state),
                       state);
        if (rules_.subscriptsInBounds && memoryOf(base).starts_with("shared:")) {
            if (array.type.arrayExtents.empty())
                give("a pointer into a shared array", expr.span);
            result.address = terms_.apply("element", {base, subscript});
            bases_[result.address] = memoryOf(base);
            trace_.conditions.insert(fmt::format("each subscript of {} stays in its dimension",
                                                 memoryOf(base).substr(7)));
            return result;
        }
        const bool isRow = !expr.type.arrayExtents.empty();
        const Term size =
            isRow || expr.type.size != 0 ? terms_.integer(expr.type.size) : elementSize(array.type);
        if (isRow && expr.type.size == 0)
            break;
        result.address = terms_.add(base, terms_.multiply(subscript, size));
        return result;
    }
    case ExprKind::Unary:
        if (expr.op != "*" || !isAddress(body().expr(expr.children[0]).type))
            break;
        result.address = evaluate(expr.children[0], state);
        return result;
    case ExprKind::Member: {
        if (expr.children.empty())
            break;
        const Expr& object = body().expr(expr.children[0]);
        const int lane = laneOf(expr.name);
        if (expr.isArrow) {
            if (!isAddress(object.type))
                break;
            result.address = evaluate(expr.children[0], state);
        } else {
            Place outer = place(expr.children[0], state);
            if (outer.variable != noId) {
                outer.members.push_back(expr.name);
                outer.type = expr.type;
                return outer;
            }
            result.address = outer.address;
        }
        const bool isVector = object.type.lanes > 1 && lane >= 0 && expr.type.size != 0;
        result.address = terms_.add(
            result.address, isVector ? terms_.integer(Wide{expr.type.size} * lane)
                                     : terms_.symbol(fmt::format("offset of {} in {}", expr.name,
                                                                 plainTypeName(object.type))));
        return result;
    }
    default:
        break;
    }
    give("an object that is not followed", expr.span);
    return result;
}

Term ThreadRun::memberOf(Term object, const std::string& member, const Type& objectType,
                         const Type& type, bool isParameter) {
    const bool isVector = objectType.lanes > 1;
    const int lane = laneOf(member);
    if (const std::vector<Term>* made =
            terms_.argumentsOf(object, "make:" + plainTypeName(objectType));
        made != nullptr && isVector && lane >= 0 && lane < static_cast<int>(made->size()))
        return made->at(static_cast<std::size_t>(lane));
    if (const std::vector<Term>* changed = terms_.argumentsOf(object, "with:" + member))
        return changed->at(1);
    for (const char* other : {"x", "y", "z", "w"})
        if (isVector && other != member && lane >= 0)
            if (const std::vector<Term>* changed =
                    terms_.argumentsOf(object, fmt::format("with:{}", other)))
                return memberOf(changed->at(0), member, objectType, type, isParameter);
    const bool isNumber = isPlainNumber(type) && !isAddress(type) && isInteger(type.scalar);
    const Term value = terms_.apply("member:" + member + ":" + plainTypeName(type), {object},
                                    isNumber ? valuesOf(type.scalar) : TermTable::unbounded());
    if (isParameter && type.pointerDepth > 0)
        bases_[value] = "global";
    return isTruthType(type) ? terms_.negation(terms_.isZero(value, {})) : value;
}

Term ThreadRun::read(const Place& place, ThreadState& state, Span where, std::string_view by) {
    if (!trouble_.empty())
        return terms_.integer(0);
    if (place.type.isVolatile)
        give("a volatile read", where);
    if (place.variable != noId) {
        const auto known = state.variables.find(place.variable);
        if (known == state.variables.end()) {
            give("a variable that is used before its declaration", where);
            return terms_.integer(0);
        }
        Term value = known->second;
        Type type = body().variable(place.variable).type;
        const bool isParameter = body().variable(place.variable).storage == Storage::Parameter;
        for (std::size_t i = 0; i < place.members.size(); ++i) {
            const bool isLast = i + 1 == place.members.size();
            value =
                memberOf(value, place.members[i], type, isLast ? place.type : Type{}, isParameter);
            type = Type{};
        }
        return value;
    }
    // An array is its address.
    if (!place.type.arrayExtents.empty())
        return place.address;
    const std::string memory = memoryOf(place.address);
    if (memory.empty()) {
        give("a read through a pointer of unknown origin", where);
        return terms_.integer(0);
    }
    if (rules_.notesAccesses && !memory.starts_with("local:"))
        return readElement(place, state, where, by);
    const Type& type = place.type;
    const bool isNumber = isPlainNumber(type) && !isAddress(type) && isInteger(type.scalar);
    const std::string name = fmt::format("{}:{}", by, plainTypeName(type));
    Term contents =
        memory == "constant" ? terms_.symbol("memory:constant") : state.memories.at(memory);
    if (memory.starts_with("local:")) {
        const std::string put = "put:" + plainTypeName(type);
        while (const std::vector<Term>* last = terms_.argumentsOf(contents, put)) {
            const Term previous = last->at(0);
            const Term value = last->at(2);
            const auto distance = terms_.constant(terms_.subtract(place.address, last->at(1)));
            if (distance == Wide{0})
                return value;
            const Wide size = type.size;
            if (!distance || size == 0 || (*distance < size && -*distance < size))
                break;
            contents = previous;
        }
        if (contents == terms_.symbol("zeros:" + memory) && isPlainNumber(type))
            return isTruthType(type)             ? terms_.truth(false)
                   : isInteger(type.scalar)      ? terms_.integer(0)
                   : isFloatingKind(type.scalar) ? floating(0, type.scalar)
                                                 : terms_.integer(0);
    } else {
        const Term at = terms_.apply("read of " + plainTypeName(type), {place.address});
        trace_.reads[at].push_back(facts(state));
        trace_.lines.try_emplace(at, lineOf(where));
    }
    const Term value = terms_.apply(name, {contents, place.address},
                                    isNumber ? valuesOf(type.scalar) : TermTable::unbounded());
    return isTruthType(type) ? terms_.negation(terms_.isZero(value, {})) : value;
}

void ThreadRun::write(const Place& place, Term value, ThreadState& state, Span where) {
    if (!trouble_.empty())
        return;
    if (place.variable != noId) {
        const auto known = state.variables.find(place.variable);
        if (known == state.variables.end())
            return give("a variable that is set before its declaration", where);
        if (place.members.size() > 1)
            return give("a member of a member", where);
        if (!place.members.empty())
            value = terms_.apply("with:" + place.members.front(), {known->second, value});
        known->second = terms_.choice(takesPart(state), value, known->second,
                                      isTruthType(body().variable(place.variable).type));
        return;
    }
    const std::string memory = memoryOf(place.address);
    if (memory.empty() || memory == "constant")
        return give("a write through a pointer of unknown origin", where);
    if (!place.type.arrayExtents.empty() || place.type.isVolatile)
        return give("a write that is not followed", where);
    if (rules_.notesAccesses && !memory.starts_with("local:"))
        return writeElement(place, value, state, where);
    const std::string type = plainTypeName(place.type);
    if (!memory.starts_with("local:"))
        effect(state, "write of " + type, {place.address, value}, where);
    Term& contents = state.memories.at(memory);
    contents = terms_.choice(takesPart(state),
                             terms_.apply("put:" + type, {contents, place.address, value}),
                             contents, false);
}

Term ThreadRun::unary(const Expr& expr, ThreadState& state) {
    const ExprId operandId = expr.children[0];
    const Expr& operand = body().expr(operandId);
    if (expr.op == "*")
        return read(place(static_cast<ExprId>(&expr - body().exprs.data()), state), state,
                    expr.span);
    if (expr.op == "&") {
        const Place at = place(operandId, state);
        if (at.variable != noId || memoryOf(at.address).starts_with("local:"))
            give("the address of a local variable", expr.span);
        return at.address;
    }
    if (expr.op == "!")
        return terms_.negation(condition(operandId, state));
    if (expr.op == "++" || expr.op == "--" || expr.op == "p++" || expr.op == "p--") {
        if (!isPlainNumber(operand.type) || isTruthType(operand.type)) {
            give("an increment of a class", expr.span);
            return terms_.integer(0);
        }
        const Place at = place(operandId, state);
        const Term old = read(at, state, expr.span);
        Type one;
        one.scalar = ScalarKind::Int32;
        one.canonical = "int";
        Type type;
        const Term sum = arithmetic(expr.op.ends_with('+') ? "+" : "-", old, at.type,
                                    terms_.integer(1), one, state, expr.span, type);
        const Term now = converted(sum, type, at.type, state, expr.span);
        write(at, now, state, expr.span);
        return expr.op.starts_with('p') ? old : now;
    }
    Type type = expr.type;
    if (expr.op == "-" && isPlainNumber(operand.type) && isFloatingKind(operand.type.scalar)) {
        const Term value = evaluate(operandId, state);
        return rules_.overReals ? terms_.multiply(terms_.integer(-1), value)
                                : terms_.apply("f-", {value});
    }
    if ((expr.op == "-" || expr.op == "~") && isPlainNumber(operand.type) &&
        isPlainNumber(expr.type) && isInteger(expr.type.scalar)) {
        Type zero = expr.type;
        const Term value = evaluateAs(operandId, expr.type, state);
        return arithmetic("-", terms_.integer(expr.op == "-" ? 0 : -1), zero, value, expr.type,
                          state, expr.span, type);
    }
    if (!isPlainNumber(operand.type) && operand.type.scalar != ScalarKind::Unknown &&
        !isUsers("operator" + expr.op))
        return terms_.apply(fmt::format("operator{}:{}", expr.op, plainTypeName(operand.type)),
                            {evaluate(operandId, state)});
    give(fmt::format("the operator {}", expr.op), expr.span);
    return terms_.integer(0);
}

Term ThreadRun::binary(const Expr& expr, ThreadState& state) {
    if (expr.op == "&&" || expr.op == "||") {
        if (isTruthType(expr.type))
            return condition(static_cast<ExprId>(&expr - body().exprs.data()), state);
        give("an operator of a class", expr.span);
        return terms_.integer(0);
    }
    if (expr.op == ",") {
        evaluate(expr.children[0], state);
        return evaluate(expr.children[1], state);
    }
    if (assigns(expr.op))
        return assignment(expr, state);
    const Expr& left = body().expr(expr.children[0]);
    const Expr& right = body().expr(expr.children[1]);
    const Term leftValue = evaluate(expr.children[0], state);
    const Term rightValue = evaluate(expr.children[1], state);
    Type type = expr.type;
    const Term value =
        arithmetic(expr.op, leftValue, left.type, rightValue, right.type, state, expr.span, type);
    return converted(value, type, expr.type, state, expr.span);
}

Term ThreadRun::assignment(const Expr& expr, ThreadState& state) {
    const Expr& left = body().expr(expr.children[0]);
    const Expr& right = body().expr(expr.children[1]);
    const std::string op = expr.op.substr(0, expr.op.size() - 1);
    const bool isClass =
        left.type.scalar == ScalarKind::Unknown && !left.type.isDependent && !isAddress(left.type);
    if (isClass || (!isPlainNumber(left.type) && isUsers("operator" + expr.op))) {
        if (!isClass || isUsers("operator="))
            give(fmt::format("the operator {}", expr.op), expr.span);
    }
    if (op.empty()) {
        const Term value = evaluateAs(expr.children[1], left.type, state);
        const Place at = place(expr.children[0], state);
        write(at, value, state, expr.span);
        return value;
    }
    const Term amount = evaluate(expr.children[1], state);
    const Place at = place(expr.children[0], state);
    const Term old = read(at, state, left.span);
    Type type = left.type;
    const Term result = arithmetic(op, old, left.type, amount, right.type, state, expr.span, type);
    const Term value = converted(result, type, left.type, state, expr.span);
    write(at, value, state, expr.span);
    return value;
}

Term ThreadRun::initialised(const Expr& expr, ThreadState& state) {
    const Type& type = expr.type;
    if (isPlainNumber(type) && type.arrayExtents.empty() && expr.children.size() <= 1) {
        if (expr.children.size() == 1)
            return evaluateAs(expr.children[0], type, state);
        return isTruthType(type)             ? terms_.truth(false)
               : isFloatingKind(type.scalar) ? floating(0, type.scalar)
                                             : terms_.integer(0);
    }
    if (isAddress(type) || isUsers(plainTypeName(type))) {
        give("an object that is constructed", expr.span);
        return terms_.integer(0);
    }
    std::vector<Term> parts;
    std::string name = "list:" + plainTypeName(type);
    for (const ExprId child : expr.children) {
        parts.push_back(evaluate(child, state));
        name += ":" + plainTypeName(body().expr(child).type);
    }
    return terms_.apply(name, std::move(parts));
}

} // namespace kernelskill::engine
