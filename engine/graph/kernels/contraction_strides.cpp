#include "engine/graph/kernels/contraction_strides.h"

#include "analysis/raise/merged_axes.h"
#include "engine/graph/kernels/contraction.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

namespace kernelskill::engine::graph {

namespace {

using analysis::ScalarKind;
using analysis::raise::Axis;
using analysis::raise::Computation;
using analysis::raise::Function;
using analysis::raise::Index;
using analysis::raise::Program;
using analysis::raise::Scalar;
using analysis::raise::ScalarNode;
using analysis::raise::Step;

/// The index with other indices for the atoms that `replace` returns one for.
using AtomReplacement = std::function<std::optional<Index>(const Index::Atom&)>;
Index withAtoms(const Index& index, const AtomReplacement& replace) {
    Index result;
    for (const auto& [key, term] : index.terms()) {
        Index product = term.factor;
        for (const Index::AtomRef& atom : term.atoms) {
            const auto by = replace(*atom);
            product = product * (by ? *by : Index::of(atom));
        }
        result = result + product;
    }
    return result;
}

Scalar truth() {
    return analysis::raise::integerNumber(ScalarKind::Bool, 1);
}

/// The scalar with its indices rewritten; a load from a place that was rewritten is zero where that
/// place lies outside of the buffer.
class IndexRewriting {
public:
    IndexRewriting(const Program& program, AtomReplacement replace)
        : program_(program), replace_(std::move(replace)) {}

    Scalar operator()(const Scalar& value) const {
        switch (value->kind) {
        case ScalarNode::Kind::Position:
            return analysis::raise::positionValue(value->type, withAtoms(value->index, replace_));
        case ScalarNode::Kind::Load:
            return loaded(*value);
        case ScalarNode::Kind::Call:
            return called(*value);
        case ScalarNode::Kind::Select:
            return analysis::raise::select((*this)(value->arguments[0]),
                                           (*this)(value->arguments[1]),
                                           (*this)(value->arguments[2]));
        default:
            return value;
        }
    }

private:
    Scalar loaded(const ScalarNode& node) const {
        const std::vector<Index>& shape = program_.buffers.at(node.buffer).shape;
        std::vector<Index> position;
        Scalar isInside = truth();
        for (std::size_t i = 0; i < node.position.size(); ++i) {
            position.push_back(withAtoms(node.position[i], replace_));
            if (!(position.back() == node.position[i]))
                isInside = call(ScalarKind::Bool, Function::And,
                                {isInside, analysis::raise::isInside(position.back(), shape[i])});
        }
        const Scalar value = load(node.type, node.buffer, position);
        return analysis::raise::select(isInside, value, analysis::raise::number(node.type, 0));
    }

    Scalar called(const ScalarNode& node) const {
        std::vector<Scalar> arguments;
        for (const Scalar& argument : node.arguments)
            arguments.push_back((*this)(argument));
        if (node.function == Function::Equal)
            if (const auto known = comparedPositions(arguments))
                return analysis::raise::integerNumber(ScalarKind::Bool, *known ? 1 : 0);
        return call(node.type, node.function, std::move(arguments));
    }

    /// Whether two positions are equal, if both are constants.
    static std::optional<bool> comparedPositions(const std::vector<Scalar>& arguments) {
        std::vector<std::int64_t> values;
        for (const Scalar& argument : arguments) {
            if (analysis::raise::isFloating(argument->type))
                return std::nullopt;
            if (argument->kind == ScalarNode::Kind::Number)
                values.push_back(argument->integer);
            else if (argument->kind == ScalarNode::Kind::Position && argument->index.constant())
                values.push_back(*argument->index.constant());
            else
                return std::nullopt;
        }
        return values[0] == values[1];
    }

    const Program& program_;
    AtomReplacement replace_;
};

/// (shift + r - dilation * k) / stride, where r is what is left of a position of the result.
struct StridedTap {
    Axis tap; ///< k, of the depth.
    std::int64_t stride = 1;
    std::int64_t dilation = 1;
    std::int64_t shift = 0;
};

/// The distances d from q that some tap has, for r in [0, count).
struct Distances {
    std::int64_t first = 0;
    std::int64_t count = 0;
};
Distances distancesOf(const StridedTap& of, std::int64_t residues) {
    std::int64_t low = std::numeric_limits<std::int64_t>::max();
    std::int64_t high = std::numeric_limits<std::int64_t>::min();
    for (std::int64_t r = 0; r < residues; ++r)
        for (std::int64_t k = 0; k < *of.tap.extent->constant(); ++k) {
            const std::int64_t place = of.shift + r - of.dilation * k;
            if (place % of.stride != 0)
                continue;
            low = std::min(low, place / of.stride);
            high = std::max(high, place / of.stride);
        }
    return low > high ? Distances{} : Distances{low, high - low + 1};
}

/// A position that strides along an axis of the result: the stride, and the factor's tap.
struct StridedAxis {
    std::size_t axis = 0;
    StridedTap tap; ///< Its shift is that for positions stride * q + r.
};

/// Visits all atoms of all indices in a scalar, those within atoms included.
void forEachAtom(const Index& index, const std::function<void(const Index::Atom&)>& visit) {
    for (const auto& [key, term] : index.terms())
        for (const Index::AtomRef& atom : term.atoms) {
            visit(*atom);
            if (atom->left != nullptr)
                forEachAtom(*atom->left, visit);
        }
}
void forEachAtom(const Scalar& value, const std::function<void(const Index::Atom&)>& visit) {
    forEachNode(value, [&](const ScalarNode& node) {
        forEachAtom(node.index, visit);
        for (const Index& at : node.position)
            forEachAtom(at, visit);
    });
}

/// The dividend as shift + axis - dilation * tap.
std::optional<StridedTap> tapOf(const Index::Atom& atom, const Axis& axis,
                                const std::vector<Axis>& depth) {
    const auto stride = atom.right->constant();
    if (!stride || *stride < 2 || strideOf(*atom.left, axis) != 1)
        return std::nullopt;
    Index rest = *atom.left - Index::of(axis);
    std::optional<StridedTap> found;
    for (const Axis& tap : depth) {
        if (!rest.mentions(tap.id))
            continue;
        const auto by = strideOf(rest, tap);
        if (found || !by || *by >= 0 || !tap.extent->constant() || std::gcd(*by, *stride) != 1)
            return std::nullopt;
        found = StridedTap{tap, *stride, -*by, 0};
        rest = rest + Index::of(tap) * Index(-*by);
    }
    const auto shift = rest.constant();
    if (!found || !shift)
        return std::nullopt;
    found->shift = *shift;
    return found;
}

class StrideSplitting {
public:
    explicit StrideSplitting(Program program) : program_(std::move(program)) {}

    Program run() {
        std::vector<Step> steps = std::move(program_.steps);
        program_.steps.clear();
        for (const Step& step : steps)
            if (const auto* computation = std::get_if<Computation>(&step))
                names_[computation->name] = 1;
        for (Step& step : steps) {
            if (auto* computation = std::get_if<Computation>(&step)) {
                for (Computation& part : partsOf(*computation))
                    program_.steps.emplace_back(std::move(part));
                continue;
            }
            program_.steps.push_back(std::move(step));
        }
        return std::move(program_);
    }

private:
    /// The computation itself if nothing of it is strided so.
    std::vector<Computation> partsOf(const Computation& computation) {
        std::vector<Computation> done;
        std::vector<Computation> open{computation};
        while (!open.empty()) {
            Computation next = std::move(open.back());
            open.pop_back();
            auto parts = splitOnce(next);
            if (parts.empty())
                done.push_back(std::move(next));
            std::ranges::move(parts, std::back_inserter(open));
        }
        // The first one, by far the largest, keeps the name.
        for (std::size_t i = 1; i < done.size(); ++i)
            done[i].name = freshName(computation.name + "_edge");
        return done;
    }

    std::string freshName(const std::string& wanted) {
        std::string name = wanted;
        for (std::size_t i = 2; !names_.emplace(name, 1).second; ++i)
            name = fmt::format("{}_{}", wanted, i);
        return name;
    }

    /// The parts along one strided axis, the largest last; empty if there is none.
    std::vector<Computation> splitOnce(const Computation& computation) {
        const auto contraction = contractionOf(program_, computation);
        if (!contraction)
            return {};
        for (const bool isLeft : {true, false}) {
            const Scalar& factor = isLeft ? contraction->left : contraction->right;
            const Scalar& other = isLeft ? contraction->right : contraction->left;
            for (std::size_t i = 0; i < contraction->computation.axes.size(); ++i) {
                const auto tap = stridedTap(*contraction, factor, other, i);
                if (!tap)
                    continue;
                auto parts = split(*contraction, factor, other, {i, *tap});
                if (!parts.empty())
                    return parts;
            }
        }
        return {};
    }

    static std::optional<StridedTap> stridedTap(const Contraction& contraction,
                                                const Scalar& factor, const Scalar& other,
                                                std::size_t axis) {
        const Axis& of = contraction.computation.axes[axis];
        if (!of.extent->constant() || mentions(other, of.id))
            return std::nullopt;
        std::optional<StridedTap> found;
        forEachAtom(factor, [&](const Index::Atom& atom) {
            if (!found && atom.kind == Index::Atom::Kind::Remainder)
                found = tapOf(atom, of, contraction.depth);
        });
        return found;
    }

    /// A range of positions: start + stride * q + r for q < count and r < residues.
    struct Range {
        std::int64_t start = 0;
        std::int64_t count = 0;
        std::int64_t residues = 0;
    };

    std::vector<Computation> split(const Contraction& contraction, const Scalar& factor,
                                   const Scalar& other, const StridedAxis& strided) {
        const std::int64_t stride = strided.tap.stride;
        const std::int64_t extent = *contraction.computation.axes[strided.axis].extent->constant();
        if (extent < stride)
            return {};
        const std::int64_t start = bestStart(strided.tap, extent);
        const std::int64_t count = (extent - start) / stride;
        const std::int64_t end = start + count * stride;
        std::vector<Range> ranges;
        if (start > 0)
            ranges.push_back({0, 1, start});
        if (end < extent)
            ranges.push_back({end, 1, extent - end});
        ranges.push_back({start, count, stride});
        std::vector<Computation> parts;
        for (const Range& range : ranges) {
            auto part = partOf(contraction, factor, other, strided, range);
            if (!part)
                return {};
            parts.push_back(std::move(*part));
        }
        return parts;
    }

    /// Chooses the position that counting begins at, so that the fewest distances are left. No part
    /// at the beginning is better than one.
    static std::int64_t bestStart(StridedTap tap, std::int64_t extent) {
        std::int64_t best = 0;
        std::int64_t fewest = distancesOf(tap, tap.stride).count;
        for (std::int64_t start = 1; start < tap.stride && start + tap.stride <= extent; ++start) {
            ++tap.shift;
            const std::int64_t count = distancesOf(tap, tap.stride).count;
            if (count >= fewest)
                continue;
            fewest = count;
            best = start;
        }
        return best;
    }

    std::optional<Computation> partOf(const Contraction& contraction, const Scalar& factor,
                                      const Scalar& other, const StridedAxis& strided,
                                      const Range& range) {
        const Axis axis = contraction.computation.axes[strided.axis];
        StridedTap tap = strided.tap;
        tap.shift += range.start;
        const Distances distances = distancesOf(tap, range.residues);
        if (distances.count == 0)
            return std::nullopt;
        program_.axes = std::max(program_.axes, contraction.axes);
        const Axis whole = fresh(axis.name, range.count);
        const Axis residue = fresh(axis.name + "_in", range.residues);
        const Axis distance = fresh(tap.tap.name, distances.count);
        const Index q = Index::of(whole);
        const Index r = Index::of(residue);
        const Index d = Index::of(distance) + distances.first;
        // Quotients of the dividend by the stride are q + d, and there is no remainder.
        const auto replace = [&](const Index::Atom& atom) -> std::optional<Index> {
            const bool isQuotient = atom.kind == Index::Atom::Kind::Quotient;
            if (!isQuotient && atom.kind != Index::Atom::Kind::Remainder)
                return std::nullopt;
            const auto of = tapOf(atom, axis, contraction.depth);
            const std::int64_t apart = of ? of->shift - strided.tap.shift : 0;
            if (!of || of->tap.id != tap.tap.id || of->stride != tap.stride ||
                of->dilation != tap.dilation || apart % tap.stride != 0)
                return std::nullopt;
            return isQuotient ? q + d + apart / tap.stride : Index(0);
        };
        const Scalar strode = IndexRewriting(program_, replace)(factor);
        if (mentions(strode, axis.id) || mentions(strode, tap.tap.id))
            return std::nullopt;
        // The tap of r and d, if there is one.
        const Index product = r - Index(tap.stride) * d + tap.shift;
        const Index k = quotient(product, tap.dilation);
        Scalar isTap = analysis::raise::isInside(k, *tap.tap.extent);
        if (tap.dilation > 1)
            isTap = call(ScalarKind::Bool, Function::And,
                         {isTap, isZero(remainder(product, tap.dilation))});
        const Scalar weight = analysis::raise::select(isTap, substituted(other, {{tap.tap.id, k}}),
                                                      analysis::raise::number(other->type, 0));
        Computation part = substituted(contraction.computation,
                                       {{axis.id, q * Index(tap.stride) + r + range.start}});
        part.reductions[0].element = call(ScalarKind::Float, Function::Multiply, {strode, weight});
        const auto at = part.axes.begin() + static_cast<std::ptrdiff_t>(strided.axis);
        *at = whole;
        part.axes.insert(at + 1, residue);
        for (Axis& each : part.reduced)
            if (each.id == tap.tap.id)
                each = distance;
        return part;
    }

    static Scalar isZero(const Index& index) {
        return call(ScalarKind::Bool, Function::Equal,
                    {analysis::raise::positionValue(ScalarKind::Int64, index),
                     analysis::raise::integerNumber(ScalarKind::Int64, 0)});
    }

    Axis fresh(const std::string& name, std::int64_t extent) {
        return {program_.axes++, name, std::make_shared<const Index>(extent)};
    }

    Program program_;
    std::map<std::string, int> names_;
};

} // namespace

Program withoutStrideZeros(Program program) {
    return StrideSplitting(std::move(program)).run();
}

} // namespace kernelskill::engine::graph
