#include "analysis/queries/pointer_origins.h"

#include "analysis/queries/source_words.h"
#include "analysis/syntax/lexer.h"

#include <algorithm>
#include <utility>

namespace kernelskill::analysis {

namespace {

bool isPointerLike(const Type& type) {
    return type.pointerDepth > 0 || !type.arrayExtents.empty();
}

/// A number is no pointer, however it got into the expression.
bool isArithmetic(const Type& type) {
    return type.pointerDepth == 0 && type.arrayExtents.empty() && type.scalar > ScalarKind::Void;
}

/// Arguments of the call whose opening bracket is at `open`, split at top-level commas.
std::vector<std::vector<Token>> callArguments(const std::vector<Token>& tokens, std::size_t open,
                                              std::size_t close) {
    std::vector<std::vector<Token>> arguments(1);
    int depth = 0;
    for (std::size_t i = open + 1; i < close; ++i) {
        const std::string_view text = tokens[i].text;
        if (text == "(" || text == "[" || text == "{")
            ++depth;
        else if (text == ")" || text == "]" || text == "}")
            --depth;
        if (text == "," && depth == 0)
            arguments.emplace_back();
        else
            arguments.back().push_back(tokens[i]);
    }
    return arguments;
}

} // namespace

PointerOrigins::PointerOrigins(const FileModel& file, const SharedAnalysis& shared,
                               std::uint32_t function)
    : file_(file), host_(file.hostFunctions.at(function)), source_(*sourceOf(file, host_)),
      shared_(shared), code_(shared.host(function)), exchanges_(pointerExchanges(code_)) {
    for (const Variable& variable : host_.body.variables)
        if (variable.storage == Storage::Parameter)
            parameters_.push_back(variable.name);
}

std::optional<std::string> PointerOrigins::commonOrigin(ExprId a, ExprId b) const {
    const std::set<ExprId> exchanges = exchangesOf(code_.namedVariable(a), code_.namedVariable(b));
    const std::set<std::string> first = originsOf(a, exchanges);
    const std::set<std::string> second = originsOf(b, exchanges);
    for (const std::string& origin : first)
        if (second.contains(origin))
            return origin;
    return passedTogether(first, second);
}

std::set<ExprId> PointerOrigins::exchangesOf(VariableId a, VariableId b) const {
    std::set<ExprId> assignments;
    if (a == noId || b == noId || a == b)
        return assignments;
    for (const PointerExchange& exchange : exchanges_)
        if ((exchange.one == a && exchange.other == b) ||
            (exchange.one == b && exchange.other == a))
            assignments.insert({exchange.toOne, exchange.toOther});
    return assignments;
}

std::set<std::string> PointerOrigins::originsOf(ExprId expr,
                                                const std::set<ExprId>& leftOut) const {
    Collected collected{{}, {}, leftOut};
    collect(expr, collected);
    return std::move(collected.origins);
}

void PointerOrigins::collect(ExprId id, Collected& collected) const {
    std::set<std::string>& origins = collected.origins;
    const FunctionBody& body = host_.body;
    const Expr& expr = body.expr(id);
    const auto text = [&] { return std::string(source_.slice(expr.span)); };
    switch (expr.kind) {
    case ExprKind::Integer:
    case ExprKind::Floating:
    case ExprKind::String:
        return;
    case ExprKind::Variable:
        if (expr.variable == noId)
            origins.insert(expr.name.empty() ? text() : expr.name);
        else
            collectVariable(expr.variable, collected);
        return;
    case ExprKind::Member: // d.x and d.y are two pointers
        if (!expr.isMethod && isPointerLike(expr.type)) {
            origins.insert(text());
            return;
        }
        break;
    case ExprKind::Subscript: { // an element of an array of pointers
        const bool isConstantElement =
            isPointerLike(expr.type) && code_.constantValue(expr.children[1]).has_value();
        if (isConstantElement) {
            origins.insert(text());
            return;
        }
        collect(expr.children[0], collected);
        return;
    }
    case ExprKind::Unary: // the address of an element, whatever the element's type
        if (expr.op == "&") {
            collect(expr.children[0], collected);
            return;
        }
        break;
    default:
        break;
    }
    for (const ExprId child : expr.children)
        if (!isArithmetic(body.expr(child).type))
            collect(child, collected);
}

void PointerOrigins::collectVariable(VariableId variable, Collected& collected) const {
    if (!collected.visited.insert(variable).second)
        return;
    const Variable& described = host_.body.variable(variable);
    if (isArithmetic(described.type))
        return;
    collected.origins.insert(described.name);
    if (described.init != noId)
        collect(described.init, collected);
    for (const ExprId use : code_.uses(variable)) {
        const ExprId parent = code_.parent(use);
        if (parent == noId)
            continue;
        const Expr& above = host_.body.expr(parent);
        if (above.kind == ExprKind::Binary && above.op == "=" && above.children[0] == use &&
            !collected.leftOut.contains(parent))
            collect(above.children[1], collected);
    }
}

std::optional<std::string> PointerOrigins::passedTogether(const std::set<std::string>& a,
                                                          const std::set<std::string>& b) const {
    const auto positionsIn = [&](const std::set<std::string>& origins) {
        std::vector<std::size_t> positions;
        for (std::size_t i = 0; i < parameters_.size(); ++i)
            if (origins.contains(parameters_[i]))
                positions.push_back(i);
        return positions;
    };
    const std::vector<std::size_t> first = positionsIn(a);
    const std::vector<std::size_t> second = positionsIn(b);
    if (first.empty() || second.empty())
        return std::nullopt;
    if (!calls_)
        calls_ = callsInFiles();
    for (const Call& arguments : *calls_) {
        for (const std::size_t x : first) {
            for (const std::size_t y : second) {
                if (x >= arguments.size() || y >= arguments.size() || arguments[x].empty() ||
                    arguments[y].empty())
                    continue;
                // The pointer is the first name of `x`, `x + n`, `&x[n]` and `x.data()`.
                const auto nameOf = [](const std::vector<Token>& argument) {
                    const auto found =
                        std::ranges::find(argument, TokenKind::Identifier, &Token::kind);
                    return found == argument.end() ? std::string_view{} : found->text;
                };
                const bool sameName =
                    !nameOf(arguments[x]).empty() && nameOf(arguments[x]) == nameOf(arguments[y]);
                const bool areMembers =
                    arguments[x].size() == 3 && arguments[y].size() == 3 &&
                    (arguments[x][1].text == "." || arguments[x][1].text == "->") &&
                    arguments[x][2].text != arguments[y][2].text;
                if (sameName && !areMembers && nameOf(arguments[x]) != "nullptr" &&
                    nameOf(arguments[x]) != "NULL")
                    return std::string(nameOf(arguments[x]));
            }
        }
    }
    return std::nullopt;
}

std::vector<PointerOrigins::Call> PointerOrigins::callsInFiles() const {
    std::vector<Call> calls;
    addCalls(file_.file, *file_.source, calls);
    for (const auto& [file, source] : file_.otherSources)
        addCalls(file, *source, calls);
    return calls;
}

void PointerOrigins::addCalls(const std::string& file, const SourceText& source,
                              std::vector<Call>& calls) const {
    const std::string name = host_.name.substr(host_.name.rfind(':') + 1);
    const auto isOwn = [&](Span place) { return file == host_.file && host_.span.contains(place); };
    const bool isNamedElsewhere = std::ranges::any_of(occurrences(source.text(), name),
                                                      [&](Span place) { return !isOwn(place); });
    if (!isNamedElsewhere)
        return;
    const std::vector<Token> others =
        file == file_.file ? std::vector<Token>{} : lex(source.text());
    const std::vector<Token>& tokens = file == file_.file ? shared_.tokens() : others;
    for (std::size_t i = 0; i + 1 < tokens.size(); ++i) {
        if (tokens[i].text != name || tokens[i + 1].text != "(" || isOwn(tokens[i].span))
            continue;
        calls.push_back(callArguments(tokens, i + 1, matchingBracket(tokens, i + 1)));
    }
}

} // namespace kernelskill::analysis
