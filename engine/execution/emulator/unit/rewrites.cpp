#include "engine/execution/emulator/unit/rewrites.h"

#include "engine/execution/emulator/unit/inline_ptx.h"
#include "engine/unit/slice.h"

#include <algorithm>
#include <optional>

namespace kernelskill::engine {

using analysis::Declaration;
using analysis::DeclarationKind;
using analysis::MacroTable;
using analysis::Token;
using analysis::TokenKind;

namespace {

/// The declared extent of a dynamic shared array: larger than any block's shared memory.
constexpr std::string_view dynamicExtent = "[1<<20]";

struct Replacement {
    analysis::Span span;
    std::string text;
};

struct DynamicArray {
    std::string name;
    std::string declaration; ///< "float (&tile)[1<<20]=ks::DynamicShared{};"
};

class Rewriter {
public:
    Rewriter(std::string text, const std::string& path, const MacroTable& macros,
             RewriteMacros& rewrites)
        : source_(std::move(text)), text_(source_.text()), path_(path), macros_(macros),
          rewrites_(rewrites), tokens_(analysis::lex(source_.text())) {}

    std::string run() {
        scan(tokens_, 0, false);
        bindFileScopeArrays();
        std::ranges::sort(replacements_, {}, &Replacement::span);
        for (auto r = replacements_.rbegin(); r != replacements_.rend(); ++r)
            apply(*r);
        return std::move(text_);
    }

private:
    void scan(const std::vector<Token>& tokens, std::uint32_t offset, bool inDirective) {
        int depth = 0; // Depth of braces, except those of namespaces.
        std::vector<bool> transparent;
        for (std::size_t i = 0; i < tokens.size(); ++i) {
            const auto& token = tokens[i];
            if (token.kind == TokenKind::Directive) {
                scanDefinition(token);
            } else if (token.is("{")) {
                transparent.push_back(!inDirective && opensNamespace(tokens, i));
                depth += transparent.back() ? 0 : 1;
            } else if (token.is("}") && !transparent.empty()) {
                depth -= transparent.back() ? 0 : 1;
                transparent.pop_back();
            } else if (token.is("asm") || token.is("__asm__") || token.is("__asm")) {
                i = inlineAssembly(tokens, i, offset);
            } else if (token.is("<<<")) {
                i = deviceLaunch(tokens, i, offset);
            } else if (isShared(token)) {
                i = sharedDeclaration(tokens, i, offset, depth > 0 || inDirective);
            }
        }
    }

    void scanDefinition(const Token& directive) {
        if (analysis::directiveParts(directive.text).name != "define")
            return;
        const auto hash = directive.text.find("define");
        const auto body = directive.text.substr(hash);
        scan(analysis::lex(body), directive.span.begin + static_cast<std::uint32_t>(hash), true);
    }

    static bool opensNamespace(const std::vector<Token>& tokens, std::size_t brace) {
        if (brace > 0 && tokens[brace - 1].kind == TokenKind::String)
            return true; // For extern "C" {.
        for (auto i = brace; i-- > 0;) {
            if (tokens[i].is("namespace"))
                return true;
            if (!tokens[i].isIdentifier() && !tokens[i].is("::"))
                return false;
        }
        return false;
    }

    bool isShared(const Token& token) const {
        return token.isIdentifier() && macros_.names(token.text, {"__shared__"});
    }

    std::string placeOf(std::uint32_t offset) const {
        return path_ + ":" + std::to_string(source_.lineColumn(offset).line + 1);
    }

    std::string refusal(const std::string& feature, std::uint32_t offset) {
        std::string literal;
        for (const char c : feature + "@" + placeOf(offset)) {
            if (c == '"' || c == '\\')
                literal += '\\';
            literal += c;
        }
        return rewrites_.define("()", "ks_refuse(\"" + literal + "\")") + "()";
    }

    void replace(std::uint32_t begin, std::uint32_t end, std::string text) {
        replacements_.push_back({{begin, end}, std::move(text)});
    }

    std::size_t inlineAssembly(const std::vector<Token>& tokens, std::size_t i,
                               std::uint32_t offset) {
        auto open = i + 1;
        while (open < tokens.size() && tokens[open].isIdentifier())
            ++open;
        if (open >= tokens.size() || !tokens[open].is("("))
            return i;
        const auto close = matchingBracket(tokens, open);
        if (close >= tokens.size())
            return i;
        std::string ptx;
        auto part = open + 1;
        for (; part < close && tokens[part].kind == TokenKind::String; ++part)
            ptx += stringValue(tokens[part].text);
        std::vector<std::string> operands;
        for (; part < close; ++part) { // For "=r"(expression).
            if (tokens[part].kind != TokenKind::String || part + 1 >= close ||
                !tokens[part + 1].is("("))
                continue;
            const auto end = matchingBracket(tokens, part + 1);
            operands.push_back(
                textBetween(tokens[part + 1].span.end, tokens[end].span.begin, offset));
            part = end;
        }
        const auto begin = offset + tokens[i].span.begin;
        const auto equivalent = hostEquivalent(ptx);
        replace(begin, offset + tokens[close].span.end,
                equivalent ? callOf(*equivalent, operands)
                           : refusal("inline PTX '" + firstInstruction(ptx) + "'", begin));
        return close;
    }

    std::string textBetween(std::uint32_t begin, std::uint32_t end, std::uint32_t offset) const {
        auto text = source_.text().substr(offset + begin, end - begin);
        std::ranges::replace_if(
            text, [](char c) { return c == '\n' || c == '\r' || c == '\\'; }, ' ');
        return text;
    }

    /// Turns each `%n` of the statement into a parameter, so that operands are evaluated at their
    /// original place.
    std::string callOf(const std::string& statement, const std::vector<std::string>& operands) {
        std::string parameters = "(";
        std::string arguments = "(";
        for (std::size_t i = 0; i < operands.size(); ++i) {
            parameters += (i == 0 ? "a" : ",a") + std::to_string(i);
            arguments += (i == 0 ? "" : ",") + operands[i];
        }
        std::string body;
        for (std::size_t i = 0; i < statement.size(); ++i) {
            const bool operand = statement[i] == '%' && i + 1 < statement.size() &&
                                 statement[i + 1] >= '0' && statement[i + 1] <= '9';
            if (!operand) {
                body += statement[i];
                continue;
            }
            std::string number;
            while (i + 1 < statement.size() && statement[i + 1] >= '0' && statement[i + 1] <= '9')
                number += statement[++i];
            body += "(a" + number + ")";
        }
        const auto name = rewrites_.define(parameters + ")", "do { " + body + "; } while (0)");
        return name + arguments + ")";
    }

    static std::string stringValue(std::string_view literal) {
        std::string result;
        const auto begin = literal.find('"') + 1;
        for (auto i = begin; i + 1 < literal.size(); ++i) {
            if (literal[i] == '\\' && i + 2 < literal.size()) {
                ++i;
                result +=
                    literal[i] == 'n' || literal[i] == 't' || literal[i] == 'r' ? ' ' : literal[i];
            } else if (literal[i] == '%' && literal[i + 1] == '%') {
                result += literal[++i];
            } else {
                result += literal[i];
            }
        }
        return result;
    }

    std::size_t deviceLaunch(const std::vector<Token>& tokens, std::size_t i,
                             std::uint32_t offset) {
        auto close = i;
        while (close < tokens.size() && !tokens[close].is(">>>"))
            ++close;
        if (close + 1 >= tokens.size() || !tokens[close + 1].is("("))
            return i;
        const auto end = matchingBracket(tokens, close + 1);
        auto begin = i > 0 ? i - 1 : i;
        if (tokens[begin].is(">"))
            begin = std::max<std::size_t>(openingAngle(tokens, begin), 1) - 1;
        while (begin >= 2 && tokens[begin - 1].is("::"))
            begin -= 2;
        if (end >= tokens.size())
            return i;
        const auto place = offset + tokens[begin].span.begin;
        const auto kernel = std::string(tokens[begin].text);
        replace(
            place, offset + tokens[end].span.end,
            refusal("dynamic parallelism: a launch of '" + kernel + "' from device code", place));
        return end;
    }

    /// Handles `extern __shared__ T name[];` with its specifiers in any order.
    std::size_t sharedDeclaration(const std::vector<Token>& tokens, std::size_t i,
                                  std::uint32_t offset, bool local) {
        auto begin = i;
        while (begin > 0 && tokens[begin - 1].kind != TokenKind::Directive &&
               !tokens[begin - 1].is(";") && !tokens[begin - 1].is("{") &&
               !tokens[begin - 1].is("}") && !tokens[begin - 1].is(":"))
            --begin;
        if (tokens[begin].is("define")) { // Within a macro: begin at the word itself.
            begin = i;
            while (begin > 0 &&
                   (tokens[begin - 1].is("extern") || tokens[begin - 1].is("volatile")))
                --begin;
        }
        auto end = i;
        while (end < tokens.size() && !tokens[end].is(";"))
            end = tokens[end].is("{") || tokens[end].is("(") ? matchingBracket(tokens, end) + 1
                                                             : end + 1;
        const bool isExtern =
            std::any_of(tokens.begin() + static_cast<std::ptrdiff_t>(begin),
                        tokens.begin() + static_cast<std::ptrdiff_t>(std::min(end, tokens.size())),
                        [](const Token& token) { return token.is("extern"); });
        if (!isExtern || end > tokens.size())
            return i;
        const auto array = dynamicArray(tokens, begin, end);
        if (!array)
            return i;
        const auto first = offset + tokens[begin].span.begin;
        const auto last =
            offset + (end < tokens.size() ? tokens[end].span.end : tokens[end - 1].span.end);
        if (local) {
            auto declaration = array->declaration;
            if (end == tokens.size())
                declaration.pop_back(); // A macro whose use supplies the semicolon.
            replace(first, last, declaration);
        } else {
            replace(first, last, "");
            fileScopeArrays_.push_back(*array);
        }
        return end;
    }

    std::optional<DynamicArray> dynamicArray(const std::vector<Token>& tokens, std::size_t begin,
                                             std::size_t end) const {
        std::string type;
        std::string name;
        std::string extents;
        for (auto i = begin; i < end; ++i) {
            const auto& token = tokens[i];
            if (token.is("extern") || token.is("static") || token.is("inline") || isShared(token))
                continue;
            const bool alignment =
                token.is("__align__") || token.is("alignas") || token.is("__attribute__");
            if (alignment && i + 1 < end && tokens[i + 1].is("(")) {
                i = matchingBracket(tokens, i + 1);
                continue;
            }
            if (token.is("[")) {
                const auto close = matchingBracket(tokens, i);
                const bool open = close == i + 1 && extents.empty();
                for (auto j = i; !open && j <= close && j < end; ++j)
                    extents += tokens[j].text;
                if (open)
                    extents = dynamicExtent;
                i = close;
                continue;
            }
            if (token.is(","))
                return std::nullopt;
            if (!extents.empty())
                continue; // An attribute after the declarator.
            type += name + (name.empty() ? "" : " ");
            name = token.text;
        }
        if (name.empty() || type.empty())
            return std::nullopt;
        return DynamicArray{name, type + "(&" + name + ")" + extents + "=ks::DynamicShared{};"};
    }

    /// Binds a file-scope array in each function that names it, because its address differs between
    /// blocks.
    void bindFileScopeArrays() {
        if (fileScopeArrays_.empty())
            return;
        const auto scan = scanDeclarations(tokensWithoutReplaced(), macros_);
        for (const auto& declaration : scan.declarations)
            bindIn(declaration);
    }

    std::vector<Token> tokensWithoutReplaced() const {
        std::vector<Token> result;
        for (const auto& token : tokens_) {
            const bool replaced = std::ranges::any_of(replacements_, [&](const auto& r) {
                return r.text.empty() && r.span.contains(token.span.begin);
            });
            if (token.kind != TokenKind::Directive && !replaced)
                result.push_back(token);
        }
        return result;
    }

    void bindIn(const Declaration& declaration) {
        for (const auto& member : declaration.members)
            bindIn(member);
        if (declaration.kind != DeclarationKind::Function || declaration.bodySpan.empty())
            return;
        std::string bindings;
        for (const auto& array : fileScopeArrays_) {
            const bool named = std::ranges::any_of(tokens_, [&](const Token& token) {
                return token.is(array.name) && declaration.bodySpan.contains(token.span.begin);
            });
            if (named)
                bindings += array.declaration;
        }
        if (!bindings.empty())
            replace(declaration.bodySpan.begin + 1, declaration.bodySpan.begin + 1, bindings);
    }

    /// Writes the text at the span's first line. Line ends inside the span stay.
    void apply(const Replacement& replacement) {
        blank(text_, replacement.span);
        const auto region = text_.substr(replacement.span.begin, replacement.span.size());
        const auto firstLine = std::min(region.find_first_not_of(' '), region.size());
        const auto kept = firstLine - std::min(firstLine, replacement.text.size());
        text_.replace(replacement.span.begin, firstLine, replacement.text + std::string(kept, ' '));
    }

    const analysis::SourceText source_; ///< The text that tokens and spans refer to.
    std::string text_;                  ///< The same text, rewritten from its end to its begin.
    const std::string& path_;
    const MacroTable& macros_;
    RewriteMacros& rewrites_;
    std::vector<Token> tokens_;
    std::vector<Replacement> replacements_;
    std::vector<DynamicArray> fileScopeArrays_;
};

} // namespace

std::string RewriteMacros::define(const std::string& parameters, const std::string& body) {
    const auto definition = parameters + " " + body;
    const auto found = std::ranges::find(bodies_, definition);
    const auto index = static_cast<std::size_t>(found - bodies_.begin());
    const auto name = "KS" + std::to_string(index);
    if (found == bodies_.end()) {
        bodies_.push_back(definition);
        definitions_ += "#define " + name + definition + "\n";
    }
    return name;
}

std::string rewriteForHost(std::string text, const std::string& path, const MacroTable& macros,
                           RewriteMacros& rewrites) {
    return Rewriter(std::move(text), path, macros, rewrites).run();
}

} // namespace kernelskill::engine
