#include "analysis/nest/dependences.h"

#include "analysis/nest/meeting_places.h"
#include "analysis/nest/phases.h"
#include "analysis/nest/point_set.h"
#include "analysis/nest/run_pairs.h"

#include <algorithm>
#include <array>

namespace kernelskill::analysis {

namespace {

/// Questions to isl about one kernel.
constexpr std::size_t maxQuestions = 1000;
constexpr std::size_t maxDependences = 20'000;

bool readsAt(AccessKind kind) {
    return kind != AccessKind::Write;
}

bool writesAt(AccessKind kind) {
    return kind != AccessKind::Read;
}

using Level = NestCarrier::Level;

class DependenceFinder {
public:
    DependenceFinder(const Nest& nest, Polyhedra& polyhedra, const std::stop_token& stop,
                     const std::map<Symbol, std::int64_t>& values)
        : nest_(nest), polyhedra_(polyhedra), stop_(stop), values_(values), runs_(nest),
          meetings_(nest, !values.empty()) {}

    /// Finds the dependences of one carrier alone, inside of the loop `crossed`.
    NestDependences findCrossed(const NestCarrier& carrier) {
        only_ = carrier;
        return find();
    }

    NestDependences find() {
        std::vector<NestAccessId> accesses;
        for (NestAccessId id = 0; id < nest_.accesses.size(); ++id)
            if (nest_.accesses[id].node != noId && isAsked(nest_.accesses[id].node))
                accesses.push_back(id);
        std::ranges::stable_sort(accesses, {},
                                 [&](NestAccessId id) { return nest_.accesses[id].node; });
        for (std::size_t i = 0; i < accesses.size(); ++i)
            for (std::size_t j = i; j < accesses.size(); ++j)
                compare(accesses[i], accesses[j]);
        findOverlaps();
        for (std::size_t axis = 0; axis < runs_.axes().size(); ++axis) {
            result_.tellsThreads.at(axis) = runs_.axes().at(axis).tellsThreads();
            result_.tellsBlocks.at(axis) = runs_.axes().at(axis).tellsBlocks();
        }
        return std::move(result_);
    }

private:
    /// Whether the node is one that the question is about.
    [[nodiscard]] bool isAsked(NestNodeId node) const {
        if (!only_)
            return true;
        const std::vector<NestNodeId> outer = around(nest_, node);
        return std::ranges::find(outer, only_->crossed) != outer.end();
    }

    void compare(NestAccessId a, NestAccessId b) {
        const NestAccess& first = nest_.accesses[a];
        const NestAccess& second = nest_.accesses[b];
        if (!writesAt(first.kind) && !writesAt(second.kind))
            return;
        if (first.kind == AccessKind::Atomic && second.kind == AccessKind::Atomic)
            return; // Any order serves.
        const std::string unknown =
            whyUnknown(first).empty() ? whyUnknown(second) : whyUnknown(first);
        if (!unknown.empty()) {
            if (first.array == noId || second.array == noId || first.array == second.array)
                reportAll(a, b, unknown);
            return;
        }
        if (first.array != second.array || areOtherFields(first, second))
            return;
        const NestArray& array = nest_.arrays[first.array];
        if (only_) {
            if (!isDeclaredIn(array, only_->crossed))
                testBothWays(a, b, *only_);
            return;
        }
        const bool isOwn = array.isVariable || array.space == MemorySpace::Local;
        if (!isOwn && array.space != MemorySpace::Shared)
            test(a, b, {Level::Blocks, noId});
        if (!isOwn)
            test(a, b, {Level::Threads, noId});
        for (const NestNodeId loop : commonLoops(nest_, first.node, second.node)) {
            if (!isDeclaredIn(array, loop))
                testBothWays(a, b, {Level::Loop, loop});
        }
        if (first.node != second.node)
            test(a, b, {Level::Order, noId});
    }

    void testBothWays(NestAccessId a, NestAccessId b, const NestCarrier& carrier) {
        test(a, b, carrier);
        if (a != b)
            test(b, a, carrier);
    }

    /// Why an access may go to other memory than its array and index tell; empty if it does not.
    [[nodiscard]] std::string whyUnknown(const NestAccess& access) const {
        if (access.array == noId)
            return "the address of one is not followed";
        return nest_.arrays[access.array].isLoaded ? "one goes through a pointer read from memory"
                                                   : std::string{};
    }

    void reportAll(NestAccessId a, NestAccessId b, const std::string& reason) {
        if (only_)
            return report(a, b, *only_, NestCertainty::Broken, {}, reason);
        std::vector<NestCarrier> carriers = {{Level::Blocks, noId}, {Level::Threads, noId}};
        for (const NestNodeId loop :
             commonLoops(nest_, nest_.accesses[a].node, nest_.accesses[b].node))
            carriers.push_back({Level::Loop, loop});
        if (nest_.accesses[a].node != nest_.accesses[b].node)
            carriers.push_back({Level::Order, noId});
        for (const NestCarrier& carrier : carriers)
            report(a, b, carrier, NestCertainty::Broken, {}, reason);
    }

    static bool areOtherFields(const NestAccess& a, const NestAccess& b) {
        return !a.field.starts_with(b.field) && !b.field.starts_with(a.field);
    }

    /// A variable that each round has anew.
    [[nodiscard]] bool isDeclaredIn(const NestArray& array, NestNodeId loop) const {
        if (array.space != MemorySpace::Local)
            return false;
        if (array.frame != nest_.node(loop).frame)
            return array.frame > nest_.node(loop).frame; // Of a function that the round calls.
        for (NestNodeId id = 0; id < nest_.nodes.size(); ++id) {
            const NestStatement* statement = nest_.nodes[id].computation();
            if (statement == nullptr || statement->declared != array.variable ||
                nest_.nodes[id].frame != array.frame)
                continue;
            const std::vector<NestNodeId> outer = around(nest_, id);
            return std::ranges::find(outer, loop) != outer.end();
        }
        return false;
    }

    /// A question to isl may leave out some of what is known, which makes sets larger.
    struct Question {
        bool knowsBlocks = false; ///< Blocks have the size that launches of the file tell.
        bool knowsLoops = true;
    };
    [[nodiscard]] std::vector<Question> questions() const {
        if (!values_.empty()) // Numbers and guards are often enough, and loops take isl long.
            return {{false, false}, {false, true}};
        if (std::ranges::none_of(nest_.extents.block, [](const auto& size) { return !!size; }))
            return {{}};
        return {{false, true}, {true, true}};
    }
    void requireDomain(PointSet& points, NestNodeId node, int run, const Question& question) const {
        if (question.knowsLoops)
            return points.requireDomain(node, run);
        for (const NestNodeId id : around(nest_, node))
            if (const NestGuard* guard = nest_.node(id).guard())
                points.require(guard->condition, run);
    }

    void test(NestAccessId a, NestAccessId b, const NestCarrier& carrier) {
        const NestAccess& first = nest_.accesses[a];
        const NestAccess& second = nest_.accesses[b];
        if (nest_.arrays[first.array].isVariable) {
            report(a, b, carrier, NestCertainty::Broken, {}, "both are of one variable");
            return;
        }
        if (stop_.stop_requested() || ++questions_ > maxQuestions) {
            result_.isComplete = false;
            return;
        }
        std::vector<std::string> conditions;
        bool isExact = true;
        bool isDecided = true;
        for (const Question& question : questions()) {
            PointSet points(nest_, question.knowsBlocks);
            for (const auto& [symbol, value] : values_)
                points.fix(symbol, value);
            conditions.clear();
            requireDomain(points, first.node, 0, question);
            requireDomain(points, second.node, 1, question);
            points.require(first.condition, 0);
            points.require(second.condition, 1);
            const std::string meet = meetings_.formula(
                points, first, second, runs_.sameInBothRuns(first.node, second.node, carrier),
                conditions);
            const std::string apart =
                runs_.formula(points, first.node, second.node, carrier, conditions);
            isExact = points.isExact();
            const std::optional<bool> empty =
                polyhedra_.isEmpty(points.text(meet + " and " + apart));
            isDecided = empty.has_value();
            if (empty == true) {
                if (question.knowsBlocks)
                    conditions.emplace_back("blocks have the size of the file's launches");
                if (!conditions.empty())
                    report(a, b, carrier, NestCertainty::Likely, conditions, "");
                return;
            }
        }
        report(a, b, carrier, NestCertainty::Broken, {},
               !isDecided ? "whether both go to the same element takes too long to find"
               : isExact  ? "both go to the same element"
                          : "that both go to the same element cannot be excluded");
    }

    void report(NestAccessId a, NestAccessId b, const NestCarrier& carrier, NestCertainty certainty,
                std::vector<std::string> conditions, std::string reason) {
        const AccessKind first = nest_.accesses[a].kind;
        const AccessKind second = nest_.accesses[b].kind;
        NestDependence dependence;
        dependence.from = a;
        dependence.to = b;
        dependence.carrier = carrier;
        dependence.independence = certainty;
        dependence.conditions = std::move(conditions);
        dependence.reason = std::move(reason);
        dependence.isSynchronised =
            carrier.level == Level::Threads &&
            isSeparatedByBarrier(nest_, nest_.accesses[a].node, nest_.accesses[b].node);
        const NestStatement* statement = nest_.node(nest_.accesses[a].node).computation();
        dependence.isReduction =
            nest_.accesses[a].node == nest_.accesses[b].node && !statement->reduction.empty();
        const std::array<std::pair<NestDependenceKind, bool>, 3> kinds = {
            {{NestDependenceKind::Flow, writesAt(first) && readsAt(second)},
             {NestDependenceKind::Anti, readsAt(first) && writesAt(second)},
             {NestDependenceKind::Output, writesAt(first) && writesAt(second)}}};
        for (const auto& [kind, holds] : kinds) {
            if (!holds)
                continue;
            if (result_.dependences.size() >= maxDependences) {
                result_.isComplete = false;
                return;
            }
            dependence.kind = kind;
            result_.dependences.push_back(dependence);
        }
    }

    void findOverlaps() {
        std::vector<bool> read(nest_.arrays.size());
        std::vector<bool> written(nest_.arrays.size());
        for (const NestAccess& access : nest_.accesses) {
            if (access.node == noId || access.array == noId)
                continue;
            read[access.array] = read[access.array] || readsAt(access.kind);
            written[access.array] = written[access.array] || writesAt(access.kind);
        }
        const auto isPassed = [&](const NestArray& array) {
            return !array.isVariable && !array.isRestrict &&
                   (array.space == MemorySpace::Global || array.space == MemorySpace::Generic);
        };
        // All `extern __shared__` arrays begin at one address.
        const auto isDynamic = [&](const NestArray& array) {
            return array.space == MemorySpace::Shared && array.extents.size() == 1 &&
                   array.extents.front() < 0;
        };
        for (NestArrayId a = 0; a < nest_.arrays.size(); ++a)
            for (NestArrayId b = a + 1; b < nest_.arrays.size(); ++b) {
                const bool meets =
                    (written[a] && (written[b] || read[b])) || (written[b] && read[a]);
                const NestArray& one = nest_.arrays[a];
                const NestArray& other = nest_.arrays[b];
                if (meets &&
                    ((isPassed(one) && isPassed(other)) || (isDynamic(one) && isDynamic(other))))
                    result_.overlaps.push_back({a, b});
            }
    }

    const Nest& nest_;
    Polyhedra& polyhedra_;
    const std::stop_token& stop_;
    const std::map<Symbol, std::int64_t>& values_;
    RunPairs runs_;
    MeetingPlaces meetings_;
    std::optional<NestCarrier> only_; ///< The one that is asked for; nullopt: all.
    NestDependences result_;
    std::size_t questions_ = 0;
};

} // namespace

NestDependences dependencesOf(const Nest& nest, Polyhedra& polyhedra, const std::stop_token& stop,
                              const std::map<Symbol, std::int64_t>& values) {
    return DependenceFinder(nest, polyhedra, stop, values).find();
}

NestDependences crossedDependences(const Nest& nest, Polyhedra& polyhedra, NestNodeId outer,
                                   NestNodeId inner) {
    const std::stop_token stop;
    const std::map<Symbol, std::int64_t> values;
    return DependenceFinder(nest, polyhedra, stop, values).findCrossed({Level::Loop, outer, inner});
}

} // namespace kernelskill::analysis
