#include "skills/schedule/draft.h"

#include "analysis/syntax/lexer.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

namespace kernelskill::skills {

using namespace analysis;

void Draft::before(StmtId statement, const std::vector<std::string>& lines) {
    const Stmt& stmt = body_.stmt(statement);
    add(layout_.lineBegin(beginWithPragma(stmt)), layout_.indentation(stmt.span.begin), lines);
}

void Draft::after(StmtId statement, const std::vector<std::string>& lines) {
    const Stmt& stmt = body_.stmt(statement);
    add(layout_.lineAfter(stmt.span.end), layout_.indentation(stmt.span.begin), lines);
}

void Draft::insertBefore(StmtId statement, const std::string& text) {
    added_[layout_.lineBegin(beginWithPragma(body_.stmt(statement)))].push_back({text, false});
}

void Draft::insertAfter(StmtId statement, const std::string& text) {
    added_[layout_.lineAfter(body_.stmt(statement).span.end)].push_back({text, false});
}

void Draft::add(std::uint32_t offset, const std::string& indentation,
                const std::vector<std::string>& lines) {
    for (const std::string& line : lines)
        added_[offset].push_back({indentation + line + layout_.newline(), true});
}

void Draft::guard(StmtId statement, const std::string& condition) {
    guards_.emplace_back(body_.stmt(statement).span.begin, condition);
}

void Draft::bracket(StmtId branch) {
    const Stmt& stmt = body_.stmt(branch);
    const Stmt& outer = body_.stmt(stmt.parent);
    const std::uint32_t head =
        lex(source_.text(), {outer.span.begin, beginWithPragma(stmt)}).back().span.end;
    replace({head, head}, " {");
    insertAfter(branch, layout_.indentation(outer.span.begin) + "}" + layout_.newline());
}

void Draft::remove(StmtId statement) {
    replace(layout_.statementWithLine(body_.stmt(statement).span), {});
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

bool Draft::isIndented(std::uint32_t offset) const {
    return std::ranges::any_of(indented_, [&](Span span) {
        return span.begin < offset && offset <= layout_.lineBegin(span.end);
    });
}

std::vector<TextEdit> Draft::edits() const {
    std::vector<TextEdit> all = edits_;
    for (const auto& [offset, texts] : added_) {
        std::string joined;
        for (const auto& [text, follows] : texts)
            joined += (follows && isIndented(offset) ? layout_.unit() : "") + text;
        all.push_back({{offset, offset}, std::move(joined)});
    }
    for (const Span span : indented_)
        for (const TextEdit& edit : layout_.indented(span)) {
            const bool isReplaced = std::ranges::any_of(edits_, [&](const TextEdit& other) {
                return other.span.begin <= edit.span.begin && edit.span.begin < other.span.end;
            });
            if (!isReplaced)
                all.push_back(edit);
        }
    for (const auto& [offset, condition] : guards_)
        all.push_back({{offset, offset},
                       fmt::format("if ({}){}{}{}{}", condition, layout_.newline(),
                                   layout_.indentation(offset), layout_.unit(),
                                   isIndented(offset) ? layout_.unit() : "")});
    return all;
}

bool hasOwnLines(const FunctionBody& body, const SourceLayout& layout, StmtId first, StmtId last) {
    return layout.startsLine(beginWithPragma(body.stmt(first))) &&
           layout.endsLine(body.stmt(last).span.end);
}

} // namespace kernelskill::skills
