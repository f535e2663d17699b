#include "analysis/raise/builder.h"

#include "analysis/raise/channels_last.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cctype>
#include <memory>
#include <utility>

namespace kernelskill::analysis::raise {

namespace {

std::vector<Index> indices(const std::vector<Axis>& axes) {
    std::vector<Index> position;
    for (const Axis& axis : axes)
        position.push_back(Index::of(axis));
    return position;
}

std::string identifier(const std::string& name) {
    std::string text;
    for (const char letter : name)
        text += std::isalnum(static_cast<unsigned char>(letter)) != 0 ? letter : '_';
    if (text.empty() || std::isdigit(static_cast<unsigned char>(text.front())) != 0)
        text = "t" + text;
    return text;
}

} // namespace

std::string Builder::fresh(const std::string& name, std::map<std::string, std::size_t>& names) {
    const std::string base = identifier(name);
    std::string result = base;
    while (names[result]++ > 0)
        result = fmt::format("{}_{}", base, names[base]);
    return result;
}

BufferId Builder::addBuffer(const std::string& name, ScalarKind element, std::vector<Index> shape,
                            Buffer::Role role, const std::string& source) {
    program_.buffers.push_back(
        {fresh(name, bufferNames_), element, std::move(shape), role, source});
    return static_cast<BufferId>(program_.buffers.size() - 1);
}

Tensor Builder::tensorOfBuffer(BufferId buffer) const {
    const Buffer& known = program_.buffers.at(buffer);
    return {known.element, known.shape,
            [buffer, element = known.element](const std::vector<Index>& position) {
                return load(element, buffer, position);
            }};
}

Axis Builder::axis(const std::string& name, const Index& extent) {
    return {program_.axes++, name, std::make_shared<const Index>(extent)};
}

std::vector<Axis> Builder::axesOf(const std::vector<Index>& shape, const std::string& prefix) {
    std::vector<Axis> axes;
    for (std::size_t i = 0; i < shape.size(); ++i)
        axes.push_back(axis(fmt::format("{}{}", prefix, i), shape[i]));
    return axes;
}

Tensor Builder::input(const std::string& name, ScalarKind element, std::vector<Index> shape,
                      Buffer::Role role, const std::string& source) {
    return tensorOfBuffer(addBuffer(name, element, std::move(shape), role, source));
}

std::optional<BufferId> Builder::bufferOf(const Tensor& tensor) {
    const std::vector<Axis> axes = axesOf(tensor.shape, "i");
    const std::vector<Index> position = indices(axes);
    const Scalar value = tensor.at(position);
    if (value->kind != ScalarNode::Kind::Load)
        return std::nullopt;
    const Buffer& buffer = program_.buffers.at(value->buffer);
    // A reshaped buffer has the same elements in the same order.
    const bool isWhole =
        elementsOf(buffer.shape) == elementsOf(tensor.shape) &&
        flattened(value->position, buffer.shape) == flattened(position, tensor.shape);
    return isWhole ? std::optional(value->buffer) : std::nullopt;
}

void Builder::add(Computation computation) {
    computation.name = fresh(computation.name, names_);
    computation.sources = sources_;
    program_.steps.emplace_back(std::move(computation));
}

BufferId Builder::addStore(Computation& computation, const std::string& name, ScalarKind element,
                           Buffer::Role role, Scalar value) {
    const BufferId buffer = addBuffer(name, element, extentsOf(computation.axes), role, "");
    computation.stores.push_back({buffer, indices(computation.axes), std::move(value)});
    return buffer;
}

Tensor Builder::kept(const Tensor& tensor, const std::string& name, Buffer::Role role) {
    const bool isChannelsLast =
        isChannelsLast_ && role == Buffer::Role::Local && hasChannelsLast(tensor.rank());
    if (role == Buffer::Role::Local)
        if (const auto buffer = bufferOf(tensor))
            return reshaped(tensorOfBuffer(*buffer), tensor.shape);
    if (isChannelsLast && bufferOf(inChannelsLast(tensor)))
        return tensor;
    Computation map;
    map.name = name;
    map.axes = axesOf(tensor.shape, "i");
    Scalar value = tensor.at(indices(map.axes));
    if (isChannelsLast)
        map.axes = inChannelsLast(std::move(map.axes));
    const BufferId buffer = addStore(map, name, tensor.element, role, std::move(value));
    add(std::move(map));
    return isChannelsLast ? fromChannelsLast(tensorOfBuffer(buffer)) : tensorOfBuffer(buffer);
}

BufferId Builder::output(const Tensor& tensor, const std::string& name) {
    if (const auto known = bufferOf(tensor)) {
        Buffer& buffer = program_.buffers.at(*known);
        if (buffer.role == Buffer::Role::Local && buffer.shape == tensor.shape) {
            buffer.role = Buffer::Role::Output;
            return *known;
        }
    }
    static_cast<void>(kept(tensor, name, Buffer::Role::Output));
    return static_cast<BufferId>(program_.buffers.size() - 1);
}

std::vector<Tensor> Builder::reduced(const std::vector<ReductionOf>& reductions,
                                     const std::vector<std::size_t>& axes, bool keepsAxes,
                                     const std::string& name) {
    const std::vector<Index>& shape = reductions.front().tensor.shape;
    Computation computation;
    computation.name = name;
    std::vector<Index> position;
    std::vector<Index> keptShape;
    for (std::size_t i = 0; i < shape.size(); ++i) {
        const bool isReduced = std::ranges::find(axes, i) != axes.end();
        const Axis own = axis(fmt::format("{}{}", isReduced ? "r" : "i", i), shape[i]);
        position.push_back(Index::of(own));
        (isReduced ? computation.reduced : computation.axes).push_back(own);
        keptShape.push_back(isReduced ? Index(1) : shape[i]);
    }
    const bool keepsChannels =
        std::ranges::none_of(axes, [](std::size_t reduced) { return reduced <= 1; });
    const bool isChannelsLast = isChannelsLast_ && keepsChannels && hasChannelsLast(shape.size());
    if (isChannelsLast)
        computation.axes = inChannelsLast(std::move(computation.axes));
    std::vector<Tensor> results;
    for (std::size_t i = 0; i < reductions.size(); ++i) {
        const ReductionOf& reduction = reductions[i];
        computation.reductions.push_back(
            {reduction.reducer, reduction.tensor.at(position), reduction.type});
        const BufferId buffer = addStore(computation, name, reduction.type, Buffer::Role::Local,
                                         accumulated(reduction.type, i));
        const Tensor result =
            isChannelsLast ? fromChannelsLast(tensorOfBuffer(buffer)) : tensorOfBuffer(buffer);
        results.push_back(keepsAxes ? reshaped(result, keptShape) : result);
    }
    add(std::move(computation));
    return results;
}

Tensor Builder::reduced(Reducer reducer, const Tensor& tensor, const std::vector<std::size_t>& axes,
                        bool keepsAxes, const std::string& name) {
    return reduced({{reducer, tensor, findsPlace(reducer) ? ScalarKind::Int64 : tensor.element}},
                   axes, keepsAxes, name)
        .front();
}

Tensor Builder::reducedBy(Reducer reducer, ScalarKind element, const std::vector<Index>& shape,
                          const std::vector<std::pair<std::string, Index>>& axes,
                          const std::function<Scalar(const std::vector<Index>& position,
                                                     const std::vector<Index>& reduced)>& of,
                          const std::string& name) {
    Computation computation;
    computation.name = name;
    computation.axes = axesOf(shape, "i");
    for (const auto& [axisName, extent] : axes)
        computation.reduced.push_back(axis(axisName, extent));
    const std::vector<Index> position = indices(computation.axes);
    computation.reductions.push_back(
        {reducer, of(position, indices(computation.reduced)), element});
    const bool isChannelsLast = isChannelsLast_ && hasChannelsLast(shape.size());
    if (isChannelsLast)
        computation.axes = inChannelsLast(std::move(computation.axes));
    const BufferId buffer =
        addStore(computation, name, element, Buffer::Role::Local, accumulated(element, 0));
    add(std::move(computation));
    return isChannelsLast ? fromChannelsLast(tensorOfBuffer(buffer)) : tensorOfBuffer(buffer);
}

Tensor Builder::scanned(Reducer reducer, const Tensor& tensor, std::size_t axis,
                        const std::string& name) {
    Computation computation;
    computation.name = name;
    computation.axes = axesOf(tensor.shape, "i");
    computation.scanned = axis;
    const std::vector<Index> position = indices(computation.axes);
    computation.reductions.push_back({reducer, tensor.at(position), tensor.element});
    const BufferId buffer = addBuffer(name, tensor.element, tensor.shape, Buffer::Role::Local, "");
    computation.stores.push_back({buffer, position, accumulated(tensor.element, 0)});
    add(std::move(computation));
    return tensorOfBuffer(buffer);
}

std::vector<Tensor> Builder::library(const std::string& reason, const std::vector<Tensor>& inputs,
                                     const std::vector<Tensor>& resultTypes,
                                     const std::string& name, bool isChannelsLast) {
    LibraryCall work{sources_.empty() ? name : sources_.back(), reason, {}, {}, isChannelsLast};
    const bool others = std::exchange(isChannelsLast_, false); // The axes are in that order here.
    const auto isTurned = [&](const Tensor& tensor) {
        return isChannelsLast && hasChannelsLast(tensor.rank());
    };
    for (const Tensor& tensor : inputs)
        work.inputs.push_back(
            *bufferOf(kept(isTurned(tensor) ? inChannelsLast(tensor) : tensor, name + "_input")));
    isChannelsLast_ = others;
    std::vector<Tensor> results;
    for (const Tensor& type : resultTypes) {
        work.outputs.push_back(addBuffer(name, type.element,
                                         isTurned(type) ? inChannelsLast(type.shape) : type.shape,
                                         Buffer::Role::Local, ""));
        const Tensor result = tensorOfBuffer(work.outputs.back());
        results.push_back(isTurned(type) ? fromChannelsLast(result) : result);
    }
    program_.steps.emplace_back(std::move(work));
    return results;
}

std::size_t Builder::costOf(const Tensor& tensor) {
    const Scalar value = tensor.at(indices(axesOf(tensor.shape, "i")));
    std::size_t cost = 0;
    std::size_t loads = 0;
    forEachNode(value, [&](const ScalarNode& node) {
        if (node.kind == ScalarNode::Kind::Load)
            ++loads;
        else if (node.kind == ScalarNode::Kind::Call || node.kind == ScalarNode::Kind::Select)
            ++cost;
    });
    return cost + (loads > 0 ? loads - 1 : 0);
}

} // namespace kernelskill::analysis::raise
