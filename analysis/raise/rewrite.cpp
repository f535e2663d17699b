#include "analysis/raise/rewrite.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <memory>
#include <unordered_set>
#include <utility>

namespace kernelskill::analysis::raise {

namespace {

/// `value` with other arguments.
Scalar withArguments(const Scalar& value, std::vector<Scalar> arguments) {
    if (value->kind == ScalarNode::Kind::Select)
        return select(arguments[0], arguments[1], arguments[2]);
    return value->function == Function::Convert
               ? converted(arguments[0], value->type)
               : call(value->type, value->function, std::move(arguments));
}

/// Rebuilds a graph of nodes, each node once: `of` gives another node for one, or null to keep it.
class Rewriting {
public:
    explicit Rewriting(const std::function<Scalar(const Scalar&)>& of) : of_(of) {}

    Scalar operator()(const Scalar& value) {
        if (const auto known = done_.find(value.get()); known != done_.end())
            return known->second;
        Scalar result = of_(value);
        if (result == nullptr) {
            std::vector<Scalar> arguments;
            bool isSame = true;
            for (const Scalar& argument : value->arguments) {
                arguments.push_back((*this)(argument));
                isSame = isSame && arguments.back() == argument;
            }
            result = isSame ? value : withArguments(value, std::move(arguments));
        }
        done_.emplace(value.get(), result);
        return result;
    }

private:
    const std::function<Scalar(const Scalar&)>& of_;
    std::unordered_map<const ScalarNode*, Scalar> done_;
};

std::string keyOf(const ScalarNode& node) {
    std::string key =
        fmt::format("{},{},{:a},{},{},{},{},{}", static_cast<int>(node.kind),
                    static_cast<int>(node.type), node.number, node.integer, node.index.text(),
                    node.buffer, node.reduction, static_cast<int>(node.function));
    for (const Index& at : node.position)
        key += ";" + at.text();
    for (const Scalar& argument : node.arguments)
        key += fmt::format("|{}", static_cast<const void*>(argument.get()));
    return key;
}

void collect(const Scalar& value, std::vector<Scalar>& nodes,
             std::unordered_set<const ScalarNode*>& seen) {
    if (!seen.insert(value.get()).second)
        return;
    for (const Scalar& argument : value->arguments)
        collect(argument, nodes, seen);
    nodes.push_back(value);
}

bool isReached(const Scalar& value, const ScalarNode* target, const ScalarNode* avoided,
               std::unordered_set<const ScalarNode*>& seen) {
    if (value.get() == avoided || !seen.insert(value.get()).second)
        return false;
    if (value.get() == target)
        return true;
    return std::ranges::any_of(value->arguments, [&](const Scalar& argument) {
        return isReached(argument, target, avoided, seen);
    });
}

} // namespace

Scalar Interner::operator()(const Scalar& value) {
    if (const auto known = known_.find(value.get()); known != known_.end())
        return known->second.result;
    Scalar result = value;
    ScalarNode node = *value;
    for (Scalar& argument : node.arguments)
        argument = (*this)(argument);
    const std::string key = keyOf(node);
    const auto [at, isNew] = nodes_.try_emplace(key, nullptr);
    if (isNew)
        at->second = node.arguments == value->arguments
                         ? value
                         : std::make_shared<const ScalarNode>(std::move(node));
    result = at->second;
    known_.emplace(value.get(), Known{value, result});
    return result;
}

void Interner::intern(Computation& computation) {
    rewriteRoots(computation, [this](const Scalar& value) { return (*this)(value); });
}

void Interner::intern(Program& program) {
    for (Step& step : program.steps)
        if (auto* computation = std::get_if<Computation>(&step))
            intern(*computation);
}

Scalar withNodes(const Scalar& value, const NodeReplacements& replacements) {
    const std::function<Scalar(const Scalar&)> of = [&](const Scalar& node) -> Scalar {
        const auto other = replacements.find(node.get());
        return other == replacements.end() ? nullptr : other->second;
    };
    return Rewriting(of)(value);
}

Scalar withIndices(const Scalar& value, const IndexRewrite& rewrite) {
    const std::function<Scalar(const Scalar&)> of = [&](const Scalar& node) -> Scalar {
        if (node->kind == ScalarNode::Kind::Position)
            return positionValue(node->type, rewrite(node->index));
        if (node->kind != ScalarNode::Kind::Load)
            return nullptr;
        std::vector<Index> position;
        for (const Index& at : node->position)
            position.push_back(rewrite(at));
        return samePosition(position, node->position)
                   ? node
                   : load(node->type, node->buffer, std::move(position));
    };
    return Rewriting(of)(value);
}

Scalar relocated(const Scalar& value, const std::map<std::uint32_t, Index>& axes) {
    return withIndices(value, [&](const Index& index) { return joined(index.substituted(axes)); });
}

std::vector<Index> relocated(const std::vector<Index>& position,
                             const std::map<std::uint32_t, Index>& axes) {
    std::vector<Index> result;
    for (const Index& at : position)
        result.push_back(joined(at.substituted(axes)));
    return result;
}

std::vector<Scalar> rootsOf(const Computation& computation) {
    std::vector<Scalar> roots;
    for (const Reduction& reduction : computation.reductions)
        roots.push_back(reduction.element);
    for (const Store& store : computation.stores)
        roots.push_back(store.value);
    return roots;
}

void rewriteRoots(Computation& computation, const std::function<Scalar(const Scalar&)>& rewrite) {
    for (Reduction& reduction : computation.reductions)
        reduction.element = rewrite(reduction.element);
    for (Store& store : computation.stores)
        store.value = rewrite(store.value);
}

std::vector<Scalar> nodesOf(const std::vector<Scalar>& roots) {
    std::vector<Scalar> nodes;
    std::unordered_set<const ScalarNode*> seen;
    for (const Scalar& root : roots)
        collect(root, nodes, seen);
    return nodes;
}

std::vector<Scalar> dominatorsOf(const std::vector<Scalar>& roots, const Scalar& target) {
    std::vector<Scalar> dominators;
    for (const Scalar& node : nodesOf(roots)) {
        std::unordered_set<const ScalarNode*> seen;
        if (!isReached(node, target.get(), nullptr, seen))
            continue;
        seen.clear();
        if (std::ranges::none_of(roots, [&](const Scalar& root) {
                return isReached(root, target.get(), node.get(), seen);
            }))
            dominators.push_back(node);
    }
    return dominators;
}

std::optional<std::vector<Index>> positionRead(const Computation& computation, BufferId buffer) {
    std::optional<std::vector<Index>> position;
    for (const Scalar& node : nodesOf(rootsOf(computation))) {
        if (node->kind != ScalarNode::Kind::Load || node->buffer != buffer)
            continue;
        if (position && !samePosition(*position, node->position))
            return std::nullopt;
        position = node->position;
    }
    return position;
}

bool isCall(const Scalar& value, Function function) {
    return value->kind == ScalarNode::Kind::Call && value->function == function;
}

std::vector<Index> indicesOf(const std::vector<Axis>& axes) {
    std::vector<Index> indices;
    for (const Axis& axis : axes)
        indices.push_back(Index::of(axis));
    return indices;
}

std::vector<Axis> newAxes(Program& program, const std::vector<Index>& extents,
                          const std::string& prefix) {
    std::vector<Axis> axes;
    for (std::size_t i = 0; i < extents.size(); ++i)
        axes.push_back({program.axes++, fmt::format("{}{}", prefix, i),
                        std::make_shared<const Index>(extents[i])});
    return axes;
}

bool samePosition(const std::vector<Index>& left, const std::vector<Index>& right) {
    return std::ranges::equal(left, right);
}

} // namespace kernelskill::analysis::raise
