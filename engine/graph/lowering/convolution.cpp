/// Convolutions of one to three axes, and their transposes.
#include "engine/graph/lowering/lowering.h"

#include <spdlog/fmt/fmt.h>

#include <array>

namespace kernelskill::engine::graph {

namespace {

using namespace analysis::raise;
using Position = std::vector<Index>;
using Values = std::vector<Scalar>;

/// The operands of a convolution of `axes` axes: input [n, channels, ...], weight [.., .., ...].
struct Operands {
    Tensor input;
    Tensor weight;
    bool isBatch = true; ///< False: the input came without n.
    std::int64_t groups = 1;
    std::vector<std::int64_t> stride;
    std::vector<std::int64_t> padding;
    std::vector<std::int64_t> dilation;
};

Operands operandsOf(Lowering& in, std::size_t axes) {
    Operands operands;
    operands.input = in.reread(in.tensor("input"));
    operands.weight = in.reread(in.tensor("weight"));
    operands.isBatch = operands.input.rank() == axes + 2;
    if (!operands.isBatch)
        operands.input = unsqueezed(operands.input, 0);
    if (operands.input.rank() != axes + 2 || operands.weight.rank() != axes + 2)
        throw NotRaised{fmt::format("a convolution of {} axes with operands of {} and {}", axes,
                                    operands.input.rank(), operands.weight.rank())};
    const ScalarKind work = computedIn(operands.input.element);
    operands.input = convertedTensor(operands.input, work);
    operands.weight = convertedTensor(operands.weight, work);
    operands.groups = in.integer("groups");
    operands.stride = in.perAxis("stride", axes);
    operands.padding = in.perAxis("padding", axes);
    operands.dilation = in.perAxis("dilation", axes);
    return operands;
}

std::vector<std::pair<std::string, Index>> reducedAxes(const Index& channels,
                                                       const Tensor& weight) {
    std::vector<std::pair<std::string, Index>> reduced{{"c", channels}};
    for (std::size_t axis = 2; axis < weight.rank(); ++axis)
        reduced.emplace_back(fmt::format("k{}", axis - 2), weight.shape[axis]);
    return reduced;
}

/// Adds the bias, and drops n if the input came without it.
Results finished(Lowering& in, Tensor result, const Operands& operands) {
    if (const auto bias = in.optionalTensor("bias")) {
        std::vector<Index> shape(result.rank(), Index(1));
        shape[1] = bias->shape.at(0);
        result = zipped({result, reshaped(*bias, shape)}, result.element,
                        [](const Values& x) { return plus(x[0], converted(x[1], x[0]->type)); });
    }
    if (!operands.isBatch)
        result = squeezed(result, 0);
    return {convertedTensor(result, in.resultType())};
}

template <std::size_t axes>
Results convolution(Lowering& in) {
    const Operands operands = operandsOf(in, axes);
    const Tensor& input = operands.input;
    const Tensor& weight = operands.weight;
    const Index perGroup = weight.shape[1];
    const Index outPerGroup = quotient(weight.shape[0], operands.groups);
    std::vector<Index> shape{input.shape[0], weight.shape[0]};
    for (std::size_t i = 0; i < axes; ++i) {
        const Index span = (weight.shape[i + 2] - 1) * operands.dilation[i] + 1;
        shape.push_back(
            quotient(input.shape[i + 2] + 2 * operands.padding[i] - span, operands.stride[i]) + 1);
    }
    Tensor source = input;
    for (std::size_t i = 0; i < axes; ++i)
        if (operands.padding[i] != 0)
            source = padded(source, i + 2, operands.padding[i], operands.padding[i], 0);
    const Tensor result = in.builder().reducedBy(
        Reducer::Sum, input.element, shape, reducedAxes(perGroup, weight),
        [&](const Position& at, const Position& k) {
            Position from{at[0], quotient(at[1], outPerGroup) * perGroup + k[0]};
            Position tap{at[1], k[0]};
            for (std::size_t i = 0; i < axes; ++i) {
                from.push_back(at[i + 2] * operands.stride[i] + k[i + 1] * operands.dilation[i]);
                tap.push_back(k[i + 1]);
            }
            return times(source.at(from), weight.at(tap));
        },
        in.node().name);
    return finished(in, result, operands);
}

/// Each element gathers the products that the forward convolution would scatter to it.
template <std::size_t axes>
Results transposedConvolution(Lowering& in) {
    const Operands operands = operandsOf(in, axes);
    const std::vector<std::int64_t> added = in.perAxis("output_padding", axes);
    const Tensor& input = operands.input;
    const Tensor& weight = operands.weight;
    const Index perGroup = quotient(input.shape[1], operands.groups);
    const Index outPerGroup = weight.shape[1];
    std::vector<Index> shape{input.shape[0], outPerGroup * operands.groups};
    for (std::size_t i = 0; i < axes; ++i)
        shape.push_back((input.shape[i + 2] - 1) * operands.stride[i] - 2 * operands.padding[i] +
                        (weight.shape[i + 2] - 1) * operands.dilation[i] + added[i] + 1);
    const Tensor result = in.builder().reducedBy(
        Reducer::Sum, input.element, shape, reducedAxes(perGroup, weight),
        [&](const Position& at, const Position& k) {
            const Index channel = quotient(at[1], outPerGroup) * perGroup + k[0];
            Position from{at[0], channel};
            Position tap{channel, remainder(at[1], outPerGroup)};
            Scalar isTap = integerNumber(ScalarKind::Bool, 1);
            for (std::size_t i = 0; i < axes; ++i) {
                const Index place =
                    at[i + 2] + operands.padding[i] - k[i + 1] * operands.dilation[i];
                const Index source = quotient(place, operands.stride[i]);
                const Scalar divides =
                    isEqual(positionValue(ScalarKind::Int64, remainder(place, operands.stride[i])),
                            integerNumber(ScalarKind::Int64, 0));
                isTap = both(both(isTap, divides), isInside(source, input.shape[i + 2]));
                from.push_back(source);
                tap.push_back(k[i + 1]);
            }
            const Scalar value = input.at(from);
            return times(select(isTap, value, constantLike(value, 0)), weight.at(tap));
        },
        in.node().name);
    return finished(in, result, operands);
}

constexpr std::array convolutionTable = {
    Rule{"aten.conv1d.default", convolution<1>},
    Rule{"aten.conv2d.default", convolution<2>},
    Rule{"aten.conv3d.default", convolution<3>},
    Rule{"aten.conv_transpose1d.default", transposedConvolution<1>},
    Rule{"aten.conv_transpose2d.input", transposedConvolution<2>},
    Rule{"aten.conv_transpose3d.input", transposedConvolution<3>},
};

} // namespace

std::span<const Rule> convolutionRules() {
    return convolutionTable;
}

} // namespace kernelskill::engine::graph
