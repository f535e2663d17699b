#include "analysis/scan/expression.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>

namespace kernelskill::analysis {
namespace {

struct OperatorLevel {
    int precedence;
    std::string_view op;
};

constexpr std::array binaryOperators = {
    OperatorLevel{1, "||"}, OperatorLevel{2, "&&"}, OperatorLevel{3, "|"},  OperatorLevel{4, "^"},
    OperatorLevel{5, "&"},  OperatorLevel{6, "=="}, OperatorLevel{6, "!="}, OperatorLevel{7, "<"},
    OperatorLevel{7, ">"},  OperatorLevel{7, "<="}, OperatorLevel{7, ">="}, OperatorLevel{8, "<<"},
    OperatorLevel{8, ">>"}, OperatorLevel{9, "+"},  OperatorLevel{9, "-"},  OperatorLevel{10, "*"},
    OperatorLevel{10, "/"}, OperatorLevel{10, "%"}};

constexpr std::array<std::string_view, 24> typeWords = {
    "int",     "unsigned", "long",    "short",  "char",     "float",    "double",    "bool",
    "size_t",  "const",    "signed",  "void",   "int32_t",  "uint32_t", "int64_t",   "uint64_t",
    "uint8_t", "uint",     "ssize_t", "int8_t", "uint16_t", "int16_t",  "ptrdiff_t", "uchar"};

bool isTypeWord(const Token& token) {
    return token.isIdentifier() && std::ranges::find(typeWords, token.text) != typeWords.end();
}

std::optional<Value> numberOf(std::string_view text) {
    std::string digits;
    std::ranges::copy_if(text, std::back_inserter(digits), [](char c) { return c != '\''; });
    const bool hexadecimal = digits.starts_with("0x") || digits.starts_with("0X");
    const bool binary = digits.starts_with("0b") || digits.starts_with("0B");
    const bool floating =
        !binary && (digits.find('.') != std::string::npos ||
                    (!hexadecimal && digits.find_first_of("eEfF") != std::string::npos));
    if (floating)
        return Value::of(std::strtod(digits.c_str(), nullptr));
    const int base = hexadecimal ? 16 : binary ? 2 : digits.size() > 1 && digits[0] == '0' ? 8 : 10;
    const auto* begin = digits.data() + (hexadecimal || binary ? 2 : 0);
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(begin, digits.data() + digits.size(), value, base);
    const auto suffix =
        std::string_view(end, static_cast<std::size_t>(digits.data() + digits.size() - end));
    if (error != std::errc{} || suffix.find_first_not_of("uUlLzZ") != std::string_view::npos)
        return std::nullopt;
    return Value::of(static_cast<std::int64_t>(value));
}

class Parser {
public:
    /// `depth` is that of the expression around it.
    Parser(const std::vector<Token>& tokens, std::size_t begin, std::size_t end, int depth)
        : tokens_(tokens), position_(begin), end_(std::min(end, tokens.size())), depth_(depth) {}

    std::optional<Expression> run() {
        auto result = conditional();
        return result && position_ == end_ ? std::move(result) : std::nullopt;
    }

private:
    static constexpr int maxDepth =
        200; ///< Bounds the nesting, so that no text overflows the stack.
    /// Bounds `a + b + …`, `f()()…` and the like, each of which is nested in the next.
    static constexpr int maxLinks = 200;

    [[nodiscard]] bool at(std::string_view text) const {
        return position_ < end_ && tokens_[position_].is(text);
    }
    bool take(std::string_view text) {
        if (!at(text))
            return false;
        ++position_;
        return true;
    }

    std::string textOf(std::size_t begin, std::size_t end) const {
        std::string result;
        for (auto i = begin; i < end; ++i)
            result += (result.empty() ? "" : " ") + std::string(tokens_[i].text);
        return result;
    }

    std::optional<Expression> conditional() {
        if (++depth_ > maxDepth)
            return std::nullopt;
        auto condition = binary(1);
        if (condition && take("?")) {
            auto first = conditional();
            if (!first || !take(":"))
                return std::nullopt;
            auto second = conditional();
            if (!second)
                return std::nullopt;
            Expression result{ExpressionKind::Conditional, "?", {}, {}};
            result.children = {std::move(*condition), std::move(*first), std::move(*second)};
            condition = std::move(result);
        }
        --depth_;
        return condition;
    }

    std::optional<Expression> binary(int lowest) {
        auto left = unary();
        int links = 0;
        while (left && position_ < end_) {
            const bool isShift = position_ + 1 < end_ && isShiftRight(tokens_, position_);
            const std::string_view op = isShift ? ">>" : tokens_[position_].text;
            const auto found = std::ranges::find(binaryOperators, op, &OperatorLevel::op);
            if (found == binaryOperators.end() || found->precedence < lowest)
                break;
            if (++links > maxLinks)
                return std::nullopt;
            position_ += isShift ? 2 : 1;
            auto right = binary(found->precedence + 1);
            if (!right)
                return std::nullopt;
            Expression result{ExpressionKind::Binary, std::string(found->op), {}, {}};
            result.children = {std::move(*left), std::move(*right)};
            left = std::move(result);
        }
        return left;
    }

    std::optional<Expression> unary() {
        if (++depth_ > maxDepth || position_ >= end_)
            return std::nullopt;
        std::optional<Expression> result;
        for (const std::string_view op : {"-", "+", "!", "~", "*", "&", "++", "--"}) {
            if (!take(op))
                continue;
            auto operand = unary();
            if (operand) {
                result = Expression{ExpressionKind::Unary, std::string(op), {}, {}};
                result->children.push_back(std::move(*operand));
            }
            --depth_;
            return result;
        }
        result = at("sizeof") ? sizeOf() : at("(") && castEnd() != position_ ? cast() : postfix();
        --depth_;
        return result;
    }

    std::optional<Expression> sizeOf() {
        ++position_;
        if (!at("("))
            return std::nullopt;
        const auto close = matchingBracket(tokens_, position_);
        if (close >= end_)
            return std::nullopt;
        Expression result{ExpressionKind::SizeOf, textOf(position_ + 1, close), {}, {}};
        position_ = close + 1;
        return result;
    }

    /// If a "(type)" stands here, the index behind it; else the position.
    std::size_t castEnd() const {
        const auto close = matchingBracket(tokens_, position_);
        if (close >= end_ || close + 1 >= end_ || close == position_ + 1)
            return position_;
        bool type = false;
        for (auto i = position_ + 1; i < close; ++i) {
            const auto& token = tokens_[i];
            if (!token.isIdentifier() && !token.is("*") && !token.is("::") && !token.is("<") &&
                !token.is(">"))
                return position_;
            type = type || isTypeWord(token) || token.is("*");
        }
        const auto& last = tokens_[close - 1];
        const auto& next = tokens_[close + 1];
        const bool pointer = last.is("*");
        const bool operand = next.isIdentifier() || next.kind == TokenKind::Number || next.is("(");
        const bool onlyName = close == position_ + 2;
        if (type && (pointer || isTypeWord(last) || last.is(">")))
            return close + 1;
        // (T)x, but neither (a)(b) nor (a) - b.
        return onlyName && operand && !next.is("(") ? close + 1 : position_;
    }

    std::optional<Expression> cast() {
        const auto behind = castEnd();
        Expression result{ExpressionKind::Cast, textOf(position_ + 1, behind - 1), {}, {}};
        position_ = behind;
        auto operand = unary();
        if (!operand)
            return std::nullopt;
        result.children.push_back(std::move(*operand));
        return result;
    }

    std::optional<Expression> postfix() {
        auto result = primary();
        int links = 0;
        while (result && position_ < end_) {
            if (++links > maxLinks)
                return std::nullopt;
            if (at("(")) {
                if (!arguments(*result))
                    return std::nullopt;
            } else if (at("[")) {
                const auto close = matchingBracket(tokens_, position_);
                if (close >= end_)
                    return std::nullopt;
                auto index = Parser(tokens_, position_ + 1, close, depth_).run();
                Expression subscript{ExpressionKind::Subscript, "[]", {}, {}};
                subscript.children.push_back(std::move(*result));
                subscript.children.push_back(index ? std::move(*index) : Expression{});
                result = std::move(subscript);
                position_ = close + 1;
            } else if ((at(".") || at("->")) && position_ + 1 < end_ &&
                       tokens_[position_ + 1].isIdentifier()) {
                Expression member{
                    ExpressionKind::Member, std::string(tokens_[position_ + 1].text), {}, {}};
                member.children.push_back(std::move(*result));
                result = std::move(member);
                position_ += 2;
            } else if (at("++") || at("--")) {
                ++position_;
            } else {
                break;
            }
        }
        return result;
    }

    bool arguments(Expression& callee) {
        const auto close = matchingBracket(tokens_, position_);
        if (close >= end_)
            return false;
        Expression call{ExpressionKind::Call, callee.text, {}, {}};
        call.children.push_back(std::move(callee));
        list(position_ + 1, close, call);
        position_ = close + 1;
        callee = std::move(call);
        return true;
    }

    /// Comma-separated expressions of [begin, end); a part that is no expression becomes Opaque.
    void list(std::size_t begin, std::size_t end, Expression& into) const {
        auto start = begin;
        for (auto i = begin; i <= end && begin < end; ++i) {
            if (i < end && (tokens_[i].is("(") || tokens_[i].is("[") || tokens_[i].is("{"))) {
                i = std::min(matchingBracket(tokens_, i), end - 1);
                continue;
            }
            if (i < end && !tokens_[i].is(","))
                continue;
            auto parsed = Parser(tokens_, start, i, depth_).run();
            into.children.push_back(parsed ? std::move(*parsed) : Expression{});
            start = i + 1;
        }
    }

    std::optional<Expression> primary() {
        if (position_ >= end_)
            return std::nullopt;
        const auto& token = tokens_[position_];
        if (token.kind == TokenKind::Number) {
            ++position_;
            const auto value = numberOf(token.text);
            return value ? std::optional(Expression{ExpressionKind::Number, {}, *value, {}})
                         : std::nullopt;
        }
        if (token.is("(")) {
            const auto close = matchingBracket(tokens_, position_);
            if (close >= end_)
                return std::nullopt;
            auto inner = Parser(tokens_, position_ + 1, close, depth_).run();
            position_ = close + 1;
            return inner;
        }
        if (token.is("{")) {
            const auto close = matchingBracket(tokens_, position_);
            if (close >= end_)
                return std::nullopt;
            Expression result{ExpressionKind::List, {}, {}, {}};
            list(position_ + 1, close, result);
            position_ = close + 1;
            return result;
        }
        if (token.kind == TokenKind::String || token.kind == TokenKind::Character) {
            ++position_;
            return Expression{};
        }
        return token.isIdentifier() || token.is("::") ? name() : std::nullopt;
    }

    std::optional<Expression> name() {
        if (tokens_[position_].text.ends_with("_cast") && position_ + 1 < end_ &&
            tokens_[position_ + 1].is("<"))
            return namedCast();
        Expression result{ExpressionKind::Name, {}, {}, {}};
        while (position_ < end_ && (tokens_[position_].isIdentifier() || at("::"))) {
            if (!result.text.empty() && tokens_[position_].isIdentifier() &&
                !tokens_[position_ - 1].is("::"))
                break;
            result.text += tokens_[position_++].text;
            if (at("<")) { // template arguments, if a call or a scope follows them
                const auto close = matchingAngle(tokens_, position_);
                if (close != position_ && close + 1 < end_ &&
                    (tokens_[close + 1].is("(") || tokens_[close + 1].is("::") ||
                     tokens_[close + 1].is("{")))
                    position_ = close + 1;
            }
        }
        if (at("{") && !result.text.empty()) { // dim3{1, 2}
            auto arguments = primary();
            if (!arguments)
                return std::nullopt;
            Expression call{ExpressionKind::Call, result.text, {}, {}};
            call.children.push_back(std::move(result));
            std::ranges::move(arguments->children, std::back_inserter(call.children));
            return call;
        }
        return result.text.empty() ? std::nullopt : std::optional(std::move(result));
    }

    std::optional<Expression> namedCast() {
        const auto angle = matchingAngle(tokens_, position_ + 1);
        if (angle + 1 >= end_ || !tokens_[angle + 1].is("("))
            return std::nullopt;
        const auto close = matchingBracket(tokens_, angle + 1);
        if (close >= end_)
            return std::nullopt;
        Expression result{ExpressionKind::Cast, textOf(position_ + 2, angle), {}, {}};
        auto operand = Parser(tokens_, angle + 2, close, depth_).run();
        if (!operand)
            return std::nullopt;
        result.children.push_back(std::move(*operand));
        position_ = close + 1;
        return result;
    }

    const std::vector<Token>& tokens_;
    std::size_t position_;
    std::size_t end_;
    int depth_;
};

} // namespace

std::optional<Expression> parseExpression(const std::vector<Token>& tokens, std::size_t begin,
                                          std::size_t end) {
    return Parser(tokens, begin, end, 0).run();
}

std::optional<Expression> parseExpression(std::string_view text) {
    const auto tokens = lex(text);
    return parseExpression(tokens, 0, tokens.size());
}

} // namespace kernelskill::analysis
