#include "analysis/raise/affine.h"

#include <unordered_map>
#include <utility>

namespace kernelskill::analysis::raise {

namespace {

Scalar called(Function function, const Scalar& left, const Scalar& right) {
    return call(left->type, function, {left, right});
}

/// Decomposes a graph of nodes, each node once.
class Decomposition {
public:
    explicit Decomposition(const ScalarNode* variable) : variable_(variable) {}

    /// The affine form of a node. nullopt: it has none; `hasVariable` is false for a constant.
    struct Part {
        bool isAffine = true;
        bool hasVariable = false;
        Affine affine; ///< The offset is the node itself if it has no variable.
    };

    const Part& of(const Scalar& value) {
        if (const auto known = known_.find(value.get()); known != known_.end())
            return known->second;
        Part part = made(value);
        return known_.emplace(value.get(), std::move(part)).first->second;
    }

private:
    Part made(const Scalar& value) {
        if (value.get() == variable_)
            return {true, true, {}};
        bool hasVariable = false;
        std::vector<Part> parts;
        for (const Scalar& argument : value->arguments) {
            parts.push_back(of(argument));
            if (!parts.back().isAffine)
                return {false, true, {}};
            hasVariable = hasVariable || parts.back().hasVariable;
        }
        if (!hasVariable)
            return {true, false, {nullptr, value}};
        for (const Scalar& argument : value->arguments)
            if (argument->type != value->type)
                return {false, true, {}};
        return combined(*value, parts);
    }

    static Part combined(const ScalarNode& node, const std::vector<Part>& parts) {
        const Part none{false, true, {}};
        if (node.kind != ScalarNode::Kind::Call || !isFloating(node.type))
            return none;
        const Part& left = parts[0];
        switch (node.function) {
        case Function::Add:
            return sum(left, parts[1]);
        case Function::Subtract:
            return sum(left, negated(parts[1]));
        case Function::Negate:
            return negated(left);
        case Function::Multiply:
            if (left.hasVariable && parts[1].hasVariable)
                return none;
            return left.hasVariable ? product(left, parts[1].affine.offset)
                                    : product(parts[1], left.affine.offset);
        case Function::Divide:
            if (parts[1].hasVariable)
                return none;
            return quotient(left, parts[1].affine.offset);
        default:
            return none;
        }
    }

    static Part sum(const Part& left, const Part& right) {
        Part both{true, true, {nullptr, plusOrZero(left.affine.offset, right.affine.offset)}};
        if (left.hasVariable && right.hasVariable) {
            const ScalarKind type = typeOf(left, right);
            both.affine.scale = called(Function::Add, scaleOf(left, type), scaleOf(right, type));
        } else {
            both.affine.scale = left.hasVariable ? left.affine.scale : right.affine.scale;
        }
        return both;
    }
    static ScalarKind typeOf(const Part& left, const Part& right) {
        for (const Part* part : {&left, &right})
            for (const Scalar& of : {part->affine.scale, part->affine.offset})
                if (of != nullptr)
                    return of->type;
        return ScalarKind::Float;
    }
    static Scalar scaleOf(const Part& part, ScalarKind type) {
        return part.affine.scale == nullptr ? number(type, 1) : part.affine.scale;
    }
    static Part negated(const Part& part) {
        const auto minus = [](const Scalar& value) {
            return value == nullptr ? value : call(value->type, Function::Negate, {value});
        };
        Part result = part;
        result.affine.offset = minus(part.affine.offset);
        if (part.hasVariable)
            result.affine.scale = part.affine.scale == nullptr ? number(typeOf(part, part), -1)
                                                               : minus(part.affine.scale);
        return result;
    }
    static Part product(const Part& part, const Scalar& factor) {
        Part result = part;
        result.affine.scale = timesOrOne(part.affine.scale, factor);
        if (part.affine.offset != nullptr)
            result.affine.offset = timesOrOne(part.affine.offset, factor);
        return result;
    }
    static Part quotient(const Part& part, const Scalar& divisor) {
        Part result = part;
        const Scalar scale =
            part.affine.scale == nullptr ? number(divisor->type, 1) : part.affine.scale;
        result.affine.scale = called(Function::Divide, scale, divisor);
        if (part.affine.offset != nullptr)
            result.affine.offset = called(Function::Divide, part.affine.offset, divisor);
        return result;
    }

    const ScalarNode* variable_;
    std::unordered_map<const ScalarNode*, Part> known_;
};

} // namespace

std::optional<Affine> affineIn(const Scalar& value, const ScalarNode* variable) {
    Decomposition decomposition(variable);
    const auto& part = decomposition.of(value);
    return part.isAffine && part.hasVariable ? std::optional(part.affine) : std::nullopt;
}

Scalar timesOrOne(const Scalar& left, const Scalar& right) {
    if (left == nullptr || right == nullptr)
        return left == nullptr ? right : left;
    return called(Function::Multiply, left, right);
}

Scalar plusOrZero(const Scalar& left, const Scalar& right) {
    if (left == nullptr || right == nullptr)
        return left == nullptr ? right : left;
    return called(Function::Add, left, right);
}

Scalar applied(const Affine& affine, const Scalar& variable) {
    return plusOrZero(timesOrOne(variable, affine.scale), affine.offset);
}

} // namespace kernelskill::analysis::raise
