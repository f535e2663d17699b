#include "tests/nest/agreement.h"

#include "analysis/nest/counts.h"
#include "analysis/nest/nest_text.h"
#include "tests/nest/index_sets.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace kernelskill::testing {

namespace {

using namespace analysis;

/// An array as the record names it.
std::string objectOf(const NestArray& array) {
    if (array.space == MemorySpace::Shared && array.extents.size() == 1 && array.extents[0] < 0)
        return "-";
    const std::size_t colon = array.name.rfind("::");
    return colon == std::string::npos ? array.name : array.name.substr(colon + 2);
}

/// Dynamic shared memory is recorded by a variable's name where the image has one for it.
std::vector<RecordedAccess> withoutNames(const Nest& nest, std::vector<RecordedAccess> seen) {
    std::set<std::string> dynamic;
    for (const NestArray& array : nest.arrays)
        if (objectOf(array) == "-")
            dynamic.insert(array.name);
    for (RecordedAccess& access : seen)
        if (dynamic.contains(access.object))
            access.object = "-";
    return seen;
}

std::string kindsOf(AccessKind kind) {
    switch (kind) {
    case AccessKind::Read:
        return "r";
    case AccessKind::Write:
        return "w";
    case AccessKind::ReadWrite:
        return "rw";
    case AccessKind::Atomic:
        return "a";
    }
    return {};
}

std::string placeText(const Index3& index) {
    return "(" + std::to_string(index[0]) + "," + std::to_string(index[1]) + "," +
           std::to_string(index[2]) + ")";
}

std::int64_t floorDivided(std::int64_t a, std::int64_t b) {
    return a >= 0 ? a / b : -((-a + b - 1) / b);
}

/// The sizes in which an object's places are compared.
struct Granularity {
    std::int64_t bytes = 1;
    bool countsEach = true; ///< False: a single access may be recorded as several.
};

class Objects {
public:
    Objects(const Nest& nest, const std::vector<RecordedAccess>& seen) {
        const bool isPlain = usesNumbersAlone(nest);
        for (const NestAccess& access : nest.accesses) {
            if (access.node == noId || access.array == noId)
                continue;
            const NestArray& array = nest.arrays[access.array];
            Granularity& own = granularities_[objectOf(array)];
            own.bytes = std::max<std::int64_t>(own.bytes, access.unit);
            constexpr std::uint32_t widest = 8; // A wider one may be recorded as two.
            own.countsEach =
                own.countsEach && isPlain && access.width <= widest && access.width == access.unit;
        }
        // Where a template parameter decides, accesses are of whole elements.
        for (const RecordedAccess& access : seen)
            if (const auto own = granularities_.find(access.object);
                own != granularities_.end() && own->second.bytes == 1)
                own->second.bytes = access.bytes;
    }

    [[nodiscard]] Granularity of(const std::string& object) const {
        const auto known = granularities_.find(object);
        return known == granularities_.end() ? Granularity{} : known->second;
    }
    /// The number, in its object's granularity, of an element that an access goes to.
    [[nodiscard]] std::int64_t placeOf(const std::string& object, const NestAccess& access,
                                       std::int64_t element) const {
        return access.unit == 0 ? element : floorDivided(element * access.unit, of(object).bytes);
    }
    [[nodiscard]] bool knows(const std::string& object) const {
        return granularities_.contains(object);
    }

private:
    std::map<std::string, Granularity> granularities_;
};

/// What one thread does to one object.
struct Doing {
    Index3 block{};
    Index3 thread{};
    std::string object;
    char kind = 'r';
    auto operator<=>(const Doing&) const = default;
};

struct Told {
    std::vector<std::int64_t> certain;
    std::vector<std::int64_t> possible;
    std::set<std::int64_t> repeated;
    bool isAnywhere = false;
};

/// Whether the nest has a part whose effects it does not know.
bool hasUnknownEffects(const Nest& nest) {
    return std::ranges::any_of(nest.nodes,
                               [](const NestNode& node) {
                                   const NestStatement* statement = node.computation();
                                   return statement != nullptr && !statement->opaque.empty();
                               }) ||
           std::ranges::any_of(nest.accesses, [&](const NestAccess& access) {
               return access.node != noId &&
                      (access.array == noId || nest.arrays[access.array].isLoaded);
           });
}

std::map<Doing, Told> toldBy(const Nest& nest, const NestRun& run, const Objects& objects) {
    std::map<Doing, Told> told;
    for (const NestEvent& event : run.events) {
        const NestAccess& access = nest.accesses[event.access];
        if (access.array == noId || nest.arrays[access.array].isLoaded)
            continue;
        const std::string object = objectOf(nest.arrays[access.array]);
        for (const char kind : kindsOf(access.kind)) {
            Told& own = told[{event.block, event.thread, object, kind}];
            if (!event.element) {
                own.isAnywhere = true;
                continue;
            }
            const std::int64_t place = objects.placeOf(object, access, *event.element);
            if (event.certainty == Certainty::Once)
                own.certain.push_back(place);
            else if (event.certainty == Certainty::AtMostOnce)
                own.possible.push_back(place);
            else
                own.repeated.insert(place);
        }
    }
    return told;
}

std::map<Doing, std::vector<std::int64_t>> seenIn(const std::vector<RecordedAccess>& seen,
                                                  const Objects& objects) {
    std::map<Doing, std::vector<std::int64_t>> result;
    for (const RecordedAccess& access : seen) {
        const std::int64_t size = objects.of(access.object).bytes;
        auto& own = result[{access.block, access.thread, access.object, access.kind}];
        for (std::int64_t place = floorDivided(access.offset, size);
             place <= floorDivided(access.offset + access.bytes - 1, size); ++place)
            own.push_back(place);
    }
    return result;
}

void makeSet(std::vector<std::int64_t>& values, bool keepsCounts) {
    std::ranges::sort(values);
    if (!keepsCounts)
        values.erase(std::ranges::unique(values).begin(), values.end());
}

} // namespace

bool usesNumbersAlone(const Nest& nest) {
    return std::ranges::all_of(nest.accesses, [&](const NestAccess& access) {
        if (access.node == noId || access.array == noId || nest.arrays[access.array].isVariable)
            return true;
        const NestArray& array = nest.arrays[access.array];
        constexpr std::uint32_t widest = 8;
        return access.field.empty() && array.lanes == 1 && access.unit <= widest &&
               access.width == access.unit;
    });
}

std::vector<std::string> accessDisagreements(const Nest& nest, const NestRun& run,
                                             const std::vector<RecordedAccess>& recorded) {
    const std::vector<RecordedAccess> seen = withoutNames(nest, recorded);
    std::vector<std::string> result = run.wrongSubscripts;
    const Objects objects(nest, seen);
    const bool knowsAll = !hasUnknownEffects(nest);
    std::map<Doing, Told> told = toldBy(nest, run, objects);
    std::map<Doing, std::vector<std::int64_t>> real = seenIn(seen, objects);
    std::set<Doing> all;
    for (const auto& [doing, unused] : told)
        all.insert(doing);
    for (const auto& [doing, unused] : real)
        all.insert(doing);
    std::set<std::pair<std::string, char>> reported; // One of each is enough.
    for (const Doing& doing : all) {
        Told& own = told[doing];
        std::vector<std::int64_t>& did = real[doing];
        const bool counts = objects.of(doing.object).countsEach;
        makeSet(own.certain, counts);
        makeSet(own.possible, counts);
        makeSet(did, counts);
        std::vector<std::int64_t> missing;
        std::vector<std::int64_t> further;
        std::ranges::set_difference(own.certain, did, std::back_inserter(missing));
        std::ranges::set_difference(did, own.certain, std::back_inserter(further));
        std::vector<std::int64_t> wrong;
        std::ranges::set_difference(further, own.possible, std::back_inserter(wrong));
        std::erase_if(wrong, [&](std::int64_t place) { return own.repeated.contains(place); });
        if (own.isAnywhere || (!knowsAll && !objects.knows(doing.object)) || !knowsAll)
            wrong.clear();
        if ((missing.empty() && wrong.empty()) ||
            !reported.insert({doing.object, doing.kind}).second)
            continue;
        std::string text = "thread " + placeText(doing.thread) + " of block " +
                           placeText(doing.block) + ", " + doing.object + ", " + doing.kind + ":";
        constexpr std::size_t most = 12;
        for (const auto& [name, places] :
             {std::pair{" only the nest has", &missing}, std::pair{" only the run has", &wrong}}) {
            if (!places->empty())
                text += name;
            for (std::size_t i = 0; i < std::min(places->size(), most); ++i)
                text += " " + std::to_string((*places)[i]);
        }
        text += " (the nest tells " + std::to_string(own.certain.size()) + ", the run has " +
                std::to_string(did.size()) + ")";
        result.push_back(text);
    }
    return result;
}

std::vector<std::string> setDisagreements(const Nest& nest, const NestSizes& sizes,
                                          const NestRun& run, const std::vector<Index3>& blocks) {
    std::vector<std::string> result;
    std::map<NestAccessId, std::set<std::int64_t>> wanted;
    std::map<NestAccessId, bool> isKnown;
    for (const NestEvent& event : run.events) {
        isKnown.try_emplace(event.access, true);
        if (event.element && event.certainty == Certainty::Once)
            wanted[event.access].insert(*event.element);
        isKnown[event.access] =
            isKnown[event.access] && event.element && event.certainty == Certainty::Once;
    }
    for (const auto& [access, elements] : wanted) {
        const auto found = elementsOf(nest, access, sizes, blocks);
        if (!found)
            continue;
        const bool covers = std::ranges::includes(found->elements, elements);
        const bool isSame = found->elements == elements;
        if (!covers || (found->isExact && isKnown[access] && !isSame))
            result.push_back(accessText(nest, nest.accesses[access]) + ": isl finds " +
                             std::to_string(found->elements.size()) + " elements, the run has " +
                             std::to_string(elements.size()));
    }
    const auto all = static_cast<std::size_t>(sizes.grid[0] * sizes.grid[1] * sizes.grid[2]);
    if (!run.isExact || blocks.size() != all)
        return result;
    Polyhedra polyhedra;
    for (const auto& [node, runs] : run.runs)
        if (const auto count = runsOf(nest, node, valuesOf(nest, sizes), polyhedra);
            count && *count != runs)
            result.push_back("line of node " + std::to_string(node) + ": isl counts " +
                             std::to_string(*count) + " runs, there are " + std::to_string(runs));
    return result;
}

namespace {

using Level = NestCarrier::Level;

/// Accesses, the lower number first; how their runs differ.
using Meeting = std::tuple<NestAccessId, NestAccessId, Level, NestNodeId>;

Meeting meetingOf(NestAccessId a, NestAccessId b, Level level, NestNodeId loop) {
    const bool isOrdered = level == Level::Loop || level == Level::Order;
    return !isOrdered && b < a ? Meeting{b, a, level, loop} : Meeting{a, b, level, loop};
}

class MeetingCheck {
public:
    MeetingCheck(const Nest& nest, const NestDependences& dependences, const NestRun& run,
                 const std::vector<RecordedAccess>& seen)
        : nest_(nest), run_(run), objects_(nest, seen) {
        for (const NestDependence& dependence : dependences.dependences) {
            const Meeting meeting = meetingOf(dependence.from, dependence.to,
                                              dependence.carrier.level, dependence.carrier.loop);
            const auto [known, isNew] = told_.try_emplace(meeting, dependence.isSynchronised);
            known->second = known->second && dependence.isSynchronised;
        }
        for (std::uint32_t id = 0; id < run.events.size(); ++id) {
            const NestEvent& event = run.events[id];
            const NestAccess& access = nest.accesses[event.access];
            if (access.array == noId)
                continue;
            const std::string object = objectOf(nest.arrays[access.array]);
            for (const char kind : kindsOf(access.kind)) {
                const Doing doing{event.block, event.thread, object, kind};
                if (event.element)
                    events_[{doing, objects_.placeOf(object, access, *event.element)}].push_back(
                        id);
                else
                    anywhere_[doing].push_back(id);
            }
        }
    }

    std::vector<std::string> betweenThreads(const std::vector<RecordedAccess>& seen) {
        std::map<std::pair<std::string, std::int64_t>, std::vector<Doing>> places;
        for (const RecordedAccess& access : seen) {
            const std::int64_t place =
                floorDivided(access.offset, objects_.of(access.object).bytes);
            std::vector<Doing>& own = places[{access.object, place}];
            Doing doing{access.block, access.thread, access.object, access.kind};
            if (std::ranges::find(own, doing) == own.end() && own.size() < maxAtOnePlace)
                own.push_back(std::move(doing));
        }
        for (const auto& [place, doings] : places)
            for (std::size_t i = 0; i < doings.size(); ++i)
                for (std::size_t j = i + 1; j < doings.size(); ++j)
                    meet(doings[i], doings[j], place.second);
        return std::move(result_);
    }

    std::vector<std::string> withinThreads() {
        for (const auto& [place, ids] : events_) {
            const Doing& doing = place.first;
            if (doing.kind == 'a')
                continue;
            std::vector<std::uint32_t> others = ids;
            const auto read =
                events_.find({{doing.block, doing.thread, doing.object, 'r'}, place.second});
            if (doing.kind != 'w')
                continue;
            if (read != events_.end())
                others.insert(others.end(), read->second.begin(), read->second.end());
            for (const std::uint32_t a : ids)
                for (const std::uint32_t b : others)
                    if (a != b)
                        meetInThread(std::min(a, b), std::max(a, b));
        }
        return std::move(result_);
    }

private:
    static constexpr std::size_t maxAtOnePlace = 24;

    [[nodiscard]] std::vector<std::uint32_t> candidates(const Doing& doing,
                                                        std::int64_t place) const {
        std::vector<std::uint32_t> found;
        if (const auto known = events_.find({doing, place}); known != events_.end())
            found = known->second;
        if (const auto known = anywhere_.find(doing); known != anywhere_.end())
            found.insert(found.end(), known->second.begin(), known->second.end());
        return found;
    }

    void meet(const Doing& a, const Doing& b, std::int64_t place) {
        const bool isConflict =
            (a.kind != 'r' || b.kind != 'r') && (a.kind != 'a' || b.kind != 'a');
        if (!isConflict || (a.block == b.block && a.thread == b.thread))
            return;
        const Level level = a.block == b.block ? Level::Threads : Level::Blocks;
        if (level == Level::Blocks && isOfBlock(a.object))
            return;
        bool isCovered = false;
        bool misses = false;
        bool isOutOfOrder = false;
        Meeting missed;
        for (const std::uint32_t one : candidates(a, place))
            for (const std::uint32_t other : candidates(b, place)) {
                const NestEvent& first = run_.events[one];
                const NestEvent& second = run_.events[other];
                if (areOtherParts(first.access, second.access))
                    continue;
                const Meeting meeting = meetingOf(first.access, second.access, level, noId);
                const auto known = told_.find(meeting);
                if (known != told_.end())
                    isCovered = true;
                else if (!misses)
                    missed = meeting;
                misses = misses || known == told_.end();
                isOutOfOrder = isOutOfOrder || (known != told_.end() && known->second &&
                                                first.phase == second.phase);
            }
        if (misses && (run_.isExact || !isCovered))
            report(missed, "meet at place " + std::to_string(place) + " of " + a.object);
        if (isOutOfOrder && run_.isExact && level == Level::Threads)
            report(missed, "meet without a barrier in between, in " + a.object);
    }

    void meetInThread(std::uint32_t one, std::uint32_t other) {
        const NestEvent& first = run_.events[one];
        const NestEvent& second = run_.events[other];
        if (first.certainty != Certainty::Once || second.certainty != Certainty::Once ||
            areOtherParts(first.access, second.access))
            return;
        NestCarrier carrier;
        for (std::size_t i = 0; i < std::min(first.rounds.size(), second.rounds.size()); ++i) {
            if (first.rounds[i].first != second.rounds[i].first)
                break;
            if (first.rounds[i].second != second.rounds[i].second) {
                carrier = {Level::Loop, first.rounds[i].first};
                break;
            }
        }
        if (carrier.level == Level::Order &&
            nest_.accesses[first.access].node == nest_.accesses[second.access].node)
            return;
        const Meeting meeting = meetingOf(first.access, second.access, carrier.level, carrier.loop);
        if (!told_.contains(meeting))
            report(meeting, "meet in one thread");
    }

    [[nodiscard]] bool isOfBlock(const std::string& object) const {
        return std::ranges::any_of(nest_.arrays, [&](const NestArray& array) {
            return array.space == MemorySpace::Shared && objectOf(array) == object;
        });
    }

    /// Whether they may be of other parts of an element: places are those of whole elements.
    [[nodiscard]] bool areOtherParts(NestAccessId a, NestAccessId b) const {
        const NestAccess& one = nest_.accesses[a];
        const NestAccess& other = nest_.accesses[b];
        return one.field != other.field ||
               (!one.field.empty() && one.subscripts != other.subscripts);
    }

    void report(const Meeting& meeting, const std::string& what) {
        const auto& [a, b, level, loop] = meeting;
        if (!reported_.insert(meeting).second)
            return;
        result_.push_back(accessText(nest_, nest_.accesses[a]) + " and " +
                          accessText(nest_, nest_.accesses[b]) + ", " +
                          carrierText(nest_, {level, loop}) + ": " + what);
    }

    const Nest& nest_;
    const NestRun& run_;
    Objects objects_;
    std::map<Meeting, bool> told_; ///< True: each with a barrier in between.
    std::map<std::pair<Doing, std::int64_t>, std::vector<std::uint32_t>> events_;
    std::map<Doing, std::vector<std::uint32_t>> anywhere_;
    std::set<Meeting> reported_;
    std::vector<std::string> result_;
};

} // namespace

std::vector<std::string> dependenceDisagreements(const Nest& nest,
                                                 const NestDependences& dependences,
                                                 const NestRun& run,
                                                 const std::vector<RecordedAccess>& recorded) {
    if (!dependences.isComplete)
        return {};
    const std::vector<RecordedAccess> seen = withoutNames(nest, recorded);
    std::vector<std::string> result =
        MeetingCheck(nest, dependences, run, seen).betweenThreads(seen);
    std::ranges::copy(MeetingCheck(nest, dependences, run, seen).withinThreads(),
                      std::back_inserter(result));
    return result;
}

} // namespace kernelskill::testing
