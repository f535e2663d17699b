/// Makes PyTorch programs by hand.
#pragma once

#include "engine/graph/extent_expression.h"
#include "engine/graph/program.h"
#include "engine/graph/reference/contiguous_tensor.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace kernelskill::engine::graph::testing {

using Sizes = std::vector<std::int64_t>;

template <typename T>
std::vector<std::byte> bytesOf(const std::vector<T>& values) {
    std::vector<std::byte> bytes(values.size() * sizeof(T));
    if (!bytes.empty())
        std::memcpy(bytes.data(), values.data(), bytes.size());
    return bytes;
}

/// The elements of a tensor without gaps.
template <typename T>
std::vector<T> valuesOf(const TensorData& tensor) {
    std::vector<T> values(tensor.bytes.size() / sizeof(T));
    if (!values.empty())
        std::memcpy(values.data(), tensor.bytes.data(), values.size() * sizeof(T));
    return values;
}

inline TensorData floats(const Sizes& sizes, const std::vector<float>& values) {
    return owningTensor(contiguousType(ElementType::Float32, sizes), bytesOf<float>(values));
}

inline TensorData integers(const Sizes& sizes, const std::vector<std::int64_t>& values) {
    return owningTensor(contiguousType(ElementType::Int64, sizes), bytesOf(values));
}

class ProgramBuilder {
public:
    ProgramBuilder& input(const std::string& name, const Sizes& sizes,
                          ElementType element = ElementType::Float32) {
        program_.inputs.push_back({Input::Kind::User, name, {}, {}});
        program_.values[name] = contiguousType(element, sizes);
        return *this;
    }
    /// Whose first extent is the symbol.
    ProgramBuilder& dynamicInput(const std::string& name, const Sizes& sizes,
                                 const std::string& symbol, SymbolRange range) {
        input(name, sizes);
        program_.values[name].sizes.front().expression = symbol;
        program_.symbols[symbol] = range;
        return *this;
    }
    /// A symbol, which extents of values may be expressions of: "s0 + 1".
    ProgramBuilder& symbol(const std::string& name, std::int64_t atExport, SymbolRange range) {
        program_.symbols[name] = range;
        exported_[name] = atExport;
        return *this;
    }
    /// Adds an input whose extents are numbers or expressions of symbols.
    ProgramBuilder& sizedInput(const std::string& name, const std::vector<std::string>& extents,
                               ElementType element = ElementType::Float32) {
        program_.inputs.push_back({Input::Kind::User, name, {}, {}});
        return sizedType(name, extents, element);
    }
    ProgramBuilder& sizedType(const std::string& name, const std::vector<std::string>& extents,
                              ElementType element = ElementType::Float32) {
        std::vector<Extent> sizes;
        for (const std::string& extent : extents)
            sizes.push_back(extentOf(extent));
        program_.values[name] = contiguousType(element, std::move(sizes));
        return *this;
    }
    /// States what integer a node computes of extents.
    ProgramBuilder& number(const std::string& name, const std::string& extent) {
        program_.symbolicInts[name] = extentOf(extent);
        return *this;
    }
    /// A node that computes such an integer.
    ProgramBuilder& numberNode(const std::string& name, const std::string& target,
                               std::vector<NamedArgument> arguments, const std::string& extent) {
        return node(name, target, std::move(arguments)).number(name, extent);
    }
    /// A node that asserts the condition.
    ProgramBuilder& asserted(const std::string& name, ExtentRelation relation) {
        const std::string truth = name + "_truth";
        program_.otherValues.insert(truth);
        nodeWithResults(truth, "_operator.le", {}, {{truth}});
        nodeWithResults(name, "aten._assert_scalar.default",
                        {{"self", ValueName{truth}}, {"assert_msg", std::string("it holds")}}, {});
        relation.node = name;
        program_.relations.push_back(std::move(relation));
        return *this;
    }
    ProgramBuilder& held(Input::Kind kind, const std::string& name, TensorData tensor) {
        program_.inputs.push_back({kind, name, "module." + name, {}});
        program_.values[name] = tensor.type;
        program_.tensors["module." + name] = std::move(tensor);
        return *this;
    }
    /// A parameter that the archive names and does not hold.
    ProgramBuilder& parameter(const std::string& name, const Sizes& sizes) {
        return held(Input::Kind::Parameter, name,
                    {contiguousType(ElementType::Float32, sizes), {}, nullptr});
    }
    /// A node with one result of the node's name. `module`: "layers.0".
    ProgramBuilder& node(const std::string& name, const std::string& target,
                         std::vector<NamedArgument> arguments, const std::string& module = {}) {
        return nodeWithResults(name, target, std::move(arguments), {{name}}, module);
    }
    ProgramBuilder& nodeWithResults(const std::string& name, const std::string& target,
                                    std::vector<NamedArgument> arguments,
                                    std::vector<std::vector<std::string>> results,
                                    const std::string& module = {}) {
        program_.nodes.push_back({name, target, std::move(arguments), std::move(results), module});
        return *this;
    }
    /// States the type of a value that a node makes.
    ProgramBuilder& type(const std::string& name, const Sizes& sizes,
                         ElementType element = ElementType::Float32) {
        program_.values[name] = contiguousType(element, sizes);
        return *this;
    }
    ProgramBuilder& output(const std::string& name) {
        program_.outputs.push_back({Output::Kind::User, name, {}, {}});
        return *this;
    }
    Program& program() { return program_; }
    [[nodiscard]] std::shared_ptr<const Program> build() const {
        return std::make_shared<const Program>(program_);
    }

private:
    [[nodiscard]] Extent extentOf(const std::string& text) const {
        const auto expression = parseExtent(text, text);
        Extent extent{evaluateExtent(*expression, exported_).value(), {}};
        if (!evaluateExtent(*expression, {}))
            extent.expression = textOf(*expression);
        return extent;
    }

    Program program_;
    std::map<std::string, std::int64_t> exported_;
};

inline NamedArgument value(const std::string& parameter, const std::string& name) {
    return {parameter, ValueName{name}};
}

} // namespace kernelskill::engine::graph::testing
