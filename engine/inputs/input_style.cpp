#include "engine/inputs/input_style.h"

#include "analysis/model/scalar_kinds.h"
#include "engine/inputs/argument_specs.h"

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

/// The part of the elements that have a special value where a few are enough.
constexpr double rareShare = 0.02;

/// Elements between two offsets, in turn: more than a warp takes at once, and more than it takes in
/// several rounds at once; no multiple of it.
constexpr std::array<double, 2> longRows{37, 301};

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

/// Negative values, so that maxima are negative too; a few are NaN.
ValueChoice negativeOnes(Numerics numerics) {
    ValueChoice choice;
    choice.values.assign(24, -1);
    choice.values.insert(choice.values.end(), {-0.5, -2, -maxRoundedMagnitude});
    if (numerics != Numerics::ReducedPrecision)
        choice.values.push_back(std::numeric_limits<double>::quiet_NaN());
    choice.share = 1;
    return choice;
}

/// At every other turn few elements have one, since many hide each other: all sums are NaN.
ValueChoice extremesFor(bool isFloating, Numerics numerics, std::size_t turn) {
    constexpr std::size_t turns = 4;
    if (isFloating && turn % turns == turns - 1)
        return negativeOnes(numerics);
    ValueChoice choice;
    choice.share = 0.25;
    if (numerics != Numerics::Exact)
        choice.maxExponent = std::ilogb(maxRoundedMagnitude);
    if (!isFloating) {
        choice.values = {-1,    -128,   127,         255,          256, -32768, 32767,      65535,
                         65536, -65536, 2147483647., -2147483648., 1e9, -1e9,   4294967295.};
        return choice;
    }
    if (turn % 2 == 1)
        choice.share = rareShare;
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
        choice.share = std::min(choice.share, 0.1);
    }
    return choice;
}

/// Values of one magnitude near zero, a smaller one at each turn: an edit may lose results below
/// any bound. The last turns have those that vanish beside the constants which it adds.
ValueChoice tinyOnes(bool isFloating, const ValueDictionary& dictionary, std::size_t turn) {
    ValueChoice choice;
    if (!isFloating) {
        choice.values = {0, 1};
        choice.share = 1;
        return choice;
    }
    std::vector<int> exponents{-14, -18, -22};
    static_assert(usualTinyTurns == 3);
    exponents.insert(exponents.end(), dictionary.vanishing.begin(), dictionary.vanishing.end());
    choice.maxExponent = exponents.at(turn % exponents.size());
    choice.minExponent = choice.maxExponent - 2;
    choice.share = 0;
    return choice;
}

/// Chooses large values. At every third turn all are far below zero, so that a maximum is too.
ValueChoice largeOnes(bool isFloating, std::size_t turn) {
    constexpr std::size_t turns = 3;
    ValueChoice choice;
    if (isFloating && turn % turns == turns - 1) {
        choice.values = {-1000, -1001, -1002.5, -1100};
        choice.share = 1;
        return choice;
    }
    choice.values = isFloating ? std::vector<double>{100, -100, 1000, -1000, 0.25, 0, 2, -2}
                               : std::vector<double>{0, 1, 2, 255};
    choice.share = turn % 2 == 0 ? 0.5 : rareShare;
    if (isFloating)
        choice.values.push_back(std::numeric_limits<double>::quiet_NaN());
    return choice;
}

/// Values of both signs. The exponentials of the smallest are below any rounding of results near 1.
ValueChoice wideOnes(bool isFloating) {
    ValueChoice choice;
    choice.share = 1;
    if (!isFloating) {
        choice.values = {0, 1, 2, 3};
        return choice;
    }
    constexpr int steps = 41;
    constexpr double step = 0.78137219;
    for (int i = -steps; i <= steps; ++i)
        choice.values.push_back(step * i);
    return choice;
}

/// Every element has one of few values. At each turn others: a maximum is then 0.5, or tiny, and
/// rows are the same from end to end.
ValueChoice tiesFor(bool isFloating, std::size_t turn) {
    static const std::array<std::vector<double>, 4> floating{
        {{-1, 0, 1, 2}, {-0.5, 0.25, 0.5}, {0x1p-12, -0x1p-13, 0x1.8p-13}, {-1, 0, 0.5}}};
    static const std::array<std::vector<double>, 4> integral{
        {{0, 1, 2, 3}, {1, 2}, {-1, 0, 1}, {3}}};
    ValueChoice ties;
    ties.values = (isFloating ? floating : integral).at(turn % floating.size());
    ties.share = 1;
    return ties;
}

/// Positive values far from zero, and close to each other: their squares cancel where one is
/// subtracted from another.
ValueChoice closeOnes(bool isFloating) {
    ValueChoice choice;
    choice.share = 1;
    if (!isFloating) {
        choice.values = {100, 101, 102, 103};
        return choice;
    }
    constexpr std::size_t count = 29;
    constexpr double least = 7.53217189;
    constexpr double step = 0.00371437;
    for (std::size_t i = 0; i < count; ++i)
        choice.values.push_back(least + step * static_cast<double>(i));
    return choice;
}

ValueChoice choiceFor(InputStyle style, bool isFloating, const ValueDictionary& dictionary,
                      const StyleBounds& bounds) {
    if (style == InputStyle::Constants)
        return constantsFor(isFloating, dictionary, bounds.numerics);
    if (style == InputStyle::Extremes)
        return extremesFor(isFloating, bounds.numerics, bounds.turn);
    if (style == InputStyle::Tiny)
        return tinyOnes(isFloating, dictionary, bounds.turn);
    if (style == InputStyle::Large)
        return largeOnes(isFloating, bounds.turn);
    if (style == InputStyle::Wide)
        return wideOnes(isFloating);
    if (style == InputStyle::Close)
        return closeOnes(isFloating);
    if (style == InputStyle::Collisions) {
        ValueChoice two;
        two.values = isFloating ? std::vector<double>{0.25, 0.5} : std::vector<double>{0, 1};
        two.share = 1;
        return two;
    }
    return tiesFor(isFloating, bounds.turn);
}

template <typename T>
void store(std::vector<std::byte>& bytes, double value) {
    const auto narrow = static_cast<T>(value);
    std::memcpy(bytes.data(), &narrow, sizeof narrow);
}

/// Another value of a scalar; 0 among them, but seldom, since a product with it hides the rest.
double otherValue(double value, std::uint64_t seed) {
    const std::array<double, 8> values{value * 1.375, -value,       1,           0.5,
                                       -1.25,         value + 0.75, value - 2.5, 0};
    const double other = values[(seed >> 7) % values.size()];
    return other == value ? value + 0.75 : other;
}

/// Sets a half or a bfloat16 to `value`, or to its negative where its bytes mean the same in both
/// types: then so do those of the negative.
void varyTwoBytes(ScalarSpec& scalar, double value) {
    using analysis::ScalarKind;
    const double present = *scalar.floating;
    const bool isHalf = scalar.bytes == floatingBytes(ScalarKind::Half, present);
    const bool isBFloat = scalar.bytes == floatingBytes(ScalarKind::BFloat16, present);
    if (!isHalf && !isBFloat)
        return;
    scalar.floating = isHalf && isBFloat ? -present : value;
    scalar.bytes =
        floatingBytes(isHalf ? ScalarKind::Half : ScalarKind::BFloat16, *scalar.floating);
}

/// Gives each lane of a vector of floats, which all have one value, another. Returns false for what
/// is no such vector.
bool varyLanes(ScalarSpec& scalar, std::uint64_t seed) {
    std::vector<std::size_t> lanes;
    for (std::size_t at = 0; at + sizeof(float) <= scalar.bytes.size(); at += sizeof(float)) {
        float lane = 0;
        std::memcpy(&lane, scalar.bytes.data() + at, sizeof lane);
        if (lane == static_cast<float>(*scalar.floating))
            lanes.push_back(at);
    }
    if (lanes.size() < 2)
        return false;
    for (const std::size_t at : lanes) {
        const auto lane = static_cast<float>(otherValue(*scalar.floating, seed + (at << 5)));
        std::memcpy(scalar.bytes.data() + at, &lane, sizeof lane);
    }
    return true;
}

void vary(ScalarSpec& scalar, std::uint64_t seed) {
    if (!scalar.floating || scalar.integer || varyLanes(scalar, seed))
        return;
    const double value = otherValue(*scalar.floating, seed);
    if (scalar.bytes.size() == sizeof(float))
        store<float>(scalar.bytes, value);
    else if (scalar.bytes.size() == sizeof(double))
        store<double>(scalar.bytes, value);
    else
        return varyTwoBytes(scalar, value);
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
    case InputStyle::Tiny:
        return "values near zero";
    case InputStyle::Large:
        return "large values and NaN";
    case InputStyle::Wide:
        return "values of some tens";
    case InputStyle::Close:
        return "values close to each other";
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
        if (buffer.fill == Fill::Iota && launch.origin != LaunchOrigin::Pinned &&
            style == InputStyle::Ties && bounds.turn % 2 == 1)
            buffer.value = longRows.at(bounds.turn / 2 % longRows.size()) - 1;
        const bool isIndex = buffer.integerRange != 0;
        if (buffer.fill != Fill::Random || !buffer.isInput ||
            (isIndex && (style != InputStyle::Collisions || buffer.integerRange < 2)))
            continue;
        // The choice makes the floats of a buffer of classes.
        const bool isFloating =
            isFloatingScalar(buffer.element) || buffer.element == analysis::ScalarKind::Unknown;
        buffer.fill = Fill::Chosen;
        buffer.choice = choiceFor(style, isFloating, dictionary, bounds);
    }
    for (SymbolSpec& symbol : launch.symbols) {
        if (symbol.fill != Fill::Random || symbol.integerRange != 0)
            continue;
        symbol.fill = Fill::Chosen;
        symbol.choice = choiceFor(style, true, dictionary, bounds);
        if (style == InputStyle::Constants)
            symbol.choice = windowOf(*std::move(symbol.choice), bounds.turn);
        // A float64 form of the kernel has to get the same values.
        symbol.choice->isFloat = true;
    }
    return launch;
}

} // namespace kernelskill::engine
