#include "engine/graph/lowering/raised.h"

#include "engine/graph/lowering/channels_last_nodes.h"
#include "engine/graph/lowering/extent_nodes.h"
#include "engine/graph/lowering/lowering.h"
#include "engine/graph/operators.h"
#include "engine/graph/program_check.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace kernelskill::engine::graph {

namespace {

using analysis::raise::Buffer;
using analysis::raise::BufferId;

/// A value that is read more often than once, and takes more than this to compute, is written to a
/// buffer.
constexpr std::size_t cheapToRepeat = 2;

std::vector<std::span<const Rule>> allRules() {
    return {contractionRules(), convolutionRules(), creationRules(),
            elementwiseRules(), lossRules(),        normalisationRules(),
            poolingRules(),     reductionRules(),   viewRules()};
}

bool holds(std::span<const Rule> rules, std::string_view target) {
    return std::ranges::find(rules, target, &Rule::target) != rules.end();
}

const Rule* ruleOf(std::string_view target) {
    for (const std::span<const Rule> rules : allRules()) {
        const auto rule = std::ranges::find(rules, target, &Rule::target);
        if (rule != rules.end())
            return &*rule;
    }
    return nullptr;
}

/// How often each value is read by nodes and outputs.
std::map<std::string, std::size_t> readsOf(const Program& graph) {
    std::map<std::string, std::size_t> reads;
    for (const Node& node : graph.nodes)
        for (const NamedArgument& argument : node.arguments)
            for (const std::string& name : valuesIn(argument.value))
                ++reads[name];
    for (const Output& output : graph.outputs)
        ++reads[output.value];
    return reads;
}

class Raising {
public:
    Raising(const Program& graph, LeftToLibrary left, const std::set<std::string>& nodes,
            const std::set<std::string>& channelsLast)
        : graph_(graph), left_(left), leftNodes_(nodes), lowering_(graph, builder_),
          reads_(readsOf(graph)) {
        for (const std::string& node : imageConvolutions(graph))
            if (channelsLast.contains(node) &&
                (left == LeftToLibrary::LinearAlgebra || nodes.contains(node)))
                convolutions_.insert(node);
        channelsLast_ = channelsLastNodes(graph, convolutions_);
    }

    Result<Raised> run() {
        try {
            for (const Input& input : graph_.inputs)
                defineInput(input);
            for (const Node& node : graph_.nodes)
                raise(node);
            for (const Output& output : graph_.outputs)
                defineOutput(output);
        } catch (const NotRaised& failure) {
            return std::unexpected(Error{ErrorKind::Unsupported, failure.reason, "", ""});
        }
        raised_.program = builder_.take();
        raised_.integers = lowering_.integerValues();
        return std::move(raised_);
    }

private:
    void defineInput(const Input& input) {
        const auto type = graph_.values.find(input.value);
        if (type == graph_.values.end()) {
            raised_.inputs.emplace_back();
            return;
        }
        std::vector<Index> shape;
        for (const Extent& extent : type->second.sizes) {
            if (extent.isDynamic() && extent.value < 0)
                throw NotRaised{
                    fmt::format("an extent of the input {} depends on data", input.value)};
            shape.push_back(lowering_.indexOf(extent));
        }
        const bool isUsers = input.kind == Input::Kind::User;
        raised_.inputs.emplace_back(static_cast<BufferId>(builder_.program().buffers.size()));
        lowering_.define(
            input.value,
            builder_.input(input.value, scalarKindOf(type->second.element), std::move(shape),
                           isUsers ? Buffer::Role::Input : Buffer::Role::Weight, input.value));
    }

    void raise(const Node& node) {
        lowering_.enter(node);
        if (isOfExtents(node.target)) {
            raiseNumbers(node);
            return;
        }
        std::vector<std::string> sources;
        for (const NamedArgument& argument : node.arguments)
            for (const std::string& value : valuesIn(argument.value))
                for (const std::string& source : sourcesOf(value))
                    if (std::ranges::find(sources, source) == sources.end())
                        sources.push_back(source);
        sources.push_back(node.name);
        builder_.setSources(sources);
        builder_.setChannelsLast(channelsLast_.contains(node.name));
        const Builder::Mark begin = builder_.mark();
        std::string reason = fmt::format("no rule for {}", node.target);
        if (left_ == LeftToLibrary::LinearAlgebra &&
            operatorKind(node.target) == OperatorKind::LinearAlgebra) {
            reason = "libraries are allowed";
        } else if (leftNodes_.contains(node.name)) {
            reason = "a library was faster";
        } else if (const Rule* rule = ruleOf(node.target)) {
            try {
                const Results results = rule->lower(lowering_);
                const bool hasComputed = builder_.mark().steps > begin.steps;
                for (const auto& names : node.results)
                    for (const std::string& name : names)
                        openSources_[name] = hasComputed ? std::vector{node.name} : sources;
                define(node, results);
                return;
            } catch (const NotRaised& failure) {
                reason = failure.reason;
            } catch (const std::out_of_range&) {
                reason = "its arguments have another number of axes than the rule expects";
            }
        }
        // Nothing reads what the rule has begun.
        builder_.dropBehind(begin);
        leaveToLibrary(node, reason);
    }

    /// A number that is not computed here is missed by the node that reads it.
    void raiseNumbers(const Node& node) {
        try {
            raiseExtents(lowering_, graph_);
        } catch (const NotRaised& failure) {
            throw NotRaised{fmt::format("{}: {}", describe(node), failure.reason)};
        } catch (const std::out_of_range&) {
            throw NotRaised{fmt::format("{} names an axis that is not there", describe(node))};
        }
    }

    void define(const Node& node, const Results& results) {
        std::size_t next = 0;
        for (const std::vector<std::string>& names : node.results)
            for (const std::string& name : names) {
                if (next >= results.size())
                    throw NotRaised{fmt::format("{} has more results than its rule", node.target)};
                Tensor tensor = results[next++];
                if (name.empty())
                    continue;
                const auto reads = reads_.find(name);
                const bool isReadOften = reads != reads_.end() && reads->second > 1;
                if (isReadOften && builder_.costOf(tensor) > cheapToRepeat) {
                    tensor = builder_.kept(tensor, name);
                    openSources_[name].clear();
                }
                define(name, std::move(tensor));
            }
    }

    /// The nodes whose work is done where the value is read, and not before.
    std::vector<std::string> sourcesOf(const std::string& value) const {
        const auto open = openSources_.find(value);
        return open != openSources_.end() ? open->second : std::vector<std::string>();
    }

    void define(const std::string& value, Tensor tensor) {
        raised_.shapes[value] = tensor.shape;
        lowering_.define(value, std::move(tensor));
    }

    /// A library takes tensors and integers, and gives tensors.
    void requireForLibrary(const Node& node, const std::string& reason) const {
        const auto refuse = [&](const std::string& what) {
            throw NotRaised{fmt::format("{} {} ({})", describe(node), what, reason)};
        };
        for (const NamedArgument& argument : node.arguments)
            for (const std::string& name : valuesIn(argument.value)) {
                if (graph_.values.contains(name))
                    continue;
                if (!graph_.symbolicInts.contains(name))
                    refuse(
                        fmt::format("reads '{}', which is neither a tensor nor an integer", name));
                try {
                    static_cast<void>(lowering_.integerValue(name));
                } catch (const NotRaised& failure) {
                    refuse(fmt::format("reads '{}': {}", name, failure.reason));
                }
            }
        for (const std::vector<std::string>& names : node.results)
            for (const std::string& name : names)
                if (!name.empty() && !graph_.values.contains(name))
                    refuse(fmt::format("computes '{}', which is no tensor", name));
    }

    void leaveToLibrary(const Node& node, const std::string& reason) {
        requireForLibrary(node, reason);
        std::vector<Tensor> inputs;
        for (const NamedArgument& argument : node.arguments)
            for (const std::string& name : valuesIn(argument.value))
                if (graph_.values.contains(name)) // The others are numbers.
                    inputs.push_back(lowering_.anyValue(name));
        std::vector<Tensor> types;
        std::size_t number = 0;
        std::vector<std::string> results;
        for (const std::vector<std::string>& names : node.results)
            for (const std::string& name : names) {
                if (!name.empty()) {
                    types.push_back(analysis::raise::constantTensor(
                        lowering_.anyResultType(number), lowering_.resultShape(number), 0));
                    results.push_back(name);
                }
                ++number;
            }
        const std::vector<Tensor> values =
            builder_.library(reason, inputs, types, node.name, convolutions_.contains(node.name));
        for (std::size_t i = 0; i < results.size(); ++i)
            define(results[i], values[i]);
    }

    void defineOutput(const Output& output) {
        if (output.value.empty() || !graph_.values.contains(output.value)) {
            raised_.outputs.emplace_back();
            return;
        }
        builder_.setSources(sourcesOf(output.value));
        raised_.outputs.emplace_back(
            builder_.output(lowering_.anyValue(output.value), output.value));
    }

    const Program& graph_;
    LeftToLibrary left_;
    const std::set<std::string>& leftNodes_;
    std::set<std::string> convolutions_; ///< Those of a library in channels-last order.
    std::set<std::string> channelsLast_; ///< They, and the nodes around them.
    Builder builder_;
    Lowering lowering_;
    std::map<std::string, std::size_t> reads_;
    std::map<std::string, std::vector<std::string>> openSources_; ///< The open nodes of each value.
    Raised raised_;
};

} // namespace

OperatorKind operatorKind(std::string_view target) {
    if (holds(contractionRules(), target) || holds(convolutionRules(), target))
        return OperatorKind::LinearAlgebra;
    if (holds(reductionRules(), target) || holds(normalisationRules(), target) ||
        holds(poolingRules(), target) || holds(lossRules(), target))
        return OperatorKind::Reduction;
    if (holds(viewRules(), target))
        return OperatorKind::View;
    return holds(elementwiseRules(), target) ? OperatorKind::Elementwise : OperatorKind::Other;
}

Result<Raised> raised(const Program& graph, LeftToLibrary left, const std::set<std::string>& nodes,
                      const std::set<std::string>& channelsLast) {
    return Raising(graph, left, nodes, channelsLast).run();
}

std::vector<std::string> raisedOperators() {
    std::vector<std::string> targets;
    for (const std::span<const Rule> rules : allRules())
        for (const Rule& rule : rules)
            targets.emplace_back(rule.target);
    return targets;
}

} // namespace kernelskill::engine::graph
