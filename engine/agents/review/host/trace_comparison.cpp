#include "engine/agents/review/host/trace_comparison.h"

#include "engine/agents/review/host/work_order.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace kernelskill::engine {
namespace {

constexpr std::uint32_t none = 0xffffffffu;
constexpr std::size_t mostPairs = 20'000'000;
constexpr std::string_view whatCameBefore = "what came before the function";
constexpr std::string_view whatFollows = "what follows the function";

/// Streams and events have other numbers where others were made before them.
class HandleMap {
public:
    bool match(const std::string& before, const std::string& after) {
        if (kindOf(before) != kindOf(after))
            return false;
        const auto [found, isNew] = map_.emplace(before, after);
        const auto [back, isNewBack] = reverse_.emplace(after, before);
        return found->second == after && back->second == before;
    }
    [[nodiscard]] bool isNew(const std::string& after) const { return !reverse_.contains(after); }

private:
    /// What follows the number: for which variable it was made, and how.
    static std::string_view kindOf(std::string_view handle) {
        const auto number = handle.find('#');
        if (number == std::string_view::npos)
            return handle;
        return handle.substr(std::min(handle.find(':', number), handle.size()));
    }

    std::map<std::string, std::string> map_;
    std::map<std::string, std::string> reverse_;
};

std::string nameOf(const std::string& handle) {
    constexpr std::string_view argument = "argument:";
    if (handle.empty())
        return "the default stream";
    if (handle == elsewhere)
        return "another stream";
    if (handle.starts_with(argument))
        return handle.substr(argument.size());
    const auto variable = handle.find(":&"); // "stream#0:&s:cudaStreamCreate"
    if (variable == std::string::npos)
        return handle;
    const auto begin = variable + 2;
    return handle.substr(begin, handle.find(':', begin) - begin);
}

bool isGiven(const HostStep& step) {
    return step.kind == HostStepKind::Launch || step.kind == HostStepKind::Copy ||
           step.kind == HostStepKind::Record;
}

std::string describe(const HostStep* step) {
    if (step == nullptr)
        return "nothing more";
    std::string what = step->what;
    std::size_t at = 0;
    for (const std::string& handle : step->handles) {
        at = what.find('%', at);
        if (at == std::string::npos)
            break;
        what.replace(at, 1, nameOf(handle));
        at += nameOf(handle).size();
    }
    if (isGiven(*step))
        what = fmt::format("in {}: {}", nameOf(step->stream), what);
    return step->line == 0 ? what : fmt::format("{} (line {})", what, step->line);
}

/// Both traces, begun and ended by what others do, with the steps of one found in the other.
class Comparison {
public:
    Comparison(const HostTrace& before, const HostTrace& after)
        : before_(framed(before)), after_(framed(after)) {}

    TraceComparison run() {
        if (auto difference = match())
            result_.difference = std::move(*difference);
        else if (auto asked = callsOutOfPlace())
            result_.difference = std::move(*asked);
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

    /// Steps that only put others into order: there may be others of them afterwards.
    static bool isOrdering(const HostStep& step) {
        return step.kind == HostStepKind::Wait || step.kind == HostStepKind::Follow;
    }

    [[nodiscard]] bool isSame(const HostStep& a, const HostStep& b) {
        if (a.kind != b.kind || a.what != b.what || a.handles.size() != b.handles.size())
            return false;
        for (std::size_t i = 0; i < a.handles.size(); ++i)
            if (!handles_.match(a.handles[i], b.handles[i]))
                return false;
        return true;
    }

    /// Finds each step of before_ in after_, the n-th of several that are the same as the n-th.
    std::optional<std::string> match() {
        std::map<std::pair<HostStepKind, std::string>, std::deque<std::uint32_t>> open;
        for (std::uint32_t i = 0; i < after_.steps.size(); ++i)
            open[{after_.steps[i].kind, after_.steps[i].what}].push_back(i);
        partner_.assign(before_.steps.size(), none);
        std::vector<bool> isTaken(after_.steps.size());
        for (std::uint32_t i = 0; i < before_.steps.size(); ++i) {
            const HostStep& step = before_.steps[i];
            if (isOrdering(step))
                continue;
            auto& candidates = open[{step.kind, step.what}];
            // A record of a new event comes between those of the old ones.
            const auto found = std::ranges::find_if(candidates, [&](std::uint32_t candidate) {
                return step.kind != HostStepKind::Record || isSame(step, after_.steps[candidate]);
            });
            if (found == candidates.end() || !isSame(step, after_.steps[*found])) {
                if (step.kind == HostStepKind::Read)
                    continue;
                return firstDifference();
            }
            partner_[i] = *found;
            isTaken[*found] = true;
            candidates.erase(found);
            countWork(step, after_.steps[partner_[i]]);
        }
        for (std::uint32_t i = 0; i < after_.steps.size(); ++i) {
            const HostStep& step = after_.steps[i];
            const bool isFree = isOrdering(step) || step.kind == HostStepKind::Read ||
                                (step.kind == HostStepKind::Record && handles_.isNew(step.event));
            if (!isTaken[i] && !isFree)
                return firstDifference();
        }
        return std::nullopt;
    }

    void countWork(const HostStep& before, const HostStep& after) {
        if (before.kind == HostStepKind::Host || before.kind == HostStepKind::Read)
            return;
        ++result_.works;
        if (isGiven(before) && before.kind != HostStepKind::Record &&
            before.stream != after.stream &&
            !(before_.created.contains(before.stream) && after_.created.contains(after.stream)))
            ++result_.moved;
    }

    /// Where the two first ask for something else.
    [[nodiscard]] std::string firstDifference() const {
        std::vector<const HostStep*> wanted;
        std::vector<const HostStep*> found;
        std::set<std::string> records;
        for (const HostStep& step : before_.steps)
            if (!isOrdering(step) && step.kind != HostStepKind::Read)
                wanted.push_back(&step);
        for (const HostStep* step : wanted)
            if (step->kind == HostStepKind::Record)
                records.insert(step->what);
        for (const HostStep& step : after_.steps)
            if (!isOrdering(step) && step.kind != HostStepKind::Read &&
                (step.kind != HostStepKind::Record || !records.empty()))
                found.push_back(&step);
        HandleMap handles;
        const auto differ = [&](const HostStep& a, const HostStep& b) {
            bool isSame =
                a.kind == b.kind && a.what == b.what && a.handles.size() == b.handles.size();
            for (std::size_t i = 0; isSame && i < a.handles.size(); ++i)
                isSame = handles.match(a.handles[i], b.handles[i]);
            return !isSame;
        };
        for (std::size_t i = 1; i < std::max(wanted.size(), found.size()); ++i) {
            const auto at = [&](const std::vector<const HostStep*>& steps) -> const HostStep* {
                return i + 1 < steps.size() ? steps[i] : nullptr;
            };
            const HostStep* before = at(wanted);
            const HostStep* after = at(found);
            if (before == nullptr || after == nullptr || differ(*before, *after))
                return fmt::format("step {} was {}, and is {}", i, describe(before),
                                   describe(after));
        }
        return "other work is asked for";
    }

    /// A call that is not followed stays between what was asked before and after it.
    [[nodiscard]] std::optional<std::string> callsOutOfPlace() const {
        std::uint32_t latest = none;     // among those so far, by place afterwards
        std::uint32_t latestCall = none; // among the calls so far
        const auto moved = [&](std::uint32_t first, std::uint32_t second) {
            return fmt::format("{} was asked for before {}, and is not any more",
                               describe(&before_.steps[first]), describe(&before_.steps[second]));
        };
        for (std::uint32_t i = 0; i < before_.steps.size(); ++i) {
            if (partner_[i] == none)
                continue;
            const HostStepKind kind = before_.steps[i].kind;
            const bool isCall = kind == HostStepKind::Call || kind == HostStepKind::Host;
            const std::uint32_t bound = isCall ? latest : latestCall;
            if (bound != none && partner_[bound] > partner_[i])
                return moved(bound, i);
            if (latest == none || partner_[latest] < partner_[i])
                latest = i;
            if (isCall && (latestCall == none || partner_[latestCall] < partner_[i]))
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
            if (nodes[node] == none)
                continue;
            for (std::uint32_t lane = 0; lane < before.lanes(); ++lane) {
                const std::vector<std::uint32_t>& chain = chains[lane].nodes;
                // Those that were over, the node itself left out.
                auto over = std::ranges::upper_bound(
                    chain, before.progressBefore(node, lane), {},
                    [&](std::uint32_t earlier) { return before.nodes()[earlier].position; });
                if (over != chain.begin() && *(over - 1) == node)
                    --over;
                if (over == chain.begin() ||
                    (chains[lane].isKept && after.isBefore(nodes[*(over - 1)], nodes[node])))
                    continue;
                for (auto earlier = over; earlier-- != chain.begin();) {
                    if (++pairs > mostPairs) {
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

    /// For each node of `before` its like in `after`.
    [[nodiscard]] std::vector<std::uint32_t> partnersOf(const WorkOrder& before,
                                                        const WorkOrder& after) const {
        std::vector<std::uint32_t> nodes(before.nodes().size(), none);
        for (std::uint32_t step = 0; step < before_.steps.size(); ++step) {
            if (partner_[step] == none)
                continue;
            const std::uint32_t first = before.firstOf(step);
            const std::uint32_t like = after.firstOf(partner_[step]);
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
            if (nodes[node] == none)
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
            return fmt::format("{} in {}", step.what,
                               kernelskill::engine::nameOf(order.nameOf(lane)));
        return isOfOthers && step.what == whatFollows ? "the return" : describe(&step);
    }

    HostTrace before_;
    HostTrace after_;
    HandleMap handles_;
    std::vector<std::uint32_t> partner_; ///< Of each step of before_, in after_.
    TraceComparison result_;
};

} // namespace

TraceComparison compareTraces(const HostTrace& before, const HostTrace& after) {
    return Comparison(before, after).run();
}

} // namespace kernelskill::engine
