/// Orders the work of a trace: which is over before which other begins, as CUDA guarantees it.
#pragma once

#include "engine/review/host/host_steps.h"
#include "engine/review/host/stream_assumption.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace kernelskill::engine {

/// A step in one lane: the host, or a stream. A call that is not followed may give work to every
/// stream that others know, and has a node in each.
struct WorkNode {
    std::uint32_t step = 0;
    std::uint32_t lane = 0;     ///< 0: the host.
    std::uint32_t position = 0; ///< The place in the lane, from 1.
};

/// A partial order, kept as vector clocks: a node knows how far each lane has come before it. Steps
/// of a lane are in the order of the trace. Streams are ordered by events, by what the host waits
/// for before it asks for more, and by the legacy default stream. A trace that is followed this
/// way begins and ends with a Host step that stands for what others do.
class WorkOrder {
public:
    WorkOrder(const HostTrace& trace, const StreamAssumption& assumption);

    [[nodiscard]] const std::vector<WorkNode>& nodes() const { return nodes_; }
    /// The nodes of a step, the same in number and order for the same step of another trace: from
    /// nodes()[firstOf(step)] to nodes()[firstOf(step + 1)]. None for a Wait.
    [[nodiscard]] std::uint32_t firstOf(std::uint32_t step) const { return first_[step]; }
    /// True if the first is over before the second begins; both by their places in nodes().
    [[nodiscard]] bool isBefore(std::uint32_t node, std::uint32_t other) const {
        return progressBefore(other, nodes_[node].lane) >= nodes_[node].position;
    }
    /// How many nodes of `lane` are over before the node begins, itself included in its own lane.
    [[nodiscard]] std::uint32_t progressBefore(std::uint32_t node, std::uint32_t lane) const {
        return clocks_[std::size_t{node} * lanes_.size() + lane];
    }
    [[nodiscard]] std::uint32_t lanes() const { return static_cast<std::uint32_t>(lanes_.size()); }
    /// The stream of a lane, "" for the default stream; not for the host.
    [[nodiscard]] const std::string& nameOf(std::uint32_t lane) const { return lanes_[lane].name; }

private:
    using Clock = std::vector<std::uint32_t>;
    struct Lane {
        std::string name;
        StreamKind kind = StreamKind::NonBlocking;
        bool isOutside = false; ///< Others may give it work.
        Clock front;            ///< The clock after all work that was given to the lane.
        std::uint32_t count = 0;
    };

    void addLane(const std::string& name, StreamKind kind, bool isOutside);
    [[nodiscard]] std::uint32_t laneOf(const std::string& stream) const;
    void follow(std::uint32_t number, const HostStep& step);
    /// The clock of the work that has to be over before more can happen in the lane.
    [[nodiscard]] Clock before(std::uint32_t lane) const;
    void addNode(std::uint32_t step, std::uint32_t lane, Clock before);
    void wait(const HostStep& step);
    void addEverywhere(std::uint32_t number, const HostStep& step);
    static void join(Clock& clock, const Clock& other);

    StreamAssumption assumption_;
    std::vector<Lane> lanes_; ///< The host is first.
    std::map<std::string, std::uint32_t> numbers_;
    std::map<std::string, Clock> events_;
    std::vector<WorkNode> nodes_;
    std::vector<std::uint32_t> clocks_;
    std::vector<std::uint32_t> first_;
};

} // namespace kernelskill::engine
