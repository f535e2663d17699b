#include "engine/inputs/class_layout.h"

#include "analysis/scan/expression.h"
#include "engine/inputs/argument_specs.h"

#include <algorithm>
#include <array>
#include <utility>

namespace kernelskill::engine {

using analysis::DeclarationKind;
using analysis::ScalarKind;
using analysis::Token;

namespace {

/// A class in a text of the program: its tokens from its name to its closing brace.
struct ClassText {
    std::string_view text; ///< The file's text.
    std::vector<Token> head;
    std::vector<Token> body; ///< The tokens between the braces.
};

std::optional<ClassText> classNamed(const ProgramText& program, const std::string& name) {
    for (std::size_t f = 0; f < program.files().size(); ++f) {
        const auto& file = program.files()[f];
        for (const auto& declaration : file.declarations) {
            const bool found =
                (declaration.kind == DeclarationKind::Type ||
                 declaration.kind == DeclarationKind::Alias) &&
                std::ranges::find(declaration.names, name) != declaration.names.end();
            if (!found)
                continue;
            const auto begin = program.tokenAt(f, declaration.span.begin);
            auto open = begin;
            while (open < file.tokens.size() &&
                   file.tokens[open].span.begin < declaration.span.end &&
                   !file.tokens[open].is("{"))
                ++open;
            if (open >= file.tokens.size() || !file.tokens[open].is("{"))
                continue;
            const auto close = std::min(matchingBracket(file.tokens, open), file.tokens.size());
            const auto at = [&](std::size_t index) {
                return file.tokens.begin() + static_cast<std::ptrdiff_t>(index);
            };
            return ClassText{file.text, {at(begin), at(open)}, {at(open) + 1, at(close)}};
        }
    }
    return std::nullopt;
}

/// Whether the members' types alone do not tell the layout.
bool isLaidOutOtherwise(const ClassText& text) {
    constexpr std::array words{"alignas", "__align__", "__attribute__", "virtual", "union"};
    const auto names = [&](const Token& token) {
        return std::ranges::any_of(words, [&](const char* word) { return token.is(word); });
    };
    return std::ranges::any_of(text.head,
                               [&](const Token& token) { return token.is(":") || names(token); }) ||
           std::ranges::any_of(text.body, [&](const Token& token) {
               return names(token) || token.kind == analysis::TokenKind::Directive;
           });
}

std::vector<ClassField> fieldsIn(const ClassText& text, const ProgramText& program) {
    std::vector<ClassField> fields;
    for (const auto& member : scanDeclarations(text.body, program.macros()).declarations) {
        if (member.kind != DeclarationKind::Variable)
            continue;
        const auto declared = text.text.substr(member.span.begin, member.span.size());
        if (declared.starts_with("static"))
            continue;
        for (const auto& name : member.names) {
            const auto found = std::ranges::find_if(text.body, [&](const Token& token) {
                return token.span.begin >= member.span.begin && token.is(name);
            });
            if (found == text.body.end())
                continue;
            const auto at = found->span.begin - member.span.begin;
            ClassField field{name, std::string(declared.substr(0, at))};
            field.isPointer = field.type.find('*') != std::string::npos;
            field.isArray = std::next(found) != text.body.end() && std::next(found)->is("[");
            fields.push_back(std::move(field));
        }
    }
    return fields;
}

} // namespace

std::string bareTypeName(std::string_view type) {
    std::string name;
    const auto tokens = analysis::lex(type);
    for (std::size_t i = 0; i < tokens.size(); ++i) {
        if (tokens[i].is("<"))
            i = std::max(i, matchingAngle(tokens, i));
        else if (tokens[i].isIdentifier() && !tokens[i].is("const") && !tokens[i].is("volatile") &&
                 !tokens[i].is("struct") && !tokens[i].text.starts_with("__restrict") &&
                 !tokens[i].is("restrict"))
            name = tokens[i].text;
    }
    return name;
}

std::optional<std::vector<ClassField>> fieldsOf(const ProgramText& program,
                                                const std::string& name) {
    const auto text = classNamed(program, name);
    if (!text)
        return std::nullopt;
    return fieldsIn(*text, program);
}

ClassLayout layoutOf(const ProgramText& program, const std::string& type) {
    const auto text = classNamed(program, type);
    if (!text)
        return {};
    ClassLayout layout;
    std::size_t at = 0;
    for (const ClassField& field : fieldsIn(*text, program)) {
        const auto kind = scalarKindOf(field.type);
        const auto width =
            static_cast<std::size_t>(analysis::sizeOfBuiltin(field.type).value_or(0));
        if (kind == ScalarKind::Unknown || width == 0 || field.isArray || width > 8)
            return layout;
        at = (at + width - 1) / width * width;
        layout.numbers.push_back({field.name, kind, at, width});
        at += width;
    }
    layout.isWhole = !isLaidOutOtherwise(*text);
    return layout;
}

} // namespace kernelskill::engine
