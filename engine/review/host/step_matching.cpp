#include "engine/review/host/step_matching.h"

#include "engine/review/host/step_text.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <utility>

namespace kernelskill::engine {
namespace {

/// Streams and events have other numbers where others were made before them.
class HandleMap {
public:
    bool match(const std::string& before, const std::string& after) {
        if (kindOf(before) != kindOf(after))
            return false;
        const auto found = map_.find(before);
        const auto back = reverse_.find(after);
        if (found == map_.end() && back == reverse_.end()) {
            map_.emplace(before, after);
            reverse_.emplace(after, before);
            return true;
        }
        return found != map_.end() && found->second == after;
    }
    [[nodiscard]] bool isNew(const std::string& after) const { return !reverse_.contains(after); }

private:
    /// The text behind the number: the variable that it was made for, and the call.
    static std::string_view kindOf(std::string_view handle) {
        const auto number = handle.find('#');
        if (number == std::string_view::npos)
            return handle;
        return handle.substr(std::min(handle.find(':', number), handle.size()));
    }

    std::map<std::string, std::string> map_;
    std::map<std::string, std::string> reverse_;
};

bool isGiven(const HostStep& step) {
    return step.kind == HostStepKind::Launch || step.kind == HostStepKind::Copy ||
           step.kind == HostStepKind::Record;
}

class Matching {
public:
    Matching(const HostTrace& before, const HostTrace& after) : before_(before), after_(after) {}

    /// Finds each step of before_ in after_, the n-th of several that are the same as the n-th.
    std::expected<StepMatching, std::string> run() {
        std::map<std::pair<HostStepKind, std::string>, std::deque<std::uint32_t>> open;
        for (std::uint32_t i = 0; i < after_.steps.size(); ++i)
            open[{after_.steps[i].kind, after_.steps[i].what}].push_back(i);
        found_.partner.assign(before_.steps.size(), noStep);
        std::vector<bool> isTaken(after_.steps.size());
        for (std::uint32_t i = 0; i < before_.steps.size(); ++i) {
            const HostStep& step = before_.steps[i];
            if (isOrdering(step))
                continue;
            auto& candidates = open[{step.kind, step.what}];
            // A record of a new event comes between those of the old ones.
            const auto found = std::ranges::find_if(candidates, [&](std::uint32_t candidate) {
                return step.kind != HostStepKind::Record ||
                       isSame(step, after_.steps[candidate], handles_);
            });
            if (found == candidates.end() || !isSame(step, after_.steps[*found], handles_)) {
                if (step.kind == HostStepKind::Read)
                    continue;
                return std::unexpected(firstDifference());
            }
            found_.partner[i] = *found;
            isTaken[*found] = true;
            candidates.erase(found);
            countWork(step, after_.steps[found_.partner[i]]);
        }
        for (std::uint32_t i = 0; i < after_.steps.size(); ++i) {
            const HostStep& step = after_.steps[i];
            const bool isFree = isOrdering(step) || step.kind == HostStepKind::Read ||
                                (step.kind == HostStepKind::Record && handles_.isNew(step.event));
            if (!isTaken[i] && !isFree)
                return std::unexpected(firstDifference());
        }
        return std::move(found_);
    }

private:
    /// Steps that only put others into order: there may be others of them afterwards.
    static bool isOrdering(const HostStep& step) {
        return step.kind == HostStepKind::Wait || step.kind == HostStepKind::Follow;
    }

    static bool isSame(const HostStep& a, const HostStep& b, HandleMap& handles) {
        if (a.kind != b.kind || a.what != b.what || a.handles.size() != b.handles.size())
            return false;
        for (std::size_t i = 0; i < a.handles.size(); ++i)
            if (!handles.match(a.handles[i], b.handles[i]))
                return false;
        return true;
    }

    void countWork(const HostStep& before, const HostStep& after) {
        if (before.kind == HostStepKind::Host || before.kind == HostStepKind::Read)
            return;
        ++found_.works;
        if (isGiven(before) && before.kind != HostStepKind::Record &&
            before.stream != after.stream &&
            !(before_.created.contains(before.stream) && after_.created.contains(after.stream)))
            ++found_.moved;
    }

    /// The error for the first step that differs.
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
        for (std::size_t i = 1; i < std::max(wanted.size(), found.size()); ++i) {
            const auto at = [&](const std::vector<const HostStep*>& steps) -> const HostStep* {
                return i + 1 < steps.size() ? steps[i] : nullptr;
            };
            const HostStep* before = at(wanted);
            const HostStep* after = at(found);
            if (before == nullptr || after == nullptr || !isSame(*before, *after, handles))
                return fmt::format("step {} was {}, and is {}", i, describeStep(before),
                                   describeStep(after));
        }
        return "other work is asked for";
    }

    const HostTrace& before_;
    const HostTrace& after_;
    HandleMap handles_;
    StepMatching found_;
};

} // namespace

std::expected<StepMatching, std::string> matchSteps(const HostTrace& before,
                                                    const HostTrace& after) {
    return Matching(before, after).run();
}

} // namespace kernelskill::engine
