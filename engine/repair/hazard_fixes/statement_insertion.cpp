#include "engine/repair/hazard_fixes/statement_insertion.h"

#include "analysis/queries/source_layout.h"

#include <algorithm>
#include <utility>

namespace kernelskill::engine {

using namespace analysis;

namespace {

TextEdit at(std::uint32_t offset, std::string text) {
    return {{offset, offset}, std::move(text)};
}

bool isInBlock(const HazardCode& code, StmtId statement) {
    const StmtId parent = code.stmt(statement).parent;
    return parent != noId && code.stmt(parent).kind == StmtKind::Compound;
}

/// The previous statement in the same block; noId for the first one.
StmtId previous(const HazardCode& code, StmtId statement) {
    const auto& siblings = code.stmt(code.stmt(statement).parent).children;
    const auto place = std::ranges::find(siblings, statement);
    return place == siblings.begin() || place == siblings.end() ? noId : *(place - 1);
}

/// Replaces `statement`, which has no braces, by a block with `lines` and `statement`.
Edits inBraces(const HazardCode& code, StmtId statement, const std::string& before,
               const std::string& after) {
    const Stmt& single = code.stmt(statement);
    if (single.parent == noId || single.fromMacro || code.stmt(single.parent).fromMacro)
        return std::nullopt;
    const analysis::SourceLayout& layout = code.layout();
    const std::string& text = code.file().source->text();
    const auto head = text.find_last_not_of(" \t\r\n", single.span.begin - 1);
    // A comment after the head would comment out the brace.
    if (head == std::string::npos || !layout.startsLine(single.span.begin) ||
        (text[head] != ')' && text.substr(head - 3, 4) != "else"))
        return std::nullopt;
    const std::string inner = layout.indentation(single.span.begin);
    const std::string outer = layout.indentation(code.stmt(single.parent).span.begin);
    std::vector<TextEdit> edits{at(static_cast<std::uint32_t>(head) + 1, " {")};
    if (!before.empty())
        edits.push_back(at(single.span.begin, before + layout.newline() + inner));
    std::string tail;
    if (!after.empty())
        tail += layout.newline() + inner + after;
    tail += layout.newline() + outer + "}";
    edits.push_back(at(layout.endOfLineTrivia(single.span.end), std::move(tail)));
    return edits;
}

/// Whether the file puts single statements under `if` in braces.
bool bracesSingles(const FileModel& file) {
    int withBraces = 0;
    int without = 0;
    for (const KernelModel& kernel : file.kernels) {
        for (const Stmt& stmt : kernel.body.stmts) {
            if (stmt.kind != StmtKind::If || stmt.children.empty())
                continue;
            const Stmt& branch = kernel.body.stmt(stmt.children.front());
            if (branch.kind != StmtKind::Compound)
                ++without;
            else if (branch.children.size() == 1)
                ++withBraces;
        }
    }
    return withBraces > without;
}

} // namespace

Edits insertedBefore(const HazardCode& code, StmtId statement, const std::string& line) {
    const Stmt& next = code.stmt(statement);
    if (next.fromMacro)
        return std::nullopt;
    if (!isInBlock(code, statement))
        return inBraces(code, statement, line, "");
    // Insert after the previous statement, so that a comment stays with its own statement.
    if (const StmtId before = previous(code, statement);
        before != noId && !code.stmt(before).fromMacro)
        return insertedAfter(code, before, line);
    const analysis::SourceLayout& layout = code.layout();
    if (!layout.startsLine(next.span.begin))
        return std::vector{at(next.span.begin, line + " ")};
    return std::vector{
        at(next.span.begin, line + layout.newline() + layout.indentation(next.span.begin))};
}

Edits insertedAfter(const HazardCode& code, StmtId statement, const std::string& line) {
    const Stmt& before = code.stmt(statement);
    if (before.fromMacro)
        return std::nullopt;
    if (!isInBlock(code, statement))
        return inBraces(code, statement, "", line);
    const analysis::SourceLayout& layout = code.layout();
    if (!layout.endsLine(before.span.end))
        return std::vector{at(before.span.end, " " + line)};
    return std::vector{at(layout.endOfLineTrivia(before.span.end),
                          layout.newline() + layout.indentation(before.span.begin) + line)};
}

Edits insertedAtEnd(const HazardCode& code, StmtId loop, const std::string& line) {
    if (code.stmt(loop).children.empty() || code.stmt(loop).fromMacro)
        return std::nullopt;
    const StmtId body = code.stmt(loop).children.front();
    if (code.stmt(body).kind != StmtKind::Compound) {
        if (code.stmt(loop).kind == StmtKind::Do)
            return std::nullopt;
        return inBraces(code, body, "", line);
    }
    if (code.stmt(body).children.empty())
        return std::nullopt;
    return insertedAfter(code, code.stmt(body).children.back(), line);
}

Edits putUnder(const HazardCode& code, StmtId statement, const std::string& condition) {
    const Stmt& guarded = code.stmt(statement);
    const analysis::SourceLayout& layout = code.layout();
    if (guarded.fromMacro || !layout.startsLine(guarded.span.begin))
        return std::nullopt;
    const std::string indentation = layout.indentation(guarded.span.begin);
    const bool braces = bracesSingles(code.file());
    std::vector<TextEdit> edits = layout.indented(guarded.span);
    edits.insert(edits.begin(),
                 at(guarded.span.begin, "if (" + condition + ")" + (braces ? " {" : "") +
                                            layout.newline() + indentation + layout.unit()));
    if (braces)
        edits.push_back(
            at(layout.endOfLineTrivia(guarded.span.end), layout.newline() + indentation + "}"));
    return edits;
}

std::string earlyReturn(const HazardCode& code, const std::string& condition,
                        const std::string& indentation) {
    const analysis::SourceLayout& layout = code.layout();
    const bool braces = bracesSingles(code.file());
    return "if (" + condition + ")" + (braces ? " {" : "") + layout.newline() + indentation +
           layout.unit() + "return;" + (braces ? layout.newline() + indentation + "}" : "");
}

} // namespace kernelskill::engine
