#include "engine/proof/term_values.h"

#include "engine/proof/known_operations.h"

#include <algorithm>

namespace kernelskill::engine {

namespace {

/// The lowest bits of `value`, read as a number of the operation's type.
Wide meant(Wide value, const KnownOperation& operation) {
    const Wide modulus = Wide{1} << operation.bits;
    const Wide bits = value & (modulus - 1);
    return operation.isSignedType && bits >= modulus / 2 ? bits - modulus : bits;
}

} // namespace

std::optional<Wide> TermValues::valueOf(Term term) {
    if (const auto known = known_.find(term); known != known_.end())
        return known->second;
    const std::optional<Wide> value = computed(term);
    known_.emplace(term, value);
    return value;
}

std::optional<Wide> TermValues::sumOf(Term term) {
    Wide sum = 0;
    for (const TermTable::Monomial& part : terms_.monomials(term)) {
        Wide product = part.factor;
        for (const Term atom : part.atoms) {
            const std::optional<Wide> value = valueOf(atom);
            if (!value || __builtin_mul_overflow(product, *value, &product))
                return std::nullopt;
        }
        if (__builtin_add_overflow(sum, product, &sum))
            return std::nullopt;
    }
    return sum;
}

std::optional<Wide> TermValues::computed(Term term) {
    const std::string& function = terms_.functionOf(term);
    if (function.empty())
        return sumOf(term);
    const std::vector<Term>& arguments = terms_.arguments(term);
    // The branch that is not chosen, and literals after a false one, need no value.
    if (function == "choice") {
        const std::optional<Wide> holds = valueOf(arguments[0]);
        return holds ? valueOf(arguments[*holds != 0 ? 1 : 2]) : std::nullopt;
    }
    if (function == "and") {
        bool isKnown = true;
        for (const Term literal : arguments) {
            const std::optional<Wide> value = valueOf(literal);
            if (value == Wide{0})
                return 0;
            isKnown = isKnown && value;
        }
        return isKnown ? std::optional<Wide>(1) : std::nullopt;
    }
    std::vector<Wide> values;
    for (const Term argument : arguments) {
        const std::optional<Wide> value = valueOf(argument);
        if (!value)
            return std::nullopt;
        values.push_back(*value);
    }
    return resultOf(term, values);
}

std::optional<Wide> TermValues::resultOf(Term term, const std::vector<Wide>& values) {
    const std::string& function = terms_.functionOf(term);
    if (function == "true" || function == "false")
        return function == "true" ? 1 : 0;
    if (function == "negative")
        return values[0] < 0 ? 1 : 0;
    if (function == "zero")
        return values[0] == 0 ? 1 : 0;
    if (function == "not")
        return values[0] == 0 ? 1 : 0;
    const KnownOperation operation = operationOf(function);
    const auto shifts = [&] { return values[1] >= 0 && values[1] < operation.bits; };
    switch (operation.function) {
    case KnownFunction::Quotient:
    case KnownFunction::Remainder:
        if (values[1] == 0)
            return std::nullopt;
        return operation.function == KnownFunction::Quotient ? values[0] / values[1]
                                                             : values[0] % values[1];
    case KnownFunction::NumberOfTruth:
        return values[0];
    case KnownFunction::Wrap:
        return meant(values[0], operation);
    case KnownFunction::And:
        return meant(values[0] & values[1], operation);
    case KnownFunction::Or:
        return meant(values[0] | values[1], operation);
    case KnownFunction::ExclusiveOr:
        return meant(values[0] ^ values[1], operation);
    case KnownFunction::ShiftLeft: {
        const KnownOperation bits{.bits = operation.bits};
        return shifts() ? std::optional(meant(meant(values[0], bits) << static_cast<int>(values[1]),
                                              operation))
                        : std::nullopt;
    }
    case KnownFunction::ShiftRight:
        return shifts() ? std::optional(meant(values[0], operation) >> static_cast<int>(values[1]))
                        : std::nullopt;
    case KnownFunction::Least:
        return std::min(values[0], values[1]);
    case KnownFunction::Largest:
        return std::max(values[0], values[1]);
    default:
        return unknown_(term, values);
    }
}

} // namespace kernelskill::engine
