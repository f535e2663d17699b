#include "engine/review/host/device_queries.h"

#include "analysis/scan/conditional_text.h"
#include "analysis/scan/declarations.h"
#include "analysis/scan/macros.h"
#include "analysis/syntax/lexer.h"

#include <algorithm>
#include <array>
#include <set>
#include <span>
#include <vector>

namespace kernelskill::engine {

using analysis::Declaration;
using analysis::DeclarationKind;
using analysis::Token;

namespace {

bool isOneOf(const Token& token, std::span<const std::string_view> texts) {
    return std::ranges::any_of(texts, [&](std::string_view text) { return token.is(text); });
}

bool isQuery(const Token& token) {
    constexpr std::array<std::string_view, 9> names = {"cudaGetDevice",
                                                       "cudaGetDeviceCount",
                                                       "cudaGetDeviceProperties",
                                                       "cudaDeviceGetAttribute",
                                                       "min",
                                                       "max",
                                                       "sizeof",
                                                       "if",
                                                       "return"};
    return isOneOf(token, names) || token.text.starts_with("cudaOccupancyMax");
}

/// Types of which an object changes nothing but itself.
bool isPlainType(const Token& token) {
    constexpr std::array<std::string_view, 12> names = {
        "int",    "unsigned", "long",   "short", "bool",           "char",
        "size_t", "auto",     "double", "float", "cudaDeviceProp", "dim3"};
    return isOneOf(token, names);
}

/// A body with one of these may keep a value for its next call, write to memory that is not its
/// own, or leave otherwise than by its end or a return.
bool isRefused(const Token& token) {
    constexpr std::array<std::string_view, 12> texts = {
        "static", "extern", "thread_local", "<<<",   "->", "new",
        "delete", "asm",    "goto",         "throw", "[",  "#"};
    return isOneOf(token, texts);
}

bool assigns(const Token& token) {
    constexpr std::array<std::string_view, 11> texts = {
        "=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="};
    return isOneOf(token, texts);
}

/// Reads the body of a function from its tokens, the braces included.
class QueryBody {
public:
    QueryBody(std::span<const Token> parameters, std::span<const Token> tokens,
              const analysis::MacroTable& macros)
        : tokens_(tokens), macros_(macros) {
        for (const Token& token : parameters)
            if (token.isIdentifier())
                own_.insert(token.text);
        findVariables();
    }

    [[nodiscard]] bool asksAlone() const {
        for (std::size_t i = 1; i + 1 < tokens_.size(); ++i) {
            const Token& token = tokens_[i];
            const bool calls = token.isIdentifier() && tokens_[i + 1].is("(");
            const bool declares = isPlainType(tokens_[i - 1]); // int n(0);
            if (isRefused(token) || !macros_.all(token.text).empty() ||
                (calls && !declares && !isQuery(token)))
                return false;
            // Not `*p = 4`, whatever p is.
            const bool isBehindPointer = i >= 2 && tokens_[i - 2].is("*");
            if (assigns(token) && (!isOwn(tokens_[i - 1]) || isBehindPointer))
                return false;
            const bool steps = token.is("++") || token.is("--");
            if (steps && !isOwn(tokens_[i - 1]) && !isOwn(tokens_[i + 1]))
                return false;
            const bool takesAddress =
                token.is("&") && !tokens_[i - 1].isIdentifier() && !tokens_[i - 1].is(")");
            if (takesAddress && !isOwn(tokens_[i + 1]))
                return false;
        }
        return true;
    }

private:
    void findVariables() {
        for (std::size_t i = 1; i < tokens_.size(); ++i) {
            const Token& before = tokens_[i - 1];
            const bool isBegin =
                before.is(";") || before.is("{") || before.is("}") || before.is("(");
            std::size_t type = i + (tokens_[i].is("const") ? 1 : 0);
            if (!isBegin || type >= tokens_.size() || !isPlainType(tokens_[type]))
                continue;
            int depth = 0;
            for (std::size_t at = type + 1; at < tokens_.size() && !tokens_[at].is(";"); ++at) {
                depth += tokens_[at].is("(") || tokens_[at].is("{")   ? 1
                         : tokens_[at].is(")") || tokens_[at].is("}") ? -1
                                                                      : 0;
                if (depth == 0 && tokens_[at].isIdentifier() &&
                    (isPlainType(tokens_[at - 1]) || tokens_[at - 1].is(",")))
                    own_.insert(tokens_[at].text);
            }
        }
    }

    [[nodiscard]] bool isOwn(const Token& token) const { return own_.contains(token.text); }

    std::span<const Token> tokens_;
    const analysis::MacroTable& macros_;
    std::set<std::string_view> own_; ///< The names of its parameters and variables.
};

} // namespace

std::map<std::string, analysis::Span> deviceQueries(std::string_view text) {
    const std::vector<Token> all = analysis::lex(text);
    analysis::MacroTable macros;
    macros.addDefinitionsOf(all);
    const std::vector<Token> tokens = structuralTokens(all);
    const auto within = [&](analysis::Span span) {
        const auto at = [&](std::uint32_t offset) {
            return std::ranges::lower_bound(tokens, offset, {},
                                            [](const Token& token) { return token.span.begin; });
        };
        return std::span<const Token>(at(span.begin), at(span.end));
    };
    std::map<std::string, int> definitions;
    std::map<std::string, analysis::Span> queries;
    const auto scan = scanDeclarations(tokens, macros);
    for (const Declaration& declaration : scan.declarations) {
        if (declaration.kind != DeclarationKind::Function || declaration.bodySpan.empty() ||
            declaration.names.empty())
            continue;
        const std::string& name = declaration.names.front();
        ++definitions[name];
        const std::span<const Token> parameters = within(declaration.parameterSpan);
        const bool byValue = std::ranges::none_of(parameters, [](const Token& token) {
            return token.is("&") || token.is("*") || token.is("&&") || token.is("[");
        });
        if (byValue && !declaration.isKernel && declaration.owner.empty() &&
            macros.all(name).empty() &&
            QueryBody(parameters, within(declaration.bodySpan), macros).asksAlone())
            queries.emplace(name, declaration.bodySpan);
    }
    std::erase_if(queries, [&](const auto& query) { return definitions[query.first] > 1; });
    return queries;
}

} // namespace kernelskill::engine
