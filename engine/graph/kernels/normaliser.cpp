#include "engine/graph/kernels/normaliser.h"

#include <string>
#include <utility>

namespace kernelskill::engine::graph {

namespace {

using analysis::ScalarKind;
using analysis::raise::BufferId;
using analysis::raise::Computation;
using analysis::raise::Function;
using analysis::raise::Reducer;
using analysis::raise::Reduction;
using analysis::raise::Scalar;
using analysis::raise::ScalarNode;
using analysis::raise::Store;

bool isCall(const Scalar& value, Function function) {
    return value->kind == ScalarNode::Kind::Call && value->function == function &&
           value->type == ScalarKind::Float;
}

/// Whether the value depends on nothing but elements of that buffer.
bool readsOnly(const Scalar& value, BufferId buffer) {
    bool isOnly = true;
    forEachNode(value, [&](const ScalarNode& node) {
        isOnly = isOnly && node.kind != ScalarNode::Kind::Accumulated &&
                 node.kind != ScalarNode::Kind::Position &&
                 (node.kind != ScalarNode::Kind::Load || node.buffer == buffer);
    });
    return isOnly;
}

bool reads(const Scalar& value, BufferId buffer) {
    bool isRead = false;
    forEachNode(value, [&](const ScalarNode& node) {
        isRead = isRead || (node.kind == ScalarNode::Kind::Load && node.buffer == buffer);
    });
    return isRead;
}

class Terms {
public:
    /// `value` is the text of the elements whose maximum is taken; `element` is a load of the
    /// maximum.
    Terms(std::string value, Scalar element)
        : value_(std::move(value)), element_(std::move(element)) {}

    /// The term with the maximum's element as the base of its exponential. Null if the term is not
    /// one exponential times a factor, or has another base than the terms before.
    Scalar relative(const Scalar& term) {
        if (isCall(term, Function::Exponential))
            return exponential(term->arguments[0]);
        const bool isProduct = isCall(term, Function::Multiply);
        if (!isProduct && !isCall(term, Function::Divide))
            return nullptr;
        const Scalar& left = term->arguments[0];
        const Scalar& right = term->arguments[1];
        if (!reads(right, element_->buffer))
            if (const Scalar changed = relative(left))
                return call(ScalarKind::Float, term->function, {changed, right});
        if (isProduct && !reads(left, element_->buffer))
            if (const Scalar changed = relative(right))
                return call(ScalarKind::Float, Function::Multiply, {left, changed});
        return nullptr;
    }

    const Scalar& base() const { return base_; }

private:
    Scalar exponential(const Scalar& difference) {
        if (!isCall(difference, Function::Subtract) || textOf(difference->arguments[0]) != value_)
            return nullptr;
        const Scalar& base = difference->arguments[1];
        if (!readsOnly(base, element_->buffer) || !reads(base, element_->buffer) ||
            (base_ != nullptr && textOf(base_) != textOf(base)))
            return nullptr;
        base_ = base;
        return call(
            ScalarKind::Float, Function::Exponential,
            {call(ScalarKind::Float, Function::Subtract, {difference->arguments[0], element_})});
    }

    std::string value_;
    Scalar element_;
    Scalar base_;
};

std::optional<Normaliser> normaliserOf(const Reduction& maximum, const Store& store,
                                       const Computation& sums, const Inlining& inlined) {
    Normaliser result{store.value->reduction, store.buffer, {}, nullptr};
    Terms terms(textOf(inlined(maximum.element)),
                load(ScalarKind::Float, store.buffer, store.position));
    for (const Reduction& sum : sums.reductions) {
        const Scalar term = sum.reducer == Reducer::Sum && sum.type == ScalarKind::Float
                                ? terms.relative(inlined(sum.element))
                                : nullptr;
        if (term == nullptr)
            return std::nullopt;
        result.terms.push_back(term);
    }
    result.base = terms.base();
    return result;
}

} // namespace

std::optional<Normaliser> normaliserOf(const RowPass& pass, const RowPass& next,
                                       const Inlining& inlined) {
    if (pass.kind != RowPass::Kind::Reduction || next.kind != RowPass::Kind::Reduction ||
        pass.elements->id != next.elements->id ||
        pass.elements->extent->bounds().low.value_or(0) < 1)
        return std::nullopt;
    for (const Store& store : pass.computation.stores) {
        if (store.value->kind != ScalarNode::Kind::Accumulated)
            continue;
        const Reduction& maximum = pass.computation.reductions[store.value->reduction];
        if (maximum.reducer != Reducer::Maximum || maximum.type != ScalarKind::Float)
            continue;
        if (auto found = normaliserOf(maximum, store, next.computation, inlined))
            return found;
    }
    return std::nullopt;
}

} // namespace kernelskill::engine::graph
