#include "skills/aos-staging/staging_plan.h"

#include "analysis/source/try.h"
#include "skills/aos-staging/launched_memory.h"
#include "skills/base/gates.h"
#include "skills/gates/aliasing.h"
#include "skills/gates/launch_sites.h"
#include "skills/schedule/draft.h"
#include "skills/schedule/nest_queries.h"
#include "skills/schedule/threads_apart.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

namespace kernelskill::skills {

using namespace analysis;

namespace {

class StagingPlanner {
public:
    StagingPlanner(const SkillContext& context, RecordArrays records)
        : context_(context), code_(context.code()), body_(code_.body()),
          nest_(context.shared().nest()) {
        staging_.records = std::move(records);
    }

    Gated<Staging> plan() {
        KERNELSKILL_CHECK(requireFollowedAccesses());
        KERNELSKILL_CHECK(chooseBlock());
        KERNELSKILL_CHECK(choosePlaces());
        for (const RecordArray& array : staging_.records.arrays)
            KERNELSKILL_CHECK(requireApart(array));
        return std::move(staging_);
    }

private:
    [[nodiscard]] std::uint32_t line(Span span) const { return lineNumber(context_, span.begin); }

    /// It is known what every statement reads and writes.
    Gated<void> requireFollowedAccesses() const {
        KERNELSKILL_CHECK(requireKnownEffects(context_));
        for (const NestAccess& access : nest_.accesses)
            if (access.array == noId)
                return refuse(
                    "unknown-effects",
                    fmt::format("line {}: {}", line(nest_.node(access.node).span), access.reason));
        return {};
    }

    Gated<void> chooseBlock() {
        KERNELSKILL_CHECK(requireKnownLaunches(context_));
        const auto blocks = launchedBlocks(context_);
        const std::vector<RecordArray>& arrays = staging_.records.arrays;
        const bool isOne = blocks && std::ranges::all_of(*blocks, [&](const Extents& block) {
                               return block == blocks->front();
                           });
        if (!isOne && arrays.size() == 1)
            return requireStatedMemory(context_, arrays.front());
        if (!blocks)
            return std::unexpected(blocks.error());
        if (!isOne)
            return refuse(
                "several-blocks",
                fmt::format("launches of {} have blocks of different sizes", context_.kernel.name));
        staging_.block = blocks->front();
        if (staging_.block[2] > 1)
            return refuse("three-dimensional",
                          fmt::format("the blocks of {} have {} layers along z",
                                      context_.kernel.name, staging_.block[2]));
        KERNELSKILL_CHECK(requireNoRedundantThreads(context_));
        std::int64_t bytes = 0;
        for (const RecordArray& array : arrays)
            bytes += array.pitch() * array.wordBytes * staging_.block[0] * staging_.block[1];
        for (const SharedArray& shared : context_.kernel.sharedArrays)
            bytes += static_cast<std::int64_t>(shared.bytes);
        return requireSharedMemory(context_, bytes);
    }

    Gated<void> choosePlaces() {
        const RowGuard& guard = staging_.records.guard;
        StmtId begin = guard.first(body_);
        StmtId end = noId;
        for (const RecordArray& array : staging_.records.arrays) {
            for (const RecordPlace& place : array.places)
                if (const StmtId root = rootOf(place.expression);
                    begin == noId || spanOf(root).begin < spanOf(begin).begin)
                    begin = root;
            for (const StmtId root : array.roots)
                if (array.isWritten && (end == noId || spanOf(end).end < spanOf(root).end))
                    end = root;
        }
        KERNELSKILL_CHECK(requireOwnLines(begin));
        for (const RecordBound& bound : guard.bounds) {
            KERNELSKILL_CHECK(requireDeclared(bound.position, begin));
            KERNELSKILL_CHECK(requireLocals(bound.limit, begin));
        }
        for (const RowClause& clause : guard.clauses)
            KERNELSKILL_CHECK(requireLocals(clause.condition, begin));
        for (const RecordArray& array : staging_.records.arrays)
            KERNELSKILL_CHECK(requireNumber(array, begin));
        staging_.begin = begin;
        return end == noId ? Gated<void>{} : chooseEnd(end);
    }

    Gated<void> requireOwnLines(StmtId id) const {
        const SourceLayout layout(*context_.file.source, context_.kernel);
        if (hasOwnLines(body_, layout, id, id))
            return {};
        return refuse("line", fmt::format("line {} holds more than a statement", line(spanOf(id))));
    }

    [[nodiscard]] Span spanOf(StmtId id) const { return body_.stmt(id).span; }
    [[nodiscard]] StmtId rootOf(ExprId expression) const {
        StmtId at = code_.statement(expression);
        while (body_.stmt(at).parent != body_.root)
            at = body_.stmt(at).parent;
        return at;
    }

    /// The number of a record is declared before `begin`, or all that its value is made of.
    Gated<void> requireNumber(const RecordArray& array, StmtId begin) const {
        if (array.number == noId || requireDeclared(array.number, begin))
            return {};
        return requireLocals(body_.variable(array.number).init, begin);
    }

    /// All locals in the expression are declared before `begin`.
    Gated<void> requireLocals(ExprId expression, StmtId begin) const {
        for (const ExprId id : code_.expressionsBelow(expression))
            if (const VariableId used = body_.expr(id).variable;
                used != noId && body_.variable(used).storage == Storage::Local)
                KERNELSKILL_CHECK(requireDeclared(used, begin));
        return {};
    }

    Gated<void> requireDeclared(VariableId variable, StmtId begin) const {
        const StmtId declaration = code_.declarationOf(variable);
        if (declaration != noId && spanOf(declaration).end <= spanOf(begin).begin)
            return {};
        return refuse("record-number",
                      fmt::format("{} is not known yet on line {}, where records would be loaded",
                                  body_.variable(variable).name, line(spanOf(begin))));
    }

    /// Chooses where records are stored: a place that all threads of a block reach.
    Gated<void> chooseEnd(StmtId end) {
        const std::vector<StmtId>& all = body_.stmt(body_.root).children;
        const std::vector<StmtId>& exits = staging_.records.guard.exits;
        if (!exits.empty()) // The rest of the kernel comes under a check.
            end = all.back();
        for (const StmtId id : code_.statementsIn(body_.root)) {
            const Stmt& stmt = body_.stmt(id);
            const bool isExit =
                std::ranges::any_of(exits, [&](StmtId exit) { return code_.encloses(exit, id); });
            const bool isBehind = stmt.span.begin > spanOf(end).end;
            if (stmt.kind == StmtKind::Return && !isExit && !isBehind)
                return refuse("early-return",
                              fmt::format("threads that return on line {} would not come to where "
                                          "records are stored",
                                          line(stmt.span)));
        }
        if (exits.size() > 1)
            return refuse("early-return",
                          fmt::format("several checks from line {} on end threads, and the rest of "
                                      "the kernel would have to stand under all of them",
                                      line(spanOf(exits.front()))));
        KERNELSKILL_CHECK(requireOwnLines(end));
        if (!exits.empty()) {
            KERNELSKILL_CHECK(requireOwnLines(exits.front()));
            if (!commentsIn(*context_.file.source, spanOf(exits.front())).empty())
                return refuse("line", fmt::format("the check on line {} has comments in it",
                                                  line(spanOf(exits.front()))));
        }
        staging_.end = end;
        return {};
    }

    /// Whether a variable of the kernel leads to the array.
    static bool isFollowed(const NestArray& array) { return array.frame == 0 && !array.isLoaded; }

    /// No other access of the kernel may go to the array.
    Gated<void> requireApart(const RecordArray& array) const {
        const NestArray* own = nullptr;
        for (const NestArray& each : nest_.arrays)
            if (each.variable == array.variable && isFollowed(each))
                own = &each;
        for (const NestAccess& access : nest_.accesses) {
            const NestArray& other = nest_.arrays[access.array];
            const bool isHarmless = isThreadsOwn(other) || &other == own ||
                                    other.space == MemorySpace::Shared ||
                                    other.space == MemorySpace::Constant ||
                                    (access.kind == AccessKind::Read && !array.isWritten);
            if (isHarmless || own == nullptr || differInType(*own, other))
                continue;
            KERNELSKILL_CHECK(requireDistinctMemory(context_, array.variable,
                                                    isFollowed(other) ? other.variable : noId));
        }
        return {};
    }

    const SkillContext& context_;
    const CodeMap& code_;
    const FunctionBody& body_;
    const Nest& nest_;
    Staging staging_;
};

} // namespace

Gated<void> requireSharedMemory(const SkillContext& context, std::int64_t bytes) {
    constexpr std::int64_t most = 48 * 1024; // without asking for more
    if (bytes <= most)
        return {};
    return refuse("too-much-shared-memory",
                  fmt::format("the records of a block, with what {} has in shared memory, take {} "
                              "bytes",
                              context.kernel.name, bytes));
}

Gated<Staging> planStaging(const SkillContext& context, RecordArrays records) {
    return StagingPlanner(context, std::move(records)).plan();
}

} // namespace kernelskill::skills
