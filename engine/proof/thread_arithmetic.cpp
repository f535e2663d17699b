#include "analysis/syntax/lexer.h"
#include "engine/proof/thread_run.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>
#include <optional>

namespace kernelskill::engine {

using namespace analysis;

namespace {

/// The type of the result of an arithmetic operator on both.
ScalarKind commonKind(ScalarKind left, ScalarKind right) {
    const auto promoted = [](ScalarKind kind) {
        return isInteger(kind) && bitsOf(kind) < 32 ? ScalarKind::Int32
               : kind == ScalarKind::Bool           ? ScalarKind::Int32
                                                    : kind;
    };
    left = promoted(left);
    right = promoted(right);
    for (const ScalarKind kind : {ScalarKind::Double, ScalarKind::Float, ScalarKind::UInt64,
                                  ScalarKind::Int64, ScalarKind::UInt32})
        if (left == kind || right == kind)
            return kind;
    return ScalarKind::Int32;
}

std::string kindName(ScalarKind kind) {
    return fmt::format("{}", static_cast<int>(kind));
}

Type typeOf(ScalarKind kind) {
    Type type;
    type.scalar = kind;
    switch (kind) {
    case ScalarKind::Bool:
        type.canonical = "bool";
        break;
    case ScalarKind::Int32:
        type.canonical = "int";
        break;
    case ScalarKind::UInt32:
        type.canonical = "unsigned int";
        break;
    case ScalarKind::Int64:
        type.canonical = "long";
        break;
    case ScalarKind::UInt64:
        type.canonical = "unsigned long";
        break;
    case ScalarKind::Float:
        type.canonical = "float";
        break;
    default:
        type.canonical = "double";
        break;
    }
    type.spelling = type.canonical;
    type.size = static_cast<std::uint32_t>(bitsOf(kind) / 8);
    return type;
}

bool isComparison(std::string_view op) {
    return op == "<" || op == ">" || op == "<=" || op == ">=" || op == "==" || op == "!=";
}

} // namespace

std::string plainTypeName(const Type& type) {
    std::string plain;
    for (const Token& token : lex(type.canonical))
        if (token.text != "const" && token.text != "__restrict" && token.text != "__restrict__" &&
            token.text != "restrict" && token.text != "struct")
            plain += fmt::format("{}{}", plain.empty() ? "" : " ", token.text);
    return plain;
}

bool isFloatingKind(ScalarKind kind) {
    return kind == ScalarKind::Float || kind == ScalarKind::Double;
}

bool isAddress(const Type& type) {
    return type.pointerDepth > 0 || !type.arrayExtents.empty();
}

bool isPlainNumber(const Type& type) {
    return isAddress(type) ||
           (type.lanes == 1 && (isInteger(type.scalar) || isFloatingKind(type.scalar)));
}

bool isTruthType(const Type& type) {
    return type.scalar == ScalarKind::Bool && type.lanes == 1 && !isAddress(type);
}

bool assigns(std::string_view op) {
    return op.ends_with('=') && !isComparison(op);
}

Term ThreadRun::elementSize(const Type& pointer) {
    if (pointer.elementSize != 0)
        return terms_.integer(pointer.elementSize);
    return terms_.symbol("size of what " + plainTypeName(pointer) + " leads to",
                         {1, Wide{1} << 20});
}

Term ThreadRun::floating(double value, ScalarKind kind) {
    if (kind == ScalarKind::Float)
        value = static_cast<float>(value);
    if (rules_.overReals && value == std::floor(value) && std::abs(value) < 1e6)
        return terms_.integer(static_cast<std::int64_t>(value));
    return terms_.symbol(fmt::format("value{}:{:a}", kindName(kind), value));
}

Term ThreadRun::truthOf(Term term, const Type& type, const ThreadState& state) {
    if (isTruthType(type))
        return term;
    if (isAddress(type) || (isPlainNumber(type) && isInteger(type.scalar)))
        return terms_.negation(terms_.isZero(term, facts(state)));
    return terms_.apply("holds:" + plainTypeName(type), {term}, {0, 1});
}

Term ThreadRun::converted(Term term, const Type& from, const Type& to, const ThreadState& state,
                          Span where) {
    if (from.isVolatile || to.isVolatile || to.isReference)
        give("a conversion that is not followed", where);
    const std::string source = plainTypeName(from);
    const std::string target = plainTypeName(to);
    if (rules_.subscriptsInBounds && isAddress(from) && source != target &&
        memoryOf(term).starts_with("shared:"))
        give("a pointer into a shared array", where);
    if (source == target || (isAddress(from) && isAddress(to)))
        return term;
    if (!isPlainNumber(from) || !isPlainNumber(to)) {
        const bool isKnown = from.scalar != ScalarKind::Unknown && to.scalar != ScalarKind::Unknown;
        if (!isKnown && !from.isDependent && !to.isDependent)
            give("a conversion of a class", where);
        return terms_.apply(fmt::format("convert:{}:{}", source, target), {term},
                            isTruthType(to) ? IntegerRange{0, 1} : TermTable::unbounded());
    }
    if (isTruthType(to))
        return truthOf(term, from, state);
    if (isTruthType(from)) {
        term = term == terms_.truth(true)    ? terms_.integer(1)
               : term == terms_.truth(false) ? terms_.integer(0)
                                             : terms_.apply("number", {term}, {0, 1});
        return isInteger(to.scalar) ? term
                                    : converted(term, typeOf(ScalarKind::Int32), to, state, where);
    }
    if (isAddress(from) || isAddress(to)) {
        const bool isWhole = isAddress(from) && bitsOf(to.scalar) == 64 && isInteger(to.scalar);
        const bool isNull = isAddress(to) && terms_.constant(term) == Wide{0};
        if (!isWhole && !isNull)
            give("a conversion of an address", where);
        return term;
    }
    // A value has its type's range: what may leave it is noted where it is computed.
    if (isInteger(from.scalar) && isInteger(to.scalar))
        return valuesOf(from.scalar).within(valuesOf(to.scalar))
                   ? term
                   : firstEqual(terms_.wrapped(term, to.scalar, facts(state)), state);
    if (isInteger(from.scalar)) {
        const auto value = terms_.constant(term);
        if (value && *value > -(Wide{1} << 24) && *value < (Wide{1} << 24))
            return floating(static_cast<double>(static_cast<std::int64_t>(*value)), to.scalar);
        return terms_.apply("float" + kindName(to.scalar), {term});
    }
    if (isInteger(to.scalar))
        return terms_.apply(fmt::format("integer{}:{}", kindName(to.scalar), kindName(from.scalar)),
                            {term}, valuesOf(to.scalar));
    if (from.scalar == to.scalar)
        return term;
    return terms_.apply(fmt::format("float{}:{}", kindName(to.scalar), kindName(from.scalar)),
                        {term});
}

Term ThreadRun::firstEqual(Term integer, const ThreadState& state) {
    return equals_ != nullptr && trouble_.empty() ? equals_->firstEqual(integer, facts(state))
                                                  : integer;
}

Term ThreadRun::firstEqualTruth(Term truth, const ThreadState& state) {
    return equals_ != nullptr && trouble_.empty() ? equals_->firstEqualTruth(truth, facts(state))
                                                  : truth;
}

/// Takes it that the result fits: every thread of the original computes it, whatever the input.
void ThreadRun::takeToFit(Term result, ScalarKind kind, const ThreadState& state) {
    if (!isOriginal_ || !rules_.notesAccesses || guard(state) != terms_.truth(true) ||
        terms_.mentions(result, terms_.symbol("number")) || rules_.item || terms_.isPlaced())
        return;
    const IntegerRange values = valuesOf(kind);
    integers_->assume(terms_.negation(
        terms_.isNegative(terms_.subtract(result, terms_.integer(values.low)), {})));
    integers_->assume(terms_.negation(
        terms_.isNegative(terms_.subtract(terms_.integer(values.high), result), {})));
}

Term ThreadRun::integerResult(std::string_view op, Term left, Term right, ScalarKind kind,
                              const ThreadState& state, Span where) {
    if (op == "+" || op == "-" || op == "*") {
        const Term result = op == "+"   ? terms_.add(left, right)
                            : op == "-" ? terms_.subtract(left, right)
                                        : terms_.multiply(left, right);
        if (!isSigned(kind))
            return terms_.wrapped(result, kind, facts(state));
        if (!terms_.fits(result, valuesOf(kind), facts(state))) {
            const Term marked = terms_.apply("sum of type " + kindName(kind), {result});
            trace_.mayOverflow.insert(marked);
            trace_.lines.try_emplace(marked, lineOf(where));
            takeToFit(result, kind, state);
        }
        return result;
    }
    if (op == "/" || op == "%") {
        const auto divisor = terms_.constant(right);
        if (divisor == Wide{0})
            give("a division by zero", where);
        if (!divisor && terms_.range(right, facts(state)).low <= 0) {
            trace_.divisors.insert(right);
            trace_.lines.try_emplace(right, lineOf(where));
        }
        return op == "/" ? terms_.divide(left, right) : terms_.remainder(left, right);
    }
    const auto leftValue = terms_.constant(left);
    const auto rightValue = terms_.constant(right);
    const IntegerRange values = valuesOf(kind);
    const bool isNatural = terms_.range(left, facts(state)).low >= 0;
    if (op == "<<" || op == ">>") {
        if (rightValue && *rightValue >= 0 && *rightValue < bitsOf(kind)) {
            const Term power = terms_.integer(Wide{1} << static_cast<int>(*rightValue));
            if (op == "<<")
                return terms_.wrapped(terms_.multiply(left, power), kind, facts(state));
            if (isNatural)
                return terms_.divide(left, power);
        }
        return terms_.apply(fmt::format("{}{}", op, kindName(kind)), {left, right}, values);
    }
    if (leftValue && rightValue && *leftValue >= 0 && *rightValue >= 0)
        return terms_.integer(op == "&"   ? *leftValue & *rightValue
                              : op == "|" ? *leftValue | *rightValue
                                          : *leftValue ^ *rightValue);
    // The low bits of a natural number are a remainder.
    if (op == "&" && rightValue && *rightValue >= 0 && isNatural &&
        (*rightValue & (*rightValue + 1)) == 0)
        return terms_.remainder(left, terms_.integer(*rightValue + 1));
    return terms_.apply(fmt::format("{}{}", op, kindName(kind)),
                        {std::min(left, right), std::max(left, right)}, values);
}

Term ThreadRun::floatingResult(std::string_view op, Term left, Term right, ScalarKind kind) {
    if (rules_.overReals && op == "+")
        return terms_.add(left, right);
    if (rules_.overReals && op == "-")
        return terms_.subtract(left, right);
    if (rules_.overReals && op == "*")
        return terms_.multiply(left, right);
    if (op == "+" || op == "*")
        return terms_.apply(fmt::format("f{}{}", op, kindName(kind)),
                            {std::min(left, right), std::max(left, right)});
    return terms_.apply(fmt::format("f{}{}", op, kindName(kind)), {left, right});
}

Term ThreadRun::arithmetic(std::string_view op, Term left, const Type& leftType, Term right,
                           const Type& rightType, const ThreadState& state, Span where,
                           Type& type) {
    if (leftType.isVolatile || rightType.isVolatile)
        give("a volatile operand", where);
    if (isAddress(leftType) || isAddress(rightType)) {
        if (isComparison(op) && isAddress(leftType) && isAddress(rightType)) {
            type = typeOf(ScalarKind::Bool);
            const Term difference = terms_.subtract(left, right);
            if (op == "==" || op == "!=") {
                const Term same = terms_.isZero(difference, facts(state));
                return op == "==" ? same : terms_.negation(same);
            }
            return terms_.apply(fmt::format("address{}", op), {left, right}, {0, 1});
        }
        const bool isOffset = (op == "+" || op == "-") && !isAddress(rightType) &&
                              isInteger(rightType.scalar) && !isTruthType(rightType);
        if (rules_.subscriptsInBounds &&
            (memoryOf(left).starts_with("shared:") || memoryOf(right).starts_with("shared:")))
            give("a pointer into a shared array", where);
        if (isOffset) {
            type = leftType;
            const Term bytes = terms_.multiply(right, elementSize(leftType));
            return op == "+" ? terms_.add(left, bytes) : terms_.subtract(left, bytes);
        }
        if (op == "+" && isAddress(rightType) && isInteger(leftType.scalar)) {
            type = rightType;
            return terms_.add(right, terms_.multiply(left, elementSize(rightType)));
        }
        give(fmt::format("{} of addresses", op), where);
        return left;
    }
    if (!isPlainNumber(leftType) || !isPlainNumber(rightType)) {
        const auto isClass = [](const Type& operand) {
            return operand.scalar == ScalarKind::Unknown && !operand.isDependent;
        };
        const std::string name = fmt::format("operator{}", op);
        if (isClass(leftType) || isClass(rightType) || (isUsers(name) && !isPure(name)))
            give(fmt::format("the operator {}", op), where);
        return terms_.apply(
            fmt::format("operator{}:{}:{}", op, plainTypeName(leftType), plainTypeName(rightType)),
            {left, right}, isTruthType(type) ? IntegerRange{0, 1} : TermTable::unbounded());
    }
    const bool isShift = op == "<<" || op == ">>";
    const ScalarKind kind = isShift ? commonKind(leftType.scalar, ScalarKind::Int32)
                                    : commonKind(leftType.scalar, rightType.scalar);
    const Type common = typeOf(kind);
    left = converted(left, leftType, common, state, where);
    right = isShift ? converted(right, rightType, typeOf(ScalarKind::Int64), state, where)
                    : converted(right, rightType, common, state, where);
    if (!isComparison(op)) {
        type = common;
        return isInteger(kind)
                   ? firstEqual(integerResult(op, left, right, kind, state, where), state)
                   : floatingResult(op, left, right, kind);
    }
    type = typeOf(ScalarKind::Bool);
    if (!isInteger(kind)) {
        if (op == "==" || op == "!=") {
            const Term same = terms_.apply("f==" + kindName(kind),
                                           {std::min(left, right), std::max(left, right)}, {0, 1});
            return op == "==" ? same : terms_.negation(same);
        }
        const bool isTurned = op == ">" || op == ">=";
        return terms_.apply(
            fmt::format("f<{}{}", op.ends_with('=') ? "=" : "", kindName(kind)),
            isTurned ? std::vector<Term>{right, left} : std::vector<Term>{left, right}, {0, 1});
    }
    const Term difference = terms_.subtract(left, right);
    if (op == "==" || op == "!=") {
        const Term same = firstEqualTruth(terms_.isZero(difference, facts(state)), state);
        return op == "==" ? same : terms_.negation(same);
    }
    const bool isLess = op == "<" || op == ">=";
    const Term negative = firstEqualTruth(
        terms_.isNegative(isLess ? difference : terms_.multiply(terms_.integer(-1), difference),
                          facts(state)),
        state);
    return op == "<" || op == ">" ? negative : terms_.negation(negative);
}

} // namespace kernelskill::engine
