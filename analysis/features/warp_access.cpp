#include "analysis/features/warp_access.h"

#include "analysis/features/lane_requests.h"
#include "analysis/features/scalar_tail.h"
#include "analysis/model/integer_arithmetic.h"
#include "analysis/source/gpu_constants.h"
#include "analysis/source/wrapping_numbers.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <sstream>
#include <vector>

namespace kernelskill::analysis {

namespace {

/// Replaces an unknown size: large, and a multiple of every relevant alignment.
constexpr std::int64_t largeMultiple = 1 << 20;

/// The value of every symbol for one lane; lanes differ only in threadIdx.
class LaneValues {
public:
    LaneValues(const KernelModel& kernel, const ReassignedVariables& reassigned, BlockShape block)
        : kernel_(kernel), reassigned_(reassigned), block_(block) {}

    void setLane(int lane) {
        steps_ = 0;
        // A block narrower than a warp wraps into y, then z.
        const std::int64_t width = block_.x > 0 ? block_.x : 1024;
        const std::int64_t height = block_.y > 0 ? block_.y : 1024;
        thread_ = {lane % width, (lane / width) % height, lane / (width * height)};
    }

    std::optional<std::int64_t> evaluate(const IndexExpression& index, int depth = 0) {
        constexpr int maximumDepth = 8;
        if (depth > maximumDepth)
            return std::nullopt;
        std::map<Symbol, std::int64_t> values;
        for (const auto& [monomial, coefficient] : index.terms()) {
            for (const Symbol symbol : monomial) {
                const std::optional<std::int64_t> value = valueOf(symbol, depth);
                if (!value)
                    return std::nullopt;
                values.emplace(symbol, *value);
            }
        }
        return index.evaluate(values);
    }

    /// For expressions that are no polynomials: `tid / 32`, `lane & 7`, of variables that are set
    /// once.
    std::optional<std::int64_t> evaluateTree(ExprId expression, int depth = 0) {
        constexpr int maximumDepth = 24;
        constexpr int maximumSteps = 1024;
        if (expression == noId || depth > maximumDepth || ++steps_ > maximumSteps)
            return std::nullopt;
        const Expr& expr = kernel_.body.expr(expression);
        switch (expr.kind) {
        case ExprKind::Integer:
            return expr.integer;
        case ExprKind::BuiltinIndex:
            if (expr.name == "threadIdx")
                return thread_.at(std::min<std::size_t>(expr.axis, 2));
            return valueOf({expr.name == "blockIdx"   ? SymbolKind::BlockIdx
                            : expr.name == "blockDim" ? SymbolKind::BlockDim
                                                      : SymbolKind::GridDim,
                            expr.axis},
                           depth);
        case ExprKind::Variable:
            return expr.variable == noId ? std::nullopt : variable(expr.variable, depth);
        case ExprKind::Cast:
            return evaluateTree(expr.children.front(), depth + 1);
        case ExprKind::Binary: {
            const auto a = evaluateTree(expr.children[0], depth + 1);
            const auto b = evaluateTree(expr.children[1], depth + 1);
            if (!a || !b || isPartOfConstant(expr, *b))
                return std::nullopt;
            return integerResult(expr.op, *a, *b);
        }
        default:
            return std::nullopt;
        }
    }

private:
    /// Whether a constant is divided by a size that is not known: `2048 / blockDim.x`. That the
    /// size is large says nothing of the quotient.
    [[nodiscard]] bool isPartOfConstant(const Expr& division, std::int64_t divisor) const {
        const Expr& divided = kernel_.body.expr(division.children[0]);
        const bool isConstant = divided.kind == ExprKind::Integer ||
                                (divided.kind == ExprKind::Variable && divided.variable != noId &&
                                 kernel_.body.variable(divided.variable).constantValue.has_value());
        return (division.op == "/" || division.op == "%") && isConstant && divisor != 0 &&
               divisor % largeMultiple == 0;
    }

    std::optional<std::int64_t> variable(VariableId id, int depth) {
        const Variable& variable = kernel_.body.variable(id);
        if (variable.constantValue)
            return variable.constantValue;
        if (variable.storage == Storage::Parameter)
            return valueOf({SymbolKind::Parameter, id}, depth);
        if (isLoopVariable(id))
            return valueOf({SymbolKind::LoopVariable, id}, depth);
        return variable.init != noId && !isReassigned(id) ? evaluateTree(variable.init, depth + 1)
                                                          : std::nullopt;
    }

    [[nodiscard]] bool isLoopVariable(VariableId id) const {
        return std::ranges::find(kernel_.loops, id, &Loop::inductionVariable) !=
               kernel_.loops.end();
    }

    [[nodiscard]] bool isReassigned(VariableId id) const { return reassigned_.contains(id); }

    std::optional<std::int64_t> valueOf(Symbol symbol, int depth) {
        switch (symbol.kind) {
        case SymbolKind::ThreadIdx:
            return thread_.at(std::min<std::size_t>(symbol.id, 2));
        case SymbolKind::BlockIdx:
            return 0;
        case SymbolKind::BlockDim: {
            const std::int64_t known = symbol.id == 0   ? block_.x
                                       : symbol.id == 1 ? block_.y
                                                        : block_.z;
            return known > 0 ? known : largeMultiple;
        }
        case SymbolKind::GridDim:
        case SymbolKind::Parameter:
            return largeMultiple;
        case SymbolKind::LoopVariable:
            return loopStart(symbol.id, depth);
        case SymbolKind::Opaque:
            return opaque(symbol.id, depth);
        case SymbolKind::Named: // Not made by the model.
            break;
        }
        return std::nullopt;
    }

    /// All lanes are in the same iteration of the loop: only their start differs.
    std::optional<std::int64_t> loopStart(VariableId id, int depth) {
        const auto loop = std::ranges::find(kernel_.loops, id, &Loop::inductionVariable);
        if (loop == kernel_.loops.end())
            return std::nullopt;
        if (loop->start && !loop->start->dependsOn({SymbolKind::LoopVariable, id}))
            return evaluate(*loop->start, depth + 1);
        return loop->lowerBound != noId ? evaluateTree(loop->lowerBound, depth + 1) : std::nullopt;
    }

    std::optional<std::int64_t> opaque(VariableId id, int depth) {
        const Variable& variable = kernel_.body.variable(id);
        const bool once = variable.init != noId && !isReassigned(id);
        return once ? evaluateTree(variable.init, depth + 1) : std::nullopt;
    }

    const KernelModel& kernel_;
    const ReassignedVariables& reassigned_;
    BlockShape block_;
    std::array<std::int64_t, 3> thread_{};
    int steps_ = 0; ///< Expressions followed for this lane.
};

/// The element index of each lane; empty if one of them is unknown.
std::vector<std::int64_t> laneIndices(const KernelModel& kernel,
                                      const ReassignedVariables& reassigned,
                                      const MemoryAccess& access, BlockShape block) {
    std::vector<std::int64_t> indices;
    LaneValues values(kernel, reassigned, block);
    for (int lane = 0; lane < warpLanes; ++lane) {
        values.setLane(lane);
        std::optional<std::int64_t> index;
        if (access.index) {
            index = values.evaluate(*access.index);
        } else {
            const Expr& expr = kernel.body.expr(access.expression);
            if (expr.kind == ExprKind::Subscript && access.subscripts.size() == 1)
                index = values.evaluateTree(expr.children[1]);
        }
        if (!index)
            return {};
        indices.push_back(*index);
    }
    return indices;
}

/// Byte addresses of the elements. Sizes that are not known are assumed to be large, and their
/// product may be beyond all memory: there addresses start again, as far from each other.
std::vector<std::int64_t> addressesOf(std::vector<std::int64_t> indices, std::int64_t width) {
    constexpr std::int64_t allMemory = std::int64_t{1} << 50;
    for (std::int64_t& index : indices)
        index = index % allMemory * width;
    return indices;
}

std::optional<std::int64_t> strideOf(const std::vector<std::int64_t>& indices) {
    const std::int64_t stride = wrappedDifference(indices[1], indices[0]);
    for (std::size_t lane = 1; lane < indices.size(); ++lane)
        if (wrappedDifference(indices[lane], indices[lane - 1]) != stride)
            return std::nullopt;
    return stride;
}

std::string number(double value) {
    std::ostringstream text;
    text << value;
    return text.str();
}

std::string counted(double value, const std::string& noun) {
    return number(value) + " " + noun + (value == 1 ? "" : "s");
}

} // namespace

namespace {

/// Whether the expression mentions the variable outside of subscripts.
bool names(const FunctionBody& body, ExprId id, VariableId variable) {
    const Expr& expr = body.expr(id);
    return expr.kind != ExprKind::Subscript &&
           ((expr.kind == ExprKind::Variable && expr.variable == variable) ||
            std::ranges::any_of(expr.children,
                                [&](ExprId child) { return names(body, child, variable); }));
}

/// Whether the kernel compares something with the variable, as it does with a length.
bool isCompared(const FunctionBody& body, VariableId variable) {
    for (ExprId id = 0; id < body.exprs.size(); ++id) {
        const Expr& expr = body.expr(id);
        const bool isComparison = expr.kind == ExprKind::Binary &&
                                  (expr.op == "<" || expr.op == "<=" || expr.op == ">" ||
                                   expr.op == ">=" || expr.op == "==" || expr.op == "!=");
        if (isComparison && names(body, id, variable))
            return true;
    }
    return false;
}

/// The parameter that is the step of a window along more than one axis: `step * row * width + step
/// * column`, with both out of one number that is computed once. The length of a row is a factor of
/// rows alone.
std::optional<VariableId> windowStep(const KernelModel& kernel, const IndexExpression& index) {
    std::map<VariableId, std::set<VariableId>>
        places;                 ///< The key is the parameter that multiplies.
    std::set<VariableId> alone; ///< Parameters that are the only one beside a place.
    for (const auto& [monomial, factor] : index.terms()) {
        const auto place = std::ranges::find(monomial, SymbolKind::Opaque, &Symbol::kind);
        if (place == monomial.end())
            continue;
        std::vector<VariableId> parameters;
        for (const Symbol symbol : monomial)
            if (symbol.kind == SymbolKind::Parameter)
                parameters.push_back(symbol.id);
        if (parameters.empty())
            return std::nullopt; // Neighbours along this axis are as far apart as the text says.
        for (const VariableId parameter : parameters)
            places[parameter].insert(place->id);
        if (parameters.size() == 1)
            alone.insert(parameters.front());
    }
    for (const auto& [parameter, computed] : places)
        if (computed.size() > 1 && alone.contains(parameter) && !isCompared(kernel.body, parameter))
            return parameter;
    return std::nullopt;
}

} // namespace

std::optional<VariableId> openStride(const KernelModel& kernel, const MemoryAccess& access) {
    std::optional<VariableId> stride;
    if (!access.index)
        return std::nullopt;
    if (const auto step = windowStep(kernel, *access.index))
        return step;
    for (const auto& [monomial, factor] : access.index->terms()) {
        const bool isOfLane =
            std::ranges::find(monomial, Symbol{SymbolKind::ThreadIdx, 0}) != monomial.end();
        std::optional<VariableId> parameter;
        for (const Symbol symbol : monomial) {
            if (symbol.kind == SymbolKind::LoopVariable || symbol.kind == SymbolKind::Opaque ||
                (symbol.kind == SymbolKind::ThreadIdx && symbol.id != 0))
                return std::nullopt;
            if (symbol.kind == SymbolKind::Parameter)
                parameter = symbol.id;
        }
        if (isOfLane && (monomial.size() != 2 || !parameter))
            return std::nullopt;
        if (isOfLane)
            stride = parameter;
    }
    return stride && isCompared(kernel.body, *stride) ? std::nullopt : stride;
}

ReassignedVariables::ReassignedVariables(const FunctionBody& body)
    : isReassigned_(body.variables.size(), false) {
    for (const Expr& expr : body.exprs) {
        const bool writes =
            (expr.kind == ExprKind::Binary && expr.op.ends_with('=') && expr.op != "==" &&
             expr.op != "!=" && expr.op != "<=" && expr.op != ">=") ||
            (expr.kind == ExprKind::Unary &&
             (expr.op.ends_with("++") || expr.op.ends_with("--") || expr.op == "&"));
        if (!writes || expr.children.empty())
            continue;
        const Expr& target = body.expr(expr.children.front());
        if (target.kind == ExprKind::Variable && target.variable != noId)
            isReassigned_[target.variable] = true;
    }
}

AccessFeatures describeAccess(const KernelModel& kernel, const ReassignedVariables& reassigned,
                              std::uint32_t accessId, BlockShape block) {
    const MemoryAccess& access = kernel.accesses.at(accessId);
    AccessFeatures features;
    features.access = accessId;
    const std::string name =
        access.base != noId ? "'" + kernel.body.variable(access.base).name + "'" : "memory";
    const std::vector<std::int64_t> indices = access.width > 0
                                                  ? laneIndices(kernel, reassigned, access, block)
                                                  : std::vector<std::int64_t>{};
    if (indices.empty()) {
        features.explanation = "The index into " + name + " does not follow from threadIdx";
        if (access.width == 0)
            features.explanation =
                "The element size of " + name + " depends on a template parameter";
        return features;
    }
    if (const auto open = openStride(kernel, access)) {
        features.explanation = name + " is indexed by " + access.index->describe(kernel.body) +
                               ": how far apart neighbouring lanes are depends on " +
                               kernel.body.variable(*open).name;
        return features;
    }
    features.laneStride = strideOf(indices);
    std::string stride = "lanes reach unevenly spaced elements";
    if (features.laneStride == 0)
        stride = "all lanes reach the same element";
    else if (features.laneStride && std::abs(*features.laneStride) >= largeMultiple)
        stride = "neighbouring lanes are a whole row or more apart";
    else if (features.laneStride)
        stride = "neighbouring lanes are " + std::to_string(*features.laneStride) +
                 (std::abs(*features.laneStride) == 1 ? " element apart" : " elements apart");
    const std::string index =
        access.index ? " is indexed by " + access.index->describe(kernel.body) + ": " : ": ";
    features.explanation = name + index + stride;
    if (access.space == MemorySpace::Global && widerAlternative(kernel, accessId)) {
        features.explanation += ", in what the wider accesses of " + name + " leave over";
    } else if (access.space == MemorySpace::Global) {
        features.sectorsPerRequest = sectorsOf(addressesOf(indices, access.width), access.width);
        features.explanation +=
            ", " + counted(*features.sectorsPerRequest, "sector") + " a request";
    } else if (access.space == MemorySpace::Shared) {
        features.bankConflictDegree =
            wavefrontsOf(addressesOf(indices, access.width), access.width);
        features.explanation +=
            *features.bankConflictDegree > 1
                ? ", " + counted(*features.bankConflictDegree, "wavefront") + " a request"
                : ", free of bank conflicts";
    }
    return features;
}

} // namespace kernelskill::analysis
