#include "skills/schedule/output_axes.h"

#include "analysis/queries/index_arithmetic.h"
#include "analysis/source/try.h"
#include "skills/base/gates.h"
#include "skills/gates/launch_sites.h"
#include "skills/schedule/placed_value.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

namespace kernelskill::skills {

using namespace analysis;

namespace {

/// A variable whose values in a block are a run of numbers, and follow on from block to block.
struct Candidate {
    OutputAxis axis;
    std::vector<std::int64_t> local;
};

class AxesFinder {
public:
    AxesFinder(const SkillContext& context, const Extents& block)
        : code_(context.code()), body_(code_.body()), block_(block),
          values_(code_, context.shared().nest(), block) {}

    [[nodiscard]] std::vector<OutputAxes> find() {
        for (VariableId id = 0; id < body_.variables.size(); ++id)
            takeCandidate(id);
        std::vector<OutputAxes> found;
        for (std::size_t a = 0; a < candidates_.size(); ++a)
            for (std::size_t b = a + 1; b < candidates_.size(); ++b)
                if (areRectangle(candidates_[a], candidates_[b]))
                    found.push_back(axesOf(candidates_[a], candidates_[b]));
        for (VariableId id = 0; id < body_.variables.size(); ++id)
            addFlat(id, found);
        std::ranges::stable_sort(found, {}, [](const OutputAxes& axes) {
            return (axes.slow.gridAxis < 0 ? 1 : 0) + (axes.fast.gridAxis < 0 ? 1 : 0);
        });
        return found;
    }

private:
    [[nodiscard]] std::size_t threads() const {
        return static_cast<std::size_t>(block_[0] * block_[1] * block_[2]);
    }

    [[nodiscard]] std::optional<PlacedValue> placed(VariableId id) const {
        const Variable& variable = body_.variable(id);
        if (variable.storage != Storage::Local || variable.init == noId || variable.fromMacro ||
            !isIndexType(variable.type) || variable.type.isReference || code_.isEverWritten(id) ||
            code_.declarationOf(id) == noId || body_.stmt(code_.declarationOf(id)).fromMacro)
            return std::nullopt;
        return values_.of(variable.init);
    }

    void takeCandidate(VariableId id) {
        const auto value = placed(id);
        if (!value)
            return;
        Candidate candidate;
        candidate.axis.variable = id;
        candidate.local = value->isUniform() ? std::vector<std::int64_t>(threads()) : value->local;
        candidate.axis.threads = *std::ranges::max_element(candidate.local) + 1;
        IndexExpression offset = value->base;
        for (const auto& [monomial, factor] : value->base.terms()) {
            if (std::ranges::none_of(
                    monomial, [](Symbol symbol) { return symbol.kind == SymbolKind::BlockIdx; }))
                continue;
            if (monomial.size() != 1 || candidate.axis.gridAxis >= 0 ||
                factor != candidate.axis.threads)
                return;
            candidate.axis.gridAxis = static_cast<int>(monomial.front().id);
            offset = offset -
                     IndexExpression::symbol(monomial.front()) * IndexExpression::constant(factor);
        }
        if (candidate.axis.gridAxis < 0 && candidate.axis.threads == 1)
            return;
        if (offset.asConstant() != 0)
            candidate.axis.offset = offset.describe(body_);
        candidates_.push_back(std::move(candidate));
    }

    /// Adds the positions that are quotient and remainder of the thread's number in the grid.
    void addFlat(VariableId index, std::vector<OutputAxes>& found) const {
        const auto value = placed(index);
        if (!value || block_[1] * block_[2] != 1 || value->local != axisNumbers(0))
            return;
        int gridAxis = 0;
        const auto isOfAxis = [&](int axis) {
            return value->base == IndexExpression::symbol(
                                      {SymbolKind::BlockIdx, static_cast<std::uint32_t>(axis)}) *
                                      IndexExpression::constant(block_[0]);
        };
        while (gridAxis < 3 && !isOfAxis(gridAxis))
            ++gridAxis;
        if (gridAxis == 3)
            return;
        for (VariableId row = 0; row < body_.variables.size(); ++row) {
            const ExprId quotient = operationOn(row, "/", index);
            if (quotient == noId)
                continue;
            const ExprId columns = body_.expr(quotient).children[1];
            for (VariableId column = 0; column < body_.variables.size(); ++column)
                if (isRemainder(column, index, row, columns))
                    found.push_back(flatAxes(gridAxis, {index, columns}, row, column));
        }
    }
    /// The initialiser of a variable that is `index op …`; noId: it is not.
    [[nodiscard]] ExprId operationOn(VariableId id, std::string_view op, VariableId index) const {
        const Variable& variable = body_.variable(id);
        if (variable.storage != Storage::Local || variable.init == noId || variable.fromMacro ||
            !isIndexType(variable.type) || variable.type.isReference || code_.isEverWritten(id) ||
            body_.stmt(code_.declarationOf(id)).fromMacro)
            return noId;
        const ExprId init = code_.withoutCasts(variable.init);
        const Expr& expr = body_.expr(init);
        const bool isIt = expr.kind == ExprKind::Binary && expr.op == op &&
                          code_.namedVariable(expr.children[0]) == index &&
                          isUniformInput(code_, expr.children[1]) &&
                          !body_.expr(expr.children[1]).fromMacro;
        return isIt ? init : noId;
    }
    /// `index % columns` or `index - row * columns`.
    [[nodiscard]] bool isRemainder(VariableId id, VariableId index, VariableId row,
                                   ExprId columns) const {
        if (const ExprId remainder = operationOn(id, "%", index); remainder != noId)
            return code_.sameExpression(body_.expr(remainder).children[1], columns);
        const Variable& variable = body_.variable(id);
        if (variable.storage != Storage::Local || variable.init == noId || variable.fromMacro ||
            !isIndexType(variable.type) || variable.type.isReference || code_.isEverWritten(id))
            return false;
        const Expr& expr = body_.expr(code_.withoutCasts(variable.init));
        if (expr.kind != ExprKind::Binary || expr.op != "-" ||
            code_.namedVariable(expr.children[0]) != index)
            return false;
        const Expr& product = body_.expr(code_.withoutCasts(expr.children[1]));
        if (product.kind != ExprKind::Binary || product.op != "*")
            return false;
        const auto is = [&](std::size_t side) {
            return code_.namedVariable(product.children[side]) == row &&
                   code_.sameExpression(product.children[1 - side], columns);
        };
        return is(0) || is(1);
    }
    [[nodiscard]] OutputAxes flatAxes(int gridAxis, FlatOutputs flat, VariableId row,
                                      VariableId column) const {
        std::int64_t width = 32;
        while (width > 1 && (block_[0] % width != 0 || width * width > 2 * block_[0]))
            width /= 2;
        OutputAxes axes;
        axes.slow = {row,  gridAxis, block_[0] / width, {}, fmt::format("threadIdx.x / {}", width),
                     false};
        axes.fast = {column, gridAxis, width, {}, fmt::format("threadIdx.x % {}", width), false};
        axes.block = block_;
        axes.thread = flatText();
        axes.flat = flat;
        axes.positions = positionsBeside(axes);
        return axes;
    }

    [[nodiscard]] bool areRectangle(const Candidate& a, const Candidate& b) const {
        if (a.axis.gridAxis == b.axis.gridAxis ||
            a.axis.threads * b.axis.threads != static_cast<std::int64_t>(threads()))
            return false;
        std::set<std::pair<std::int64_t, std::int64_t>> pairs;
        for (std::size_t thread = 0; thread < threads(); ++thread)
            pairs.emplace(a.local[thread], b.local[thread]);
        return pairs.size() == threads();
    }

    [[nodiscard]] OutputAxes axesOf(Candidate a, Candidate b) const {
        const auto changes = [](const Candidate& candidate) {
            return candidate.local.size() > 1 && candidate.local[0] != candidate.local[1];
        };
        if (changes(a) && !changes(b))
            std::swap(a, b);
        const std::uint32_t first = std::min(body_.variable(a.axis.variable).span.begin,
                                             body_.variable(b.axis.variable).span.begin);
        OutputAxes axes;
        for (const auto& [candidate, axis] : {std::pair{&a, &axes.slow}, {&b, &axes.fast}}) {
            *axis = candidate->axis;
            axis->local = localText(candidate->local, first, axis->isLocalBare);
        }
        axes.block = block_;
        axes.thread = flatText();
        axes.positions = positionsBeside(axes);
        return axes;
    }

    /// Empty where nothing that is known has these values.
    [[nodiscard]] std::string localText(const std::vector<std::int64_t>& local,
                                        std::uint32_t before, bool& isBare) const {
        isBare = true;
        if (std::ranges::all_of(local, [](std::int64_t number) { return number == 0; }))
            return "0";
        for (VariableId id = 0; id < body_.variables.size(); ++id) {
            const auto value = placed(id);
            if (value && value->base.asConstant() == 0 && value->local == local &&
                body_.stmt(code_.declarationOf(id)).parent == body_.root &&
                body_.variable(id).span.begin < before)
                return body_.variable(id).name;
        }
        for (std::uint8_t axis = 0; axis < 3; ++axis)
            if (local == axisNumbers(axis))
                return fmt::format("threadIdx.{}", "xyz"[axis]);
        isBare = false;
        const std::int64_t count = *std::ranges::max_element(local) + 1;
        const std::int64_t others = static_cast<std::int64_t>(threads()) / count;
        const auto matches = [&](auto&& numberOf) {
            for (std::size_t thread = 0; thread < threads(); ++thread)
                if (local[thread] != numberOf(static_cast<std::int64_t>(thread)))
                    return false;
            return true;
        };
        const std::string flat = flatText();
        const std::string bracketed = flat.contains(' ') ? "(" + flat + ")" : flat;
        if (matches([&](std::int64_t thread) { return thread / others; }))
            return fmt::format("{} / {}", bracketed, others);
        if (matches([&](std::int64_t thread) { return thread % count; }))
            return fmt::format("{} % {}", bracketed, count);
        return {};
    }

    [[nodiscard]] std::vector<std::int64_t> axisNumbers(std::uint8_t axis) const {
        std::vector<std::int64_t> numbers(threads());
        std::int64_t stride = 1;
        for (std::uint8_t before = 0; before < axis; ++before)
            stride *= block_[before];
        for (std::size_t thread = 0; thread < numbers.size(); ++thread)
            numbers[thread] = static_cast<std::int64_t>(thread) / stride % block_[axis];
        return numbers;
    }

    [[nodiscard]] std::string flatText() const {
        std::string text = "threadIdx.x";
        if (block_[1] > 1)
            text = fmt::format("threadIdx.y * {} + {}", block_[0], text);
        if (block_[2] > 1)
            text = fmt::format("threadIdx.z * {} + {}", block_[0] * block_[1], text);
        return text;
    }

    /// Locals that ask which thread or block it is, other than by way of an axis.
    [[nodiscard]] std::vector<VariableId> positionsBeside(const OutputAxes& axes) const {
        std::vector<VariableId> found;
        const auto asks = [&](ExprId id) {
            const Expr& expr = body_.expr(id);
            if (expr.kind == ExprKind::Variable)
                return std::ranges::find(found, expr.variable) != found.end();
            return expr.kind == ExprKind::BuiltinIndex &&
                   (expr.name == "threadIdx" ||
                    (expr.name == "blockIdx" &&
                     (expr.axis == axes.slow.gridAxis || expr.axis == axes.fast.gridAxis)));
        };
        for (bool isNew = true; isNew;) {
            isNew = false;
            for (VariableId id = 0; id < body_.variables.size(); ++id) {
                const Variable& variable = body_.variable(id);
                if (variable.storage != Storage::Local || variable.init == noId ||
                    id == axes.slow.variable || id == axes.fast.variable ||
                    (axes.flat && id == axes.flat->index) ||
                    std::ranges::find(found, id) != found.end() ||
                    std::ranges::none_of(code_.expressionsBelow(variable.init), asks))
                    continue;
                found.push_back(id);
                isNew = true;
            }
        }
        return found;
    }

    const CodeMap& code_;
    const FunctionBody& body_;
    Extents block_;
    PlacedValues values_;
    std::vector<Candidate> candidates_;
};

} // namespace

Gated<std::vector<OutputAxes>> outputAxes(const SkillContext& context) {
    KERNELSKILL_TRY(const auto blocks, launchedBlocks(context));
    if (!std::ranges::all_of(blocks, [&](const Extents& block) { return block == blocks[0]; }))
        return refuse("several-blocks", fmt::format("launches of {} have blocks of several shapes",
                                                    context.kernel.name));
    std::vector<OutputAxes> found = AxesFinder(context, blocks[0]).find();
    std::erase_if(found, [](const OutputAxes& axes) {
        return axes.slow.local.empty() || axes.fast.local.empty();
    });
    if (found.empty())
        return refuse("no-output-axes",
                      fmt::format("no two variables of {} tell which output of a rectangle a "
                                  "thread works on",
                                  context.kernel.name));
    return found;
}

} // namespace kernelskill::skills
