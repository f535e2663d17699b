#include "engine/graph/model/model_plan.h"

#include "analysis/raise/split_reductions.h"
#include "engine/graph/extent_relation.h"
#include "engine/graph/kernels/contraction_layout.h"
#include "engine/graph/kernels/contraction_split.h"
#include "engine/graph/kernels/contraction_strides.h"
#include "engine/graph/kernels/kernel_choice.h"
#include "engine/graph/limitations.h"
#include "engine/graph/lowering/extent_index.h"
#include "engine/graph/lowering/lowering.h"
#include "engine/graph/lowering/raised.h"
#include "engine/graph/model/names.h"
#include "engine/graph/separate_bias.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace kernelskill::engine::graph {

namespace {

using analysis::raise::Buffer;
using analysis::raise::BufferId;
using analysis::raise::LibraryCall;

/// Refuses graphs that no model can be made for.
Result<void> checkTaken(const Program& graph) {
    std::string sentences;
    for (const Limitation& limitation : limitations(graph)) {
        const bool isTaken = limitation.kind == Limitation::Kind::UnknownOperator ||
                             limitation.kind == Limitation::Kind::LeftOut;
        if (!isTaken)
            sentences += (sentences.empty() ? "" : "; ") + limitation.sentence;
    }
    if (sentences.empty())
        return {};
    return std::unexpected(Error{ErrorKind::Unsupported, sentences, "",
                                 "export the program with run_decompositions({}), without these "
                                 "parts"});
}

std::set<BufferId> readBy(const ModelStep& step) {
    if (const auto* call = std::get_if<LibraryCall>(&step.work))
        return {call->inputs.begin(), call->inputs.end()};
    std::set<BufferId> buffers;
    for (const KernelParameter& parameter : std::get<Kernel>(step.work).parameters)
        if (!parameter.isWritten)
            buffers.insert(parameter.buffer);
    return buffers;
}

std::set<BufferId> writtenBy(const ModelStep& step) {
    if (const auto* call = std::get_if<LibraryCall>(&step.work))
        return {call->outputs.begin(), call->outputs.end()};
    std::set<BufferId> buffers;
    for (const KernelParameter& parameter : std::get<Kernel>(step.work).parameters)
        if (parameter.isWritten)
            buffers.insert(parameter.buffer);
    return buffers;
}

class Planning {
public:
    Planning(Program graph, Raised raised) : raised_(std::move(raised)) {
        plan_.graph = std::move(graph);
    }

    Result<ModelPlan> run(const std::string& name, const ModelOptions& options) {
        plan_.name = name;
        SimplifiedProgram simple =
            simplified(std::move(raised_.program),
                       {.off = options.notSimplified, .constants = heldConstants(plan_.graph)});
        plan_.program = withSplitReductions(withSplitContractions(
            withPackedWeights(withoutStrideZeros(std::move(simple.program))), options.kernels));
        plan_.simplifications = std::move(simple.simplifications);
        plan_.constantOutputs = std::move(simple.constantOutputs);
        for (const auto& [symbol, range] : plan_.graph.symbols)
            plan_.symbols.push_back(symbol);
        renameBuffers(plan_.program, plan_.symbols);
        renameComputations(plan_.program);
        addSignature();
        for (auto& work : kernelsOf(plan_.program, options.kernels))
            plan_.steps.push_back({std::move(work), false});
        for (const LibraryCall* call : libraryCalls(plan_))
            if (options.float32Nodes.contains(call->node))
                plan_.float32Nodes.insert(call->node);
        findPrepared();
        place();
        plan_.integers = std::move(raised_.integers);
        if (const auto sized = planSymbols(); !sized)
            return std::unexpected(sized.error());
        return std::move(plan_);
    }

private:
    void addSignature() {
        for (std::size_t i = 0; i < plan_.graph.inputs.size(); ++i) {
            const auto buffer = raised_.inputs.at(i);
            if (!buffer)
                continue;
            auto& list =
                plan_.graph.inputs[i].kind == Input::Kind::User ? plan_.inputs : plan_.weights;
            list.push_back({plan_.graph.inputs[i].value, *buffer});
        }
        for (std::size_t i = 0; i < plan_.graph.outputs.size(); ++i)
            if (const auto buffer = raised_.outputs.at(i))
                plan_.outputs.push_back({plan_.graph.outputs[i].value, *buffer});
    }

    bool isGiven(BufferId buffer, Buffer::Role role) const {
        return plan_.program.buffers[buffer].role == role;
    }

    void findPrepared() {
        std::set<BufferId> prepared;
        for (ModelStep& step : plan_.steps) {
            const std::set<BufferId> written = writtenBy(step);
            step.dependsOnWeightsAlone =
                std::holds_alternative<Kernel>(step.work) &&
                std::ranges::all_of(readBy(step),
                                    [&](BufferId buffer) {
                                        return isGiven(buffer, Buffer::Role::Weight) ||
                                               prepared.contains(buffer);
                                    }) &&
                std::ranges::all_of(written, [&](BufferId buffer) {
                    return isGiven(buffer, Buffer::Role::Local) &&
                           elementsOf(plan_.program.buffers[buffer].shape).constant();
                });
            if (step.dependsOnWeightsAlone)
                prepared.insert(written.begin(), written.end());
        }
    }

    void place() {
        std::map<BufferId, Lifetime> lifetimes;
        std::set<BufferId> ofLibraries;
        for (const ModelStep& step : plan_.steps)
            if (const auto* call = std::get_if<LibraryCall>(&step.work))
                ofLibraries.insert(call->outputs.begin(), call->outputs.end());
        std::set<BufferId> prepared;
        for (std::size_t i = 0; i < plan_.steps.size(); ++i) {
            const auto touch = [&](BufferId buffer) {
                if (!isGiven(buffer, Buffer::Role::Local) || ofLibraries.contains(buffer))
                    return;
                lifetimes.try_emplace(buffer, Lifetime{buffer, i, i}).first->second.last = i;
            };
            for (const BufferId buffer : readBy(plan_.steps[i]))
                touch(buffer);
            // A library gives its results memory of its own.
            if (std::holds_alternative<LibraryCall>(plan_.steps[i].work))
                continue;
            for (const BufferId buffer : writtenBy(plan_.steps[i])) {
                touch(buffer);
                if (plan_.steps[i].dependsOnWeightsAlone)
                    prepared.insert(buffer);
            }
        }
        std::vector<Lifetime> once;
        std::vector<Lifetime> each;
        for (const auto& [buffer, lifetime] : lifetimes) {
            if (prepared.contains(buffer))
                once.push_back({buffer, 0, plan_.steps.size()});
            else
                each.push_back(lifetime);
        }
        plan_.prepared = placed(plan_.program, std::move(once));
        plan_.workspace = placed(plan_.program, std::move(each));
    }

    Result<void> planSymbols() {
        auto sources = symbolSources(plan_.graph);
        if (!sources)
            return std::unexpected(sources.error());
        plan_.symbolSources = *std::move(sources);
        for (const ExtentRelation& relation : plan_.graph.relations) {
            const auto left = sideOf(relation, relation.left);
            const auto right = sideOf(relation, relation.right);
            if (!left || !right)
                return std::unexpected((left ? right : left).error());
            plan_.relations.push_back({relation, *left, *right});
        }
        return {};
    }

    [[nodiscard]] Result<analysis::raise::Index> sideOf(const ExtentRelation& relation,
                                                        const std::string& side) const {
        const auto expression = parseExtent(side, "");
        if (!expression)
            return std::unexpected(expression.error());
        try {
            return indexOf(*expression, plan_.graph);
        } catch (const NotRaised& failure) {
            return std::unexpected(Error{
                ErrorKind::Unsupported,
                fmt::format("the condition {}{} is not checked: {}", textOf(relation),
                            relation.node.empty() ? "" : ", which " + relation.node + " asserts,",
                            failure.reason),
                "", "export the program with this dimension static"});
        }
    }

    Raised raised_;
    ModelPlan plan_;
};

} // namespace

Result<ModelPlan> plannedModel(Program graph, const std::string& name,
                               const ModelOptions& options) {
    if (const auto taken = checkTaken(graph); !taken)
        return std::unexpected(taken.error());
    if (options.usesLibraries || !options.libraryNodes.empty())
        graph = withSeparateBias(std::move(graph));
    auto program = raised(
        graph, options.usesLibraries ? LeftToLibrary::LinearAlgebra : LeftToLibrary::WhatHasNoRule,
        options.libraryNodes, options.channelsLastNodes);
    if (!program)
        return std::unexpected(program.error());
    return Planning(std::move(graph), std::move(*program)).run(name, options);
}

std::vector<const LibraryCall*> libraryCalls(const ModelPlan& plan) {
    std::vector<const LibraryCall*> calls;
    for (const ModelStep& step : plan.steps)
        if (const auto* call = std::get_if<LibraryCall>(&step.work))
            calls.push_back(call);
    return calls;
}

std::set<std::string> channelsLastCalls(const ModelPlan& plan) {
    std::set<std::string> names;
    for (const LibraryCall* call : libraryCalls(plan))
        if (call->isChannelsLast)
            names.insert(call->node);
    return names;
}

std::set<std::size_t> outputsOfLibraries(const ModelPlan& plan) {
    std::map<BufferId, std::string> results; // The graph's names of what libraries give.
    for (const LibraryCall* call : libraryCalls(plan)) {
        const auto node = std::ranges::find(plan.graph.nodes, call->node, &Node::name);
        std::size_t place = 0;
        if (node != plan.graph.nodes.end())
            for (const auto& names : node->results)
                for (const std::string& name : names)
                    if (!name.empty() && place < call->outputs.size())
                        results[call->outputs[place++]] = name;
    }
    for (const ModelStep& step : plan.steps)
        for (const BufferId buffer : readBy(step))
            results.erase(buffer);
    std::set<std::size_t> places;
    for (std::size_t i = 0; i < plan.outputs.size(); ++i) {
        const ModelTensor& output = plan.outputs[i];
        const auto result = results.find(output.buffer);
        if (result != results.end() && result->second == output.source &&
            std::ranges::count(plan.outputs, output.buffer, &ModelTensor::buffer) == 1)
            places.insert(i);
    }
    return places;
}

std::vector<ModelTensor> distinctOutputs(const ModelPlan& plan) {
    std::vector<ModelTensor> distinct;
    for (const ModelTensor& output : plan.outputs)
        if (std::ranges::find(distinct, output.buffer, &ModelTensor::buffer) == distinct.end())
            distinct.push_back(output);
    return distinct;
}

} // namespace kernelskill::engine::graph
