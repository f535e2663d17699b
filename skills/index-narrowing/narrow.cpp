#include "skills/index-narrowing/narrow.h"

#include "analysis/queries/value_range.h"
#include "analysis/queries/value_spelling.h"
#include "skills/base/gates.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace kernelskill::skills {

using namespace analysis;

namespace {

bool isOneInteger(const Type& type) {
    return type.pointerDepth == 0 && type.lanes == 1 && type.arrayExtents.empty() &&
           type.scalar >= ScalarKind::Bool && type.scalar <= ScalarKind::UInt64;
}

bool isWideInteger(const Type& type) {
    return isOneInteger(type) &&
           (type.scalar == ScalarKind::Int64 || type.scalar == ScalarKind::UInt64);
}

bool dividesOrRemains(std::string_view op) {
    return op == "/" || op == "%" || op == "/=" || op == "%=";
}

class DivisionFinder {
public:
    explicit DivisionFinder(const SkillContext& context)
        : context_(context), code_(context.code()), body_(code_.body()) {}

    Gated<WideDivisions> find() {
        for (ExprId id = 0; id < body_.exprs.size(); ++id)
            if (code_.statement(id) != noId && isCostly(body_.expr(id)))
                consider(id);
        if (found_.all.empty() && refusal_)
            return std::unexpected(*std::move(refusal_));
        if (found_.all.empty())
            return refuse("no-wide-division",
                          fmt::format("{} divides no integer of 64 bits by what the compiler does "
                                      "not know",
                                      context_.kernel.name));
        std::ranges::sort(found_.all, {}, [&](const WideDivision& division) {
            return body_.expr(division.division).span;
        });
        found_.pairs = static_cast<int>(pairs_.size());
        return std::move(found_);
    }

private:
    [[nodiscard]] std::uint32_t line(ExprId expr) const {
        return lineNumber(context_, body_.expr(expr).span.begin);
    }

    /// Whether it divides 64 bits by no constant: by constants the compiler multiplies and shifts.
    [[nodiscard]] bool isCostly(const Expr& expr) const {
        return expr.kind == ExprKind::Binary && expr.children.size() == 2 &&
               dividesOrRemains(expr.op) && isOneInteger(body_.expr(expr.children[0]).type) &&
               isOneInteger(body_.expr(expr.children[1]).type) &&
               (isWideInteger(body_.expr(expr.children[0]).type) ||
                isWideInteger(body_.expr(expr.children[1]).type)) &&
               !code_.constantValue(expr.children[1]) &&
               (!expr.op.ends_with('=') || body_.expr(expr.children[0]).kind == ExprKind::Variable);
    }

    void consider(ExprId id) {
        const Expr& expr = body_.expr(id);
        const ExprId a = expr.children[0];
        const ExprId b = expr.children[1];
        if (expr.fromMacro) {
            keep("from-macro",
                 fmt::format("the division on line {} comes out of a macro", line(id)));
            return;
        }
        const auto dividend = valueRangeOf(context_.kernel, code_, a);
        const auto divisor = valueRangeOf(context_.kernel, code_, b);
        const bool isSignedOp = isSigned(body_.expr(a).type) && isSigned(body_.expr(b).type);
        // The smallest number by -1 is the one quotient of 32 bits that overflows.
        const bool fitsSigned = !isUnsignedInt(a) && !isUnsignedInt(b) &&
                                fits(dividend, smallestInt + 1, largestInt) &&
                                fits(divisor, smallestInt, largestInt);
        // A negative divisor without sign is larger than any dividend that is an int, either way.
        const bool fitsUnsigned =
            (fits(dividend, 0, largestUnsigned) && fits(divisor, 0, largestUnsigned)) ||
            (!isSignedOp && fits(dividend, 0, largestInt) &&
             fits(divisor, smallestInt, largestInt));
        if (!fitsUnsigned && !(isSignedOp && fitsSigned)) {
            const ExprId wide = fits(dividend, smallestInt, largestUnsigned) ? b : a;
            keep("unknown-extent",
                 fmt::format("nothing in the kernel shows that {} on line {} fits 32 bits",
                             textOf(wide), line(id)));
            return;
        }
        found_.all.push_back({id, fitsUnsigned});
        pairs_.emplace(textOf(a), textOf(b));
        for (StmtId at = code_.statement(id); at != noId && found_.loop == noId;
             at = body_.stmt(at).parent)
            if (std::ranges::any_of(context_.kernel.loops, [&](const Loop& loop) {
                    return loop.statement == at && !isOverGrid(loop);
                }))
                found_.loop = at;
    }

    /// Whether it goes over the grid: such a loop may have one round.
    [[nodiscard]] bool isOverGrid(const Loop& loop) const {
        if (!loop.stepExpression)
            return false;
        return std::ranges::any_of(loop.stepExpression->terms(), [](const auto& term) {
            return std::ranges::any_of(term.first, [](const Symbol& symbol) {
                return symbol.kind == SymbolKind::GridDim;
            });
        });
    }

    [[nodiscard]] bool isUnsignedInt(ExprId expr) const {
        return body_.expr(expr).type.scalar == ScalarKind::UInt32;
    }
    [[nodiscard]] static bool isSigned(const Type& type) {
        return type.scalar != ScalarKind::UInt64;
    }

    [[nodiscard]] static bool fits(const std::optional<ValueRange>& range, std::int64_t low,
                                   std::int64_t high) {
        return range && range->low >= low && range->high <= high;
    }

    [[nodiscard]] std::string textOf(ExprId expr) const {
        return std::string(context_.file.source->slice(body_.expr(expr).span));
    }

    void keep(std::string gate, std::string reason) {
        if (!refusal_)
            refusal_ = Refusal{std::move(gate), std::move(reason)};
    }

    static constexpr std::int64_t largestInt = std::numeric_limits<std::int32_t>::max();
    static constexpr std::int64_t smallestInt = -largestInt - 1;
    static constexpr std::int64_t largestUnsigned = std::numeric_limits<std::uint32_t>::max();

    const SkillContext& context_;
    const CodeMap& code_;
    const FunctionBody& body_;
    WideDivisions found_;
    std::set<std::pair<std::string, std::string>> pairs_;
    std::optional<Refusal> refusal_;
};

class NarrowWriter {
public:
    NarrowWriter(Draft& draft, const SkillContext& context, const WideDivisions& divisions)
        : draft_(draft), code_(context.code()), body_(code_.body()), source_(*context.file.source),
          divisions_(divisions) {}

    void write() {
        std::vector<WideDivision> all = divisions_.all;
        // What begins at the same place is written from the outside in.
        std::ranges::sort(all, {}, [&](const WideDivision& division) {
            const Span span = body_.expr(division.division).span;
            return std::pair(span.begin, -static_cast<std::int64_t>(span.end));
        });
        for (const WideDivision& division : all)
            write(division);
        for (const auto& [offset, text] : inserted_)
            draft_.replace({offset, offset}, text);
    }

private:
    void write(const WideDivision& division) {
        const Expr& expr = body_.expr(division.division);
        const std::string type = division.isUnsigned ? "unsigned" : "int";
        const ExprId left = expr.children[0];
        const ExprId right = expr.children[1];
        if (expr.op.ends_with('=')) {
            const std::string name(source_.slice(body_.expr(left).span));
            const std::string op = expr.op.substr(0, 1);
            draft_.replace({body_.expr(left).span.end, operatorEnd(left, right, expr.op)},
                           fmt::format(" = ({}){} {}", type, name, op));
        } else {
            if (needsWidth(division.division))
                convert(expr.span, true, valueSpelling(expr.type));
            cast(left, division.isUnsigned);
        }
        cast(right, division.isUnsigned);
    }

    [[nodiscard]] std::uint32_t operatorEnd(ExprId left, ExprId right,
                                            const std::string& op) const {
        const std::uint32_t from = body_.expr(left).span.end;
        const std::string_view between = source_.slice({from, body_.expr(right).span.begin});
        return from + static_cast<std::uint32_t>(between.find(op) + op.size());
    }

    [[nodiscard]] const WideDivision* narrowed(ExprId id) const {
        const auto found = std::ranges::find(divisions_.all, id, &WideDivision::division);
        return found == divisions_.all.end() ? nullptr : &*found;
    }

    /// Casts the operand to 32 bits unless it has them already.
    void cast(ExprId operand, bool isUnsigned) {
        const Expr& expr = body_.expr(operand);
        const WideDivision* own = narrowed(operand);
        if (!isWideInteger(expr.type) || (own != nullptr && own->isUnsigned == isUnsigned))
            return;
        const bool isOpen = expr.kind == ExprKind::Binary || expr.kind == ExprKind::Conditional;
        convert(expr.span, isOpen, isUnsigned ? "unsigned" : "int");
    }

    void convert(Span span, bool isOpen, const std::string& type) {
        const std::string_view text = source_.text();
        const bool isEnclosed = span.begin > 0 && text[span.begin - 1] == '(' &&
                                span.end < text.size() && text[span.end] == ')';
        if (isOpen && isEnclosed) {
            insert(span.begin - 1, fmt::format("({})", type));
        } else if (isOpen) {
            insert(span.begin, fmt::format("({})(", type));
            inserted_[span.end] = ")" + inserted_[span.end];
        } else {
            insert(span.begin, fmt::format("({})", type));
        }
    }

    void insert(std::uint32_t offset, const std::string& text) { inserted_[offset] += text; }

    /// Whether a narrow result would be computed with in 32 bits, where more may be needed.
    [[nodiscard]] bool needsWidth(ExprId division) const {
        const ExprId user = code_.parent(division);
        if (user == noId)
            return std::ranges::any_of(body_.variables, [&](const Variable& variable) {
                return variable.init == division &&
                       source_.slice(variable.declarationSpan).contains("auto ");
            });
        const Expr& expr = body_.expr(user);
        if (expr.kind == ExprKind::Unary || expr.kind == ExprKind::Call ||
            expr.kind == ExprKind::Conditional)
            return true;
        if (expr.kind != ExprKind::Binary || isAssignment(expr.op))
            return false;
        if (narrowed(user) != nullptr)
            return false;
        const ExprId other = expr.children[expr.children[0] == division ? 1 : 0];
        return isOneInteger(body_.expr(other).type) &&
               (!isWideInteger(body_.expr(other).type) || narrowed(other) != nullptr);
    }

    Draft& draft_;
    const CodeMap& code_;
    const FunctionBody& body_;
    const SourceText& source_;
    const WideDivisions& divisions_;
    std::map<std::uint32_t, std::string> inserted_;
};

} // namespace

Gated<WideDivisions> wideDivisions(const SkillContext& context) {
    return DivisionFinder(context).find();
}

void narrow(Draft& draft, const SkillContext& context, const WideDivisions& divisions) {
    NarrowWriter(draft, context, divisions).write();
}

} // namespace kernelskill::skills
