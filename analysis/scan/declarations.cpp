#include "analysis/scan/declarations.h"

#include "analysis/syntax/nesting.h"

#include <algorithm>
#include <array>
#include <optional>

namespace kernelskill::analysis {
namespace {

template <std::size_t N>
bool isOneOf(const Token& token, const std::array<std::string_view, N>& words) {
    return token.isIdentifier() && std::ranges::find(words, token.text) != words.end();
}

constexpr std::array<std::string_view, 4> classKeys = {"struct", "class", "union", "enum"};
/// Names in front of a parenthesis that belongs to the specifiers, not to the declarator.
constexpr std::array<std::string_view, 15> attributeNames = {
    "__launch_bounds__", "__align__",      "alignas",     "__attribute__",
    "__declspec",        "decltype",       "noexcept",    "explicit",
    "__cluster_dims__",  "__block_size__", "__maxnreg__", "typeof",
    "__typeof__",        "throw",          "requires"};

const std::vector<std::string_view> kernelWords = {"__global__"};
const std::vector<std::string_view> deviceWords = {"__device__", "__constant__", "__managed__",
                                                   "__shared__", "texture",      "surface"};
const std::vector<std::string_view> memoryWords = {"__device__", "__constant__", "__managed__"};
const std::vector<std::string_view> constantWords = {"__constant__"};
const std::vector<std::string_view> constexprWords = {"constexpr", "consteval"};

class DeclarationScanner {
public:
    DeclarationScanner(const std::vector<Token>& tokens, const MacroTable& macros)
        : tokens_(tokens), macros_(macros) {}

    std::vector<Declaration> scope(std::size_t begin, std::size_t end, const std::string& scopeName,
                                   const std::string& owner) {
        std::vector<Declaration> result;
        auto i = begin;
        while (i < end) {
            const auto& token = tokens_[i];
            if (token.is(";") || token.is("}") || token.is(")")) {
                ++i;
            } else if (!owner.empty() && i + 1 < end && tokens_[i + 1].is(":") &&
                       (token.is("public") || token.is("private") || token.is("protected"))) {
                i += 2;
            } else if (const auto inner = transparentBlock(i, end)) {
                blockDelimiters.push_back({token.span.begin, tokens_[inner->open].span.end});
                blockDelimiters.push_back(tokens_[inner->close].span);
                auto nested =
                    scope(inner->open + 1, inner->close, joined(scopeName, inner->name), owner);
                std::ranges::move(nested, std::back_inserter(result));
                i = inner->close + 1;
            } else {
                const auto last = declarationEnd(i, end);
                auto declaration = classify(i, last, owner);
                declaration.scope = scopeName;
                for (auto& member : declaration.members)
                    member.scope = scopeName;
                result.push_back(std::move(declaration));
                i = last + 1;
            }
        }
        return result;
    }

    std::vector<Span> blockDelimiters;

private:
    struct Block {
        std::size_t open;
        std::size_t close;
        std::string name;
    };

    static std::string joined(const std::string& outer, const std::string& inner) {
        return outer.empty() || inner.empty() ? outer + inner : outer + "::" + inner;
    }

    std::size_t closeOf(std::size_t open, std::size_t end) const {
        return std::min(matchingBracket(tokens_, open), end - 1);
    }

    /// namespace a::b { … } and extern "C" { … }
    std::optional<Block> transparentBlock(std::size_t i, std::size_t end) const {
        if (tokens_[i].is("extern") && i + 2 < end && tokens_[i + 1].kind == TokenKind::String &&
            tokens_[i + 2].is("{"))
            return Block{i + 2, closeOf(i + 2, end), {}};
        if (tokens_[i].is("inline") && i + 1 < end && tokens_[i + 1].is("namespace"))
            ++i;
        if (!tokens_[i].is("namespace"))
            return std::nullopt;
        std::string name;
        for (auto j = i + 1; j < end; ++j) {
            if (tokens_[j].is("{"))
                return Block{j, closeOf(j, end), name};
            if (tokens_[j].is("[")) {
                j = closeOf(j, end);
            } else if (tokens_[j].is("(")) {
                j = closeOf(j, end); // __attribute__((…))
                name.clear();
            } else if (tokens_[j].isIdentifier() || tokens_[j].is("::")) {
                name += tokens_[j].text;
            } else {
                return std::nullopt;
            }
        }
        return std::nullopt;
    }

    bool isAttributeParenthesis(std::size_t open) const {
        return open > 0 && isOneOf(tokens_[open - 1], attributeNames);
    }

    bool isFunctionMacro(std::size_t i) const {
        const auto* macro = tokens_[i].isIdentifier() ? macros_.find(tokens_[i].text) : nullptr;
        return macro != nullptr && macro->isFunctionLike;
    }

    /// A macro call that is a declaration by itself: its body ends one.
    std::optional<std::size_t> completeMacroCall(std::size_t i, std::size_t end) const {
        if (!isFunctionMacro(i) || i + 1 >= end || !tokens_[i + 1].is("("))
            return std::nullopt;
        const auto& body = macros_.find(tokens_[i].text)->body;
        const auto close = closeOf(i + 1, end);
        if (body.ends_with("}") || body.ends_with(";") || body.empty())
            return close + 1 < end && tokens_[close + 1].is(";") ? close + 1 : close;
        return std::nullopt;
    }

    /// The end of a declaration that one macro call opens and another closes:
    /// TABLE_BEGIN(int, squares, 3) 0, 1, 4 TABLE_END()
    std::optional<std::size_t> macroPairEnd(std::size_t begin, std::size_t end) const {
        if (!isFunctionMacro(begin) || begin + 1 >= end || !tokens_[begin + 1].is("(") ||
            !macros_.find(tokens_[begin].text)->body.ends_with("{"))
            return std::nullopt;
        for (auto i = closeOf(begin + 1, end) + 1; i < end; ++i) {
            const bool closes =
                isFunctionMacro(i) && macros_.find(tokens_[i].text)->body.starts_with("}");
            if (!closes || i + 1 >= end || !tokens_[i + 1].is("("))
                continue;
            const auto close = closeOf(i + 1, end);
            return close + 1 < end && tokens_[close + 1].is(";") ? close + 1 : close;
        }
        return std::nullopt;
    }

    /// Index of the last token of the declaration that starts at `begin`.
    std::size_t declarationEnd(std::size_t begin, std::size_t end) const {
        if (const auto macroEnd = completeMacroCall(begin, end))
            return *macroEnd;
        if (const auto pairEnd = macroPairEnd(begin, end))
            return *pairEnd;
        bool hasEquals = false;
        bool hasParameters = false;
        bool hasClassKey = false;
        for (auto i = begin; i < end; ++i) {
            const auto& token = tokens_[i];
            if (token.is(";"))
                return i;
            if (token.is("}"))
                return i; // unbalanced: stop here
            if (token.is("template") && i + 1 < end && tokens_[i + 1].is("<")) {
                i = templateHeadEnd(tokens_, i + 1);
            } else if (token.is("operator")) {
                i = operatorNameEnd(i, end);
            } else if (token.is("(")) {
                hasParameters = hasParameters || !isAttributeParenthesis(i);
                i = closeOf(i, end);
            } else if (token.is("[")) {
                i = closeOf(i, end);
            } else if (token.is("=")) {
                hasEquals = true;
            } else if (isOneOf(token, classKeys) && !hasParameters && !hasEquals) {
                hasClassKey = true;
            } else if (token.is(":") && hasParameters && !hasEquals && !hasClassKey) {
                return constructorEnd(i, end);
            } else if (token.is("{")) {
                const bool function = hasParameters && !hasEquals &&
                                      (!hasClassKey || tokens_[i - 1].is(")") ||
                                       tokens_[i - 1].is("const") || tokens_[i - 1].is("noexcept"));
                const auto close = closeOf(i, end);
                if (function)
                    return close;
                const bool goesOn =
                    hasEquals || hasClassKey ||
                    (close + 1 < end && (tokens_[close + 1].is(";") || tokens_[close + 1].is(",")));
                if (!goesOn)
                    return close;
                i = close;
            }
        }
        return end - 1;
    }

    std::size_t operatorNameEnd(std::size_t i, std::size_t end) const {
        auto j = i + 1;
        if (j + 1 < end && (tokens_[j].is("(") || tokens_[j].is("[")))
            return j + 1;
        while (j + 1 < end && !tokens_[j + 1].is("("))
            ++j;
        return std::min(j, end - 1);
    }

    /// From the ':' of a constructor's initialisers to the '}' of its body.
    std::size_t constructorEnd(std::size_t colon, std::size_t end) const {
        for (auto i = colon + 1; i < end; ++i) {
            if (tokens_[i].is("<")) {
                i = std::max(i, matchingAngle(tokens_, i));
            } else if (tokens_[i].is("(")) {
                i = closeOf(i, end);
            } else if (tokens_[i].is("{")) {
                const bool initialiser = tokens_[i - 1].isIdentifier() || tokens_[i - 1].is(">");
                const auto close = closeOf(i, end);
                if (!initialiser)
                    return close;
                i = close;
            } else if (tokens_[i].is(";")) {
                return i;
            }
        }
        return end - 1;
    }

    Declaration classify(std::size_t begin, std::size_t last, const std::string& owner) {
        Declaration result;
        result.owner = owner;
        result.span = {tokens_[begin].span.begin, tokens_[last].span.end};
        const bool isPair = macroPairEnd(begin, last + 1).has_value();
        if (isPair || completeMacroCall(begin, last + 1)) {
            result.kind = DeclarationKind::MacroCall;
            const auto nameEnd = isPair ? closeOf(begin + 1, last + 1) : last;
            for (auto i = begin; i <= nameEnd; ++i) {
                if (tokens_[i].isIdentifier())
                    result.names.emplace_back(tokens_[i].text);
            }
            return result;
        }
        auto i = begin;
        while (i <= last && tokens_[i].is("template") && i + 1 <= last && tokens_[i + 1].is("<")) {
            result.isTemplate = true;
            i = templateHeadEnd(tokens_, i + 1) + 1;
        }
        if (i > last || tokens_[i].is("template") || tokens_[i].is("static_assert"))
            return result;
        readSpecifiers(i, last, result);
        if (tokens_[i].is("using") || tokens_[i].is("typedef") || tokens_[i].is("namespace"))
            classifyAlias(i, last, result);
        else if (const auto key = typeKey(i, last))
            classifyType(*key, last, result);
        else if (tokens_[i].is("friend") && !result.isDevice && !result.isConstexpr)
            result.kind = DeclarationKind::Other;
        else
            classifyFunctionOrVariable(i, last, result);
        return result;
    }

    /// Words of the head, before the body, the initialiser or the end.
    void readSpecifiers(std::size_t begin, std::size_t last, Declaration& result) const {
        for (auto i = begin; i <= last; ++i) {
            const auto& token = tokens_[i];
            if (token.is("{") || token.is(";") ||
                (token.is("=") && !tokens_[i - (i > begin ? 1 : 0)].is("operator")))
                return;
            if (token.is("(")) {
                i = closeOf(i, last + 1);
                continue;
            }
            if (!token.isIdentifier())
                continue;
            result.isConst = result.isConst || token.is("const");
            result.isExtern = result.isExtern || token.is("extern");
            result.isKernel = result.isKernel || macros_.names(token.text, kernelWords);
            result.isDevice =
                result.isDevice || result.isKernel || macros_.names(token.text, deviceWords);
            result.isDeviceMemory = result.isDeviceMemory || macros_.names(token.text, memoryWords);
            result.isConstantMemory =
                result.isConstantMemory || macros_.names(token.text, constantWords);
            result.isConstexpr = result.isConstexpr || macros_.names(token.text, constexprWords);
        }
    }

    void classifyAlias(std::size_t i, std::size_t last, Declaration& result) const {
        if (tokens_[i].is("namespace")) {
            result.kind = DeclarationKind::NamespaceAlias;
            result.names.emplace_back(tokens_[std::min(i + 1, last)].text);
        } else if (tokens_[i].is("typedef")) {
            result.kind = DeclarationKind::Alias;
            typedefNames(i, last, result);
        } else if (i + 1 <= last && tokens_[i + 1].is("namespace")) {
            result.kind = DeclarationKind::UsingNamespace;
            std::string name;
            for (auto j = i + 2; j < last; ++j)
                name += tokens_[j].text;
            result.names.push_back(name);
        } else if (i + 2 <= last && (tokens_[i + 2].is("=") || tokens_[i + 2].is("["))) {
            result.kind = DeclarationKind::Alias;
            result.names.emplace_back(tokens_[i + 1].text);
        } else {
            result.kind = DeclarationKind::Using;
            for (auto j = last; j > i; --j) {
                if (tokens_[j].isIdentifier()) {
                    result.names.emplace_back(tokens_[j].text);
                    break;
                }
            }
        }
    }

    void typedefNames(std::size_t begin, std::size_t last, Declaration& result) const {
        for (auto i = begin + 1; i <= last; ++i) {
            if (tokens_[i].is("{")) {
                enumerators(i, closeOf(i, last + 1), result);
                if (isOneOf(tokens_[i - 1], classKeys) == false && tokens_[i - 1].isIdentifier())
                    result.names.emplace_back(tokens_[i - 1].text);
                i = closeOf(i, last + 1);
            } else if (tokens_[i].is("(")) {
                const auto close = closeOf(i, last + 1);
                if (i + 1 < close && (tokens_[i + 1].is("*") || tokens_[i + 1].is("&")) &&
                    tokens_[close - 1].isIdentifier())
                    result.names.emplace_back(tokens_[close - 1].text);
                i = close;
            } else if (tokens_[i].isIdentifier() && i + 1 <= last &&
                       (tokens_[i + 1].is(";") || tokens_[i + 1].is(",") ||
                        tokens_[i + 1].is("[") || tokens_[i + 1].is("("))) {
                result.names.emplace_back(tokens_[i].text);
            }
        }
    }

    /// Index of the class key when the declaration defines or declares a type, and not an object of
    /// a `struct X` type.
    std::optional<std::size_t> typeKey(std::size_t begin, std::size_t last) const {
        for (auto i = begin; i <= last; ++i) {
            const auto& token = tokens_[i];
            if (token.is("(") && !isAttributeParenthesis(i))
                return std::nullopt;
            if (token.is("(") || token.is("["))
                i = closeOf(i, last + 1);
            else if (token.is("=") || token.is("{") || token.is(";"))
                return std::nullopt;
            else if (isOneOf(token, classKeys))
                return definesType(i, last) ? std::optional(i) : std::nullopt;
        }
        return std::nullopt;
    }

    bool definesType(std::size_t key, std::size_t last) const {
        std::size_t identifiers = 0;
        for (auto i = key + 1; i <= last; ++i) {
            const auto& token = tokens_[i];
            if (token.is("{"))
                return !tokens_[i - 1].is(")") || isAttributeParenthesisClose(i - 1);
            if (token.is(";"))
                return identifiers == 1;
            if (token.is("="))
                return false;
            if (token.is(":"))
                return true;
            if (token.is("(") || token.is("[")) {
                i = closeOf(i, last + 1);
            } else if (token.is("<")) {
                i = std::max(i, matchingAngle(tokens_, i));
            } else if (token.isIdentifier() && !isOneOf(token, attributeNames) &&
                       !isOneOf(token, classKeys) && !token.is("final") &&
                       !macros_.contains(token.text)) {
                ++identifiers;
            }
        }
        return false;
    }

    bool isAttributeParenthesisClose(std::size_t close) const {
        int open = 0;
        for (auto i = close + 1; i-- > 0;) {
            open += tokens_[i].is(")") ? 1 : tokens_[i].is("(") ? -1 : 0;
            if (open == 0)
                return isAttributeParenthesis(i);
        }
        return false;
    }

    void classifyType(std::size_t key, std::size_t last, Declaration& result) {
        const bool isEnum = tokens_[key].is("enum");
        result.kind = isEnum ? DeclarationKind::Enum : DeclarationKind::Type;
        std::string name;
        auto i = key + 1;
        for (; i <= last && !tokens_[i].is("{") && !tokens_[i].is(":") && !tokens_[i].is(";");
             ++i) {
            if (tokens_[i].is("(") || tokens_[i].is("["))
                i = closeOf(i, last + 1);
            else if (tokens_[i].is("<"))
                i = std::max(i, matchingAngle(tokens_, i));
            else if (tokens_[i].isIdentifier() && !isOneOf(tokens_[i], attributeNames) &&
                     !isOneOf(tokens_[i], classKeys) && !tokens_[i].is("final"))
                name = tokens_[i].text;
        }
        if (!name.empty())
            result.names.push_back(name);
        while (i <= last && !tokens_[i].is("{"))
            ++i;
        if (i > last)
            return;
        const auto close = closeOf(i, last + 1);
        result.bodySpan = {tokens_[i].span.begin, tokens_[close].span.end};
        if (isEnum)
            enumerators(i, close, result);
        else
            result.members = scope(i + 1, close, {}, name.empty() ? "(unnamed)" : name);
        for (auto j = close + 1; j <= last; ++j) { // struct X { … } x, *y;
            if (tokens_[j].isIdentifier())
                result.names.emplace_back(tokens_[j].text);
        }
    }

    void enumerators(std::size_t open, std::size_t close, Declaration& result) const {
        for (auto i = open + 1; i < close; ++i) {
            const bool first = tokens_[i - 1].is("{") || tokens_[i - 1].is(",");
            const bool ends =
                tokens_[i + 1].is(",") || tokens_[i + 1].is("=") || tokens_[i + 1].is("}");
            if (tokens_[i].isIdentifier() && first && ends)
                result.names.emplace_back(tokens_[i].text);
        }
    }

    void classifyFunctionOrVariable(std::size_t begin, std::size_t last,
                                    Declaration& result) const {
        result.kind = DeclarationKind::Variable;
        for (auto i = begin; i <= last; ++i) {
            const auto& token = tokens_[i];
            if (token.is("operator")) {
                result.isOperator = true;
                const auto nameEnd = operatorNameEnd(i, last + 1);
                result.names.emplace_back("operator");
                functionRest(std::min(nameEnd + 1, last), i, begin, last, result);
                return;
            }
            if (token.is("=") || token.is("{") || token.is(";"))
                break;
            if (token.is("[")) {
                i = closeOf(i, last + 1);
                continue;
            }
            if (!token.is("("))
                continue;
            const auto close = closeOf(i, last + 1);
            if (i == begin || isAttributeParenthesis(i) ||
                ((result.isKernel || isFunctionMacro(i - 1)) && isBeforeName(close, last))) {
                i = close;
                continue;
            }
            const bool pointer =
                i + 1 < close && (tokens_[i + 1].is("*") || tokens_[i + 1].is("&"));
            if (pointer || (!tokens_[i - 1].isIdentifier() && !tokens_[i - 1].is(">")))
                break; // a pointer to a function, an expression
            functionName(i, close, result);
            functionRest(i, i - 1, begin, last, result);
            return;
        }
        variableNames(begin, last, result);
    }

    /// Whether the parenthesis that ends at `close` belongs to an ATTRIBUTE(x) in front of the
    /// declarator: another `name (` follows. Nothing like it stands behind a kernel's parameters,
    /// so that a kernel's attribute need not be known as a macro: another file may define it.
    bool isBeforeName(std::size_t close, std::size_t last) const {
        for (auto i = close + 1; i < last; ++i) {
            if (tokens_[i].is("{") || tokens_[i].is(";") || tokens_[i].is("=") ||
                tokens_[i].is(":"))
                return false;
            if (tokens_[i].is("(") && tokens_[i - 1].isIdentifier() && !isAttributeParenthesis(i))
                return true;
        }
        return false;
    }

    void functionName(std::size_t open, std::size_t close, Declaration& result) const {
        auto name = open - 1;
        if (tokens_[name].is(">")) // f<int>(…): a specialisation
            name = std::max<std::size_t>(openingAngle(tokens_, name), 1) - 1;
        result.names.emplace_back(tokens_[name].text);
        if (isFunctionMacro(name)) { // NAME(copy)(float* x)
            for (auto i = open + 1; i < close; ++i) {
                if (tokens_[i].isIdentifier())
                    result.names.emplace_back(tokens_[i].text);
            }
        }
    }

    /// `nameToken` is the first token of the declarator's name.
    void functionRest(std::size_t open, std::size_t nameToken, std::size_t begin, std::size_t last,
                      Declaration& result) const {
        result.kind = DeclarationKind::Function;
        ownerOf(nameToken, begin, result);
        if (!tokens_[open].is("("))
            return;
        const auto close = closeOf(open, last + 1);
        result.parameterSpan = {tokens_[open].span.begin, tokens_[close].span.end};
        if (tokens_[last].is("}")) {
            for (auto i = close + 1; i <= last; ++i) {
                if (tokens_[i].is("{") && matchingBracket(tokens_, i) == last)
                    result.bodySpan = {tokens_[i].span.begin, tokens_[last].span.end};
            }
        }
        for (auto i = close + 1; i + 1 <= last; ++i) {
            if (tokens_[i].is("=") && (tokens_[i + 1].is("default") || tokens_[i + 1].is("delete")))
                result.isDefaulted = true;
        }
    }

    void ownerOf(std::size_t nameToken, std::size_t begin, Declaration& result) const {
        if (nameToken <= begin || !tokens_[nameToken - 1].is("::") || nameToken < begin + 2)
            return;
        auto i = nameToken - 2;
        if (tokens_[i].is(">"))
            i = std::max(openingAngle(tokens_, i), begin + 1) - 1;
        if (tokens_[i].isIdentifier())
            result.owner = tokens_[i].text;
    }

    void variableNames(std::size_t begin, std::size_t last, Declaration& result) const {
        bool inInitialiser = false;
        for (auto i = begin; i <= last; ++i) {
            const auto& token = tokens_[i];
            if (token.is(",")) {
                inInitialiser = false;
            } else if (token.is("=")) {
                inInitialiser = true;
                result.isInitialised = true;
            } else if (token.is("[") || token.is("{")) {
                i = closeOf(i, last + 1);
            } else if (token.is("(")) {
                const auto close = closeOf(i, last + 1);
                if (!inInitialiser && close > i + 2 && tokens_[i + 1].is("*") &&
                    tokens_[i + 2].isIdentifier())
                    result.names.emplace_back(tokens_[i + 2].text);
                i = close;
            } else if (token.is("<") && !inInitialiser) {
                i = std::max(i, matchingAngle(tokens_, i));
            } else if (token.isIdentifier() && i > begin && !inInitialiser && i + 1 <= last) {
                const auto& next = tokens_[i + 1];
                if (next.is("=") || next.is(";") || next.is(",") || next.is("[") || next.is("{") ||
                    next.is("(")) {
                    result.names.emplace_back(token.text);
                    ownerOf(i, begin, result);
                }
            }
        }
    }

    const std::vector<Token>& tokens_;
    const MacroTable& macros_;
};

} // namespace

DeclarationScan scanDeclarations(const std::vector<Token>& tokens, const MacroTable& macros) {
    if (tooDeeplyNested(tokens))
        return {};
    DeclarationScanner scanner(tokens, macros);
    auto declarations = scanner.scope(0, tokens.size(), {}, {});
    return {std::move(declarations), std::move(scanner.blockDelimiters)};
}

} // namespace kernelskill::analysis
