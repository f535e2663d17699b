#include "skills/editing/replaced_loop.h"

#include <string>
#include <utility>

namespace kernelskill::skills {

using namespace analysis;

std::vector<TextEdit> loopReplacedBy(const CodeLines& lines, const SourceLayout& layout,
                                     const CodeMap& code, StmtId loop,
                                     std::span<const VariableId> freed) {
    const FunctionBody& body = code.body();
    const Stmt& stmt = body.stmt(loop);
    std::string text = lines.text();
    text.erase(0, layout.indentation(stmt.span.begin).size());
    text.resize(text.size() - layout.newline().size());
    std::uint32_t begin = stmt.span.begin;
    if (!stmt.pragma.empty()) // The pragma is about the loop.
        begin = stmt.pragmaSpan.begin +
                static_cast<std::uint32_t>(layout.indentation(stmt.pragmaSpan.begin).size());
    std::vector<TextEdit> edits{{{begin, stmt.span.end}, std::move(text)}};
    for (const VariableId name : freed) {
        const StmtId declaration = code.declarationOf(name);
        if (declaration != noId && !code.encloses(loop, declaration) && declaration != stmt.init &&
            body.stmt(declaration).declared.size() == 1)
            edits.push_back({layout.statementWithLine(body.stmt(declaration).span), ""});
    }
    return edits;
}

} // namespace kernelskill::skills
