#include "engine/proof/terms.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>

namespace kernelskill::engine {

using analysis::ScalarKind;

namespace {

/// Stands for no bound.
constexpr Wide huge = Wide{1} << 100;
constexpr std::size_t maxMonomials = 400;

Wide clamped(Wide value) {
    return std::clamp(value, -huge, huge);
}

/// Both are at most `huge`, whose square does not fit.
Wide multipliedSafely(Wide left, Wide right) {
    const auto size = [](Wide value) { return value < 0 ? -value : value; };
    if (left == 0 || right == 0)
        return 0;
    if (size(left) > huge / size(right))
        return (left < 0) == (right < 0) ? huge : -huge;
    return left * right;
}

IntegerRange productOf(const IntegerRange& left, const IntegerRange& right) {
    const std::array<Wide, 4> ends{
        multipliedSafely(left.low, right.low), multipliedSafely(left.low, right.high),
        multipliedSafely(left.high, right.low), multipliedSafely(left.high, right.high)};
    return {std::ranges::min(ends), std::ranges::max(ends)};
}

/// What has no bound has none in a sum either.
IntegerRange sumOf(const IntegerRange& left, const IntegerRange& right) {
    const bool noLow = left.low <= -huge || right.low <= -huge;
    const bool noHigh = left.high >= huge || right.high >= huge;
    return {noLow ? -huge : clamped(left.low + right.low),
            noHigh ? huge : clamped(left.high + right.high)};
}

/// The order is that of TermTable::AxisTerms.
constexpr std::array<std::string_view, 4> axisNames = {"blockDim", "blockIdx", "threadIdx",
                                                       "gridDim"};

std::string wrapName(int bits, bool isSignedType) {
    return fmt::format("wrap{}{}", isSignedType ? "s" : "u", bits);
}

/// The bits of a wrapping function; 0 for any other.
int wrapBits(std::string_view function) {
    if (!function.starts_with("wrap"))
        return 0;
    const std::string_view bits = function.substr(5);
    return bits == "8" ? 8 : bits == "16" ? 16 : bits == "32" ? 32 : bits == "64" ? 64 : 0;
}

} // namespace

std::string spelled(Wide value) {
    if (value < 0)
        return "-" + spelled(-value);
    if (value < 10)
        return std::string(1, static_cast<char>('0' + static_cast<int>(value)));
    return spelled(value / 10) + static_cast<char>('0' + static_cast<int>(value % 10));
}

IntegerRange valuesOf(ScalarKind kind) {
    switch (kind) {
    case ScalarKind::Bool:
        return {0, 1};
    case ScalarKind::Char:
        return {-128, 127};
    case ScalarKind::UInt8:
        return {0, 255};
    case ScalarKind::Int16:
        return {-32768, 32767};
    case ScalarKind::UInt16:
        return {0, 65535};
    case ScalarKind::Int32:
        return {-(Wide{1} << 31), (Wide{1} << 31) - 1};
    case ScalarKind::UInt32:
        return {0, (Wide{1} << 32) - 1};
    case ScalarKind::UInt64:
        return {0, (Wide{1} << 64) - 1};
    default:
        return {-(Wide{1} << 63), (Wide{1} << 63) - 1};
    }
}

bool isInteger(ScalarKind kind) {
    return kind >= ScalarKind::Bool && kind <= ScalarKind::UInt64;
}

bool isSigned(ScalarKind kind) {
    return kind == ScalarKind::Char || kind == ScalarKind::Int16 || kind == ScalarKind::Int32 ||
           kind == ScalarKind::Int64;
}

int bitsOf(ScalarKind kind) {
    switch (kind) {
    case ScalarKind::Char:
    case ScalarKind::UInt8:
        return 8;
    case ScalarKind::Int16:
    case ScalarKind::UInt16:
        return 16;
    case ScalarKind::Int32:
    case ScalarKind::UInt32:
        return 32;
    default:
        return 64;
    }
}

TermTable::TermTable(LaunchAssumptions assumptions) : assumptions_(assumptions) {}

IntegerRange TermTable::unbounded() {
    return {-huge, huge};
}

Term TermTable::apply(const std::string& function, std::vector<Term> arguments,
                      IntegerRange range) {
    Key key{function, arguments};
    if (const auto known = functions_.find(key); known != functions_.end())
        return known->second;
    const auto id = static_cast<Term>(nodes_.size());
    nodes_.push_back({function, std::move(arguments), {}, range});
    functions_.emplace(std::move(key), id);
    return id;
}

Term TermTable::symbol(const std::string& name, IntegerRange range) {
    const Term term = apply("$" + name, {}, range);
    for (std::size_t axis = 0; axis < axisTerms_.size(); ++axis)
        for (std::size_t kind = 0; kind < axisNames.size(); ++kind)
            if (name.size() == axisNames[kind].size() + 2 && name.starts_with(axisNames[kind]) &&
                name.ends_with(static_cast<char>('x' + axis)))
                axisTerms_[axis][kind] = term;
    return term;
}

const std::vector<Term>* TermTable::argumentsOf(Term term, std::string_view function) const {
    const Node& node = nodes_[term];
    return node.function == function ? &node.arguments : nullptr;
}

TermTable::Polynomial TermTable::polynomialOf(Term term) const {
    const Node& node = nodes_[term];
    return node.function.empty() ? node.polynomial : Polynomial{{{term}, 1}};
}

Term TermTable::ofPolynomial(Polynomial polynomial) {
    if (number_)
        placeNumber(polynomial);
    std::erase_if(polynomial, [](const auto& entry) { return entry.second == 0; });
    if (polynomial.size() == 1 && polynomial.begin()->second == 1 &&
        polynomial.begin()->first.size() == 1)
        return polynomial.begin()->first.front();
    std::vector<std::pair<std::vector<Term>, Wide>> key(polynomial.begin(), polynomial.end());
    if (const auto known = polynomials_.find(key); known != polynomials_.end())
        return known->second;
    const auto id = static_cast<Term>(nodes_.size());
    nodes_.push_back({"", {}, std::move(polynomial), unbounded()});
    polynomials_.emplace(std::move(key), id);
    return id;
}

Term TermTable::integer(Wide value) {
    return ofPolynomial({{{}, value}});
}

std::optional<Wide> TermTable::constant(Term term) const {
    const Node& node = nodes_[term];
    if (!node.function.empty() || node.polynomial.size() > 1)
        return std::nullopt;
    if (node.polynomial.empty())
        return Wide{0};
    return node.polynomial.begin()->first.empty() ? std::optional(node.polynomial.begin()->second)
                                                  : std::nullopt;
}

Term TermTable::add(Term left, Term right) {
    Polynomial sum = polynomialOf(left);
    for (const auto& [atoms, factor] : polynomialOf(right)) {
        sum[atoms] += factor;
        if (sum[atoms] > huge || sum[atoms] < -huge)
            return apply("+", {std::min(left, right), std::max(left, right)});
    }
    return bounded(ofPolynomial(std::move(sum)), sumOf(range(left, {}), range(right, {})));
}

Term TermTable::subtract(Term left, Term right) {
    return add(left, multiply(integer(-1), right));
}

Term TermTable::bounded(Term term, IntegerRange range) {
    const Node& node = nodes_[term];
    if (!node.function.empty() || node.polynomial.size() < 2)
        return term;
    const IntegerRange known = this->range(term, {});
    if (range.low > known.low || range.high < known.high)
        bounds_[term] = {std::max(range.low, known.low), std::min(range.high, known.high)};
    return term;
}

std::optional<TermTable::Polynomial> TermTable::product(const Polynomial& left,
                                                        const Polynomial& right) const {
    if (left.size() * right.size() > maxMonomials)
        return std::nullopt;
    Polynomial result;
    for (const auto& [leftAtoms, leftFactor] : left)
        for (const auto& [rightAtoms, rightFactor] : right) {
            // A factor of 2^64 is that of a conversion to 64 bits.
            const Wide product = multipliedSafely(leftFactor, rightFactor);
            if (product >= huge || product <= -huge)
                return std::nullopt;
            std::vector<Term> atoms = leftAtoms;
            atoms.insert(atoms.end(), rightAtoms.begin(), rightAtoms.end());
            std::ranges::sort(atoms);
            Wide& factor = result[atoms];
            factor += product;
            if (factor >= huge || factor <= -huge)
                return std::nullopt;
        }
    return result;
}

Term TermTable::multiply(Term left, Term right) {
    if (auto result = product(polynomialOf(left), polynomialOf(right)))
        return bounded(ofPolynomial(std::move(*result)),
                       productOf(range(left, {}), range(right, {})));
    return apply("*", {std::min(left, right), std::max(left, right)});
}

/// The position of a thread on an axis is below 2^31 if there are fewer threads.
IntegerRange TermTable::rangeOf(const Polynomial& polynomial, bool fewThreads) const {
    IntegerRange sum{0, 0};
    std::set<std::vector<Term>> done;
    if (fewThreads)
        for (const auto& [size, block, thread, grid] : axisTerms_) {
            const auto factorOf = [&](std::vector<Term> atoms) {
                std::ranges::sort(atoms);
                const auto known = polynomial.find(atoms);
                return known == polynomial.end() ? Wide{0} : known->second;
            };
            const auto take = [&](std::vector<Term> atoms) {
                std::ranges::sort(atoms);
                done.insert(std::move(atoms));
            };
            const IntegerRange threads{0, (Wide{1} << 31) - 1};
            if (size && block && factorOf({*size, *block}) > 0) {
                const Wide factor = factorOf({*size, *block});
                take({*size, *block});
                if (thread && factorOf({*thread}) == factor)
                    take({*thread});
                sum = sumOf(sum, productOf(threads, {factor, factor}));
            }
            if (size && grid && factorOf({*size, *grid}) != 0) {
                const Wide factor = factorOf({*size, *grid});
                take({*size, *grid});
                sum = sumOf(sum, productOf({1, threads.high}, {factor, factor}));
            }
        }
    for (const auto& [atoms, factor] : polynomial) {
        if (done.contains(atoms))
            continue;
        IntegerRange product{factor, factor};
        for (const Term atom : atoms)
            product = productOf(product, nodes_[atom].range);
        sum = sumOf(sum, product);
    }
    return sum;
}

/// A fact `p < 0` bounds a term by the range of what it differs from p, or from -p.
IntegerRange TermTable::narrowed(Term term, IntegerRange range, const Facts& facts) const {
    const Polynomial own = polynomialOf(term);
    for (const Term fact : facts) {
        const std::vector<Term>* negative = argumentsOf(fact, "negative");
        if (negative == nullptr)
            continue;
        for (const int sign : {1, -1}) {
            // term - sign * p is the constant c.
            Polynomial difference = own;
            for (const auto& [atoms, factor] : polynomialOf(negative->front()))
                difference[atoms] -= sign * factor;
            std::erase_if(difference, [](const auto& entry) { return entry.second == 0; });
            // A term that shares nothing with p is not bounded by it.
            if (difference.size() >= own.size() + polynomialOf(negative->front()).size())
                continue;
            const IntegerRange rest = rangeOf(difference, assumptions_.fewThreads);
            if (sign > 0 && rest.high < huge)
                range.high = std::min(range.high, rest.high - 1);
            else if (sign < 0 && rest.low > -huge)
                range.low = std::max(range.low, rest.low + 1);
        }
    }
    return range;
}

IntegerRange TermTable::lastingRange(Term term) const {
    const Node& node = nodes_[term];
    if (!isPlaced_)
        return range(term, {});
    return node.function.empty() ? rangeOf(node.polynomial, assumptions_.fewThreads) : node.range;
}

IntegerRange TermTable::range(Term term, const Facts& facts) const {
    const Node& node = nodes_[term];
    IntegerRange known =
        node.function.empty() ? rangeOf(node.polynomial, assumptions_.fewThreads) : node.range;
    if (const auto bound = bounds_.find(term); bound != bounds_.end())
        known = {std::max(known.low, bound->second.low), std::min(known.high, bound->second.high)};
    return narrowed(term, known, facts);
}

Term TermTable::unwrapped(Term term, int bits) {
    const Polynomial polynomial = polynomialOf(term);
    Term sum = integer(0);
    for (const auto& [atoms, factor] : polynomial) {
        Term product = integer(factor);
        for (const Term atom : atoms) {
            const Node node = nodes_[atom];
            const bool isSuperfluous = wrapBits(node.function) >= bits;
            product = multiply(product, isSuperfluous ? node.arguments.front() : atom);
        }
        sum = add(sum, product);
    }
    return sum;
}

/// The factors of the polynomial modulo 2^bits, each as small as it can be.
Term TermTable::reduced(Term term, int bits) {
    Polynomial polynomial = polynomialOf(term);
    const Wide modulus = Wide{1} << bits;
    for (auto& [atoms, factor] : polynomial) {
        factor %= modulus;
        if (factor > modulus / 2)
            factor -= modulus;
        else if (factor <= -(modulus / 2))
            factor += modulus;
    }
    return ofPolynomial(std::move(polynomial));
}

Term TermTable::wrapped(Term term, ScalarKind kind, const Facts& facts) {
    const IntegerRange values = valuesOf(kind);
    const auto fitsType = [&](Term candidate) {
        if (!range(candidate, facts).within(values))
            return fits(candidate, values, facts);
        const Node& node = nodes_[candidate];
        if (node.function.empty() && assumptions_.fewThreads &&
            !narrowed(candidate, rangeOf(node.polynomial, false), facts).within(values))
            usedFewThreads_ = true;
        return true;
    };
    if (fitsType(term))
        return term;
    const int bits = bitsOf(kind);
    if (const auto value = constant(term)) {
        const Wide modulus = Wide{1} << bits;
        Wide rest = ((*value % modulus) + modulus) % modulus;
        if (rest > values.high)
            rest -= modulus;
        return integer(rest);
    }
    const Term inner = reduced(unwrapped(term, bits), bits);
    if (fitsType(inner))
        return inner;
    return apply(wrapName(bits, isSigned(kind)), {inner}, values);
}

Term TermTable::divide(Term left, Term right) {
    const auto numerator = constant(left);
    const auto divisor = constant(right);
    if (divisor == Wide{1})
        return left;
    if (numerator && divisor && *divisor != 0)
        return integer(*numerator / *divisor);
    // The facts of this place do not hold wherever the quotient is used.
    const IntegerRange of = lastingRange(left);
    const Wide size = std::max(of.high, -of.low);
    IntegerRange result{-size, size};
    if (of.low >= 0 && lastingRange(right).low >= 0)
        result = {0, divisor && *divisor > 0 ? of.high / *divisor : of.high};
    return apply("/", {left, right}, result);
}

Term TermTable::remainder(Term left, Term right) {
    const auto numerator = constant(left);
    const auto divisor = constant(right);
    if (numerator && divisor && *divisor != 0)
        return integer(*numerator % *divisor);
    const IntegerRange of = lastingRange(left);
    const IntegerRange by = lastingRange(right);
    const Wide size = std::max(by.high, -by.low);
    return apply("%", {left, right}, {of.low >= 0 ? 0 : -size, size});
}

std::vector<TermTable::Monomial> TermTable::monomials(Term term) const {
    std::vector<Monomial> result;
    for (const auto& [atoms, factor] : polynomialOf(term))
        result.push_back({atoms, factor});
    return result;
}

Term TermTable::substituted(Term term, const std::map<Term, Term>& replacements) {
    std::map<Term, Term> done = replacements;
    const auto visit = [&](const auto& self, Term at) -> Term {
        if (const auto known = done.find(at); known != done.end())
            return known->second;
        const Node node = nodes_[at];
        Term result = at;
        if (node.function.empty()) {
            result = integer(0);
            for (const auto& [atoms, factor] : node.polynomial) {
                Term product = integer(factor);
                for (const Term atom : atoms)
                    product = multiply(product, self(self, atom));
                result = add(result, product);
            }
        } else if (!node.arguments.empty()) {
            std::vector<Term> arguments;
            for (const Term argument : node.arguments)
                arguments.push_back(self(self, argument));
            if (arguments != node.arguments)
                result = apply(node.function, std::move(arguments), node.range);
        }
        done.emplace(at, result);
        return result;
    };
    return visit(visit, term);
}

template <typename Visitor>
void TermTable::visit(Term term, const Visitor& visitor) const {
    std::set<Term> seen{term};
    std::vector<Term> waiting{term};
    while (!waiting.empty()) {
        const Term at = waiting.back();
        waiting.pop_back();
        visitor(at);
        const auto add = [&](Term part) {
            if (seen.insert(part).second)
                waiting.push_back(part);
        };
        std::ranges::for_each(nodes_[at].arguments, add);
        for (const auto& [atoms, factor] : nodes_[at].polynomial)
            std::ranges::for_each(atoms, add);
    }
}

bool TermTable::anyAtom(Term term, const std::function<bool(Term)>& isMeant) const {
    bool found = false;
    visit(term, [&](Term at) {
        const Node& node = nodes_[at];
        const bool isAtom =
            node.arguments.empty()
                ? !node.function.empty() && node.function != "true" && node.function != "false"
                : node.function.starts_with("unknown");
        found = found || (isAtom && isMeant(at));
    });
    return found;
}

bool TermTable::mentions(Term term, Term atom) const {
    bool found = false;
    visit(term, [&](Term at) { found = found || at == atom; });
    return found;
}

std::vector<Term> TermTable::within(Term term, std::string_view function) const {
    std::vector<Term> found;
    visit(term, [&](Term at) {
        if (nodes_[at].function == function)
            found.push_back(at);
    });
    return found;
}

std::string TermTable::describe(Term term, int depth) const {
    const Node& node = nodes_[term];
    if (depth == 0)
        return "...";
    std::string text;
    if (!node.function.empty()) {
        for (const Term argument : node.arguments)
            text += (text.empty() ? "" : ", ") + describe(argument, depth - 1);
        return node.arguments.empty() ? node.function : fmt::format("{}({})", node.function, text);
    }
    for (const auto& [atoms, factor] : node.polynomial) {
        text += (text.empty() ? "" : " + ") + spelled(factor);
        for (const Term atom : atoms)
            text += " * " + describe(atom, depth - 1);
    }
    return text.empty() ? "0" : text;
}

} // namespace kernelskill::engine
