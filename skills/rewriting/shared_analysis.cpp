#include "skills/rewriting/shared_analysis.h"

#include <cctype>

namespace kernelskill::skills {

using namespace analysis;

namespace {

bool isIdentifierPart(char c) {
    const auto byte = static_cast<unsigned char>(c);
    return std::isalnum(byte) != 0 || c == '_' || c == '$' || byte >= 0x80;
}

} // namespace

const CodeMap& SharedAnalysis::code() const {
    if (!code_)
        code_.emplace(kernel_.body);
    return *code_;
}

const CodeMap& SharedAnalysis::host(std::uint32_t function) const {
    return hosts_.try_emplace(function, file_.hostFunctions.at(function).body).first->second;
}

const std::vector<Token>& SharedAnalysis::tokens() const {
    if (!tokens_)
        tokens_ = lex(file_.source->text());
    return *tokens_;
}

const PatternMatcher& SharedAnalysis::patterns() const {
    if (!patterns_)
        patterns_.emplace(file_, kernel_);
    return *patterns_;
}

std::vector<Span> occurrences(std::string_view text, std::string_view word) {
    std::vector<Span> found;
    if (word.empty())
        return found;
    for (std::size_t at = text.find(word); at != std::string_view::npos;
         at = text.find(word, at + 1)) {
        const std::size_t end = at + word.size();
        const bool isWhole = (at == 0 || !isIdentifierPart(text[at - 1])) &&
                             (end == text.size() || !isIdentifierPart(text[end]));
        if (isWhole)
            found.push_back({static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(end)});
    }
    return found;
}

} // namespace kernelskill::skills
