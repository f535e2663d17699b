#include "engine/proposal/kernel_rules.h"

#include "analysis/scan/macros.h"
#include "analysis/syntax/lexer.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <set>
#include <vector>

namespace kernelskill::engine {

using analysis::Token;
using analysis::TokenKind;

namespace {

constexpr std::size_t maxProposedBytes = 64u << 10;
constexpr std::size_t maxTokens = 20'000;
constexpr std::size_t deepestNesting = 64;

using Refusal = std::optional<std::string>;
using Tokens = std::vector<Token>;

/// Reserved names that CUDA defines. A star at the end matches every continuation.
constexpr std::array<std::string_view, 81> cudaNames{"__shared__",
                                                     "__restrict__",
                                                     "__restrict",
                                                     "__align__",
                                                     "__forceinline__",
                                                     "__noinline__",
                                                     "__launch_bounds__",
                                                     "__grid_constant__",
                                                     "__syncthreads*",
                                                     "__syncwarp",
                                                     "__shfl_*",
                                                     "__ballot_sync",
                                                     "__any_sync",
                                                     "__all_sync",
                                                     "__activemask",
                                                     "__match_*",
                                                     "__reduce_*",
                                                     "__threadfence*",
                                                     "__ldg",
                                                     "__ldcg",
                                                     "__ldca",
                                                     "__ldcs",
                                                     "__ldlu",
                                                     "__ldcv",
                                                     "__stwb",
                                                     "__stcg",
                                                     "__stcs",
                                                     "__stwt",
                                                     "__popc*",
                                                     "__ffs*",
                                                     "__clz*",
                                                     "__brev*",
                                                     "__fns",
                                                     "__byte_perm",
                                                     "__funnelshift_*",
                                                     "__mul24",
                                                     "__umul24",
                                                     "__mulhi",
                                                     "__umulhi",
                                                     "__mul64hi",
                                                     "__umul64hi",
                                                     "__hadd*",
                                                     "__rhadd",
                                                     "__uhadd",
                                                     "__urhadd",
                                                     "__sad",
                                                     "__usad",
                                                     "__dp2a*",
                                                     "__dp4a",
                                                     "__fdividef",
                                                     "__fadd_*",
                                                     "__fsub_*",
                                                     "__fmul_*",
                                                     "__fmaf_*",
                                                     "__frcp_*",
                                                     "__fsqrt_*",
                                                     "__frsqrt_*",
                                                     "__fdiv_*",
                                                     "__saturatef",
                                                     "__expf",
                                                     "__exp10f",
                                                     "__logf",
                                                     "__log2f",
                                                     "__log10f",
                                                     "__powf",
                                                     "__sinf",
                                                     "__cosf",
                                                     "__tanf",
                                                     "__sincosf",
                                                     "__tanhf",
                                                     "__double2*",
                                                     "__float2*",
                                                     "__int2*",
                                                     "__uint2*",
                                                     "__ll2*",
                                                     "__ull2*",
                                                     "__half*",
                                                     "__nv_bfloat16*",
                                                     "__bfloat16*",
                                                     "__low*",
                                                     "__high*"};
constexpr std::array<std::string_view, 40> moreCudaNames{"__float_as_*",
                                                         "__int_as_float",
                                                         "__uint_as_float",
                                                         "__double_as_longlong",
                                                         "__longlong_as_double",
                                                         "__dadd_*",
                                                         "__dsub_*",
                                                         "__dmul_*",
                                                         "__ddiv_*",
                                                         "__dsqrt_*",
                                                         "__drcp_*",
                                                         "__fma_*",
                                                         "__hsub*",
                                                         "__hmul*",
                                                         "__hfma*",
                                                         "__hdiv*",
                                                         "__hneg*",
                                                         "__habs*",
                                                         "__heq*",
                                                         "__hne*",
                                                         "__hlt*",
                                                         "__hle*",
                                                         "__hgt*",
                                                         "__hge*",
                                                         "__hmax*",
                                                         "__hmin*",
                                                         "__hisnan*",
                                                         "__hbeq*",
                                                         "__hbne*",
                                                         "__hblt*",
                                                         "__hble*",
                                                         "__hbgt*",
                                                         "__hbge*",
                                                         "__floats2*",
                                                         "__halves2*",
                                                         "__half22float2",
                                                         "__vadd*",
                                                         "__vsub*",
                                                         "__pipeline_*",
                                                         "__cvta_generic_to_shared"};
/// The compilers' builtins that only give hints.
constexpr std::array<std::string_view, 6> harmlessBuiltins{
    "__builtin_assume",      "__builtin_assume_aligned", "__builtin_expect",
    "__builtin_unreachable", "__builtin_popcount",       "__builtin_clz"};

constexpr std::array<std::string_view, 24> forbiddenWords{
    "asm",      "import",   "module",    "export", "thread_local", "throw",
    "try",      "catch",    "new",       "delete", "typeid",       "dynamic_cast",
    "co_await", "co_yield", "co_return", "friend", "requires",     "concept",
    "setjmp",   "longjmp",  "environ",   "errno",  "stdin",        "stdout"};
/// Prefixes of the emulator's names.
constexpr std::array<std::string_view, 6> forbiddenPrefixes{"ks_",   "kernelskill", "KERNELSKILL",
                                                            "CUPTI", "cupti",       "cuda_gdb"};
constexpr std::array<std::string_view, 5> harmlessAttributes{"likely", "unlikely", "maybe_unused",
                                                             "nodiscard", "fallthrough"};

bool matches(std::string_view name, std::string_view pattern) {
    return pattern.ends_with('*') ? name.starts_with(pattern.substr(0, pattern.size() - 1))
                                  : name == pattern;
}

bool isOneOf(std::string_view name, const auto& patterns) {
    return std::ranges::any_of(patterns, [&](auto pattern) { return matches(name, pattern); });
}

/// C++ reserves names with two underscores, and those with one before a capital letter.
bool isReserved(std::string_view name) {
    return name.contains("__") || (name.size() > 1 && name[0] == '_' &&
                                   std::isupper(static_cast<unsigned char>(name[1])) != 0);
}

std::uint32_t lineOf(std::string_view text, std::uint32_t offset) {
    return 1 + static_cast<std::uint32_t>(std::ranges::count(text.substr(0, offset), '\n'));
}

bool isLiteral(const Token& token) {
    return token.kind == TokenKind::String || token.kind == TokenKind::Character;
}

Refusal badCharacters(std::string_view text, const Tokens& tokens) {
    if (text.size() > maxProposedBytes)
        return fmt::format("it is longer than {} KiB", maxProposedBytes >> 10);
    if (tokens.size() > maxTokens)
        return fmt::format("it has more than {} tokens", maxTokens);
    const auto bad = std::ranges::find_if(
        text, [](char c) { return c != '\n' && c != '\t' && (c < ' ' || c > '~'); });
    if (bad != text.end())
        return fmt::format("line {} has a byte that is not printable ASCII",
                           lineOf(text, static_cast<std::uint32_t>(bad - text.begin())));
    if (text.contains("\?\?"))
        return "it holds ??, which may begin a trigraph";
    // In a literal a backslash starts an escape. Elsewhere it joins lines or spells a letter by its
    // number, which could hide words from these rules.
    std::string outside(text);
    for (const Token& token : tokens) {
        if (!isLiteral(token))
            continue;
        const bool ends =
            token.text.size() > 1 && (token.text.back() == '"' || token.text.back() == '\'');
        if (!ends || token.text.contains('\n'))
            return fmt::format("line {} holds a quotation that does not end",
                               lineOf(text, token.span.begin));
        std::ranges::fill(outside.begin() + token.span.begin, outside.begin() + token.span.end,
                          ' ');
    }
    if (const auto at = outside.find('\\'); at != std::string::npos)
        return fmt::format("line {} holds a backslash outside of quotes",
                           lineOf(text, static_cast<std::uint32_t>(at)));
    return std::nullopt;
}

Refusal unbalanced(const Tokens& tokens) {
    std::vector<char> open;
    for (const Token& token : tokens) {
        if (token.kind != TokenKind::Punctuator)
            continue;
        if (token.is("(") || token.is("[") || token.is("{")) {
            open.push_back(token.text.front());
            if (open.size() > deepestNesting)
                return fmt::format("its brackets are more than {} deep", deepestNesting);
        } else if (token.is(")") || token.is("]") || token.is("}")) {
            const char opening = token.is(")") ? '(' : token.is("]") ? '[' : '{';
            if (open.empty() || open.back() != opening)
                return "its brackets do not match";
            open.pop_back();
        }
    }
    return open.empty() ? Refusal() : "its brackets do not match";
}

/// The tokens before the body, without those that may be added or removed.
struct Signature {
    std::vector<std::string_view> words;
    std::size_t body = 0; ///< Index of the '{', or the number of tokens if there is none.
};

Signature signatureOf(const Tokens& tokens) {
    Signature signature;
    int depth = 0;
    std::size_t i = 0;
    for (; i < tokens.size(); ++i) {
        const Token& token = tokens[i];
        if (token.is("{") && depth == 0)
            break;
        if (token.is("__launch_bounds__") && i + 1 < tokens.size() && tokens[i + 1].is("(")) {
            i = matchingBracket(tokens, i + 1);
            continue;
        }
        depth += token.is("(") || token.is("[") ? 1 : token.is(")") || token.is("]") ? -1 : 0;
        if (!token.is("const") && !token.is("__restrict__") && !token.is("__restrict"))
            signature.words.push_back(token.text);
    }
    signature.body = std::min(i, tokens.size());
    return signature;
}

Refusal otherShape(const Tokens& original, const Tokens& proposed) {
    const Signature wanted = signatureOf(original);
    const Signature given = signatureOf(proposed);
    if (given.body >= proposed.size())
        return "it is not a function definition";
    if (given.words != wanted.words)
        return "it does not begin with the kernel's own template header, attributes, name and "
               "parameters";
    if (matchingBracket(proposed, given.body) != proposed.size() - 1)
        return "something follows the kernel";
    return std::nullopt;
}

/// Words and quotations of the original may be used again, because they are the user's.
using Known = std::set<std::string_view, std::less<>>;

Refusal badName(std::string_view name, const Known& known) {
    if (known.contains(name))
        return std::nullopt;
    if (isOneOf(name, forbiddenWords))
        return fmt::format("'{}' is not allowed in a proposed kernel", name);
    if (std::ranges::any_of(forbiddenPrefixes,
                            [&](auto prefix) { return name.starts_with(prefix); }))
        return fmt::format("'{}' is a name of the emulator or the profiler", name);
    if (isReserved(name) && !isOneOf(name, cudaNames) && !isOneOf(name, moreCudaNames) &&
        !isOneOf(name, harmlessBuiltins))
        return fmt::format("'{}' is reserved for compilers and not one of CUDA's device names",
                           name);
    return std::nullopt;
}

/// The allowed argument of `#pragma unroll`: an expression of names and numbers.
bool isPlainExpression(std::string_view text, const Known& known) {
    return std::ranges::all_of(analysis::lex(text), [&](const Token& token) {
        return token.kind == TokenKind::Number || token.is("(") || token.is(")") || token.is("+") ||
               token.is("-") || token.is("*") || token.is("/") ||
               (token.kind == TokenKind::Identifier && !badName(token.text, known));
    });
}

Refusal badDirective(const Token& token, const Known& known) {
    constexpr std::string_view unroll = "unroll";
    const auto [name, remainder] = analysis::directiveParts(token.text);
    if (name == "pragma" && remainder.starts_with(unroll) &&
        isPlainExpression(remainder.substr(unroll.size()), known))
        return std::nullopt;
    return fmt::format("a preprocessor directive, #{}; only #pragma unroll is allowed in a kernel",
                       name);
}

bool hasNext(const Tokens& tokens, std::size_t i, std::string_view text) {
    return i + 1 < tokens.size() && tokens[i + 1].is(text);
}

Refusal badStorage(const Tokens& tokens, std::size_t i) {
    const Token& token = tokens[i];
    if (token.is("extern") && !hasNext(tokens, i, "__shared__"))
        return "an extern declaration that is not of __shared__ memory";
    if (token.is("static") && !hasNext(tokens, i, "__shared__"))
        return "a static variable, which would keep its value from launch to launch";
    return std::nullopt;
}

Refusal badPunctuation(const Tokens& tokens, std::size_t i) {
    const Token& token = tokens[i];
    const std::string_view next = i + 1 < tokens.size() ? tokens[i + 1].text : "";
    const bool isAdjacent = i + 1 < tokens.size() && tokens[i + 1].span.begin == token.span.end;
    const bool isDigraph =
        isAdjacent &&
        ((token.is("<") && (next == ":" || next == "::" || next == "%")) ||
         (token.is(":") && next == ">") ||
         (token.is("%") && (next == ">" || next == ":" || next == ">=" || next == "::")));
    if (isDigraph || (token.is("%=") && next == ">"))
        return fmt::format("'{}{}' is or may be a digraph", token.text, next);
    if (token.text.contains('#'))
        return "it has a # that does not begin a line";
    if (token.text.contains('`') || token.text.contains('@') || token.text.contains('$'))
        return fmt::format("'{}' has no meaning in C++", token.text);
    const bool isAttribute = token.is("[") && next == "[";
    if (isAttribute &&
        (i + 4 >= tokens.size() || !isOneOf(tokens[i + 2].text, harmlessAttributes) ||
         !tokens[i + 3].is("]") || !tokens[i + 4].is("]")))
        return "an attribute beyond [[likely]], [[unlikely]], [[maybe_unused]], [[nodiscard]] and "
               "[[fallthrough]]";
    return std::nullopt;
}

Refusal badToken(std::string_view text, const Tokens& tokens, std::size_t i, const Known& known) {
    const Token& token = tokens[i];
    Refusal refusal;
    if (token.kind == TokenKind::Directive) {
        refusal = badDirective(token, known);
    } else if (token.kind == TokenKind::String && !known.contains(token.text)) {
        refusal = "a text in quotes that the original does not have";
    } else if (token.kind == TokenKind::Identifier) {
        refusal =
            token.text.contains('$') ? Refusal("a name with a $") : badName(token.text, known);
        if (!refusal)
            refusal = badStorage(tokens, i);
    } else if (token.kind == TokenKind::Punctuator) {
        refusal = badPunctuation(tokens, i);
    }
    if (refusal)
        refusal = fmt::format("line {}: {}", lineOf(text, token.span.begin), *refusal);
    return refusal;
}

} // namespace

std::optional<std::string> refusalOf(std::string_view original, std::string_view proposed) {
    const Tokens before = analysis::lex(original);
    const Tokens after = analysis::lex(proposed);
    Refusal refusal = badCharacters(proposed, after);
    Known known;
    for (const Token& token : before)
        if (token.isIdentifier() || token.kind == TokenKind::String)
            known.insert(token.text);
    for (std::size_t i = 0; i < after.size() && !refusal; ++i)
        refusal = badToken(proposed, after, i, known);
    if (!refusal)
        refusal = unbalanced(after);
    if (!refusal)
        refusal = otherShape(before, after);
    return refusal;
}

} // namespace kernelskill::engine
