#include "engine/graph/choice/choice_places.h"

#include "engine/graph/lowering/raised.h"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <utility>

namespace kernelskill::engine::graph {

namespace {

/// The most nodes that follow from a place's results: no kernel does the work of more.
constexpr std::size_t mostFollowing = 32;

bool isBatchNorm(std::string_view target) {
    return target.contains("batch_norm");
}

/// Whether the node computes each element of its results on its own, from some of its operands.
bool isElementwise(const Node& node) {
    const OperatorKind kind = operatorKind(node.target);
    return kind == OperatorKind::Elementwise || kind == OperatorKind::View ||
           isBatchNorm(node.target);
}

/// Whether the node's result is its operand with other axes, which any reader can do itself.
bool isFree(const Node& node) {
    constexpr std::array<std::string_view, 15> targets = {
        "aten._unsafe_view.default", "aten.alias.default",     "aten.chunk.default",
        "aten.detach.default",       "aten.expand.default",    "aten.flatten.using_ints",
        "aten.permute.default",      "aten.select.int",        "aten.slice.Tensor",
        "aten.split.Tensor",         "aten.squeeze.dim",       "aten.transpose.int",
        "aten.unflatten.int",        "aten.unsqueeze.default", "aten.view.default"};
    return std::ranges::find(targets, node.target) != targets.end();
}

/// Whether the simplification makes one computation of several nodes that each have a loop nest.
bool joinsNodes(const Simplification& simplification) {
    constexpr std::array<std::string_view, 4> names = {
        "linear-after-linear", "sum-over-linear", "mean-of-convolution", "pool-into-convolution"};
    return std::ranges::find(names, simplification.name) != names.end();
}

std::vector<std::string> readBy(const Node& node) {
    std::vector<std::string> values;
    for (const NamedArgument& argument : node.arguments)
        for (std::string& value : valuesIn(argument.value))
            values.push_back(std::move(value));
    return values;
}

std::vector<std::string> madeBy(const Node& node) {
    std::vector<std::string> values;
    for (const auto& names : node.results)
        for (const std::string& name : names)
            if (!name.empty())
                values.push_back(name);
    return values;
}

class PlaceSearch {
public:
    explicit PlaceSearch(const ModelPlan& own) : own_(own) {
        for (const Node& node : own.graph.nodes) {
            nodes_[node.name] = &node;
            for (const std::string& value : madeBy(node))
                makers_[value] = &node;
            for (const std::string& value : readBy(node))
                readers_[value].push_back(&node);
        }
    }

    std::vector<ChoicePlace> run() {
        for (const Node& node : own_.graph.nodes)
            if (operatorKind(node.target) == OperatorKind::LinearAlgebra &&
                !taken_.contains(node.name))
                begin(node, true);
        for (const Node& node : own_.graph.nodes)
            if (operatorKind(node.target) == OperatorKind::Reduction && !isBatchNorm(node.target) &&
                !taken_.contains(node.name) && isAlone(node.name))
                begin(node, false);
        for (ChoicePlace& place : places_)
            addFollowing(place);
        for (ChoicePlace& place : places_)
            addOperands(place);
        std::erase_if(places_, [&](ChoicePlace& place) {
            place.part.outputs = outputsOf(place.part.nodes);
            addPreparation(place.part);
            return place.part.outputs.empty() || !hasKernel(place);
        });
        return std::move(places_);
    }

private:
    /// Makes a place for the node, together with the products that a simplification joins with it.
    void begin(const Node& node, bool isLinearAlgebra) {
        ChoicePlace& place = places_.emplace_back();
        place.isLinearAlgebra = isLinearAlgebra;
        place.nodes.insert(node.name);
        add(place, node);
        for (std::size_t before = 0; before != place.part.nodes.size();) {
            before = place.part.nodes.size();
            for (const Simplification& each : own_.simplifications)
                if (joinsNodes(each) &&
                    std::ranges::any_of(each.nodes, [&](const std::string& name) {
                        return place.nodes.contains(name);
                    })) {
                    place.isSimplified = true;
                    for (const std::string& name : each.nodes)
                        join(place, name);
                }
        }
    }

    void join(ChoicePlace& place, const std::string& name) {
        const auto node = nodes_.find(name);
        if (node == nodes_.end() || taken_.contains(name))
            return;
        if (operatorKind(node->second->target) == OperatorKind::LinearAlgebra)
            place.nodes.insert(name);
        add(place, *node->second);
    }

    void add(ChoicePlace& place, const Node& node) {
        place.part.nodes.insert(node.name);
        taken_.insert(node.name);
    }

    /// Adds the element-wise nodes that follow, up to values that nodes outside of the place read.
    void addFollowing(ChoicePlace& place) {
        std::vector<const Node*> added;
        for (bool grows = true; grows && added.size() < mostFollowing;) {
            grows = false;
            for (const std::string& name : std::set(place.part.nodes))
                for (const std::string& value : madeBy(*nodes_.at(name)))
                    if (canFollow(place, value))
                        for (const Node* reader : readers_[value])
                            if (!place.part.nodes.contains(reader->name)) {
                                add(place, *reader);
                                added.push_back(reader);
                                grows = true;
                            }
        }
        // Nodes at the end that only rename axes belong to those that read them.
        for (auto node = added.rbegin(); node != added.rend(); ++node)
            if (isFree(**node) && !isReadWithin(place, **node)) {
                place.part.nodes.erase((*node)->name);
                taken_.erase((*node)->name);
            }
    }

    bool canFollow(const ChoicePlace& place, const std::string& value) {
        const auto readers = readers_.find(value);
        return readers != readers_.end() &&
               std::ranges::all_of(readers->second, [&](const Node* reader) {
                   return place.part.nodes.contains(reader->name) ||
                          (isElementwise(*reader) && !taken_.contains(reader->name));
               });
    }

    bool isReadWithin(const ChoicePlace& place, const Node& node) {
        return std::ranges::any_of(madeBy(node), [&](const std::string& value) {
            return std::ranges::any_of(readers_[value], [&](const Node* reader) {
                return place.part.nodes.contains(reader->name);
            });
        });
    }

    /// Adds the element-wise nodes that compute operands for this place alone, and the nodes that
    /// only rename axes of operands.
    void addOperands(ChoicePlace& place) {
        for (bool grows = true; grows;) {
            grows = false;
            for (const std::string& name : std::set(place.part.nodes))
                for (const std::string& value : readBy(*nodes_.at(name))) {
                    const auto maker = makers_.find(value);
                    if (maker == makers_.end() || place.part.nodes.contains(maker->second->name))
                        continue;
                    const Node& node = *maker->second;
                    const bool isOwn =
                        isElementwise(node) && !taken_.contains(node.name) &&
                        std::ranges::all_of(madeBy(node), [&](const std::string& made) {
                            return isReadWithin(place, made);
                        });
                    if (isOwn)
                        taken_.insert(node.name);
                    if (isOwn || isFree(node)) {
                        place.part.nodes.insert(node.name);
                        grows = true;
                    }
                }
        }
    }

    bool isReadWithin(const ChoicePlace& place, const std::string& value) {
        const bool isOutput = std::ranges::any_of(
            own_.graph.outputs, [&](const Output& output) { return output.value == value; });
        return !isOutput && std::ranges::all_of(readers_[value], [&](const Node* reader) {
            return place.part.nodes.contains(reader->name);
        });
    }

    /// Whether no kernel of the node does the work of another one that has a choice.
    bool isAlone(const std::string& name) const {
        return std::ranges::none_of(own_.steps, [&](const ModelStep& step) {
            const auto* kernel = std::get_if<Kernel>(&step.work);
            if (kernel == nullptr ||
                std::ranges::find(kernel->sources, name) == kernel->sources.end())
                return false;
            return std::ranges::any_of(kernel->sources, [&](const std::string& other) {
                const auto node = nodes_.find(other);
                if (other == name || node == nodes_.end())
                    return false;
                const OperatorKind kind = operatorKind(node->second->target);
                return kind == OperatorKind::LinearAlgebra || kind == OperatorKind::Reduction;
            });
        });
    }

    /// Whether there is work left: the results of a place may be known, or of no use.
    bool hasKernel(const ChoicePlace& place) const {
        return std::ranges::any_of(own_.steps, [&](const ModelStep& step) {
            const auto* kernel = std::get_if<Kernel>(&step.work);
            return kernel != nullptr &&
                   std::ranges::any_of(kernel->sources, [&](const std::string& source) {
                       return place.nodes.contains(source);
                   });
        });
    }

    /// Nodes that depend on weights alone are computed once: they belong to the place that reads
    /// them.
    void addPreparation(ProgramPart& part) const {
        std::set<std::string> changing; // Values that depend on the user's inputs, or on nothing.
        for (const Input& input : own_.graph.inputs)
            if (input.kind == Input::Kind::User)
                changing.insert(input.value);
        for (const Node& node : own_.graph.nodes) {
            const std::vector<std::string> read = readBy(node);
            if (read.empty() || std::ranges::any_of(read, [&](const std::string& value) {
                    return changing.contains(value);
                }))
                for (std::string& value : madeBy(node))
                    changing.insert(std::move(value));
        }
        for (auto node = own_.graph.nodes.rbegin(); node != own_.graph.nodes.rend(); ++node)
            if (part.nodes.contains(node->name))
                for (const std::string& value : readBy(*node))
                    if (const auto maker = makers_.find(value);
                        maker != makers_.end() && !changing.contains(value))
                        part.nodes.insert(maker->second->name);
    }

    /// The values that are read outside of the part; free axes are made again where they are read.
    std::set<std::string> outputsOf(const std::set<std::string>& nodes) const {
        std::set<std::string> wanted;
        for (const Node& node : own_.graph.nodes)
            if (!nodes.contains(node.name))
                for (std::string& value : readBy(node))
                    wanted.insert(std::move(value));
        for (const Output& output : own_.graph.outputs)
            wanted.insert(output.value);
        std::set<std::string> outputs;
        for (const std::string& name : nodes)
            for (std::string& value : madeBy(*nodes_.at(name)))
                if (wanted.contains(value) && !isFree(*nodes_.at(name)))
                    outputs.insert(std::move(value));
        return outputs;
    }

    const ModelPlan& own_;
    std::map<std::string, const Node*> nodes_;                ///< By their names.
    std::map<std::string, const Node*> makers_;               ///< By the values that they make.
    std::map<std::string, std::vector<const Node*>> readers_; ///< By the values that they read.
    std::set<std::string> taken_; ///< Nodes that have a place; free nodes may have several.
    std::vector<ChoicePlace> places_;
};

} // namespace

std::vector<ChoicePlace> choicePlaces(const ModelPlan& own) {
    return PlaceSearch(own).run();
}

} // namespace kernelskill::engine::graph
