/// Brackets, semicolons and commas that are missing or too many.
#include "tests/engine/repair/benchmark/mutation.h"

namespace kernelskill::testing {
namespace {

std::vector<Breakage> withoutEach(const Subject& subject, std::string_view punctuator) {
    std::vector<Breakage> places;
    for (const analysis::Token& token : subject.tokens)
        if (token.text == punctuator)
            places.push_back(changed(token.span, ""));
    return places;
}

std::vector<Breakage> doubledEach(const Subject& subject, std::string_view punctuator) {
    std::vector<Breakage> places;
    for (const analysis::Token& token : subject.tokens)
        if (token.text == punctuator)
            places.push_back(changed({token.span.end, token.span.end}, std::string(punctuator)));
    return places;
}

std::vector<Breakage> missingSemicolon(const Subject& subject) {
    std::vector<Breakage> places;
    const std::vector<int> levels = nesting(subject);
    for (std::size_t index = 0; index < subject.tokens.size(); ++index)
        if (subject.at(index) == ";" && levels[index] == 0)
            places.push_back(changed(subject.tokens[index].span, ""));
    return places;
}

std::vector<Breakage> commaInForHeader(const Subject& subject) {
    std::vector<Breakage> places;
    const std::vector<int> levels = nesting(subject);
    for (std::size_t index = 0; index < subject.tokens.size(); ++index)
        if (subject.at(index) == ";" && levels[index] > 0)
            places.push_back(changed(subject.tokens[index].span, ","));
    return places;
}

std::vector<Breakage> missingQuote(const Subject& subject) {
    std::vector<Breakage> places;
    for (const analysis::Token& token : subject.tokens)
        if (token.kind == analysis::TokenKind::String)
            places.push_back(changed({token.span.end - 1, token.span.end}, ""));
    return places;
}

} // namespace

std::vector<Mutation> punctuationMutations() {
    return {
        {"missing semicolon", missingSemicolon},
        {"missing '}'", [](const Subject& subject) { return withoutEach(subject, "}"); }},
        {"missing '{'", [](const Subject& subject) { return withoutEach(subject, "{"); }},
        {"missing ')'", [](const Subject& subject) { return withoutEach(subject, ")"); }},
        {"missing '('", [](const Subject& subject) { return withoutEach(subject, "("); }},
        {"missing ']'", [](const Subject& subject) { return withoutEach(subject, "]"); }},
        {"missing '['", [](const Subject& subject) { return withoutEach(subject, "["); }},
        {"missing ','", [](const Subject& subject) { return withoutEach(subject, ","); }},
        {"'}' too many", [](const Subject& subject) { return doubledEach(subject, "}"); }},
        {"')' too many", [](const Subject& subject) { return doubledEach(subject, ")"); }},
        {"',' for ';' in a for header", commaInForHeader},
        {"missing closing quote", missingQuote},
    };
}

} // namespace kernelskill::testing
