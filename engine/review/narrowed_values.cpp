#include "engine/review/narrowed_values.h"

#include "analysis/queries/code_map.h"
#include "analysis/queries/value_range.h"
#include "engine/review/integer_form.h"
#include "engine/review/kernel_code.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <set>
#include <string_view>

namespace kernelskill::engine {
namespace {

using analysis::Expr;
using analysis::ExprId;
using analysis::ExprKind;
using analysis::noId;
using analysis::ScalarKind;
using analysis::ValueRange;

constexpr int maxDefinitions = 16;
/// A smaller mask cuts values that runs reach.
constexpr std::int64_t minMask = 0xffff;
/// A float holds every integer up to 2^24.
constexpr unsigned floatBits = 24;

/// Bits of an integer, or of what a conversion to `int` keeps of a floating-point value or of a
/// template parameter's type; 0 for other types.
unsigned bitsOf(const analysis::Type& type) {
    if (const auto form = integerFormOf(type))
        return form->bits;
    const bool isOne = type.pointerDepth == 0 && type.lanes == 1 && type.arrayExtents.empty();
    const bool isFloating = type.scalar == ScalarKind::Float || type.scalar == ScalarKind::Double;
    return isOne && (isFloating || type.isDependent) ? 32 : 0;
}

bool fits(const std::optional<ValueRange>& range, IntegerForm form) {
    if (form.bits >= 64)
        return true;
    if (!range)
        return false;
    const std::int64_t values = std::int64_t{1} << form.bits;
    return form.isSigned ? range->low >= -values / 2 && range->high < values / 2
                         : range->low >= 0 && range->high < values;
}

bool isIncrement(std::string_view op) {
    return op == "++" || op == "--" || op == "p++" || op == "p--";
}

class Search {
public:
    explicit Search(const analysis::KernelModel& kernel)
        : kernel_(kernel), body_(kernel.body), code_(kernel.body) {}

    std::vector<std::pair<ExprId, unsigned>> sites() {
        for (ExprId id = 0; id < body_.exprs.size(); ++id)
            visit(id);
        for (const analysis::Variable& variable : body_.variables) {
            if (variable.storage == analysis::Storage::Local && variable.init != noId)
                keep(variable.type, variable.init, isAnyIndex(variable));
        }
        return std::move(sites_);
    }

private:
    void visit(ExprId id) {
        const Expr& expr = body_.expr(id);
        if (expr.kind == ExprKind::Cast && !expr.children.empty())
            keep(expr.type, expr.children[0]);
        if (expr.kind == ExprKind::Unary && isIncrement(expr.op) && !expr.children.empty())
            count(expr.children[0]);
        if (expr.kind != ExprKind::Binary || expr.children.size() != 2)
            return;
        const Expr& left = body_.expr(expr.children[0]);
        if (expr.op == "=")
            keep(left.type, expr.children[1]);
        else if (expr.op == "+=")
            count(expr.children[0]);
        else if (expr.op == "&")
            mask(expr.children[0], expr.children[1]);
    }

    /// `value` is kept as a `type`. `isIndex`: arrays are indexed with what is kept.
    void keep(const analysis::Type& type, ExprId value, bool isIndex = false) {
        const auto form = integerFormOf(type);
        const unsigned from = bitsOf(body_.expr(value).type);
        if (form && isFloat(value) && roundsPosition(value, 0))
            sites_.emplace_back(value, floatBits);
        if (form && from > form->bits && (isIndex || isPosition(value)) &&
            !fits(analysis::valueRangeOf(kernel_, code_, value), *form))
            sites_.emplace_back(value, form->bits);
    }

    [[nodiscard]] bool isFloat(ExprId value) const {
        const analysis::Type& type = body_.expr(value).type;
        return type.scalar == ScalarKind::Float && type.pointerDepth == 0 && type.lanes == 1;
    }

    /// Whether a value of type float is computed from a position with more bits than it holds.
    [[nodiscard]] bool roundsPosition(ExprId value, int depth) const {
        const Expr& expr = body_.expr(value);
        if (depth > maxDefinitions || expr.kind == ExprKind::Subscript ||
            expr.kind == ExprKind::Member || (expr.kind == ExprKind::Unary && expr.op == "*"))
            return false;
        if (const auto form = integerFormOf(expr.type)) {
            constexpr std::int64_t most = std::int64_t{1} << floatBits;
            const auto range = analysis::valueRangeOf(kernel_, code_, value);
            return form->bits >= 32 && !comesFromMemory(value, 0) &&
                   (!range || range->low < -most || range->high > most);
        }
        if (expr.kind == ExprKind::Variable && expr.variable != noId) {
            const ExprId init = body_.variable(expr.variable).init;
            return init != noId && roundsPosition(init, depth + 1);
        }
        return std::ranges::any_of(expr.children,
                                   [&](ExprId child) { return roundsPosition(child, depth + 1); });
    }

    /// The variable grows step by step.
    void count(ExprId variable) {
        const Expr& expr = body_.expr(variable);
        const auto form = integerFormOf(expr.type);
        if (expr.kind != ExprKind::Variable || !form || form->bits > 32)
            return;
        const auto loop =
            std::ranges::find(kernel_.loops, expr.variable, &analysis::Loop::inductionVariable);
        if (loop != kernel_.loops.end() && loop->upperBound != noId &&
            fits(analysis::valueRangeOf(kernel_, code_, loop->upperBound), *form))
            return;
        const bool isShort = form->bits < 32;
        const bool isBoundLonger = loop != kernel_.loops.end() && loop->upperBound != noId &&
                                   bitsOf(body_.expr(loop->upperBound).type) > form->bits;
        if (isShort || isBoundLonger)
            sites_.emplace_back(variable, form->bits);
    }

    void mask(ExprId value, ExprId constant) {
        const auto bits = code_.constantValue(constant);
        if (!bits || *bits < minMask || !isPosition(value))
            return;
        const auto range = analysis::valueRangeOf(kernel_, code_, value);
        if (!range || range->low < 0 || range->high > *bits)
            sites_.emplace_back(
                value, static_cast<unsigned>(std::bit_width(static_cast<std::uint64_t>(*bits))));
    }

    [[nodiscard]] bool isAnyIndex(const analysis::Variable& variable) const {
        const auto id = static_cast<analysis::VariableId>(&variable - body_.variables.data());
        return std::ranges::any_of(code_.uses(id), [&](ExprId use) { return indexesAnArray(use); });
    }

    /// Data have all values in a run; positions only those of its sizes.
    [[nodiscard]] bool isPosition(ExprId value) const {
        return indexesAnArray(value) || !comesFromMemory(value, 0);
    }

    [[nodiscard]] bool indexesAnArray(ExprId value) const {
        for (ExprId at = value, above = code_.parent(at); above != noId;
             at = above, above = code_.parent(at)) {
            const Expr& outer = body_.expr(above);
            if (outer.kind == ExprKind::Subscript && outer.children.back() == at)
                return true;
        }
        return false;
    }

    [[nodiscard]] bool comesFromMemory(ExprId value, int depth) const {
        if (depth > maxDefinitions)
            return true;
        return std::ranges::any_of(code_.expressionsBelow(value), [&](ExprId id) {
            const Expr& expr = body_.expr(id);
            if (expr.kind == ExprKind::Subscript || expr.kind == ExprKind::Call ||
                (expr.kind == ExprKind::Unary && expr.op == "*"))
                return true;
            if (expr.kind != ExprKind::Variable || expr.variable == noId)
                return false;
            const ExprId init = body_.variable(expr.variable).init;
            return init != noId && comesFromMemory(init, depth + 1);
        });
    }

    const analysis::KernelModel& kernel_;
    const analysis::FunctionBody& body_;
    analysis::CodeMap code_;
    std::vector<std::pair<ExprId, unsigned>> sites_;
};

/// Uses of 64 bits for positions.
struct Wide {
    std::size_t variables = 0;
    std::size_t indices = 0;
};

Wide wideIn(const std::vector<const analysis::KernelModel*>& code) {
    const auto isWide = [](const analysis::Type& type) { return isIntegerOf(type, 64); };
    Wide wide;
    for (const analysis::KernelModel* function : code) {
        const analysis::FunctionBody& body = function->body;
        for (const analysis::Variable& variable : body.variables)
            wide.variables +=
                variable.storage == analysis::Storage::Local && isWide(variable.type) ? 1 : 0;
        for (const Expr& expr : body.exprs)
            wide.indices +=
                expr.kind == ExprKind::Subscript && isWide(body.expr(expr.children.back()).type)
                    ? 1
                    : 0;
    }
    return wide;
}

} // namespace

std::vector<NarrowedValue> narrowedValues(const analysis::FileModel& original,
                                          const analysis::KernelModel& originalKernel,
                                          const analysis::FileModel& candidate,
                                          const analysis::KernelModel& kernel) {
    std::set<unsigned> usual;
    const auto originals = codeOf(original, originalKernel);
    const auto candidates = codeOf(candidate, kernel);
    // An edit may compute in 64 bits and go back to the 32 of the original.
    const Wide before = wideIn(originals);
    const Wide after = wideIn(candidates);
    if (after.variables >= before.variables && after.indices >= before.indices)
        usual.insert(32);
    for (const analysis::KernelModel* code : originals) {
        for (const auto& [value, bits] : Search(*code).sites())
            usual.insert(bits);
    }
    std::vector<NarrowedValue> found;
    for (const analysis::KernelModel* code : candidates) {
        for (const auto& [value, bits] : Search(*code).sites()) {
            if (usual.contains(bits) || code->file != candidate.file)
                continue;
            const analysis::Span span = code->body.expr(value).span;
            found.push_back({std::string(candidate.source->slice(span)),
                             candidate.source->lineColumn(span.begin).line + 1, bits});
        }
    }
    std::ranges::sort(found, {}, &NarrowedValue::line);
    return found;
}

} // namespace kernelskill::engine
