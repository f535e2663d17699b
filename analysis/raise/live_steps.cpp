#include "analysis/raise/live_steps.h"

#include "analysis/raise/cost.h"
#include "analysis/raise/rewrite.h"
#include "analysis/raise/uses.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

namespace kernelskill::analysis::raise {

namespace {

/// Leaves out the reductions that no store names.
void dropReductions(Computation& computation) {
    std::map<std::size_t, std::size_t> numbers;
    for (const Store& store : computation.stores)
        forEachNode(store.value, [&](const ScalarNode& node) {
            if (node.kind == ScalarNode::Kind::Accumulated)
                numbers.emplace(node.reduction, 0);
        });
    if (numbers.size() == computation.reductions.size())
        return;
    std::vector<Reduction> needed;
    for (auto& [number, next] : numbers) {
        next = needed.size();
        needed.push_back(computation.reductions.at(number));
    }
    computation.reductions = std::move(needed);
    for (Store& store : computation.stores)
        store.value = replaced(store.value, [&](const ScalarNode& node) -> Scalar {
            return node.kind == ScalarNode::Kind::Accumulated
                       ? accumulated(node.type, numbers.at(node.reduction))
                       : nullptr;
        });
    if (computation.reductions.empty()) {
        computation.reduced.clear();
        computation.scanned.reset();
    }
}

Program inOrder(Program program, const std::vector<std::size_t>& order) {
    std::vector<Step> steps;
    for (const std::size_t step : order)
        steps.push_back(std::move(program.steps[step]));
    program.steps = std::move(steps);
    return program;
}

/// Finds which steps each step has to run after, whatever their order now.
class Needs {
public:
    explicit Needs(const Program& program)
        : needs_(program.steps.size()), writesOutput_(program.steps.size()) {
        std::map<BufferId, std::vector<std::size_t>> writers;
        for (std::size_t step = 0; step < program.steps.size(); ++step)
            for (const BufferId buffer : writesOf(program.steps[step])) {
                writers[buffer].push_back(step);
                if (program.buffers[buffer].role == Buffer::Role::Output)
                    writesOutput_[step] = true;
            }
        for (std::size_t step = 0; step < program.steps.size(); ++step)
            for (const BufferId buffer : readsOf(program.steps[step]))
                needs_[step].insert(needs_[step].end(), writers[buffer].begin(),
                                    writers[buffer].end());
    }

    /// The roots and what they need, each behind what it needs.
    [[nodiscard]] std::vector<std::size_t> depthFirst(const std::vector<std::size_t>& roots) const {
        std::vector<std::size_t> order;
        std::vector<bool> isSeen(needs_.size());
        // An explicit stack: programs can be deep.
        std::vector<std::pair<std::size_t, std::size_t>> stack;
        for (const std::size_t root : roots) {
            if (!isSeen[root])
                stack.emplace_back(root, 0);
            isSeen[root] = true;
            while (!stack.empty()) {
                auto& [step, next] = stack.back();
                if (next == needs_[step].size()) {
                    order.push_back(step);
                    stack.pop_back();
                    continue;
                }
                const std::size_t other = needs_[step][next++];
                if (!isSeen[other])
                    stack.emplace_back(other, 0);
                isSeen[other] = true;
            }
        }
        return order;
    }
    /// Steps that write outputs first.
    [[nodiscard]] std::vector<std::size_t> outputsFirst() const {
        std::vector<std::size_t> order(needs_.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::ranges::stable_partition(order, [&](std::size_t step) { return writesOutput_[step]; });
        return order;
    }

private:
    std::vector<std::vector<std::size_t>> needs_;
    std::vector<bool> writesOutput_;
};

} // namespace

Program withoutDeadSteps(Program program) {
    const auto isTaken = [&](BufferId buffer, const std::vector<bool>& isRead) {
        return program.buffers[buffer].role == Buffer::Role::Output || isRead[buffer];
    };
    std::vector<bool> isRead(program.buffers.size());
    std::vector<Step> kept;
    for (std::size_t i = program.steps.size(); i-- > 0;) {
        Step& step = program.steps[i];
        if (auto* computation = std::get_if<Computation>(&step)) {
            std::erase_if(computation->stores,
                          [&](const Store& store) { return !isTaken(store.buffer, isRead); });
            if (computation->stores.empty())
                continue;
            dropReductions(*computation);
        } else {
            const auto& call = std::get<LibraryCall>(step);
            if (std::ranges::none_of(call.outputs,
                                     [&](BufferId buffer) { return isTaken(buffer, isRead); }))
                continue;
        }
        for (const BufferId buffer : readsOf(step))
            isRead[buffer] = true;
        kept.push_back(std::move(step));
    }
    std::ranges::reverse(kept);
    program.steps = std::move(kept);
    return program;
}

Program inOrderOfNeeds(Program program) {
    const Needs needs(program);
    std::vector<std::size_t> roots(program.steps.size());
    std::iota(roots.begin(), roots.end(), std::size_t{0});
    return inOrder(std::move(program), needs.depthFirst(roots));
}

double peakBytes(const Program& program) {
    const Uses uses(program);
    const auto isLocal = [&](BufferId buffer) {
        return program.buffers[buffer].role == Buffer::Role::Local;
    };
    double held = 0;
    double peak = 0;
    for (std::size_t step = 0; step < program.steps.size(); ++step) {
        for (const BufferId buffer : uses.writtenBy(step))
            if (isLocal(buffer))
                held += estimatedBytes(program.buffers[buffer]);
        peak = std::max(peak, held);
        for (const BufferId buffer : uses.readBy(step))
            if (isLocal(buffer) && uses.readers(buffer).back() == step)
                held -= estimatedBytes(program.buffers[buffer]);
        for (const BufferId buffer : uses.writtenBy(step))
            if (isLocal(buffer) && uses.readers(buffer).empty())
                held -= estimatedBytes(program.buffers[buffer]);
    }
    return peak;
}

Program inShortLivedOrder(Program program) {
    const Needs needs(program);
    Program other = inOrder(program, needs.depthFirst(needs.outputsFirst()));
    return peakBytes(other) < peakBytes(program) ? other : program;
}

std::vector<bool> usedBuffers(const Program& program) {
    std::vector<bool> isUsed;
    for (const Buffer& buffer : program.buffers)
        isUsed.push_back(buffer.role != Buffer::Role::Local);
    for (const Step& step : program.steps) {
        for (const BufferId buffer : readsOf(step))
            isUsed[buffer] = true;
        for (const BufferId buffer : writesOf(step))
            isUsed[buffer] = true;
    }
    return isUsed;
}

} // namespace kernelskill::analysis::raise
