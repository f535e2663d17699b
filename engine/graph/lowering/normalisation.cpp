/// Normalisations: differences from a mean over a deviation, times a weight, plus a bias.
#include "engine/graph/lowering/lowering.h"

#include <spdlog/fmt/fmt.h>

#include <array>

namespace kernelskill::engine::graph {

namespace {

using namespace analysis::raise;
using Values = std::vector<Scalar>;

/// The tensor less its mean over axes, over its deviation over them.
Tensor normalised(Lowering& in, const Tensor& tensor, const std::vector<std::size_t>& axes,
                  double epsilon) {
    const Tensor input =
        in.reread(convertedTensor(tensor, computedIn(tensor.element)), cheapToReread);
    Index count = 1;
    for (const std::size_t axis : axes)
        count = count * input.shape.at(axis);
    const Scalar elements = converted(positionValue(ScalarKind::Int64, count), input.element);
    const auto average = [&](const Tensor& of, const std::string& name) {
        return mapped(in.builder().reduced(Reducer::Sum, of, axes, true, in.node().name + name),
                      of.element, [=](const Scalar& x) { return over(x, elements); });
    };
    const Tensor mean = average(input, "_mean");
    const Tensor difference =
        zipped({input, mean}, input.element, [](const Values& x) { return minus(x[0], x[1]); });
    const Tensor variance =
        average(mapped(difference, input.element, [](const Scalar& x) { return times(x, x); }),
                "_variance");
    return zipped({difference, variance}, input.element, [=](const Values& x) {
        return times(x[0], applied(Function::ReciprocalSquareRoot, plus(x[1], epsilon)));
    });
}

/// `tensor` times a weight plus a bias, where there are any; both broadcast.
Tensor scaled(Tensor tensor, const std::optional<Tensor>& weight, const std::optional<Tensor>& bias,
              ScalarKind type) {
    const ScalarKind work = tensor.element;
    const auto combined = [&](const Tensor& other, Function function) {
        tensor = zipped({tensor, other}, work, [=](const Values& x) {
            return applied(function, x[0], converted(x[1], work));
        });
    };
    if (weight)
        combined(*weight, Function::Multiply);
    if (bias)
        combined(*bias, Function::Add);
    return convertedTensor(tensor, type);
}

/// A tensor of one element a channel, as one of `rank` axes whose second is the channel.
std::optional<Tensor> ofChannels(const std::optional<Tensor>& tensor, std::size_t rank) {
    if (!tensor)
        return std::nullopt;
    std::vector<Index> shape(rank, Index(1));
    shape.at(1) = tensor->shape.at(0);
    return reshaped(*tensor, shape);
}

Results layerNorm(Lowering& in) {
    const Tensor input = in.tensor("input");
    const std::size_t count = in.sizes("normalized_shape").size();
    std::vector<std::size_t> axes;
    for (std::size_t i = input.rank() - count; i < input.rank(); ++i)
        axes.push_back(i);
    return {scaled(normalised(in, input, axes, in.real("eps")), in.optionalTensor("weight"),
                   in.optionalTensor("bias"), in.resultType())};
}

Results groupNorm(Lowering& in) {
    const Tensor input = in.tensor("input");
    const std::int64_t groups = in.integer("num_groups");
    // [n, groups, channels a group, the rest]
    std::vector<Index> split = input.shape;
    split.insert(split.begin() + 1, Index(groups));
    split.at(2) = quotient(input.shape.at(1), groups);
    std::vector<std::size_t> axes;
    for (std::size_t i = 2; i < split.size(); ++i)
        axes.push_back(i);
    const Tensor result =
        reshaped(normalised(in, reshaped(input, split), axes, in.real("eps")), input.shape);
    return {scaled(result, ofChannels(in.optionalTensor("weight"), input.rank()),
                   ofChannels(in.optionalTensor("bias"), input.rank()), in.resultType())};
}

/// Normalises by statistics that were kept.
Tensor byRunningStatistics(Lowering& in, const Tensor& input) {
    const ScalarKind work = computedIn(input.element);
    const double epsilon = in.real("eps");
    const Tensor mean = *ofChannels(in.tensor("running_mean"), input.rank());
    const Tensor variance = *ofChannels(in.tensor("running_var"), input.rank());
    const Tensor result =
        zipped({convertedTensor(input, work), convertedTensor(mean, work),
                convertedTensor(variance, work)},
               work, [=](const Values& x) {
                   return times(minus(x[0], x[1]),
                                applied(Function::ReciprocalSquareRoot, plus(x[2], epsilon)));
               });
    return scaled(result, ofChannels(in.optionalTensor("weight"), input.rank()),
                  ofChannels(in.optionalTensor("bias"), input.rank()), in.resultType());
}

Results batchNorm(Lowering& in) {
    const Tensor result = byRunningStatistics(in, in.tensor("input"));
    const Tensor empty = constantTensor(ScalarKind::Float, {Index(0)}, 0);
    return {result, empty, empty};
}

/// Normalises by kept statistics, or by those of the input while training.
Results batchNormOf(Lowering& in) {
    const Tensor input = in.tensor("input");
    if (!in.truth("training"))
        return {byRunningStatistics(in, input)};
    if (!in.isNone("running_mean"))
        throw NotRaised{"statistics that training changes"};
    std::vector<std::size_t> axes{0};
    for (std::size_t i = 2; i < input.rank(); ++i)
        axes.push_back(i);
    return {scaled(normalised(in, input, axes, in.real("eps")),
                   ofChannels(in.optionalTensor("weight"), input.rank()),
                   ofChannels(in.optionalTensor("bias"), input.rank()), in.resultType())};
}

Results instanceNorm(Lowering& in) {
    const Tensor input = in.tensor("input");
    if (!in.truth("use_input_stats"))
        return {byRunningStatistics(in, input)};
    std::vector<std::size_t> axes;
    for (std::size_t i = 2; i < input.rank(); ++i)
        axes.push_back(i);
    return {scaled(normalised(in, input, axes, in.real("eps")),
                   ofChannels(in.optionalTensor("weight"), input.rank()),
                   ofChannels(in.optionalTensor("bias"), input.rank()), in.resultType())};
}

constexpr std::array normalisationTable = {
    Rule{"aten._native_batch_norm_legit_no_training.default", batchNorm},
    Rule{"aten.batch_norm.default", batchNormOf},
    Rule{"aten.group_norm.default", groupNorm},
    Rule{"aten.instance_norm.default", instanceNorm},
    Rule{"aten.layer_norm.default", layerNorm},
};

} // namespace

std::span<const Rule> normalisationRules() {
    return normalisationTable;
}

} // namespace kernelskill::engine::graph
