#include "skills/schedule/draft.h"

namespace kernelskill::skills {

using namespace analysis;

namespace {

std::uint32_t beginOf(const Stmt& statement) {
    return statement.pragma.empty() ? statement.span.begin : statement.pragmaSpan.begin;
}

} // namespace

void Draft::before(StmtId statement, const std::vector<std::string>& lines) {
    const Stmt& stmt = body_.stmt(statement);
    add(layout_.lineBegin(beginOf(stmt)), layout_.indentation(stmt.span.begin), lines);
}

void Draft::after(StmtId statement, const std::vector<std::string>& lines) {
    const Stmt& stmt = body_.stmt(statement);
    add(layout_.lineAfter(stmt.span.end), layout_.indentation(stmt.span.begin), lines);
}

void Draft::add(std::uint32_t offset, const std::string& indentation,
                const std::vector<std::string>& lines) {
    for (const std::string& line : lines)
        lines_[offset] += indentation + line + layout_.newline();
}

std::vector<std::string> Draft::controlled(const std::string& head,
                                           std::vector<std::string> lines) const {
    const bool isBlock = lines.size() > 1;
    for (std::string& line : lines)
        line.insert(0, layout_.unit());
    lines.insert(lines.begin(), head + (isBlock ? " {" : ""));
    if (isBlock)
        lines.emplace_back("}");
    return lines;
}

std::vector<TextEdit> Draft::edits() const {
    std::vector<TextEdit> all = edits_;
    for (const auto& [offset, text] : lines_)
        all.push_back({{offset, offset}, text});
    return all;
}

bool hasOwnLines(const FunctionBody& body, const SourceLayout& layout, StmtId first, StmtId last) {
    return layout.startsLine(beginOf(body.stmt(first))) &&
           layout.endsLine(body.stmt(last).span.end);
}

} // namespace kernelskill::skills
