#include "engine/inputs/smaller_constants.h"

#include "analysis/scan/expression.h"
#include "analysis/scan/macros.h"
#include "engine/inputs/program_text.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <ranges>
#include <string_view>
#include <utility>
#include <vector>

namespace kernelskill::engine {

using analysis::Declaration;
using analysis::DeclarationKind;
using analysis::Expression;
using analysis::Span;
using analysis::Token;
using analysis::Value;

namespace {

constexpr std::int64_t largestThatStays = 256;
constexpr std::int64_t warp = 32;
constexpr std::int64_t tile = 128;
constexpr std::int64_t fewest = 3 * warp;
constexpr std::size_t namesShown = 4;

class NoNames final : public analysis::Names {
public:
    [[nodiscard]] std::optional<Value> name(const std::string&) const override {
        return std::nullopt;
    }
    [[nodiscard]] std::optional<Value> member(const Expression&,
                                              const std::string&) const override {
        return std::nullopt;
    }
    [[nodiscard]] std::optional<Value> call(const Expression&) const override {
        return std::nullopt;
    }
    [[nodiscard]] std::optional<std::int64_t> sizeOf(const std::string&) const override {
        return std::nullopt;
    }
};

/// A constant whose value is made of numbers alone.
struct StatedConstant {
    std::string name;
    Span value;
};

std::optional<std::int64_t> integerOf(std::string_view text) {
    const auto expression = analysis::parseExpression(text);
    const auto value = expression ? analysis::evaluate(*expression, NoNames{}) : std::nullopt;
    return value && !value->isFloating ? std::optional(value->integer) : std::nullopt;
}

/// `N` and the place of `4096` in `#define N 4096 // elements`.
std::optional<StatedConstant> macroAt(std::string_view text, const Token& directive) {
    const auto [word, remainder] = analysis::directiveParts(directive.text);
    if (word != "define" || remainder.contains('\n'))
        return std::nullopt;
    const auto tokens = analysis::lex(remainder);
    if (tokens.size() < 2 || !tokens[0].isIdentifier() ||
        (tokens[1].is("(") && tokens[1].span.begin == tokens[0].span.end))
        return std::nullopt;
    const auto at = directive.span.begin + directive.text.find(remainder);
    const Span value{static_cast<std::uint32_t>(at + tokens[1].span.begin),
                     static_cast<std::uint32_t>(at + tokens.back().span.end)};
    if (text.substr(value.begin, value.end - value.begin).contains("/*"))
        return std::nullopt;
    return StatedConstant{std::string(tokens[0].text), value};
}

/// The same of `const int n = 4096;`.
std::optional<StatedConstant> variableIn(const std::vector<Token>& tokens,
                                         const Declaration& declaration) {
    if (declaration.kind != DeclarationKind::Variable || declaration.names.size() != 1 ||
        (!declaration.isConst && !declaration.isConstexpr))
        return std::nullopt;
    const auto isInside = [&](const Token& token) {
        return token.span.begin >= declaration.span.begin && token.span.end <= declaration.span.end;
    };
    const auto sign = std::ranges::find_if(
        tokens, [&](const Token& token) { return isInside(token) && token.is("="); });
    const auto end =
        std::find_if(sign, tokens.end(), [](const Token& token) { return token.is(";"); });
    if (sign == tokens.end() || end == tokens.end() || end - sign < 2)
        return std::nullopt;
    return StatedConstant{declaration.names.front(),
                          {std::next(sign)->span.begin, std::prev(end)->span.end}};
}

std::vector<StatedConstant> constantsOf(const ProgramText::File& file) {
    std::vector<StatedConstant> constants;
    for (const Token& directive : file.directives)
        if (auto macro = macroAt(file.text, directive))
            constants.push_back(std::move(*macro));
    for (const Declaration& declaration : file.declarations)
        if (auto variable = variableIn(file.tokens, declaration))
            constants.push_back(std::move(*variable));
    return constants;
}

/// Whether the name says that the constant shapes blocks and not data.
bool speaksOfBlocks(std::string name) {
    std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
    constexpr std::array<std::string_view, 5> words{"block", "thread", "warp", "tile", "seed"};
    return std::ranges::any_of(words, [&](std::string_view word) { return name.contains(word); });
}

/// Whether the token stands between the brackets of a `__shared__` declaration.
bool isSharedExtent(const std::vector<Token>& tokens, std::size_t at) {
    int open = 0; // Brackets around the token.
    for (std::size_t i = at; i-- > 0;) {
        if (tokens[i].is(";") || tokens[i].is("{") || tokens[i].is("}"))
            return false;
        if (tokens[i].is("["))
            ++open;
        else if (tokens[i].is("]"))
            --open;
        else if (tokens[i].is("__shared__"))
            return open > 0;
    }
    return false;
}

/// Whether the constant is used, and as an extent of `__shared__` arrays alone: these go with the
/// block, whatever the size of the data.
bool sizesSharedArraysAlone(const ProgramText& program, const StatedConstant& constant) {
    bool isUsed = false;
    for (const ProgramText::File& file : program.files()) {
        for (const Token& directive : file.directives) {
            const auto [word, remainder] = analysis::directiveParts(directive.text);
            const auto tokens = analysis::lex(remainder);
            // Conditions and pragmas say nothing of the size of the data.
            if (word == "define" &&
                std::ranges::any_of(tokens | std::views::drop(1), [&](const Token& token) {
                    return token.text == constant.name;
                }))
                return false;
        }
        for (const std::size_t at : file.tokensNamed(constant.name)) {
            const bool isItsDefinition = at + 2 < file.tokens.size() &&
                                         file.tokens[at + 1].is("=") &&
                                         file.tokens[at + 2].span.begin == constant.value.begin;
            if (isItsDefinition)
                continue;
            if (!isSharedExtent(file.tokens, at))
                return false;
            isUsed = true;
        }
    }
    return isUsed;
}

std::int64_t smaller(std::int64_t value, double factor) {
    const std::int64_t unit = value % tile == 0 ? tile : warp;
    const auto units =
        static_cast<std::int64_t>(static_cast<double>(value) / factor / static_cast<double>(unit));
    const std::int64_t least = (fewest + unit - 1) / unit;
    return std::max(units, least) * unit + value % unit;
}

} // namespace

std::optional<SmallerConstants> smallerConstants(const analysis::FileModel& file, double factor) {
    const ProgramText program(file);
    SmallerConstants result;
    std::vector<std::string> labels;
    for (const ProgramText::File& text : program.files()) {
        for (const StatedConstant& constant : constantsOf(text)) {
            const std::string_view value = std::string_view(text.text).substr(
                constant.value.begin, constant.value.end - constant.value.begin);
            const auto present = integerOf(value);
            if (!present || *present <= largestThatStays || speaksOfBlocks(constant.name) ||
                sizesSharedArraysAlone(program, constant))
                continue;
            const std::int64_t changed = smaller(*present, factor);
            const std::string spelled = fmt::format("{:<{}}", changed, value.size());
            if (changed >= *present || spelled.size() != value.size())
                continue;
            result.edits[text.path].push_back({constant.value, spelled});
            std::string label = fmt::format("{}={}", constant.name, changed);
            if (std::ranges::find(labels, label) == labels.end())
                labels.push_back(std::move(label));
        }
    }
    if (labels.empty())
        return std::nullopt;
    for (std::size_t i = 0; i < std::min(labels.size(), namesShown); ++i)
        result.label += (i == 0 ? "" : ", ") + labels[i];
    if (labels.size() > namesShown)
        result.label += ", ...";
    return result;
}

} // namespace kernelskill::engine
