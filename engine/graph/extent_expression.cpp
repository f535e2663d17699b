#include "engine/graph/extent_expression.h"

#include "analysis/source/try.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <utility>

namespace kernelskill::engine::graph {
namespace {

using Kind = ExtentExpression::Kind;

constexpr std::size_t maxTextBytes = 4096;
constexpr std::size_t maxDepth = 64;
/// The max number of operators in a chain: each of `a//b//c` is a level of the tree.
constexpr std::size_t maxChained = 512;

ExtentExpression integer(std::int64_t value) {
    return {.kind = Kind::Integer, .integer = value, .symbol = {}, .operands = {}};
}

ExtentExpression operation(Kind kind, std::vector<ExtentExpression> operands) {
    return {.kind = kind, .integer = 0, .symbol = {}, .operands = std::move(operands)};
}

ExtentExpression binary(Kind kind, ExtentExpression left, ExtentExpression right) {
    std::vector<ExtentExpression> operands;
    operands.push_back(std::move(left));
    operands.push_back(std::move(right));
    return operation(kind, std::move(operands));
}

/// Functions of sympy and of torch.utils._sympy, and how many operands they have; 0: any number.
struct Function {
    std::string_view name;
    Kind kind;
    std::size_t operands;
};
constexpr std::array functions = {
    Function{"Add", Kind::Sum, 0},
    Function{"Mul", Kind::Product, 0},
    Function{"Max", Kind::Max, 0},
    Function{"max", Kind::Max, 0},
    Function{"Min", Kind::Min, 0},
    Function{"min", Kind::Min, 0},
    Function{"Rational", Kind::Quotient, 2},
    Function{"CleanDiv", Kind::Quotient, 2},
    Function{"IntTrueDiv", Kind::Quotient, 2},
    Function{"FloorDiv", Kind::FloorDivide, 2},
    Function{"CeilDiv", Kind::CeilDivide, 2},
    Function{"ceildiv", Kind::CeilDivide, 2},
    Function{"Mod", Kind::Modulo, 2},
    Function{"PythonMod", Kind::Modulo, 2},
    Function{"Pow", Kind::Power, 2},
    Function{"PowByNatural", Kind::Power, 2},
};

class Parser {
public:
    Parser(std::string_view text, const std::string& where) : text_(text), where_(where) {}

    Result<ExtentExpression> parse() {
        if (text_.size() > maxTextBytes)
            return malformed(fmt::format("has more than {} bytes", maxTextBytes));
        KERNELSKILL_TRY(ExtentExpression expression, sum());
        skipBlanks();
        if (at_ != text_.size())
            return unexpected();
        return expression;
    }

private:
    /// Counts levels of nesting while it lives.
    struct Level {
        explicit Level(std::size_t& depth) : depth_(depth) { ++depth_; }
        Level(const Level&) = delete;
        Level& operator=(const Level&) = delete;
        ~Level() { --depth_; }
        std::size_t& depth_;
    };

    Result<ExtentExpression> sum() {
        const Level level(depth_);
        if (depth_ > maxDepth)
            return malformed(fmt::format("is nested more than {} levels deep", maxDepth));
        std::vector<ExtentExpression> terms;
        bool isSubtracted = false;
        do {
            KERNELSKILL_TRY(ExtentExpression term, product());
            terms.push_back(isSubtracted ? binary(Kind::Product, integer(-1), std::move(term))
                                         : std::move(term));
            isSubtracted = takes("-");
        } while (isSubtracted || takes("+"));
        return terms.size() == 1 ? std::move(terms.front())
                                 : operation(Kind::Sum, std::move(terms));
    }

    Result<ExtentExpression> product() {
        KERNELSKILL_TRY(ExtentExpression left, factor());
        while (true) {
            Kind kind = Kind::Product;
            if (takes("//"))
                kind = Kind::FloorDivide;
            else if (takes("/"))
                kind = Kind::Quotient;
            else if (takes("%"))
                kind = Kind::Modulo;
            else if (!takes("*"))
                return left;
            KERNELSKILL_TRY(ExtentExpression right, factor());
            if (kind == Kind::Product && left.kind == Kind::Product)
                left.operands.push_back(std::move(right));
            else
                left = binary(kind, std::move(left), std::move(right));
            if (++chained_ > maxChained)
                return malformed(fmt::format("has more than {} operators", maxChained));
        }
    }

    Result<ExtentExpression> factor() {
        bool isNegative = false;
        while (takes("-"))
            isNegative = !isNegative;
        KERNELSKILL_TRY(ExtentExpression base, atom());
        if (takes("**")) {
            KERNELSKILL_TRY(ExtentExpression exponent, atom());
            base = binary(Kind::Power, std::move(base), std::move(exponent));
        }
        if (!isNegative)
            return base;
        if (base.kind == Kind::Integer)
            return integer(-base.integer);
        return binary(Kind::Product, integer(-1), std::move(base));
    }

    Result<ExtentExpression> atom() {
        skipBlanks();
        if (takes("(")) {
            KERNELSKILL_TRY(ExtentExpression inner, sum());
            KERNELSKILL_CHECK(require(")"));
            return inner;
        }
        if (at_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_])) != 0) {
            std::int64_t value = 0;
            const auto [end, error] =
                std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
            if (error != std::errc{})
                return malformed("has a number of more than 63 bits");
            at_ = static_cast<std::size_t>(end - text_.data());
            return integer(value);
        }
        const std::string_view name = word();
        if (name.empty())
            return unexpected();
        if (!takes("("))
            return symbol(name);
        // Functions may be qualified: "torch.utils._sympy.functions.FloorDiv".
        return call(name.substr(name.rfind('.') + 1));
    }

    Result<ExtentExpression> symbol(std::string_view name) const {
        if (name.find('.') != std::string_view::npos || name.empty())
            return malformed(fmt::format("has a symbol named '{}'", name));
        return ExtentExpression{
            .kind = Kind::Symbol, .integer = 0, .symbol = std::string(name), .operands = {}};
    }

    Result<ExtentExpression> call(std::string_view name) {
        if (name == "Symbol")
            return quotedSymbol();
        std::vector<ExtentExpression> operands;
        if (!takes(")")) {
            do {
                KERNELSKILL_TRY(ExtentExpression operand, sum());
                operands.push_back(std::move(operand));
            } while (takes(","));
            KERNELSKILL_CHECK(require(")"));
        }
        if (operands.empty())
            return malformed(fmt::format("gives '{}' no operands", name));
        if ((name == "Integer" || name == "Identity") && operands.size() == 1)
            return std::move(operands.front());
        if ((name == "floor" || name == "FloorToInt") && operands.size() == 1)
            return binary(Kind::FloorDivide, std::move(operands.front()), integer(1));
        if ((name == "ceiling" || name == "CeilToInt") && operands.size() == 1)
            return binary(Kind::CeilDivide, std::move(operands.front()), integer(1));
        if (name == "ModularIndexing" && operands.size() == 3)
            return binary(Kind::Modulo,
                          binary(Kind::FloorDivide, std::move(operands[0]), std::move(operands[1])),
                          std::move(operands[2]));
        const auto* const known = std::ranges::find(functions, name, &Function::name);
        if (known == functions.end())
            return malformed(fmt::format("has the function '{}', which is not understood", name));
        if (known->operands != 0 && known->operands != operands.size())
            return malformed(fmt::format("gives '{}' {} operands", name, operands.size()));
        if (operands.size() == 1)
            return std::move(operands.front());
        return operation(known->kind, std::move(operands));
    }

    /// "'s77', positive=True, integer=True)"; the assumptions are dropped.
    Result<ExtentExpression> quotedSymbol() {
        skipBlanks();
        const char quote = at_ < text_.size() ? text_[at_] : '\0';
        if (quote != '\'' && quote != '"')
            return unexpected();
        ++at_;
        const std::string_view name = word();
        KERNELSKILL_CHECK(require(std::string_view(&quote, 1)));
        while (takes(",")) {
            word();
            KERNELSKILL_CHECK(require("="));
            word();
        }
        KERNELSKILL_CHECK(require(")"));
        return symbol(name);
    }

    void skipBlanks() {
        while (at_ < text_.size() && text_[at_] == ' ')
            ++at_;
    }

    std::string_view word() {
        skipBlanks();
        const std::size_t begin = at_;
        while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 ||
                                      text_[at_] == '_' || text_[at_] == '.'))
            ++at_;
        return text_.substr(begin, at_ - begin);
    }

    bool takes(std::string_view token) {
        skipBlanks();
        if (!text_.substr(at_).starts_with(token))
            return false;
        // The first character of `**` and of `//` is an operator, too.
        if ((token == "*" || token == "/") && text_.substr(at_ + 1).starts_with(token))
            return false;
        at_ += token.size();
        return true;
    }

    Result<void> require(std::string_view token) {
        if (!takes(token))
            return unexpected();
        return {};
    }

    std::unexpected<Error> unexpected() const {
        return malformed(fmt::format("cannot be read from byte {} on", at_));
    }

    std::unexpected<Error> malformed(const std::string& what) const {
        constexpr std::size_t shown = 80;
        return std::unexpected(Error{ErrorKind::InvalidInput,
                                     fmt::format("the extent '{}{}' {}", text_.substr(0, shown),
                                                 text_.size() > shown ? "..." : "", what),
                                     where_, "export the program with this dimension static"});
    }

    std::string_view text_;
    const std::string& where_;
    std::size_t at_ = 0;
    std::size_t depth_ = 0;
    std::size_t chained_ = 0;
};

} // namespace

Result<ExtentExpression> parseExtent(std::string_view text, const std::string& where) {
    return Parser(text, where).parse();
}

} // namespace kernelskill::engine::graph
