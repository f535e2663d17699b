// Fixes races by a barrier between two statements.
#include "engine/repair/hazard_fixes/fix_draft.h"
#include "engine/repair/hazard_fixes/statement_insertion.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

namespace kernelskill::engine {

using namespace analysis;

namespace {

/// Drafts for the accesses in two statements of one kernel, which may be the same statement.
class Insertion {
public:
    Insertion(const HazardInCode& given, StmtId one, StmtId other)
        : given_(given), code_(given.code), isWarp_(given.hazard.details.scope == RaceScope::Warp),
          barrier_(isWarp_ ? "__syncwarp();" : "__syncthreads();"), one_(one), other_(other) {}

    std::vector<HazardFixDraft> drafts() {
        between();
        atEndOfLoops();
        return std::move(drafts_);
    }

private:
    [[nodiscard]] bool isReached(StmtId statement) const {
        return isWarp_ ? code_.isReachedByWarps(statement, given_.launches.front())
                       : code_.isReachedByBlock(statement);
    }

    [[nodiscard]] std::vector<StmtId> pathTo(StmtId statement) const {
        std::vector<StmtId> path;
        for (StmtId at = statement; at != noId; at = code_.stmt(at).parent)
            path.insert(path.begin(), at);
        return path;
    }

    [[nodiscard]] std::string placeOf(StmtId statement) const {
        return std::to_string(code_.lineOf(code_.stmt(statement).span.begin) + 1);
    }

    void add(std::string where, Edits edits) {
        if (edits)
            drafts_.push_back({fmt::format("insert '{}' {}", barrier_, where), std::move(*edits),
                               FixEffect::Orders});
    }

    /// Inserts it in the innermost block that contains both.
    void between() {
        const auto first = pathTo(one_);
        const auto second = pathTo(other_);
        std::size_t depth = 0;
        while (depth < first.size() && depth < second.size() && first[depth] == second[depth])
            ++depth;
        if (depth == 0 || depth == first.size() || depth == second.size() ||
            code_.stmt(first[depth - 1]).kind != StmtKind::Compound || !isReached(first[depth]))
            return;
        auto [before, after] = std::pair(first[depth], second[depth]);
        if (code_.stmt(after).span.begin < code_.stmt(before).span.begin)
            std::swap(before, after);
        between_ = insertedBefore(code_, after, barrier_);
        betweenText_ = fmt::format("before line {}", placeOf(after));
        add(betweenText_, between_);
        const auto& siblings = code_.stmt(first[depth - 1]).children;
        const auto place = std::ranges::find(siblings, before);
        if (place != siblings.end() && std::next(place) != siblings.end() &&
            *std::next(place) != after)
            add(fmt::format("after line {}",
                            code_.lineOf(std::max(code_.stmt(before).span.end, 1u) - 1) + 1),
                insertedAfter(code_, before, barrier_));
    }

    /// Inserts it at the end of a loop if iterations race with earlier ones.
    void atEndOfLoops() {
        for (StmtId at = one_; at != noId; at = code_.stmt(at).parent) {
            if (!isLoop(code_.stmt(at).kind) || !code_.map().encloses(at, other_) ||
                code_.stmt(at).children.empty() || !isReached(code_.stmt(at).children.front()))
                continue;
            auto end = insertedAtEnd(code_, at, barrier_);
            if (!end)
                continue;
            const std::string where = "at the end of the loop on line " + placeOf(at);
            if (between_ && std::ranges::none_of(*between_, [&](const TextEdit& edit) {
                    return edit.span == end->front().span;
                })) {
                auto both = *between_;
                both.insert(both.end(), end->begin(), end->end());
                add(where, std::move(end));
                add(betweenText_ + " and " + where, std::move(both));
            } else {
                add(where, std::move(end));
            }
            return; // At the outer loop's end it would not order iterations of the inner one.
        }
    }

    const HazardInCode& given_;
    const HazardCode& code_;
    bool isWarp_;
    std::string barrier_;
    StmtId one_;
    StmtId other_;
    Edits between_;
    std::string betweenText_;
    std::vector<HazardFixDraft> drafts_;
};

} // namespace

std::vector<HazardFixDraft> barrierInsertions(const HazardInCode& given) {
    const Hazard& hazard = given.hazard;
    // A barrier does not order the blocks of a launch.
    if (hazard.kind != HazardKind::Race || hazard.details.scope == RaceScope::Grid ||
        hazard.otherFile != hazard.file)
        return {};
    std::vector<HazardFixDraft> drafts;
    for (const StmtId one : given.code.statementsOn(hazard.line, hazard.details.object)) {
        for (const StmtId other : given.code.statementsOn(hazard.otherLine, hazard.details.object))
            std::ranges::move(Insertion(given, one, other).drafts(), std::back_inserter(drafts));
    }
    return drafts;
}

} // namespace kernelskill::engine
