#include "engine/inputs/marked_comments.h"

#include "analysis/syntax/lexer.h"

#include <utility>

namespace kernelskill::engine {
namespace {

std::string withoutDelimiters(std::string_view behind) {
    std::string text(behind);
    if (text.ends_with("*/"))
        text.resize(text.size() - 2);
    for (std::size_t i = 0; i + 1 < text.size(); ++i) {
        if (text[i] != '\n')
            continue;
        const auto next = text.find_first_not_of(" \t\r", i + 1);
        if (next != std::string::npos && text[next] == '*')
            text[next] = ' ';
    }
    return text;
}

} // namespace

bool MarkedComment::ignoresFindings() const {
    const auto tokens = analysis::lex(text);
    return !tokens.empty() && tokens.front().is("ignore");
}

std::vector<MarkedComment> markedComments(std::string_view text) {
    std::vector<MarkedComment> marked;
    for (const auto& comment : analysis::findComments(text)) {
        const auto at = comment.text.find(commentMarker);
        if (at != std::string_view::npos &&
            comment.text.substr(0, at).find_first_not_of("/* \t\r\n!") == std::string_view::npos)
            marked.push_back({comment.span, comment.span.begin + static_cast<std::uint32_t>(at),
                              withoutDelimiters(comment.text.substr(at + commentMarker.size()))});
    }
    return marked;
}

} // namespace kernelskill::engine
