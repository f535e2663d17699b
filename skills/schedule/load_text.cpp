#include "skills/schedule/load_text.h"

#include "analysis/syntax/lexer.h"

#include <algorithm>
#include <vector>

namespace kernelskill::skills {

using namespace analysis;

std::optional<Span> textOfLoad(const SourceText& source, const CodeMap& code, ExprId load) {
    const FunctionBody& body = code.body();
    const Span span = body.expr(load).span;
    if (!body.expr(load).fromMacro)
        return span;
    std::optional<Span> use;
    const std::vector<Token> tokens = lex(source.text(), body.stmt(code.statement(load)).span);
    for (std::size_t at = 0; at + 1 < tokens.size(); ++at) {
        if (!tokens[at].isIdentifier() || !tokens[at + 1].is("("))
            continue;
        const std::size_t close = matchingBracket(tokens, at + 1);
        if (close < tokens.size() && tokens[at].span.begin <= span.begin &&
            span.begin < tokens[close].span.end)
            use = Span{tokens[at].span.begin, tokens[close].span.end};
    }
    if (!use)
        return std::nullopt;
    const std::vector<ExprId> own = code.expressionsBelow(load);
    for (ExprId id = 0; id < body.exprs.size(); ++id)
        if (code.statement(id) != noId && use->contains(body.expr(id).span) &&
            std::ranges::find(own, id) == own.end())
            return std::nullopt;
    return use;
}

} // namespace kernelskill::skills
