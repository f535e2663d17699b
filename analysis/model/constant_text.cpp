#include "analysis/model/integer_arithmetic.h"
#include "analysis/model/kernel_facts.h"
#include "analysis/syntax/lexer.h"

#include <algorithm>
#include <cstdlib>

namespace kernelskill::analysis {

namespace {

constexpr int maximumDepth = 16;

/// Evaluates tokens by precedence climbing; nullopt if something is not a constant.
class Evaluator {
public:
    Evaluator(std::string_view expression, std::string_view text, int depth)
        : tokens_(lex(expression)), text_(text), depth_(depth) {}

    std::optional<std::int64_t> run() {
        const std::optional<std::int64_t> value = binary(0);
        return next_ == tokens_.size() ? value : std::nullopt;
    }

private:
    static int precedence(std::string_view op) {
        if (op == "|")
            return 1;
        if (op == "&")
            return 2;
        if (op == "<<" || op == ">>")
            return 3;
        if (op == "+" || op == "-")
            return 4;
        if (op == "*" || op == "/" || op == "%")
            return 5;
        return 0;
    }

    std::optional<std::int64_t> binary(int minimum) {
        std::optional<std::int64_t> left = primary();
        while (left && next_ < tokens_.size()) {
            const std::string_view op = tokens_[next_].text;
            const int level = precedence(op);
            if (level == 0 || level <= minimum)
                break;
            ++next_;
            const std::optional<std::int64_t> right = binary(level);
            left = right ? integerResult(op, *left, *right) : std::nullopt;
        }
        return left;
    }

    std::optional<std::int64_t> primary() {
        if (next_ >= tokens_.size())
            return std::nullopt;
        const Token token = tokens_[next_++];
        if (token.text == "(") {
            const std::optional<std::int64_t> value = binary(0);
            if (next_ >= tokens_.size() || tokens_[next_].text != ")")
                return std::nullopt;
            ++next_;
            return value;
        }
        if (token.text == "-") {
            const std::optional<std::int64_t> value = primary();
            return value ? std::optional(-*value) : std::nullopt;
        }
        if (token.kind == TokenKind::Number && token.text.find('.') == std::string_view::npos)
            return std::strtoll(std::string(token.text).c_str(), nullptr, 0);
        if (token.kind == TokenKind::Identifier)
            return named(token.text);
        return std::nullopt;
    }

    [[nodiscard]] std::optional<std::int64_t> named(std::string_view name) const {
        if (depth_ >= maximumDepth)
            return std::nullopt;
        const std::vector<Token> tokens = lex(text_);
        for (std::size_t i = 0; i < tokens.size(); ++i) {
            std::string_view value;
            if (tokens[i].kind == TokenKind::Directive) {
                const std::vector<Token> words = lex(tokens[i].text, {1, tokens[i].span.size()});
                if (words.size() > 2 && words[0].text == "define" && words[1].text == name)
                    value = tokens[i].text.substr(words[2].span.begin);
            } else if (tokens[i].text == name && i + 1 < tokens.size() &&
                       tokens[i + 1].text == "=") {
                const auto end = std::ranges::find_if(
                    tokens.begin() + static_cast<std::ptrdiff_t>(i), tokens.end(),
                    [](const Token& token) { return token.text == ";" || token.text == ","; });
                if (end != tokens.end())
                    value = text_.substr(tokens[i + 1].span.end,
                                         end->span.begin - tokens[i + 1].span.end);
            }
            if (!value.empty())
                return Evaluator(value, text_, depth_ + 1).run();
        }
        return std::nullopt;
    }

    std::vector<Token> tokens_;
    std::string_view text_;
    std::size_t next_ = 0;
    int depth_;
};

} // namespace

std::vector<std::optional<std::int64_t>> evaluateConstantList(std::string_view list,
                                                              std::string_view text) {
    std::vector<std::optional<std::int64_t>> values;
    int depth = 0;
    std::uint32_t begin = 0;
    const auto finish = [&](std::uint32_t end) {
        values.push_back(Evaluator(list.substr(begin, end - begin), text, 0).run());
        begin = end + 1;
    };
    for (const Token& token : lex(list)) {
        if (token.text == "(")
            ++depth;
        else if (token.text == ")")
            --depth;
        else if (token.text == "," && depth == 0)
            finish(token.span.begin);
    }
    finish(static_cast<std::uint32_t>(list.size()));
    return values;
}

} // namespace kernelskill::analysis
