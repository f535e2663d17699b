#include "analysis/scan/constant_text.h"

#include "analysis/scan/expression.h"
#include "analysis/scan/macros.h"
#include "analysis/syntax/lexer.h"

#include <algorithm>

namespace kernelskill::analysis {

namespace {

/// The macros and constants of a text; the text is read when the first name is asked for.
class ConstantNames : public Names {
public:
    explicit ConstantNames(std::string_view text) : text_(text) {}

    [[nodiscard]] std::optional<std::int64_t> valueOf(std::string_view expression) const {
        constexpr int maxDefinitions = 16; // also ends a cycle
        constexpr int maxSteps = 1000;     // each definition may use the next one twice
        if (depth_ >= maxDefinitions || ++steps_ > maxSteps)
            return std::nullopt;
        const auto parsed = parseExpression(expression);
        if (!parsed)
            return std::nullopt;
        ++depth_;
        const auto value = evaluate(*parsed, *this);
        --depth_;
        return value && !value->isFloating ? std::optional(value->integer) : std::nullopt;
    }

    [[nodiscard]] std::optional<Value> name(const std::string& name) const override {
        const auto definition = definitionOf(lastName(name));
        const auto value = definition ? valueOf(*definition) : std::nullopt;
        return value ? std::optional(Value::of(*value)) : std::nullopt;
    }
    [[nodiscard]] std::optional<Value> member(const Expression& /*object*/,
                                              const std::string& /*member*/) const override {
        return std::nullopt;
    }
    [[nodiscard]] std::optional<Value> call(const Expression& /*call*/) const override {
        return std::nullopt;
    }
    [[nodiscard]] std::optional<std::int64_t> sizeOf(const std::string& type) const override {
        return sizeOfBuiltin(type);
    }

private:
    [[nodiscard]] std::optional<std::string_view> definitionOf(std::string_view name) const {
        if (tokens_.empty()) {
            tokens_ = lex(text_);
            macros_.addDefinitionsOf(tokens_);
        }
        if (const Macro* macro = macros_.find(name))
            return macro->isFunctionLike ? std::nullopt
                                         : std::optional<std::string_view>(macro->body);
        for (std::size_t i = 0; i + 1 < tokens_.size(); ++i) {
            if (!tokens_[i].is(name) || !tokens_[i + 1].is("="))
                continue;
            const auto end = std::ranges::find_if(
                tokens_.begin() + static_cast<std::ptrdiff_t>(i), tokens_.end(),
                [](const Token& token) { return token.is(";") || token.is(","); });
            if (end != tokens_.end())
                return text_.substr(tokens_[i + 1].span.end,
                                    end->span.begin - tokens_[i + 1].span.end);
        }
        return std::nullopt;
    }

    std::string_view text_;
    mutable std::vector<Token> tokens_;
    mutable MacroTable macros_;
    mutable int depth_ = 0;
    mutable int steps_ = 0;
};

} // namespace

std::vector<std::optional<std::int64_t>> evaluateConstantList(std::string_view list,
                                                              std::string_view text) {
    std::vector<std::optional<std::int64_t>> values;
    const ConstantNames names(text);
    int depth = 0;
    std::uint32_t begin = 0;
    const auto finish = [&](std::uint32_t end) {
        values.push_back(names.valueOf(list.substr(begin, end - begin)));
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
