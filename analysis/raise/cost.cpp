#include "analysis/raise/cost.h"

#include "analysis/syntax/scalar_bytes.h"

#include <algorithm>
#include <cmath>

namespace kernelskill::analysis::raise {

namespace {

double valueOf(const Index::Atom& atom) {
    constexpr double usual = 64;
    switch (atom.kind) {
    case Index::Atom::Kind::Size: {
        const double low = atom.bounds.low ? static_cast<double>(*atom.bounds.low) : 0;
        const double high = atom.bounds.high ? static_cast<double>(*atom.bounds.high) : usual;
        return std::clamp(usual, low, std::max(low, high));
    }
    case Index::Atom::Kind::Quotient:
        return std::floor(estimated(*atom.left) / std::max(1.0, estimated(*atom.right)));
    case Index::Atom::Kind::Remainder:
        return std::fmod(estimated(*atom.left), std::max(1.0, estimated(*atom.right)));
    default:
        return 0;
    }
}

} // namespace

double estimated(const Index& index) {
    double sum = 0;
    for (const auto& [key, monomial] : index.terms()) {
        auto product = static_cast<double>(monomial.factor);
        for (const Index::AtomRef& atom : monomial.atoms)
            product *= valueOf(*atom);
        sum += product;
    }
    return sum;
}

double estimatedElements(const std::vector<Index>& shape) {
    double elements = 1;
    for (const Index& extent : shape)
        elements *= std::max(0.0, estimated(extent));
    return elements;
}

double estimatedElements(const std::vector<Axis>& axes) {
    double elements = 1;
    for (const Axis& axis : axes)
        elements *= std::max(0.0, estimated(*axis.extent));
    return elements;
}

std::size_t operationsIn(const Scalar& value) {
    std::size_t count = 0;
    forEachNode(value, [&](const ScalarNode& node) {
        if (node.kind == ScalarNode::Kind::Call || node.kind == ScalarNode::Kind::Select)
            ++count;
    });
    return count;
}

double estimatedBytes(const Buffer& buffer) {
    return estimatedElements(buffer.shape) * static_cast<double>(scalarBytes(buffer.element));
}

} // namespace kernelskill::analysis::raise
