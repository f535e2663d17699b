#include "skills/stream-overlap/host_copies.h"

#include "analysis/queries/code_map.h"
#include "analysis/syntax/lexer.h"
#include "skills/editing/host_code.h"

#include <algorithm>
#include <vector>

namespace kernelskill::skills {

using namespace analysis;

namespace {

constexpr std::string_view copyName = "cudaMemcpyAsync";
constexpr std::string_view setName = "cudaMemsetAsync";

/// Where the last of so many arguments stands; empty, before the closing bracket, where it is left
/// out. nullopt where the statement holds more than this call and one check around it.
std::optional<Span> lastArgument(const SourceText& source, Span stmt, std::string_view name,
                                 std::size_t arguments) {
    const std::vector<Token> tokens = lex(source.text(), stmt);
    const auto call = std::ranges::find(tokens, name, &Token::text);
    const auto at = static_cast<std::size_t>(call - tokens.begin());
    const bool isAlone = at == 0;
    const bool isChecked =
        at == 2 && tokens[0].kind == TokenKind::Identifier && tokens[1].text == "(";
    if (call == tokens.end() || (!isAlone && !isChecked) || at + 1 >= tokens.size() ||
        tokens[at + 1].text != "(")
        return std::nullopt;
    const std::size_t close = matchingBracket(tokens, at + 1);
    const std::size_t expected = close + (isChecked ? 3 : 2); // `);` or `));`
    if (expected != tokens.size() || tokens.back().text != ";")
        return std::nullopt;
    std::vector<std::size_t> commas;
    int depth = 0;
    for (std::size_t i = at + 2; i < close; ++i) {
        if (tokens[i].text == "(" || tokens[i].text == "[" || tokens[i].text == "{")
            ++depth;
        if (tokens[i].text == ")" || tokens[i].text == "]" || tokens[i].text == "}")
            --depth;
        if (depth == 0 && tokens[i].text == ",")
            commas.push_back(i);
    }
    const std::uint32_t end = tokens[close].span.begin;
    if (commas.size() + 2 == arguments)
        return Span{end, end};
    if (commas.size() + 1 != arguments)
        return std::nullopt;
    return Span{tokens[commas.back() + 1].span.begin, tokens[close - 1].span.end};
}

AsyncCopy::Direction directionOf(std::optional<std::int64_t> kind) {
    switch (kind.value_or(-1)) { // cudaMemcpyKind
    case 1:
        return AsyncCopy::Direction::ToDevice;
    case 2:
        return AsyncCopy::Direction::ToHost;
    case 3:
        return AsyncCopy::Direction::OnDevice;
    default:
        return AsyncCopy::Direction::Unknown;
    }
}

} // namespace

std::optional<AsyncCopy> copyAt(const SkillContext& context, std::uint32_t host, StmtId id) {
    const CodeMap& code = context.shared().host(host);
    const FunctionBody& body = code.body();
    std::optional<AsyncCopy> found;
    for (const ExprId expr : code.expressionsIn(id)) {
        const Expr& at = body.expr(expr);
        const bool isCopy = at.kind == ExprKind::Call && at.name == copyName;
        const bool isSet = at.kind == ExprKind::Call && at.name == setName;
        if (!isCopy && !isSet)
            continue;
        const std::size_t all = isCopy ? 5 : 4; // the stream is last
        const auto span = lastArgument(*context.file.source, body.stmt(id).span, at.name, all);
        if (found || !span || at.children.size() + 1 < all)
            return std::nullopt;
        AsyncCopy copy;
        copy.call = expr;
        copy.to = at.children[0];
        copy.from = isCopy ? at.children[1] : noId;
        copy.bytes = at.children[2];
        copy.stream =
            at.children.size() == all && span->begin != span->end ? at.children.back() : noId;
        if (isCopy)
            copy.direction = directionOf(code.constantValue(at.children[3]));
        copy.streamSpan = *span;
        found = copy;
    }
    return found;
}

TextEdit inStream(const AsyncCopy& copy, const std::string& stream) {
    const bool isLeftOut = copy.streamSpan.begin == copy.streamSpan.end;
    return {copy.streamSpan, (isLeftOut ? ", " : "") + stream};
}

} // namespace kernelskill::skills
