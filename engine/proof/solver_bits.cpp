#include "engine/proof/solver_encoding.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <bit>

namespace kernelskill::engine {

namespace {

/// Wider vectors take Z3 too long, and kernels hardly need them.
constexpr unsigned maxWidth = 100;
/// The max width of a product that is computed; a wider one counts as any number.
constexpr unsigned maxProductWidth = 20;

/// Bits of a signed vector that holds the range.
unsigned widthOf(const IntegerRange& range) {
    const auto bitsOf = [](Wide value) {
        const Wide size = value < 0 ? -(value + 1) : value;
        unsigned bits = 0;
        while (bits < 127 && (size >> bits) != 0)
            ++bits;
        return bits;
    };
    return std::max(bitsOf(range.low), bitsOf(range.high)) + 1;
}

bool isWritable(const IntegerRange& range) {
    return range.low <= range.high && widthOf(range) <= maxWidth;
}

IntegerRange unitedWith(const IntegerRange& one, const IntegerRange& other) {
    return {std::min(one.low, other.low), std::max(one.high, other.high)};
}

/// The power of two that the number is; -1 for any other.
int exponentOf(Wide value) {
    if (value <= 0 || (value & (value - 1)) != 0)
        return -1;
    int exponent = 0;
    while ((value >> exponent) != 1)
        ++exponent;
    return exponent;
}

} // namespace

BitEncoding::Bits BitEncoding::constant(Wide value) {
    const IntegerRange range{value, value};
    return {context().bv_val(spelled(value).c_str(), widthOf(range)), range};
}

z3::expr BitEncoding::widened(const Bits& number, unsigned width) {
    const unsigned now = number.value.get_sort().bv_size();
    if (now < width)
        return z3::sext(number.value, width - now);
    return now == width ? number.value : number.value.extract(width - 1, 0);
}

z3::expr BitEncoding::lowest(const Bits& number, int bits) {
    return widened(number, static_cast<unsigned>(bits));
}

BitEncoding::Bits BitEncoding::meant(const z3::expr& bits, bool isSignedType) {
    const unsigned width = bits.get_sort().bv_size();
    if (isSignedType)
        return {bits, {-(Wide{1} << (width - 1)), (Wide{1} << (width - 1)) - 1}};
    return {z3::zext(bits, 1), {0, (Wide{1} << width) - 1}};
}

BitEncoding::Bits BitEncoding::within(Term term, const Bits& number) {
    const IntegerRange known = terms().range(term, {});
    const IntegerRange range{std::max(known.low, number.range.low),
                             std::min(known.high, number.range.high)};
    if (range.low > range.high ||
        (range.low == number.range.low && range.high == number.range.high))
        return number;
    const unsigned width = number.value.get_sort().bv_size();
    require(number.value >= widened(constant(range.low), width) &&
            number.value <= widened(constant(range.high), width));
    return {widened(number, widthOf(range)), range};
}

BitEncoding::Maybe BitEncoding::unknown(const std::string& name, IntegerRange range) {
    if (!isWritable(range))
        return std::nullopt;
    const Bits whole{context().bv_const(name.c_str(), widthOf(range)), range};
    const unsigned width = widthOf(range);
    require(whole.value >= widened(constant(range.low), width) &&
            whole.value <= widened(constant(range.high), width));
    return whole;
}

std::optional<z3::expr> BitEncoding::isNegative(Term term) {
    const Maybe value = number(term);
    if (!value)
        return std::nullopt;
    return value->value < widened(constant(0), value->value.get_sort().bv_size());
}

std::optional<z3::expr> BitEncoding::isZero(Term term) {
    const Maybe value = number(term);
    if (!value)
        return std::nullopt;
    return value->value == widened(constant(0), value->value.get_sort().bv_size());
}

BitEncoding::Maybe BitEncoding::number(Term term) {
    if (const auto known = numbers_.find(term); known != numbers_.end())
        return known->second;
    Maybe result = terms().functionOf(term).empty() ? sum(term) : atom(term);
    if (result)
        result = within(term, *result);
    numbers_.emplace(term, result);
    return result;
}

BitEncoding::Maybe BitEncoding::sum(Term term) {
    Maybe total = constant(0);
    for (const TermTable::Monomial& part : terms().monomials(term)) {
        Maybe summand = constant(part.factor);
        if (!isWritable(summand->range))
            return std::nullopt;
        if (!part.atoms.empty()) {
            const Maybe of = product(part.atoms);
            summand = of ? multiplied(*summand, *of) : std::nullopt;
        }
        total = summand ? added(*total, *summand) : std::nullopt;
        if (!total)
            return std::nullopt;
    }
    return total;
}

BitEncoding::Maybe BitEncoding::added(const Bits& left, const Bits& right) {
    const IntegerRange range{left.range.low + right.range.low, left.range.high + right.range.high};
    if (!isWritable(range))
        return std::nullopt;
    const unsigned width = widthOf(range);
    return Bits{widened(left, width) + widened(right, width), range};
}

BitEncoding::Maybe BitEncoding::multiplied(const Bits& left, const Bits& right) {
    if (widthOf(left.range) + widthOf(right.range) > maxWidth)
        return std::nullopt;
    const std::array<Wide, 4> ends{
        left.range.low * right.range.low, left.range.low * right.range.high,
        left.range.high * right.range.low, left.range.high * right.range.high};
    const IntegerRange range{std::ranges::min(ends), std::ranges::max(ends)};
    const unsigned width = std::max(
        {widthOf(range), left.value.get_sort().bv_size(), right.value.get_sort().bv_size()});
    return Bits{widened({widened(left, width) * widened(right, width), range}, widthOf(range)),
                range};
}

BitEncoding::Maybe BitEncoding::product(const std::vector<Term>& atoms) {
    Maybe whole = number(atoms.front());
    if (atoms.size() == 1 || !whole)
        return whole;
    if (const auto known = products_.find(atoms); known != products_.end())
        return known->second;
    const std::vector<Term> others(atoms.begin() + 1, atoms.end());
    const Maybe rest = product(others);
    if (!rest)
        return std::nullopt;
    if (widthOf(whole->range) + widthOf(rest->range) <= maxProductWidth) {
        whole = multiplied(*whole, *rest);
    } else {
        Term term = terms().integer(1);
        for (const Term atom : atoms)
            term = terms().multiply(term, atom);
        whole = unknown(fresh("product"), terms().range(term, {}));
        if (whole) {
            products_.emplace(atoms, *whole);
            const std::vector<SolverProduct> others = unknownProducts_;
            const SolverProduct made{atoms, whole->value};
            unknownProducts_.push_back(made);
            for (const SolverProduct& other : others)
                compare(other, made);
        }
    }
    if (whole)
        products_.emplace(atoms, *whole);
    return whole;
}

/// See NumberEncoding::compare().
void BitEncoding::compare(const SolverProduct& one, const SolverProduct& other) {
    const auto factors = sharedFactor(one.atoms, other.atoms);
    if (!factors)
        return;
    const Maybe left = number(factors->left);
    const Maybe right = number(factors->right);
    const Maybe shared = product(factors->common);
    if (!left || !right || !shared)
        return;
    const Bits first = products_.at(one.atoms);
    const Bits second = products_.at(other.atoms);
    const unsigned narrow = std::max(widthOf(left->range), widthOf(right->range));
    const z3::expr isLess = widened(*left, narrow) < widened(*right, narrow);
    const z3::expr isMore = widened(*right, narrow) < widened(*left, narrow);
    const unsigned width =
        1 + std::max({widthOf(first.range), widthOf(second.range), widthOf(shared->range)});
    const z3::expr of = widened(first, width);
    const z3::expr too = widened(second, width);
    const z3::expr by = widened(*shared, width);
    const z3::expr isNatural = by >= widened(constant(0), width);
    require(z3::implies(!isLess && !isMore, of == too));
    require(z3::implies(isNatural && isLess, of + by <= too));
    require(z3::implies(isNatural && isMore, too + by <= of));
}

BitEncoding::Maybe BitEncoding::chosen(const z3::expr& condition, const Bits& one,
                                       const Bits& other) {
    const IntegerRange range = unitedWith(one.range, other.range);
    const unsigned width = widthOf(range);
    return Bits{z3::ite(condition, widened(one, width), widened(other, width)), range};
}

/// Rounds towards zero, as C++ does.
BitEncoding::Maybe BitEncoding::quotient(Term atom, const Bits& dividend, Term divisor) {
    const auto by = terms().constant(divisor);
    const unsigned width = dividend.value.get_sort().bv_size() + 1;
    const z3::expr of = widened(dividend, width);
    const z3::expr zero = widened(constant(0), width);
    if (by && exponentOf(*by) >= 0) {
        const int exponent = exponentOf(*by);
        if (static_cast<unsigned>(exponent) >= width)
            return constant(0);
        const z3::expr amount = context().bv_val(exponent, width);
        z3::expr result = z3::ashr(of, amount);
        if (dividend.range.low < 0)
            result = z3::ite(of < zero, -z3::ashr(-of, amount), result);
        return Bits{result, {-(Wide{1} << (width - 1)), (Wide{1} << (width - 1)) - 1}};
    }
    const Maybe value = unknown(fresh("quotient"), terms().range(atom, {}));
    if (!value || !by || *by <= 0)
        return value;
    const Maybe times = multiplied(*value, constant(*by));
    const Maybe rest = times ? added(dividend, {-widened(*times, widthOf(times->range) + 1),
                                                {-times->range.high, -times->range.low}})
                             : std::nullopt;
    if (!rest)
        return value;
    const unsigned wide = std::max(rest->value.get_sort().bv_size(), widthOf({*by, *by}));
    const z3::expr left = widened(*rest, wide);
    const z3::expr bound = widened(constant(*by), wide);
    const z3::expr none = widened(constant(0), wide);
    require(z3::ite(of >= zero, left >= none && left < bound, left <= none && left > -bound));
    return value;
}

BitEncoding::Maybe BitEncoding::remainder(Term atom, const Bits& dividend, Term divisor) {
    const auto by = terms().constant(divisor);
    if (by && exponentOf(*by) >= 0 && dividend.range.low >= 0) {
        const int exponent = exponentOf(*by);
        if (exponent == 0)
            return constant(0);
        return meant(lowest(dividend, exponent), false);
    }
    if (by && *by > 0) {
        const Maybe whole = number(terms().divide(terms().arguments(atom)[0], divisor));
        const Maybe times = whole ? multiplied(*whole, constant(-*by)) : std::nullopt;
        return times ? added(dividend, *times) : std::nullopt;
    }
    const Maybe value = unknown(fresh("remainder"), terms().range(atom, {}));
    const Maybe power = number(divisor);
    if (!value || !power)
        return value;
    // The remainder of a natural number by a power of two is its low bits.
    const unsigned width =
        std::max({widthOf(value->range), widthOf(dividend.range), widthOf(power->range)});
    const z3::expr of = widened(dividend, width);
    const z3::expr modulus = widened(*power, width);
    const z3::expr zero = widened(constant(0), width);
    const z3::expr mask = modulus - widened(constant(1), width);
    require(z3::implies(of >= zero && modulus > zero && (modulus & mask) == zero,
                        widened(*value, width) == (of & mask)));
    return value;
}

BitEncoding::Maybe BitEncoding::ofBits(const KnownOperation& operation, const Bits& left,
                                       const Bits& right) {
    const z3::expr one = lowest(left, operation.bits);
    const z3::expr other = lowest(right, operation.bits);
    switch (operation.function) {
    case KnownFunction::And:
        return meant(one & other, operation.isSignedType);
    case KnownFunction::Or:
        return meant(one | other, operation.isSignedType);
    case KnownFunction::ExclusiveOr:
        return meant(one ^ other, operation.isSignedType);
    default:
        break;
    }
    // A shift by the type's width or more is undefined and counts as any number.
    const unsigned width = right.value.get_sort().bv_size() + 8;
    const z3::expr amount = widened(right, width);
    const z3::expr isMeant =
        amount >= widened(constant(0), width) && amount < widened(constant(operation.bits), width);
    const z3::expr shifted = operation.function == KnownFunction::ShiftLeft ? z3::shl(one, other)
                             : operation.isSignedType                       ? z3::ashr(one, other)
                                                                            : z3::lshr(one, other);
    const z3::expr any =
        context().bv_const(fresh("shift").c_str(), static_cast<unsigned>(operation.bits));
    return meant(z3::ite(isMeant, shifted, any), operation.isSignedType);
}

BitEncoding::Maybe BitEncoding::atom(Term term) {
    const KnownOperation operation = operationOf(terms().functionOf(term));
    const std::vector<Term> arguments = terms().arguments(term);
    const auto any = [&] { return unknown(fmt::format("atom{}", term), terms().range(term, {})); };
    switch (operation.function) {
    case KnownFunction::None:
        return any();
    case KnownFunction::NumberOfTruth:
        return chosen(truth(arguments[0]), constant(1), constant(0));
    case KnownFunction::Choice: {
        const Maybe one = number(arguments[1]);
        const Maybe other = number(arguments[2]);
        return one && other ? chosen(truth(arguments[0]), *one, *other) : any();
    }
    default:
        break;
    }
    const Maybe left = number(arguments[0]);
    if (!left)
        return any();
    if (operation.function == KnownFunction::Wrap)
        return meant(lowest(*left, operation.bits), operation.isSignedType);
    if (operation.function == KnownFunction::Quotient)
        return quotient(term, *left, arguments[1]);
    if (operation.function == KnownFunction::Remainder)
        return remainder(term, *left, arguments[1]);
    const Maybe right = number(arguments[1]);
    if (!right)
        return any();
    if (operation.function == KnownFunction::Least ||
        operation.function == KnownFunction::Largest) {
        const unsigned width = std::max(widthOf(left->range), widthOf(right->range));
        const z3::expr isLess = widened(*left, width) < widened(*right, width);
        return operation.function == KnownFunction::Least ? chosen(isLess, *left, *right)
                                                          : chosen(isLess, *right, *left);
    }
    return ofBits(operation, *left, *right);
}

} // namespace kernelskill::engine
