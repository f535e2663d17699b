#include "engine/inputs/pin_syntax.h"

#include "analysis/syntax/lexer.h"

#include <algorithm>

namespace kernelskill::engine {

using analysis::Expression;
using analysis::Names;
using analysis::Token;
using analysis::Value;

namespace {

using Tokens = std::vector<Token>;

class PinParser {
public:
    explicit PinParser(std::string_view text) : text_(text), tokens_(analysis::lex(text)) {}

    Result<ParsedPin> run() {
        if (position_ >= tokens_.size() || !tokens_[position_].is("launch"))
            return fail("expected 'launch' behind 'kernelskill:'");
        ++position_;
        if (auto problem = name())
            return fail(*problem);
        if (auto problem = configuration())
            return fail(*problem);
        if (auto problem = arguments())
            return fail(*problem);
        return std::move(pin_);
    }

private:
    using Problem = std::optional<std::string>;

    static std::unexpected<Error> fail(std::string what) {
        return std::unexpected(Error{ErrorKind::InvalidInput,
                                     std::move(what),
                                     {},
                                     "write it as: // " + std::string(pinForm)});
    }

    [[nodiscard]] bool at(std::string_view spelling) const {
        return position_ < tokens_.size() && tokens_[position_].is(spelling);
    }

    std::string textOf(std::size_t begin, std::size_t end) const {
        if (begin >= end)
            return {};
        return std::string(text_.substr(tokens_[begin].span.begin,
                                        tokens_[end - 1].span.end - tokens_[begin].span.begin));
    }

    Problem name() {
        while (position_ < tokens_.size() && (tokens_[position_].isIdentifier() || at("::")))
            pin_.kernel += tokens_[position_++].text;
        if (pin_.kernel.empty())
            return "expected the kernel's name behind 'launch'";
        if (!at("<"))
            return std::nullopt;
        const auto open = position_;
        int depth = 0;
        for (; position_ < tokens_.size(); ++position_) {
            depth += at("<") ? 1 : at(">") ? -1 : 0;
            if (depth == 0)
                break;
        }
        if (position_ >= tokens_.size())
            return "the template arguments of '" + pin_.kernel + "' are not closed";
        for (const auto& [begin, end] : list(open + 1, position_))
            pin_.templateArguments.push_back(textOf(begin, end));
        ++position_;
        return std::nullopt;
    }

    Problem configuration() {
        if (!at("<<<"))
            return "expected '<<<' behind '" + pin_.kernel + "'";
        const auto open = position_;
        while (position_ < tokens_.size() && !at(">>>"))
            ++position_;
        if (position_ >= tokens_.size())
            return "the launch configuration is not closed with '>>>'";
        const auto parts = list(open + 1, position_);
        ++position_;
        if (parts.size() < 2 || parts.size() > 4)
            return "the launch configuration needs a grid and a block";
        if (auto problem = dimensions(parts[0], "grid", pin_.grid))
            return problem;
        if (auto problem = dimensions(parts[1], "block", pin_.block))
            return problem;
        if (parts.size() > 2) {
            pin_.sharedBytes = parseExpression(tokens_, parts[2].first, parts[2].second);
            if (!pin_.sharedBytes)
                return "the shared memory size '" + textOf(parts[2].first, parts[2].second) +
                       "' is no expression";
        }
        return std::nullopt;
    }

    Problem dimensions(std::pair<std::size_t, std::size_t> range, std::string_view what,
                       std::vector<Expression>& into) {
        auto [begin, end] = range;
        if (begin < end && tokens_[begin].is("dim3"))
            ++begin;
        const bool tuple = begin < end && (tokens_[begin].is("(") || tokens_[begin].is("{")) &&
                           matchingBracket(tokens_, begin) + 1 == end;
        const auto parts = tuple ? list(begin + 1, end - 1) : list(begin, end);
        for (const auto& [from, to] : parts) {
            auto expression = parseExpression(tokens_, from, to);
            if (!expression)
                return "the " + std::string(what) + " '" + textOf(range.first, range.second) +
                       "' is no expression";
            into.push_back(std::move(*expression));
        }
        if (into.empty() || into.size() > 3)
            return "the " + std::string(what) + " needs one to three extents";
        return std::nullopt;
    }

    std::vector<std::pair<std::size_t, std::size_t>> list(std::size_t begin,
                                                          std::size_t end) const {
        std::vector<std::pair<std::size_t, std::size_t>> result;
        auto start = begin;
        for (auto i = begin; i <= end; ++i) {
            if (i < end && (tokens_[i].is("(") || tokens_[i].is("[") || tokens_[i].is("{"))) {
                i = std::min(matchingBracket(tokens_, i), end - 1);
            } else if (i == end || tokens_[i].is(",")) {
                if (start < i)
                    result.emplace_back(start, i);
                start = i + 1;
            }
        }
        return result;
    }

    Problem arguments() {
        if (!at("("))
            return "expected '(' with the arguments behind '>>>'";
        const auto close = matchingBracket(tokens_, position_);
        if (close >= tokens_.size())
            return "the arguments are not closed with ')'";
        for (const auto& [begin, end] : list(position_ + 1, close)) {
            if (end < begin + 3 || !tokens_[begin].isIdentifier() || !tokens_[begin + 1].is("="))
                return "expected 'parameter=value' instead of '" + textOf(begin, end) + "'";
            if (auto problem = argument(begin, end))
                return problem;
        }
        return std::nullopt;
    }

    Problem argument(std::size_t begin, std::size_t end) {
        PinnedArgument result;
        result.parameter = tokens_[begin].text;
        const auto first = begin + 2;
        const auto& word = tokens_[first];
        const bool named = word.is("rand") || word.is("zero") || word.is("iota");
        const bool sized = end > first + 1 && tokens_[end - 1].is("]");
        if (!named && !sized) {
            result.value = parseExpression(tokens_, first, end);
            if (!result.value)
                return "'" + textOf(first, end) +
                       "' is neither an expression nor rand[..], zero[..], iota[..]";
            pin_.arguments.push_back(std::move(result));
            return std::nullopt;
        }
        auto open = first + 1;
        if (named) {
            result.fill = word.is("rand")   ? Fill::Random
                          : word.is("zero") ? Fill::Zero
                                            : Fill::Iota;
        } else {
            while (open < end && !tokens_[open].is("["))
                ++open;
            const auto constant = parseExpression(tokens_, first, open);
            struct NoNames : Names {
                std::optional<Value> name(const std::string&) const override {
                    return std::nullopt;
                }
                std::optional<Value> member(const Expression&, const std::string&) const override {
                    return std::nullopt;
                }
                std::optional<Value> call(const Expression&) const override { return std::nullopt; }
                std::optional<std::int64_t> sizeOf(const std::string&) const override {
                    return std::nullopt;
                }
            };
            const auto number = constant ? evaluate(*constant, NoNames{}) : std::nullopt;
            if (!number)
                return "'" + textOf(first, open) + "' is no fill: use rand, zero, iota or a number";
            result.fill = Fill::Constant;
            result.constant = number->asDouble();
        }
        if (open < end) {
            if (!tokens_[open].is("[") || matchingBracket(tokens_, open) + 1 != end)
                return "'" + textOf(first, end) + "' is no buffer: write rand[elements]";
            if (auto problem = extent(open, end - 1, result))
                return problem;
        }
        pin_.arguments.push_back(std::move(result));
        return std::nullopt;
    }

    /// elements[, 0..range]
    Problem extent(std::size_t open, std::size_t close, PinnedArgument& result) {
        const auto parts = list(open + 1, close);
        if (parts.empty() || parts.size() > 2)
            return "'" + textOf(open, close + 1) +
                   "' needs the number of elements, and at most a range 0..k";
        result.elements = parseExpression(tokens_, parts[0].first, parts[0].second);
        if (!result.elements)
            return "the number of elements '" + textOf(parts[0].first, parts[0].second) +
                   "' is no expression";
        if (parts.size() == 1)
            return std::nullopt;
        const auto text = textOf(parts[1].first, parts[1].second);
        const auto dots = text.find("..");
        const auto low = text.substr(0, dots);
        if (dots == std::string::npos || low.find_first_not_of("0 ") != std::string::npos ||
            low.empty())
            return "the range '" + text + "' must read 0..k";
        result.range = analysis::parseExpression(text.substr(dots + 2));
        if (!result.range)
            return "the end of the range '" + text + "' is no expression";
        return std::nullopt;
    }

    std::string_view text_;
    Tokens tokens_;
    std::size_t position_ = 0;
    ParsedPin pin_;
};

} // namespace

Result<ParsedPin> parsePin(std::string_view text) {
    return PinParser(text).run();
}

} // namespace kernelskill::engine
