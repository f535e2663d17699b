#include "engine/review/host/trace_comparison.h"

#include "engine/review/host/step_matching.h"
#include "engine/review/host/step_text.h"
#include "engine/review/host/work_order.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace kernelskill::engine {
namespace {

constexpr std::size_t maxPairs = 20'000'000;
constexpr std::string_view whatCameBefore = "what came before the function";
constexpr std::string_view whatFollows = "what follows the function";

/// Both traces, begun and ended by what others do.
class OrderComparison {
public:
    OrderComparison(const HostTrace& before, const HostTrace& after)
        : before_(framed(before)), after_(framed(after)) {}

    TraceComparison run() {
        auto matching = matchSteps(before_, after_);
        if (!matching) {
            result_.difference = std::move(matching.error());
            return std::move(result_);
        }
        matching_ = std::move(*matching);
        result_.works = matching_.works;
        result_.moved = matching_.moved;
        if (auto moved = callsOutOfPlace())
            result_.difference = std::move(*moved);
        else
            compareOrders();
        return std::move(result_);
    }

private:
    static HostTrace framed(const HostTrace& trace) {
        HostTrace framed = trace;
        framed.steps.insert(framed.steps.begin(),
                            {HostStepKind::Host, std::string(whatCameBefore), {}, 0});
        framed.steps.push_back({HostStepKind::Host, std::string(whatFollows), {}, 0});
        return framed;
    }

    /// A call that is not followed stays between what was asked before and after it.
    [[nodiscard]] std::optional<std::string> callsOutOfPlace() const {
        std::uint32_t latest = noStep;     // among those so far, by place afterwards
        std::uint32_t latestCall = noStep; // among the calls so far
        const auto moved = [&](std::uint32_t first, std::uint32_t second) {
            return fmt::format("{} was asked for before {}, and is not any more",
                               describeStep(&before_.steps[first]),
                               describeStep(&before_.steps[second]));
        };
        for (std::uint32_t i = 0; i < before_.steps.size(); ++i) {
            if (matching_.partner[i] == noStep)
                continue;
            const HostStepKind kind = before_.steps[i].kind;
            const bool isCall = kind == HostStepKind::Call || kind == HostStepKind::Host;
            const std::uint32_t bound = isCall ? latest : latestCall;
            if (bound != noStep && matching_.partner[bound] > matching_.partner[i])
                return moved(bound, i);
            if (latest == noStep || matching_.partner[latest] < matching_.partner[i])
                latest = i;
            if (isCall &&
                (latestCall == noStep || matching_.partner[latestCall] < matching_.partner[i]))
                latestCall = i;
        }
        return std::nullopt;
    }

    void compareOrders() {
        std::set<std::string> outside;
        for (const HostTrace* trace : {&before_, &after_})
            for (const HostStep& step : trace->steps)
                if (!step.stream.empty() && !trace->created.contains(step.stream))
                    outside.insert(step.stream);
        const auto assumptions = streamAssumptions(outside);
        if (!assumptions) {
            result_.isFollowed = false;
            result_.difference = "how so many streams from outside are related is not known";
            return;
        }
        for (const StreamAssumption& assumption : *assumptions) {
            compareUnder(assumption);
            if (!result_.difference.empty())
                return;
        }
    }

    void compareUnder(const StreamAssumption& assumption) {
        const WorkOrder before(before_, assumption);
        const WorkOrder after(after_, assumption);
        const std::vector<std::uint32_t> nodes = partnersOf(before, after);
        const auto chains = chainsOf(before, after, nodes);
        std::size_t pairs = 0;
        for (std::uint32_t node = 0; node < before.nodes().size(); ++node) {
            if (nodes[node] == noStep)
                continue;
            for (std::uint32_t lane = 0; lane < before.lanes(); ++lane) {
                const std::vector<std::uint32_t>& chain = chains[lane].nodes;
                // The nodes that were over, without the node itself.
                auto over = std::ranges::upper_bound(
                    chain, before.progressBefore(node, lane), {},
                    [&](std::uint32_t earlier) { return before.nodes()[earlier].position; });
                if (over != chain.begin() && *(over - 1) == node)
                    --over;
                if (over == chain.begin() ||
                    (chains[lane].isKept && after.isBefore(nodes[*(over - 1)], nodes[node])))
                    continue;
                for (auto earlier = over; earlier-- != chain.begin();) {
                    if (++pairs > maxPairs) {
                        result_.isFollowed = false;
                        result_.difference = "there is too much work to compare its order";
                        return;
                    }
                    if (!after.isBefore(nodes[*earlier], nodes[node]) &&
                        areInConflict(stepOf(before, *earlier), stepOf(before, node))) {
                        result_.difference =
                            fmt::format("{} was over before {}, and need not be "
                                        "any more",
                                        nameOfNode(before, *earlier), nameOfNode(before, node));
                        return;
                    }
                }
            }
        }
    }

    /// The match in `after` of each node of `before`.
    [[nodiscard]] std::vector<std::uint32_t> partnersOf(const WorkOrder& before,
                                                        const WorkOrder& after) const {
        std::vector<std::uint32_t> nodes(before.nodes().size(), noStep);
        for (std::uint32_t step = 0; step < before_.steps.size(); ++step) {
            if (matching_.partner[step] == noStep)
                continue;
            const std::uint32_t first = before.firstOf(step);
            const std::uint32_t like = after.firstOf(matching_.partner[step]);
            for (std::uint32_t node = first; node < before.firstOf(step + 1); ++node)
                nodes[node] = like + (node - first);
        }
        return nodes;
    }

    /// The matched nodes of a lane; kept: each is still before the next.
    struct Chain {
        std::vector<std::uint32_t> nodes;
        bool isKept = true;
    };

    static std::vector<Chain> chainsOf(const WorkOrder& before, const WorkOrder& after,
                                       const std::vector<std::uint32_t>& nodes) {
        std::vector<Chain> chains(before.lanes());
        for (std::uint32_t node = 0; node < before.nodes().size(); ++node) {
            if (nodes[node] == noStep)
                continue;
            Chain& chain = chains[before.nodes()[node].lane];
            if (!chain.nodes.empty() && !after.isBefore(nodes[chain.nodes.back()], nodes[node]))
                chain.isKept = false;
            chain.nodes.push_back(node);
        }
        return chains;
    }

    [[nodiscard]] const HostStep& stepOf(const WorkOrder& order, std::uint32_t node) const {
        return before_.steps[order.nodes()[node].step];
    }

    [[nodiscard]] std::string nameOfNode(const WorkOrder& order, std::uint32_t node) const {
        const HostStep& step = stepOf(order, node);
        const std::uint32_t lane = order.nodes()[node].lane;
        const bool isOfOthers = step.what == whatCameBefore || step.what == whatFollows;
        if (isOfOthers && lane != 0)
            return fmt::format("{} in {}", step.what, nameOfHandle(order.nameOf(lane)));
        return isOfOthers && step.what == whatFollows ? "the return" : describeStep(&step);
    }

    HostTrace before_;
    HostTrace after_;
    StepMatching matching_;
    TraceComparison result_;
};

} // namespace

TraceComparison compareTraces(const HostTrace& before, const HostTrace& after) {
    return OrderComparison(before, after).run();
}

} // namespace kernelskill::engine
