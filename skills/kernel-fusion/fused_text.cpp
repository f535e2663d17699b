#include "skills/kernel-fusion/fused_text.h"

#include "analysis/queries/code_map.h"
#include "analysis/queries/source_layout.h"
#include "analysis/syntax/lexer.h"
#include "skills/editing/code_lines.h"
#include "skills/editing/condition_text.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

namespace kernelskill::skills {

using namespace analysis;

namespace {

constexpr std::size_t maxColumns = 100;

using Lines = std::vector<std::string>;

/// Returns the lines of `text` without their common indentation and without blank lines at both
/// ends.
Lines linesOf(std::string_view text) {
    Lines lines;
    while (!text.empty()) {
        const auto end = text.find('\n');
        std::string line(text.substr(0, end));
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
        const auto last = line.find_last_not_of(" \t\r");
        line.resize(last == std::string::npos ? 0 : last + 1);
        lines.push_back(std::move(line));
    }
    while (!lines.empty() && lines.front().empty())
        lines.erase(lines.begin());
    while (!lines.empty() && lines.back().empty())
        lines.pop_back();
    std::string common;
    bool isFirst = true;
    for (const std::string& line : lines) {
        if (line.empty() || line.front() == '#')
            continue;
        const std::string indentation = line.substr(0, line.find_first_not_of(" \t"));
        if (std::exchange(isFirst, false))
            common = indentation;
        const auto differs = std::ranges::mismatch(common, indentation);
        common.erase(differs.in1, common.end());
    }
    for (std::string& line : lines)
        if (line.starts_with(common))
            line.erase(0, common.size());
    return lines;
}

void append(Lines& lines, const Lines& more, const std::string& indentation = {}) {
    for (const std::string& line : more)
        lines.push_back(line.empty() || line.front() == '#' ? line : indentation + line);
}

class FusedWriter {
public:
    FusedWriter(const SkillContext& context, const LaunchPair& pair, const FusedNames& names,
                const FusedBody& body, const KernelModel& head)
        : context_(context), source_(*context.file.source), names_(names), body_(body), head_(head),
          first_(*pair.producer), second_(*pair.consumer), layout_(source_, first_),
          firstCode_(first_.body) {}

    std::string text() {
        const std::string outer = layout_.indentation(first_.span.begin);
        const auto [open, close] = parameterList(first_);
        std::string text(source_.slice({head_.span.begin, head_.nameSpan.begin}));
        text += names_.kernel;
        text += parameters(text, {open, close});
        text += source_.slice({close + 1, first_.bodySpan.begin});
        text += "{";
        Lines lines;
        append(lines, producerLines());
        if (body_.joint != BodyJoint::SharedGuard)
            append(lines, consumerLines());
        for (const std::string& line : lines) {
            text += layout_.newline();
            if (!line.empty())
                text += line.front() == '#' ? line : outer + layout_.unit() + line;
        }
        return text + layout_.newline() + outer + "}";
    }

private:
    /// The places of the brackets around the parameters.
    [[nodiscard]] std::pair<std::uint32_t, std::uint32_t>
    parameterList(const KernelModel& kernel) const {
        const std::vector<Token> tokens =
            lex(source_.text(), {kernel.nameSpan.end, kernel.bodySpan.begin});
        std::size_t open = 0;
        while (open < tokens.size() && tokens[open].text != "(")
            ++open;
        const std::size_t close = matchingBracket(tokens, open);
        return {tokens.at(open).span.begin, tokens.at(close).span.begin};
    }

    /// The declaration of a parameter under the name `name`.
    [[nodiscard]] std::string declared(const Parameter& parameter, const std::string& name) const {
        std::vector<TextEdit> edits;
        const std::vector<Token> tokens = lex(source_.text(), parameter.span);
        for (const Token& token : tokens)
            if (token.isIdentifier() && token.text == parameter.name)
                edits = {{token.span, name}}; // The last one: a type may have the same name.
        return rewritten(source_, parameter.span, std::move(edits));
    }

    /// The list of parameters with its brackets. It goes on in a new line where `before`, the text
    /// in front of it, and its own lines would be too long.
    [[nodiscard]] std::string parameters(const std::string& before, Span list) const {
        std::vector<TextEdit> edits;
        for (const auto& [place, other] : names_.widened)
            edits.push_back({first_.parameters[place].span,
                             declared(second_.parameters[other], first_.parameters[place].name)});
        const std::uint32_t last =
            first_.parameters.empty() ? list.begin + 1 : first_.parameters.back().span.end;
        std::string text = rewritten(source_, {list.begin, last}, std::move(edits));
        const auto columnOf = [](const std::string& all) {
            return all.size() - (all.rfind('\n') == std::string::npos ? 0 : all.rfind('\n') + 1);
        };
        // Further lines begin below the first parameter.
        const bool isBroken = !first_.parameters.empty() &&
                              first_.parameters.front().span.begin > list.begin + 1 &&
                              layout_.startsLine(first_.parameters.front().span.begin);
        const std::string column = isBroken
                                       ? layout_.indentation(first_.parameters.front().span.begin)
                                       : std::string(columnOf(before) + 1, ' ');
        for (const AddedParameter& added : names_.added) {
            const std::string next = declared(second_.parameters[added.place], added.name);
            const bool isFirst = text == "(";
            text += isFirst ? "" : ",";
            const bool fits = !text.contains('\n')
                                  ? columnOf(before + text) + next.size() + 4 <= maxColumns
                                  : columnOf(text) + next.size() + 4 <= maxColumns && !isBroken;
            text += isFirst ? "" : fits ? " " : layout_.newline() + column;
            text += next;
        }
        text += source_.slice({last, list.end});
        return text + ")";
    }

    [[nodiscard]] Lines linesIn(Span span) const {
        return linesOf(withIndentation(span.begin, std::string(source_.slice(span))));
    }

    /// Returns `text`, which stands at `begin`, as if it began its line.
    [[nodiscard]] std::string withIndentation(std::uint32_t begin, std::string text) const {
        const auto first = text.find_first_not_of(" \t");
        const bool isOnLine =
            first != std::string::npos && text[first] != '\n' && text[first] != '\r';
        if (!isOnLine)
            return text;
        return layout_.indentation(begin) + text.substr(first);
    }

    [[nodiscard]] static Span innerOf(Span body) { return {body.begin + 1, body.end - 1}; }

    [[nodiscard]] Lines producerLines() const {
        const Span inner = innerOf(first_.bodySpan);
        if (body_.joint == BodyJoint::Guarded)
            return guardedLines(inner, 0);
        if (body_.joint != BodyJoint::SharedGuard)
            return linesIn(inner);
        const Stmt& guard = first_.body.stmt(body_.guard);
        const Stmt& branch = first_.body.stmt(guard.children.front());
        Lines lines = linesIn({inner.begin, layout_.startsLine(guard.span.begin)
                                                ? layout_.lineBegin(guard.span.begin)
                                                : guard.span.begin});
        if (branch.kind == StmtKind::Compound) {
            append(lines, linesIn({guard.span.begin, branch.span.begin + 1}));
            append(lines, linesIn(innerOf(branch.span)), layout_.unit());
        } else {
            std::string head(source_.slice({guard.span.begin, branch.span.begin}));
            head.resize(head.find_last_not_of(" \t\r\n") + 1);
            append(lines, linesOf(withIndentation(guard.span.begin, head + " {")));
            append(lines, linesIn(branch.span), layout_.unit());
        }
        append(lines, consumerLines(), layout_.unit());
        lines.emplace_back("}");
        append(lines, linesIn({guard.span.end, inner.end}));
        return lines;
    }

    /// The lines of `span`, in which early returns from number `number` on become guards around
    /// what follows them.
    [[nodiscard]] Lines guardedLines(Span span, std::size_t number) const {
        if (number == body_.returns.size())
            return linesIn(span);
        const Stmt& early = first_.body.stmt(body_.returns[number]);
        Lines lines = linesIn({span.begin, layout_.startsLine(early.span.begin)
                                               ? layout_.lineBegin(early.span.begin)
                                               : early.span.begin});
        lines.push_back(fmt::format("if ({}) {{", negated(context_, firstCode_, early.condition)));
        append(lines, guardedLines({early.span.end, span.end}, number + 1), layout_.unit());
        lines.emplace_back("}");
        return lines;
    }

    /// The consumer's statements, in the names of the fused kernel.
    [[nodiscard]] Lines consumerLines() const {
        const FunctionBody& body = second_.body;
        Span part = innerOf(second_.bodySpan);
        std::vector<StmtId> statements = body.stmt(body.root).children;
        std::set<StmtId> dropped = names_.repeated;
        if (body_.repeatedGuard != noId)
            dropped.insert(body_.repeatedGuard);
        Lines lines;
        const auto behind = [&](StmtId id) {
            const std::uint32_t end = body.stmt(id).span.end;
            return layout_.endsLine(end) ? layout_.lineAfter(end) : end;
        };
        std::size_t next = 0;
        while (next < statements.size() && dropped.contains(statements[next]))
            part.begin = std::min(behind(statements[next++]), part.end);
        if (body_.joint == BodyJoint::SharedGuard) {
            const Stmt& guard = body.stmt(body_.repeatedGuard);
            const StmtId branch = guard.children.front();
            part = body.stmt(branch).kind == StmtKind::Compound ? innerOf(body.stmt(branch).span)
                                                                : body.stmt(branch).span;
        }
        std::vector<TextEdit> edits;
        for (const StmtId id : dropped)
            if (part.contains(body.stmt(id).span))
                edits.push_back({layout_.statementWithLine(body.stmt(id).span), ""});
        const std::vector<Token> tokens = lex(source_.text(), part);
        for (std::size_t i = 0; i < tokens.size(); ++i) {
            const bool isMember =
                i > 0 && (tokens[i - 1].text == "." || tokens[i - 1].text == "->" ||
                          tokens[i - 1].text == "::");
            const auto renamed = names_.renamed.find(std::string(tokens[i].text));
            const bool isDropped = std::ranges::any_of(
                edits, [&](const TextEdit& edit) { return edit.span.contains(tokens[i].span); });
            if (tokens[i].isIdentifier() && !isMember && renamed != names_.renamed.end() &&
                !isDropped)
                edits.push_back({tokens[i].span, renamed->second});
        }
        append(lines,
               linesOf(withIndentation(part.begin, rewritten(source_, part, std::move(edits)))));
        return lines;
    }

    const SkillContext& context_;
    const SourceText& source_;
    const FusedNames& names_;
    const FusedBody& body_;
    const KernelModel& head_;
    const KernelModel& first_;
    const KernelModel& second_;
    SourceLayout layout_;
    CodeMap firstCode_;
};

} // namespace

std::string fusedText(const SkillContext& context, const LaunchPair& pair, const FusedNames& names,
                      const FusedBody& body, const KernelModel& head) {
    return FusedWriter(context, pair, names, body, head).text();
}

} // namespace kernelskill::skills
