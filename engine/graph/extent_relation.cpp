#include "engine/graph/extent_relation.h"

#include "analysis/source/try.h"
#include "engine/graph/extent_expression.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <utility>

namespace kernelskill::engine::graph {
namespace {

using RelationKind = ExtentRelation::Kind;

/// A class of sympy, and the relation that its operands have.
struct RelationClass {
    std::string_view name;
    RelationKind kind;
    bool isTurned; ///< The first operand is the greater one.
};
constexpr std::array classes = {
    RelationClass{"Equality", RelationKind::Equal, false},
    RelationClass{"Eq", RelationKind::Equal, false},
    RelationClass{"Unequality", RelationKind::Different, false},
    RelationClass{"Ne", RelationKind::Different, false},
    RelationClass{"LessThan", RelationKind::AtMost, false},
    RelationClass{"Le", RelationKind::AtMost, false},
    RelationClass{"GreaterThan", RelationKind::AtMost, true},
    RelationClass{"Ge", RelationKind::AtMost, true},
    RelationClass{"StrictLessThan", RelationKind::Less, false},
    RelationClass{"Lt", RelationKind::Less, false},
    RelationClass{"StrictGreaterThan", RelationKind::Less, true},
    RelationClass{"Gt", RelationKind::Less, true},
};

constexpr std::size_t maxRelationBytes = 4096;

/// A call's name and operands: "LessThan(a, f(b, c))". nullopt for other text.
struct CallText {
    std::string_view name;
    std::vector<std::string_view> operands;
};

std::optional<CallText> callOf(std::string_view text) {
    const std::size_t open = text.find('(');
    if (open == std::string_view::npos || !text.ends_with(')'))
        return std::nullopt;
    CallText call{text.substr(0, open), {}};
    call.name = call.name.substr(call.name.rfind('.') + 1);
    int depth = 0;
    std::size_t begin = open + 1;
    for (std::size_t i = open; i < text.size(); ++i) {
        const char c = text[i];
        depth += c == '(' ? 1 : 0;
        depth -= c == ')' ? 1 : 0;
        const bool isEnd = depth == 0;
        if (isEnd && i + 1 != text.size())
            return std::nullopt;
        if (!isEnd && (c != ',' || depth != 1))
            continue;
        while (begin < i && text[begin] == ' ')
            ++begin;
        call.operands.push_back(text.substr(begin, i - begin));
        begin = i + 1;
    }
    return call;
}

/// The plain text of an operand; nullopt if it is no extent.
std::optional<std::string> extentText(std::string_view operand) {
    const auto expression = parseExtent(operand, {});
    return expression ? std::optional(textOf(*expression)) : std::nullopt;
}

} // namespace

std::optional<std::vector<ExtentRelation>> parseRelations(std::string_view text) {
    if (text.size() > maxRelationBytes)
        return std::nullopt;
    const auto call = callOf(text);
    if (!call)
        return std::nullopt;
    std::vector<ExtentRelation> relations;
    if (call->name == "And") {
        for (const std::string_view operand : call->operands) {
            auto inner = parseRelations(operand);
            if (!inner)
                return std::nullopt;
            relations.insert(relations.end(), inner->begin(), inner->end());
        }
        return relations;
    }
    const auto* const known = std::ranges::find(classes, call->name, &RelationClass::name);
    if (known == classes.end() || call->operands.size() != 2)
        return std::nullopt;
    auto left = extentText(call->operands[0]);
    auto right = extentText(call->operands[1]);
    if (!left || !right)
        return std::nullopt;
    if (known->isTurned)
        std::swap(left, right);
    relations.push_back({known->kind, *std::move(left), *std::move(right), {}});
    return relations;
}

std::string_view operatorOf(RelationKind kind) {
    switch (kind) {
    case RelationKind::Equal:
        return "==";
    case RelationKind::Different:
        return "!=";
    case RelationKind::AtMost:
        return "<=";
    case RelationKind::Less:
        break;
    }
    return "<";
}

std::string textOf(const ExtentRelation& relation) {
    return fmt::format("{} {} {}", relation.left, operatorOf(relation.kind), relation.right);
}

Result<bool> holds(const ExtentRelation& relation,
                   const std::map<std::string, std::int64_t>& symbols) {
    KERNELSKILL_TRY(const ExtentExpression leftExpression, parseExtent(relation.left, {}));
    KERNELSKILL_TRY(const ExtentExpression rightExpression, parseExtent(relation.right, {}));
    KERNELSKILL_TRY(const std::int64_t left, evaluateExtent(leftExpression, symbols));
    KERNELSKILL_TRY(const std::int64_t right, evaluateExtent(rightExpression, symbols));
    switch (relation.kind) {
    case RelationKind::Equal:
        return left == right;
    case RelationKind::Different:
        return left != right;
    case RelationKind::AtMost:
        return left <= right;
    case RelationKind::Less:
        break;
    }
    return left < right;
}

} // namespace kernelskill::engine::graph
