#include "engine/inputs/value_dictionary.h"

#include "analysis/queries/code_map.h"
#include "engine/inputs/floating_literals.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <iterator>
#include <limits>
#include <ranges>
#include <set>

namespace kernelskill::engine {
namespace {

/// A text of tables would leave no share for anything else.
constexpr std::size_t maxConstants = 64;

/// Adds products of constants as well: `3 * BLOCK`.
void addConstants(const analysis::FunctionBody& body, std::set<double>& constants) {
    const analysis::CodeMap code(body);
    for (analysis::ExprId id = 0; id < static_cast<analysis::ExprId>(body.exprs.size()); ++id) {
        const analysis::Expr& expr = body.expr(id);
        if (constants.size() >= maxConstants)
            return;
        if (expr.kind == analysis::ExprKind::Integer)
            constants.insert(static_cast<double>(expr.integer));
        else if (expr.kind == analysis::ExprKind::Floating && std::isfinite(expr.floating))
            constants.insert(expr.floating);
        else if (expr.kind == analysis::ExprKind::Binary && expr.op == "*")
            if (const auto product = code.constantValue(id))
                constants.insert(static_cast<double>(*product));
    }
    for (const analysis::Variable& variable : body.variables) {
        if (variable.constantValue && constants.size() < maxConstants)
            constants.insert(static_cast<double>(*variable.constantValue));
    }
}

void addConstants(KernelInFile subject, std::set<double>& constants) {
    addConstants(subject.kernel.body, constants);
    for (const analysis::KernelModel& function : subject.file.deviceFunctions) {
        if (std::ranges::find(subject.kernel.calls, function.qualifiedName) !=
            subject.kernel.calls.end())
            addConstants(function.body, constants);
    }
}

/// The positive integers that one of the sets lacks, and those beside them.
std::vector<std::int64_t> editedSizes(const std::set<double>& before,
                                      const std::set<double>& after) {
    std::vector<double> different;
    std::ranges::set_symmetric_difference(before, after, std::back_inserter(different));
    std::set<std::int64_t> sizes;
    constexpr double maxSize = std::numeric_limits<std::int32_t>::max();
    for (const double constant : different) {
        if (std::trunc(constant) != constant || constant < 1 || constant >= maxSize)
            continue;
        const auto size = static_cast<std::int64_t>(constant);
        sizes.insert({std::max<std::int64_t>(size - 1, 1), size, size + 1});
    }
    return {sizes.begin(), sizes.end()};
}

/// A float rounds what is added to a constant to 24 bits of the constant.
constexpr int bitsOfFloat = 24;
/// Values near zero are no larger in any review (InputStyle::Tiny).
constexpr int largestVanishing = -26;
/// Squares of smaller numbers are none of float.
constexpr int smallestVanishing = -60;
/// Constants of about one size hide the same numbers.
constexpr int exponentsOfOneSize = 3;
constexpr std::size_t maxVanishing = 3;

/// See ValueDictionary::vanishing.
std::vector<int> vanishingBeside(const std::multiset<double>& before,
                                 const std::multiset<double>& after) {
    std::vector<double> added;
    std::ranges::set_difference(after, before, std::back_inserter(added));
    std::set<int, std::greater<>> exponents;
    for (const double constant : added)
        if (constant != 0 && std::isfinite(constant))
            exponents.insert(std::ilogb(constant) - bitsOfFloat);
    std::vector<int> vanishing;
    for (const int exponent : exponents)
        if (exponent >= smallestVanishing && exponent <= largestVanishing &&
            vanishing.size() < maxVanishing &&
            (vanishing.empty() || vanishing.back() - exponent >= exponentsOfOneSize))
            vanishing.push_back(exponent);
    return vanishing;
}

} // namespace

std::vector<std::int64_t> largestEdited(const ValueDictionary& dictionary, std::size_t most) {
    std::vector<std::int64_t> largest;
    for (const std::int64_t size : std::views::reverse(dictionary.edited)) {
        if (largest.size() == most)
            break;
        // Right below it stand the constant and its other neighbour.
        if (largest.empty() || largest.back() - size > 2)
            largest.push_back(size);
    }
    return largest;
}

ValueDictionary valueDictionary(KernelInFile original, KernelInFile candidate) {
    std::set<double> before;
    std::set<double> after;
    addConstants(original, before);
    addConstants(candidate, after);
    std::set<double> constants = before;
    constants.insert(after.begin(), after.end());
    std::set<double> floating;
    std::set<double> integral;
    constexpr float infinity = std::numeric_limits<float>::infinity();
    for (const double constant : constants) {
        for (const double value : {constant, -constant}) {
            const auto rounded = static_cast<float>(value);
            floating.insert(rounded);
            floating.insert(std::nextafter(rounded, infinity));
            floating.insert(std::nextafter(rounded, -infinity));
            if (rounded == value)
                continue;
            // In double precision it is another number.
            floating.insert(value);
            floating.insert(std::nextafter(value, static_cast<double>(infinity)));
            floating.insert(std::nextafter(value, -static_cast<double>(infinity)));
        }
        if (std::trunc(constant) != constant)
            continue;
        for (const double value : {constant - 1, constant, constant + 1, -constant})
            integral.insert(value);
    }
    return {{floating.begin(), floating.end()},
            {integral.begin(), integral.end()},
            editedSizes(before, after),
            vanishingBeside(floatingLiterals(original.file.source->text()),
                            floatingLiterals(candidate.file.source->text()))};
}

} // namespace kernelskill::engine
