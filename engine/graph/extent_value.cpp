#include "analysis/source/try.h"
#include "engine/graph/extent_expression.h"

#include <spdlog/fmt/fmt.h>

#include <limits>
#include <utility>

namespace kernelskill::engine::graph {
namespace {

using Kind = ExtentExpression::Kind;

std::unexpected<Error> failed(std::string what) {
    return std::unexpected(Error{ErrorKind::Failed, std::move(what), {}, {}});
}

/// Reduced; the denominator is positive.
struct Rational {
    std::int64_t numerator = 0;
    std::int64_t denominator = 1;
};

Result<Rational> reduced(__int128 numerator, __int128 denominator) {
    if (denominator == 0)
        return failed("a divisor of the extent is 0");
    if (denominator < 0) {
        numerator = -numerator;
        denominator = -denominator;
    }
    __int128 a = numerator < 0 ? -numerator : numerator;
    __int128 b = denominator;
    while (b != 0)
        a = std::exchange(b, a % b);
    numerator /= a;
    denominator /= a;
    const Rational value{static_cast<std::int64_t>(numerator),
                         static_cast<std::int64_t>(denominator)};
    if (value.numerator != numerator || value.denominator != denominator ||
        value.numerator == std::numeric_limits<std::int64_t>::min())
        return failed("the extent exceeds 63 bits");
    return value;
}

Result<Rational> add(const Rational& a, const Rational& b) {
    // Each product is below 2^126: their sum fits.
    return reduced(static_cast<__int128>(a.numerator) * b.denominator +
                       static_cast<__int128>(b.numerator) * a.denominator,
                   static_cast<__int128>(a.denominator) * b.denominator);
}

Result<Rational> multiply(const Rational& a, const Rational& b) {
    return reduced(static_cast<__int128>(a.numerator) * b.numerator,
                   static_cast<__int128>(a.denominator) * b.denominator);
}

Result<Rational> divide(const Rational& a, const Rational& b) {
    return reduced(static_cast<__int128>(a.numerator) * b.denominator,
                   static_cast<__int128>(a.denominator) * b.numerator);
}

std::int64_t floorOf(const Rational& a) {
    const std::int64_t quotient = a.numerator / a.denominator;
    return quotient - (a.numerator % a.denominator < 0 ? 1 : 0);
}

bool isBelow(const Rational& a, const Rational& b) {
    return static_cast<__int128>(a.numerator) * b.denominator <
           static_cast<__int128>(b.numerator) * a.denominator;
}

Result<Rational> power(const Rational& base, const Rational& exponent) {
    constexpr std::int64_t maxExponent = 64;
    if (exponent.denominator != 1 || exponent.numerator > maxExponent ||
        exponent.numerator < -maxExponent)
        return failed("an exponent of the extent is no integer of -64 ... 64");
    Rational value{1, 1};
    const bool isInverse = exponent.numerator < 0;
    for (std::int64_t i = 0; i < (isInverse ? -exponent.numerator : exponent.numerator); ++i) {
        KERNELSKILL_TRY(value, multiply(value, base));
    }
    return isInverse ? divide({1, 1}, value) : Result<Rational>(value);
}

using Symbols = std::map<std::string, std::int64_t>;

Result<Rational> valueOf(const ExtentExpression& expression, const Symbols& symbols);

Result<Rational> combined(Kind kind, const Rational& a, const Rational& b) {
    switch (kind) {
    case Kind::Sum:
        return add(a, b);
    case Kind::Product:
        return multiply(a, b);
    case Kind::Quotient:
        return divide(a, b);
    case Kind::Power:
        return power(a, b);
    case Kind::Min:
        return isBelow(b, a) ? b : a;
    case Kind::Max:
        return isBelow(a, b) ? b : a;
    case Kind::FloorDivide: {
        KERNELSKILL_TRY(const Rational quotient, divide(a, b));
        return Rational{floorOf(quotient), 1};
    }
    case Kind::CeilDivide: {
        KERNELSKILL_TRY(const Rational quotient, divide(a, b));
        return Rational{floorOf(quotient) + (quotient.denominator != 1 ? 1 : 0), 1};
    }
    case Kind::Modulo: {
        KERNELSKILL_TRY(const Rational quotient, divide(a, b));
        KERNELSKILL_TRY(const Rational whole, multiply({floorOf(quotient), 1}, b));
        return add(a, {-whole.numerator, whole.denominator});
    }
    case Kind::Integer:
    case Kind::Symbol:
        break;
    }
    return failed("the extent has an operator without operands");
}

Result<Rational> valueOf(const ExtentExpression& expression, const Symbols& symbols) {
    if (expression.kind == Kind::Integer)
        return Rational{expression.integer, 1};
    if (expression.kind == Kind::Symbol) {
        const auto found = symbols.find(expression.symbol);
        if (found == symbols.end())
            return failed(fmt::format("the symbol '{}' has no value", expression.symbol));
        return Rational{found->second, 1};
    }
    if (expression.operands.empty())
        return failed("the extent has an operator without operands");
    KERNELSKILL_TRY(Rational value, valueOf(expression.operands.front(), symbols));
    for (std::size_t i = 1; i < expression.operands.size(); ++i) {
        KERNELSKILL_TRY(const Rational next, valueOf(expression.operands[i], symbols));
        KERNELSKILL_TRY(value, combined(expression.kind, value, next));
    }
    return value;
}

} // namespace

Result<std::int64_t> evaluateExtent(const ExtentExpression& expression,
                                    const std::map<std::string, std::int64_t>& symbols) {
    KERNELSKILL_TRY(const Rational value, valueOf(expression, symbols));
    if (value.denominator != 1)
        return failed(fmt::format("the extent '{}' is {}/{}, which is no integer",
                                  textOf(expression), value.numerator, value.denominator));
    return value.numerator;
}

Result<std::int64_t> evaluateExtent(const Extent& extent,
                                    const std::map<std::string, std::int64_t>& symbols) {
    if (!extent.isDynamic())
        return extent.value;
    KERNELSKILL_TRY(const ExtentExpression expression, parseExtent(extent.expression, {}));
    return evaluateExtent(expression, symbols);
}

} // namespace kernelskill::engine::graph
