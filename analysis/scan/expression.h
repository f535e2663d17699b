/// Arithmetic as written in pins and around launches: parsed from tokens, then evaluated with the
/// values that names have.
#pragma once

#include "analysis/syntax/lexer.h"

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kernelskill::analysis {

/// The part of a name behind its last `::`.
[[nodiscard]] inline std::string lastName(const std::string& qualified) {
    const auto scope = qualified.rfind("::");
    return scope == std::string::npos ? qualified : qualified.substr(scope + 2);
}

/// An integer or a floating-point number, with C's rules for mixing them.
struct Value {
    bool isFloating = false;
    std::int64_t integer = 0;
    double floating = 0;

    static Value of(std::int64_t value) { return {false, value, static_cast<double>(value)}; }
    static Value of(double value) { return {true, truncated(value), value}; }
    [[nodiscard]] double asDouble() const {
        return isFloating ? floating : static_cast<double>(integer);
    }
    [[nodiscard]] std::int64_t asInteger() const {
        return isFloating ? truncated(floating) : integer;
    }
    /// The nearest integer towards zero that there is; 0 for NaN.
    [[nodiscard]] static std::int64_t truncated(double value) {
        constexpr double end = 9223372036854775808.0; // 2^63
        if (!(value > -end && value < end))
            return value > 0   ? std::numeric_limits<std::int64_t>::max()
                   : value < 0 ? std::numeric_limits<std::int64_t>::min()
                               : 0;
        return static_cast<std::int64_t>(value);
    }
};

enum class ExpressionKind : std::uint8_t {
    Number,
    Name,   ///< text: possibly qualified
    Member, ///< children[0] . text (or ->)
    Call,   ///< children[0] is the callee, the rest the arguments; text: the callee's last name
    Subscript,
    Unary,
    Binary,
    Conditional,
    Cast,   ///< text: the type
    SizeOf, ///< text: what stands in the parentheses
    List,   ///< { a, b }
    Opaque, ///< strings, lambdas, new: no value
};

struct Expression {
    ExpressionKind kind = ExpressionKind::Opaque;
    std::string text; ///< Operator, name or type.
    Value value;      ///< The value of a Number.
    std::vector<Expression> children;
};

/// The expression that the tokens [begin, end) form; nullopt when they form none.
[[nodiscard]] std::optional<Expression> parseExpression(const std::vector<Token>& tokens,
                                                        std::size_t begin, std::size_t end);
[[nodiscard]] std::optional<Expression> parseExpression(std::string_view text);

/// Gives names and calls their values.
class Names {
public:
    virtual ~Names() = default;
    [[nodiscard]] virtual std::optional<Value> name(const std::string& name) const = 0;
    [[nodiscard]] virtual std::optional<Value> member(const Expression& object,
                                                      const std::string& member) const = 0;
    /// A call of anything but the functions that `evaluate` knows (min, max, ceil, …).
    [[nodiscard]] virtual std::optional<Value> call(const Expression& call) const = 0;
    [[nodiscard]] virtual std::optional<std::int64_t> sizeOf(const std::string& type) const = 0;
    /// True if a conditional whose condition is not known has the value of the branch that is.
    [[nodiscard]] virtual bool takesKnownBranch() const { return false; }
};

[[nodiscard]] std::optional<Value> evaluate(const Expression& expression, const Names& names);

/// Bytes of a builtin type or CUDA vector type as spelled ("unsigned int", "float4", any pointer).
[[nodiscard]] std::optional<std::int64_t> sizeOfBuiltin(std::string_view type);

} // namespace kernelskill::analysis
