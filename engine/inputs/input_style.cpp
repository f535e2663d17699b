#include "engine/inputs/input_style.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

namespace kernelskill::engine {
namespace {

using skills::Numerics;

/// The largest magnitude of inputs for an edit that rounds differently. Sums of larger values
/// cancel to results that no order computes closely, and approximations are not made for them.
constexpr double maxRoundedMagnitude = 8;
/// A product of four such values is no denormal.
constexpr int smallestRoundedExponent = -30;

bool isFloatingElement(analysis::ScalarKind kind) {
    using analysis::ScalarKind;
    return kind == ScalarKind::Half || kind == ScalarKind::BFloat16 || kind == ScalarKind::Float ||
           kind == ScalarKind::Double;
}

ValueChoice constantsFor(bool isFloating, const ValueDictionary& dictionary, Numerics numerics) {
    ValueChoice choice;
    if (!isFloating) {
        choice.values = dictionary.integral;
        choice.values.insert(choice.values.end(), {-1, 0, 1, 127, 128, 255, 256});
        return choice;
    }
    choice.values = {-1, -0.5, -0.0, 0, 0.5, 1, 2};
    for (const double value : dictionary.floating) {
        if (numerics == Numerics::Exact || std::abs(value) <= maxRoundedMagnitude)
            choice.values.push_back(value);
    }
    if (numerics != Numerics::Exact)
        choice.maxExponent = std::ilogb(maxRoundedMagnitude);
    return choice;
}

/// Values of `choice` for a symbol, which may have no more than four elements: most of them get one
/// of four values in a row, and each turn takes the next four, so that every value has its turn.
ValueChoice windowOf(ValueChoice choice, std::size_t turn) {
    constexpr std::size_t window = 4;
    const std::size_t count = choice.values.size();
    if (count <= window)
        return choice;
    std::ranges::rotate(choice.values,
                        choice.values.begin() + static_cast<std::ptrdiff_t>(turn * window % count));
    choice.values.resize(window);
    choice.share = 0.9;
    return choice;
}

ValueChoice extremesFor(bool isFloating, Numerics numerics) {
    ValueChoice choice;
    choice.share = 0.25;
    if (numerics != Numerics::Exact)
        choice.maxExponent = std::ilogb(maxRoundedMagnitude);
    if (!isFloating) {
        choice.values = {-1,    -128,   127,         255,          256, -32768, 32767,      65535,
                         65536, -65536, 2147483647., -2147483648., 1e9, -1e9,   4294967295.};
        return choice;
    }
    constexpr double infinity = std::numeric_limits<double>::infinity();
    constexpr double denormal = 0x1p-140;
    if (numerics == Numerics::Exact)
        choice.values = {0x1.fffffep127,
                         -0x1.fffffep127,
                         0x1p-126,
                         denormal,
                         -denormal,
                         infinity,
                         -infinity,
                         -0.0,
                         std::numeric_limits<double>::quiet_NaN()};
    else
        choice.values = {maxRoundedMagnitude, -maxRoundedMagnitude, 1e-6, -1e-6, -0.0, 0};
    // An approximation may lose results near zero, which no error relative to larger ones shows.
    if (numerics != Numerics::Exact)
        choice.minExponent = smallestRoundedExponent;
    // A sum with NaN is NaN in any order; a few leave other results to compare.
    if (numerics == Numerics::Reassociates) {
        choice.values.insert(choice.values.end(), 12, 0.25);
        choice.values.push_back(std::numeric_limits<double>::quiet_NaN());
        choice.share = 0.1;
    }
    return choice;
}

ValueChoice largeOnes(bool isFloating) {
    ValueChoice choice;
    choice.values = isFloating ? std::vector<double>{100, -100, 1000, -1000, 0.25, 0, 2, -2}
                               : std::vector<double>{0, 1, 2, 255};
    choice.share = 0.5;
    if (isFloating)
        choice.values.push_back(std::numeric_limits<double>::quiet_NaN());
    return choice;
}

ValueChoice choiceFor(InputStyle style, bool isFloating, const ValueDictionary& dictionary,
                      Numerics numerics) {
    if (style == InputStyle::Constants)
        return constantsFor(isFloating, dictionary, numerics);
    if (style == InputStyle::Extremes)
        return extremesFor(isFloating, numerics);
    if (style == InputStyle::Large)
        return largeOnes(isFloating);
    if (style == InputStyle::Collisions) {
        ValueChoice two;
        two.values = isFloating ? std::vector<double>{0.25, 0.5} : std::vector<double>{0, 1};
        two.share = 1;
        return two;
    }
    ValueChoice ties;
    ties.values = isFloating ? std::vector<double>{-1, 0, 1, 2} : std::vector<double>{0, 1, 2, 3};
    ties.share = 1;
    return ties;
}

template <typename T>
void store(std::vector<std::byte>& bytes, double value) {
    const auto narrow = static_cast<T>(value);
    std::memcpy(bytes.data(), &narrow, sizeof narrow);
}

/// Another value of a scalar; 0 among them, but seldom, since a product with it hides the rest.
double otherValue(double value, std::uint64_t seed) {
    const std::array<double, 8> values{value * 1.3828125, -value, 1, 0.5, -1.25,
                                       value + 0.75,      value,  0};
    return values[(seed >> 7) % values.size()];
}

void vary(ScalarSpec& scalar, std::uint64_t seed) {
    if (!scalar.floating || scalar.integer)
        return;
    const double value = otherValue(*scalar.floating, seed);
    if (scalar.bytes.size() == sizeof(float))
        store<float>(scalar.bytes, value);
    else if (scalar.bytes.size() == sizeof(double))
        store<double>(scalar.bytes, value);
    else
        return;
    scalar.floating = value;
}

} // namespace

std::string_view describe(InputStyle style) {
    switch (style) {
    case InputStyle::Plain:
        return "";
    case InputStyle::Constants:
        return "values around the constants of both texts";
    case InputStyle::Ties:
        return "many equal values";
    case InputStyle::Extremes:
        return "extreme values";
    case InputStyle::Large:
        return "large values and NaN";
    case InputStyle::Collisions:
        return "values that make indices collide";
    }
    return "";
}

LaunchSpec withStyle(LaunchSpec launch, InputStyle style, const ValueDictionary& dictionary,
                     const StyleBounds& bounds, std::uint64_t seed) {
    if (style == InputStyle::Plain)
        return launch;
    std::uint64_t scalars = 0;
    for (ArgumentSpec& argument : launch.arguments) {
        if (auto* scalar = std::get_if<ScalarSpec>(&argument)) {
            if (bounds.variesScalars && style == InputStyle::Constants)
                vary(*scalar, seed + (++scalars << 7));
            continue;
        }
        auto& buffer = std::get<BufferSpec>(argument);
        const bool isIndex = buffer.integerRange != 0;
        if (buffer.fill != Fill::Random || !buffer.isInput ||
            (isIndex && (style != InputStyle::Collisions || buffer.integerRange < 2)) ||
            buffer.element == analysis::ScalarKind::Unknown)
            continue;
        buffer.fill = Fill::Chosen;
        buffer.choice =
            choiceFor(style, isFloatingElement(buffer.element), dictionary, bounds.numerics);
    }
    for (SymbolSpec& symbol : launch.symbols) {
        if (symbol.fill != Fill::Random || symbol.integerRange != 0)
            continue;
        symbol.fill = Fill::Chosen;
        symbol.choice = choiceFor(style, true, dictionary, bounds.numerics);
        if (style == InputStyle::Constants)
            symbol.choice = windowOf(*std::move(symbol.choice), bounds.turn);
        // A float64 form of the kernel has to get the same values.
        symbol.choice->isFloat = true;
    }
    return launch;
}

} // namespace kernelskill::engine
