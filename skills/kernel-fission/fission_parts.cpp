#include "skills/kernel-fission/fission_parts.h"

#include "analysis/queries/guarded_work.h"
#include "analysis/queries/loop_effects.h"
#include "analysis/source/try.h"
#include "skills/base/gates.h"
#include "skills/gates/block_collective.h"
#include "skills/gates/counted_loop.h"
#include "skills/gates/fixed_value.h"
#include "skills/gates/separate_blocks.h"
#include "skills/schedule/lane_sectors.h"
#include "skills/schedule/statement_effects.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>

namespace kernelskill::skills {

using namespace analysis;

namespace {

/// Loops whose lanes are further apart than this many times what they would touch side by side want
/// other threads than loops whose lanes are not.
constexpr double minOverfetch = 1.5;

class FissionPlanner {
public:
    explicit FissionPlanner(const SkillContext& context)
        : context_(context), kernel_(context.kernel), code_(context.code()), body_(code_.body()) {}

    Gated<FissionParts> plan() {
        KERNELSKILL_CHECK(requireSeparateBlocks(context_));
        findLevel();
        for (const StmtId work : works_)
            KERNELSKILL_CHECK(requireFollowed(work));
        for (const StmtId work : works_)
            writes_[work] = effectsOf(context_.file, kernel_, code_, work).writes;
        std::optional<FissionParts> found;
        Refusal refusal{"one-part",
                        fmt::format("{} does not run two loops one after the other", kernel_.name)};
        for (std::size_t cut = 1; cut < works_.size(); ++cut) {
            auto parts = partsAt(cut);
            if (parts && (!found || !parts->reason.empty())) {
                const bool isReason = !parts->reason.empty();
                found = *std::move(parts);
                if (isReason)
                    break;
            } else if (!parts && parts.error().gate != "one-part") {
                refusal = std::move(parts.error());
            }
        }
        if (!found)
            return std::unexpected(std::move(refusal));
        return *std::move(found);
    }

private:
    [[nodiscard]] std::uint32_t line(Span span) const { return lineNumber(context_, span.begin); }
    [[nodiscard]] std::uint32_t line(StmtId id) const { return line(body_.stmt(id).span); }

    /// Finds the block of code to cut: the kernel's, or that of the `if` around all its work.
    void findLevel() {
        StmtId block = body_.root;
        for (;;) {
            const std::vector<StmtId> all = code_.statementsOf(block);
            works_.clear();
            barriers_.clear();
            for (const StmtId id : all) {
                if (isBlockBarrier(kernel_, id))
                    barriers_.push_back(id);
                else if (isOfBoth(id))
                    both_.push_back(id);
                else
                    works_.push_back(id);
            }
            const bool isGuard = works_.size() == 1 && barriers_.empty() &&
                                 works_.front() == all.back() &&
                                 isPlainIf(*context_.file.source, code_, works_.front()) &&
                                 body_.stmt(works_.front()).children.size() == 1 &&
                                 isFixedValue(code_, body_.stmt(works_.front()).condition);
            if (!isGuard)
                return;
            block = body_.stmt(works_.front()).children.front();
        }
    }

    /// Whether both parts may have the statement: a declaration that needs no memory and nothing
    /// that changes, or an early return.
    [[nodiscard]] bool isOfBoth(StmtId id) const {
        const Stmt& stmt = body_.stmt(id);
        if (stmt.kind == StmtKind::If)
            return isPlainIf(*context_.file.source, code_, id) && returnsOnly(code_, id) &&
                   isFixedValue(code_, stmt.condition) && works_.empty();
        return stmt.kind == StmtKind::Null ||
               (stmt.kind == StmtKind::Declaration &&
                std::ranges::all_of(stmt.declared, [&](VariableId declared) {
                    const Variable& variable = body_.variable(declared);
                    return variable.init == noId || isFixedValue(code_, variable.init);
                }));
    }

    [[nodiscard]] Gated<void> requireFollowed(StmtId work) const {
        for (const StmtId id : code_.statementsIn(work)) {
            const StmtKind kind = body_.stmt(id).kind;
            if (kind == StmtKind::Return || kind == StmtKind::Goto || kind == StmtKind::Asm ||
                kind == StmtKind::Other)
                return refuse("early-exit",
                              fmt::format("line {} may leave the kernel between its parts, or is "
                                          "not followed",
                                          line(id)));
        }
        for (const ExprId id : code_.expressionsIn(work)) {
            const Expr& expr = body_.expr(id);
            const auto isOfWarp = [&](const WarpOperation& operation) {
                return operation.call == id;
            };
            const auto isBarrier = [&](const Barrier& barrier) { return barrier.call == id; };
            const bool isKnown = expr.kind != ExprKind::Call ||
                                 isKnownCall(context_.file, kernel_, expr) || expr.name == "min" ||
                                 expr.name == "max" ||
                                 std::ranges::any_of(kernel_.warpOperations, isOfWarp) ||
                                 std::ranges::any_of(kernel_.barriers, isBarrier);
            if (expr.kind == ExprKind::Other || !isKnown)
                return refuse("unknown-call",
                              fmt::format("what line {} does is not known", line(expr.span)));
        }
        return {};
    }

    [[nodiscard]] Gated<FissionParts> partsAt(std::size_t cut) const {
        const std::span works(works_);
        const auto first = works.first(cut);
        const auto rest = works.subspan(cut);
        for (const auto part : {first, rest})
            if (std::ranges::none_of(kernel_.loops,
                                     [&](const Loop& loop) { return isIn(part, loop.statement); }))
                return refuse("one-part",
                              fmt::format("a part of {} would have no loop", kernel_.name));
        for (VariableId id = 0; id < body_.variables.size(); ++id)
            KERNELSKILL_CHECK(requireApart(id, first, rest));
        FissionParts parts{.first = {first.begin(), first.end()},
                           .rest = {rest.begin(), rest.end()},
                           .leftOutOfFirst = {rest.begin(), rest.end()},
                           .leftOutOfRest = {first.begin(), first.end()},
                           .both = both_,
                           .reason = reasonFor(first, rest)};
        for (const StmtId barrier : barriers_) {
            const std::uint32_t at = body_.stmt(barrier).span.begin;
            if (at > body_.stmt(first.back()).span.begin)
                parts.leftOutOfFirst.push_back(barrier);
            if (at < body_.stmt(rest.front()).span.begin)
                parts.leftOutOfRest.push_back(barrier);
        }
        return parts;
    }

    [[nodiscard]] bool isIn(std::span<const StmtId> part, StmtId statement) const {
        return std::ranges::any_of(part,
                                   [&](StmtId work) { return code_.encloses(work, statement); });
    }
    [[nodiscard]] std::vector<ExprId> usesIn(std::span<const StmtId> part, VariableId id) const {
        std::vector<ExprId> uses;
        for (const ExprId use : code_.uses(id))
            if (isIn(part, code_.statement(use)))
                uses.push_back(use);
        return uses;
    }

    /// Requires that no value of the variable is left for the second part.
    [[nodiscard]] Gated<void> requireApart(VariableId id, std::span<const StmtId> first,
                                           std::span<const StmtId> rest) const {
        const Variable& variable = body_.variable(id);
        const std::vector<ExprId> later = usesIn(rest, id);
        if (later.empty())
            return {};
        if (isSharedStorage(variable))
            return usesIn(first, id).empty()
                       ? Gated<void>{}
                       : refuse("shared-memory-crosses",
                                fmt::format("both parts use {}, which does not outlive a kernel",
                                            variable.name));
        const bool isLeft =
            std::ranges::any_of(first, [&](StmtId work) { return writes_.at(work).contains(id); });
        if (!isLeft || isSetFirst(later.front(), rest))
            return {};
        return refuse("value-crosses",
                      fmt::format("line {} needs {} from the part before it",
                                  line(body_.expr(later.front()).span), variable.name));
    }

    /// Whether the use is an assignment that the part always makes, and reads nothing of it: also
    /// the start of a loop.
    [[nodiscard]] bool isSetFirst(ExprId use, std::span<const StmtId> part) const {
        if (!setsAnew(code_, use))
            return false;
        StmtId statement = code_.statement(use);
        const StmtId parent = body_.stmt(statement).parent;
        if (parent != noId && body_.stmt(parent).init == statement)
            statement = parent;
        return std::ranges::find(part, statement) != part.end();
    }

    /// Tells which part's lanes are apart, if one's are and the other's are not.
    [[nodiscard]] std::string reasonFor(std::span<const StmtId> first,
                                        std::span<const StmtId> rest) const {
        const auto loopOfFirst = loopApart(first);
        const auto loopOfRest = loopApart(rest);
        if (loopOfFirst.has_value() == loopOfRest.has_value())
            return "";
        return fmt::format("lanes are apart in the loop on line {}, and side by side {} it: as "
                           "kernels of their own both can get the threads that fit them",
                           line(loopOfFirst ? *loopOfFirst : *loopOfRest),
                           loopOfFirst ? "behind" : "before");
    }
    /// Returns the first loop of the part whose lanes are further apart than they need be.
    [[nodiscard]] std::optional<StmtId> loopApart(std::span<const StmtId> part) const {
        const Nest& nest = context_.shared().nest();
        for (NestNodeId id = 0; id < nest.nodes.size(); ++id) {
            const NestNode& node = nest.node(id);
            if (node.loop() == nullptr || node.frame != 0 || !isIn(part, node.statement))
                continue;
            const LaneSectors sectors = laneSectors(nest, id);
            if (sectors.asThreads >= minOverfetch * sectors.asLanes)
                return node.statement;
        }
        return std::nullopt;
    }

    const SkillContext& context_;
    const KernelModel& kernel_;
    const CodeMap& code_;
    const FunctionBody& body_;
    std::vector<StmtId> works_;
    std::map<StmtId, std::set<VariableId>>
        writes_; ///< The variables that each of `works_` changes.
    std::vector<StmtId> barriers_;
    std::vector<StmtId> both_;
};

} // namespace

Gated<FissionParts> fissionParts(const SkillContext& context) {
    return FissionPlanner(context).plan();
}

} // namespace kernelskill::skills
