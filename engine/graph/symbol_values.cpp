#include "engine/graph/symbol_values.h"

#include "analysis/source/try.h"
#include "engine/graph/extent_expression.h"
#include "engine/graph/extent_relation.h"
#include "engine/graph/type_text.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <utility>

namespace kernelskill::engine::graph {
namespace {

/// factor * symbol + offset; without a symbol, the offset.
struct Linear {
    std::string symbol;
    std::int64_t factor = 0;
    std::int64_t offset = 0;
};

/// Numbers beyond this are no extents, and products of two of them still have 63 bits.
constexpr std::int64_t largest = std::int64_t{1} << 31;

std::optional<Linear> within(const Linear& linear) {
    const bool isSmall = std::abs(linear.factor) < largest && std::abs(linear.offset) < largest;
    return isSmall ? std::optional(linear) : std::nullopt;
}

std::optional<Linear> sum(const Linear& left, const Linear& right) {
    if (!left.symbol.empty() && !right.symbol.empty() && left.symbol != right.symbol)
        return std::nullopt;
    return within({left.symbol.empty() ? right.symbol : left.symbol, left.factor + right.factor,
                   left.offset + right.offset});
}

std::optional<Linear> product(const Linear& left, const Linear& right) {
    if (left.factor != 0 && right.factor != 0)
        return std::nullopt;
    const Linear& one = left.factor != 0 ? left : right;
    const std::int64_t by = left.factor != 0 ? right.offset : left.offset;
    return within({one.symbol, one.factor * by, one.offset * by});
}

/// nullopt for what is not linear in one symbol.
std::optional<Linear> linearOf(const ExtentExpression& expression) {
    using Kind = ExtentExpression::Kind;
    switch (expression.kind) {
    case Kind::Integer:
        return within({{}, 0, expression.integer});
    case Kind::Symbol:
        return Linear{expression.symbol, 1, 0};
    case Kind::Sum:
    case Kind::Product: {
        const bool isSum = expression.kind == Kind::Sum;
        std::optional<Linear> result = Linear{{}, 0, isSum ? 0 : 1};
        for (const ExtentExpression& operand : expression.operands) {
            const auto next = linearOf(operand);
            if (!result || !next)
                return std::nullopt;
            result = isSum ? sum(*result, *next) : product(*result, *next);
        }
        return result;
    }
    default:
        return std::nullopt;
    }
}

/// Calls `look` with each extent that a user's input has.
void eachInputExtent(
    const Program& program,
    const std::function<void(const Input& input, std::size_t axis, const Extent& extent)>& look) {
    for (const Input& input : program.inputs) {
        const auto type = program.values.find(input.value);
        if (input.kind != Input::Kind::User || type == program.values.end())
            continue;
        for (std::size_t axis = 0; axis < type->second.sizes.size(); ++axis)
            look(input, axis, type->second.sizes[axis]);
    }
}

/// The sources that the inputs have, by symbol.
std::map<std::string, SymbolSource> sourcesIn(const Program& program) {
    std::map<std::string, SymbolSource> sources;
    eachInputExtent(program, [&](const Input& input, std::size_t axis, const Extent& extent) {
        if (!extent.isDynamic())
            return;
        const auto expression = parseExtent(extent.expression, {});
        const auto linear = expression ? linearOf(*expression) : std::nullopt;
        if (!linear || linear->factor <= 0)
            return;
        const SymbolSource found{linear->symbol, input.value, axis, linear->factor, linear->offset};
        const auto [known, isNew] = sources.try_emplace(linear->symbol, found);
        const bool isPlain = linear->factor == 1 && linear->offset == 0;
        const bool wasPlain = known->second.factor == 1 && known->second.offset == 0;
        if (!isNew && isPlain && !wasPlain)
            known->second = found;
    });
    return sources;
}

std::unexpected<Error> withoutSource(const Program& program, const std::string& symbol) {
    for (const Input& input : program.inputs)
        if (const auto number = program.symbolicInts.find(input.value);
            number != program.symbolicInts.end() && number->second.expression == symbol)
            return std::unexpected(
                Error{ErrorKind::Unsupported,
                      fmt::format("the input {} is a number, {}, and no extent of a tensor",
                                  input.value, symbol),
                      "", "export the program with this number fixed"});
    return std::unexpected(Error{ErrorKind::Unsupported,
                                 fmt::format("the size {} is the extent of no input", symbol), "",
                                 "give an input that size as an extent of its own"});
}

/// The value of a symbol at export, where something of the program is that symbol alone.
std::optional<std::int64_t> statedValue(const Program& program, const std::string& symbol) {
    for (const auto& [name, type] : program.values)
        for (const Extent& extent : type.sizes)
            if (extent.expression == symbol && extent.value >= 0)
                return extent.value;
    for (const auto& [name, extent] : program.symbolicInts)
        if (extent.expression == symbol && extent.value >= 0)
            return extent.value;
    return std::nullopt;
}

/// The first of the extents that has no value that an extent can have.
std::string extentProblem(const Program& program, const SymbolValues& symbols) {
    for (const auto& [name, type] : program.values)
        for (const Extent& extent : type.sizes) {
            if (!extent.isDynamic())
                continue;
            const auto value = evaluateExtent(extent, symbols);
            if (!value)
                return fmt::format("{} {}: {}", name, textOf(type), value.error().what);
            if (*value < 0)
                return fmt::format("the extent {} of {} is {}", extent.expression, name, *value);
        }
    return {};
}

Result<void> evaluate(Extent& extent, const SymbolValues& symbols) {
    if (!extent.isDynamic() || extent.value < 0)
        return {};
    KERNELSKILL_TRY(extent.value, evaluateExtent(extent, symbols));
    return {};
}

/// The smallest value that is allowed for the symbol while the others stay.
void makeSmallest(const Program& program, const std::string& symbol, SymbolValues& symbols) {
    constexpr std::int64_t farthest = 64; // Relations leave no more than a few out.
    const std::int64_t before = symbols.at(symbol);
    const std::int64_t low = std::max<std::int64_t>(program.symbols.at(symbol).low, 0);
    for (std::int64_t value = low; value < std::min(before, low + farthest); ++value) {
        symbols[symbol] = value;
        if (symbolProblem(program, symbols).empty())
            return;
    }
    symbols[symbol] = before;
}

/// An odd value for the symbol that is not among those that were tried.
void makeOdd(const Program& program, const std::string& symbol, std::size_t place,
             const std::vector<SymbolValues>& tried, SymbolValues& symbols) {
    // No multiple of a vector's, a warp's or a tile's size, on both sides of a warp; of several
    // symbols, one is large.
    constexpr std::array<std::int64_t, 12> ofOne{37, 19, 67, 13, 7, 5, 131, 3, 11, 9, 23, 29};
    constexpr std::array<std::int64_t, 12> ofSeveral{7, 37, 5, 13, 19, 11, 3, 67, 9, 23, 29, 131};
    const auto& odd = program.symbols.size() > 1 ? ofSeveral : ofOne;
    const std::int64_t before = symbols.at(symbol);
    for (std::size_t i = 0; i < odd.size(); ++i) {
        const std::int64_t value = odd[(i + place) % odd.size()];
        const bool isNew = std::ranges::none_of(
            tried, [&](const SymbolValues& each) { return each.at(symbol) == value; });
        symbols[symbol] = value;
        if (isNew && symbolProblem(program, symbols).empty())
            return;
    }
    for (const std::int64_t value : {before + 1, before - 1}) {
        symbols[symbol] = value;
        if (symbolProblem(program, symbols).empty())
            return;
    }
    symbols[symbol] = before;
}

} // namespace

std::string textOf(const SymbolSource& source) {
    const std::string extent = fmt::format("extent {} of {}", source.axis, source.input);
    if (source.factor == 1 && source.offset == 0)
        return extent;
    const std::string shifted =
        source.offset == 0 ? extent : fmt::format("({} - {})", extent, source.offset);
    return source.factor == 1 ? shifted : fmt::format("{} / {}", shifted, source.factor);
}

std::string rangeText(const SymbolRange& range) {
    if (range.high)
        return fmt::format("{} ... {}", std::max<std::int64_t>(range.low, 0), *range.high);
    return range.low > 0 ? fmt::format("at least {}", range.low) : "any";
}

Result<std::vector<SymbolSource>> symbolSources(const Program& program) {
    std::map<std::string, SymbolSource> found = sourcesIn(program);
    std::vector<SymbolSource> sources;
    for (const auto& [symbol, range] : program.symbols) {
        const auto source = found.find(symbol);
        if (source == found.end())
            return withoutSource(program, symbol);
        sources.push_back(std::move(source->second));
    }
    return sources;
}

Result<SymbolValues> exportedSymbols(const Program& program) {
    const std::map<std::string, SymbolSource> sources = sourcesIn(program);
    SymbolValues symbols;
    for (const auto& [symbol, range] : program.symbols) {
        auto value = statedValue(program, symbol);
        if (const auto source = sources.find(symbol); !value && source != sources.end()) {
            const auto& [name, input, axis, factor, offset] = source->second;
            value = (program.values.at(input).sizes.at(axis).value - offset) / factor;
        }
        if (!value)
            return std::unexpected(Error{ErrorKind::Unsupported,
                                         "no extent is the symbol " + symbol +
                                             " alone: its value is not known before a run",
                                         {},
                                         {}});
        symbols.emplace(symbol, *value);
    }
    return symbols;
}

std::string symbolProblem(const Program& program, const SymbolValues& symbols) {
    for (const auto& [symbol, range] : program.symbols) {
        const auto value = symbols.find(symbol);
        if (value == symbols.end())
            return fmt::format("{} has no value", symbol);
        if (value->second < range.low || (range.high && value->second > *range.high))
            return fmt::format("{} is {}, and the program takes {}", symbol, value->second,
                               rangeText(range));
    }
    for (const ExtentRelation& relation : program.relations) {
        const auto isMet = holds(relation, symbols);
        if (!isMet)
            return fmt::format("{}: {}", textOf(relation), isMet.error().what);
        if (!*isMet)
            return fmt::format("{} does not hold", textOf(relation));
    }
    return extentProblem(program, symbols);
}

Result<Program> withSymbolValues(Program program, const SymbolValues& symbols) {
    if (const std::string problem = symbolProblem(program, symbols); !problem.empty())
        return std::unexpected(
            Error{ErrorKind::InvalidInput, problem, "", "choose extents that the program takes"});
    for (auto& [name, type] : program.values) {
        for (Extent& extent : type.sizes)
            KERNELSKILL_CHECK(evaluate(extent, symbols));
        for (Extent& stride : type.strides)
            KERNELSKILL_CHECK(evaluate(stride, symbols));
        KERNELSKILL_CHECK(evaluate(type.offset, symbols));
    }
    for (auto& [name, extent] : program.symbolicInts)
        KERNELSKILL_CHECK(evaluate(extent, symbols));
    return program;
}

std::vector<SymbolValues> symbolTrials(const Program& program) {
    const auto exported = exportedSymbols(program);
    if (!exported || !symbolProblem(program, *exported).empty())
        return {};
    std::vector<SymbolValues> trials{*exported};
    const auto add = [&](const SymbolValues& values) {
        if (std::ranges::find(trials, values) == trials.end())
            trials.push_back(values);
    };
    SymbolValues smallest = *exported;
    // One symbol may bound another one: the second round takes what the first one left.
    for (int round = 0; round < 2; ++round)
        for (const auto& [symbol, range] : program.symbols)
            makeSmallest(program, symbol, smallest);
    add(smallest);
    SymbolValues odd = *exported;
    std::size_t place = 0;
    const std::vector<SymbolValues> before = trials;
    for (const auto& [symbol, range] : program.symbols)
        makeOdd(program, symbol, place++, before, odd);
    add(odd);
    return trials;
}

} // namespace kernelskill::engine::graph
