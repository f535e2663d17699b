#include "engine/review/narrowed_products.h"

#include "analysis/queries/code_map.h"
#include "analysis/queries/value_range.h"
#include "analysis/syntax/lexer.h"
#include "engine/review/integer_form.h"
#include "engine/review/kernel_code.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>

namespace kernelskill::engine {
namespace {

using analysis::Expr;
using analysis::ExprId;
using analysis::ExprKind;
using analysis::noId;
using analysis::ScalarKind;
using analysis::ValueRange;
using analysis::VariableId;

constexpr unsigned narrowBits = 32;
constexpr unsigned wideBits = 64;

/// Products by their text, which unrolled code repeats.
struct Products {
    std::map<std::string, NarrowedValue> narrow;
    std::set<std::string> wide;
};

/// The products in the positions of each array, by its name.
class PositionProducts {
public:
    PositionProducts(const analysis::FileModel& file, const analysis::KernelModel& function,
                     std::map<std::string, Products>& arrays)
        : file_(file), function_(function), body_(function.body), code_(function.body),
          arrays_(arrays) {}

    void collect() {
        for (ExprId id = 0; id < body_.exprs.size(); ++id) {
            const Expr& expr = body_.expr(id);
            const bool isPlace = expr.kind == ExprKind::Subscript ||
                                 (expr.kind == ExprKind::Unary && expr.op == "*");
            if (!isPlace || expr.children.empty())
                continue;
            positions_.clear();
            seen_.clear();
            if (expr.kind == ExprKind::Subscript)
                positions_.push_back(expr.children.back());
            const VariableId array = arrayOf(expr.children.front());
            if (array == noId)
                continue;
            Products& products = arrays_[function_.name + " " + body_.variable(array).name];
            for (std::size_t i = 0; i < positions_.size(); ++i)
                collect(positions_[i], products);
        }
    }

private:
    /// The variable that a pointer begins in; what is added on the way becomes a position.
    VariableId arrayOf(ExprId pointer) {
        const ExprId id = code_.withoutCasts(pointer);
        const Expr& expr = body_.expr(id);
        if (expr.kind == ExprKind::Variable && expr.variable != noId) {
            const analysis::Variable& variable = body_.variable(expr.variable);
            const bool isPath = variable.storage == analysis::Storage::Local &&
                                variable.type.pointerDepth > 0 && variable.init != noId;
            if (!isPath || !seen_.insert(expr.variable).second)
                return expr.variable;
            const VariableId from = arrayOf(variable.init);
            return from == noId ? expr.variable : from;
        }
        if (expr.kind == ExprKind::Unary && expr.op == "&" && !expr.children.empty())
            return arrayOf(expr.children.front());
        if (expr.kind == ExprKind::Subscript) {
            positions_.push_back(expr.children.back());
            return arrayOf(expr.children.front());
        }
        if (expr.kind == ExprKind::Member && !expr.children.empty())
            return arrayOf(expr.children.front());
        if (expr.kind == ExprKind::Binary && (expr.op == "+" || expr.op == "-")) {
            const bool isFirst = body_.expr(expr.children[0]).type.pointerDepth > 0 ||
                                 !body_.expr(expr.children[0]).type.arrayExtents.empty();
            positions_.push_back(expr.children[isFirst ? 1 : 0]);
            return arrayOf(expr.children[isFirst ? 0 : 1]);
        }
        return noId;
    }

    void collect(ExprId id, Products& products) {
        const Expr& expr = body_.expr(id);
        if (expr.kind == ExprKind::Subscript || expr.kind == ExprKind::Call ||
            (expr.kind == ExprKind::Unary && expr.op == "*"))
            return; // The position comes out of memory.
        if (expr.kind == ExprKind::Variable && expr.variable != noId) {
            const ExprId init = body_.variable(expr.variable).init;
            if (init != noId && seen_.insert(expr.variable).second)
                positions_.push_back(init);
            return;
        }
        if (expr.kind == ExprKind::Binary && expr.op == "*") {
            const std::string text(file_.source->slice(expr.span));
            if (isIntegerOf(expr.type, wideBits))
                products.wide.insert(analysis::tokenText(text, {0, expr.span.size()}));
            else if (isIntegerOf(expr.type, narrowBits) && mayWrap(expr))
                products.narrow.try_emplace(
                    analysis::tokenText(text, {0, expr.span.size()}),
                    NarrowedValue{text, file_.source->lineColumn(expr.span.begin).line + 1,
                                  narrowBits});
        }
        for (const ExprId child : expr.children)
            positions_.push_back(child);
    }

    [[nodiscard]] bool mayWrap(const Expr& product) const {
        const auto left = analysis::valueRangeOf(function_, code_, product.children[0]);
        const auto right = analysis::valueRangeOf(function_, code_, product.children[1]);
        if (!left || !right)
            return true;
        const auto size = [](const ValueRange& range) {
            return std::max(static_cast<double>(range.high), -static_cast<double>(range.low));
        };
        const double most = product.type.scalar == ScalarKind::Int32 ? 0x1p31 : 0x1p32;
        return size(*left) * size(*right) >= most;
    }

    const analysis::FileModel& file_;
    const analysis::KernelModel& function_;
    const analysis::FunctionBody& body_;
    analysis::CodeMap code_;
    std::map<std::string, Products>& arrays_;
    std::vector<ExprId> positions_; ///< Of the array, still to be searched and searched before.
    std::set<VariableId> seen_;
};

std::map<std::string, Products> productsIn(const analysis::FileModel& file,
                                           const analysis::KernelModel& kernel) {
    std::map<std::string, Products> arrays;
    for (const analysis::KernelModel* function : codeOf(file, kernel))
        if (function->file == file.file)
            PositionProducts(file, *function, arrays).collect();
    return arrays;
}

} // namespace

std::vector<NarrowedValue> narrowedProducts(const analysis::FileModel& original,
                                            const analysis::KernelModel& originalKernel,
                                            const analysis::FileModel& candidate,
                                            const analysis::KernelModel& kernel) {
    const auto before = productsIn(original, originalKernel);
    std::vector<NarrowedValue> found;
    for (const auto& [array, after] : productsIn(candidate, kernel)) {
        const auto known = before.find(array);
        if (known == before.end() || after.wide.size() >= known->second.wide.size() ||
            after.narrow.size() <= known->second.narrow.size())
            continue;
        for (const auto& [text, product] : after.narrow)
            if (!known->second.narrow.contains(text))
                found.push_back(product);
    }
    std::ranges::sort(found, {}, &NarrowedValue::line);
    return found;
}

} // namespace kernelskill::engine
