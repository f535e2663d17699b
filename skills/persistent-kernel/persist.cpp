#include "skills/persistent-kernel/persist.h"

#include "analysis/compile/data_centre_gpu.h"
#include "analysis/model/dependence.h"
#include "analysis/queries/launch_values.h"
#include "analysis/queries/loop_effects.h"
#include "analysis/source/try.h"
#include "analysis/syntax/lexer.h"
#include "analysis/syntax/statement_kinds.h"
#include "skills/base/gates.h"
#include "skills/editing/block_count.h"
#include "skills/gates/separate_blocks.h"
#include "skills/gates/thread_position.h"
#include "skills/persistent-kernel/statement_costs.h"
#include "skills/schedule/statement_effects.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <set>

namespace kernelskill::skills {

using namespace analysis;

namespace {

/// The min number of blocks for each that is resident: with fewer, hardly a set-up is saved.
constexpr std::int64_t minRoundsOfBlocks = 2;

/// A set-up that costs less is not worth the edit.
constexpr double minSetUpCost = 10;
/// The same, as a share of the work of a block.
constexpr double minShare = 0.5;

bool isLoopOrSwitch(StmtKind kind) {
    return isLoop(kind) || kind == StmtKind::Switch;
}

class PersistPlanner {
public:
    explicit PersistPlanner(const SkillContext& context)
        : context_(context), kernel_(context.kernel), code_(context.code()), body_(code_.body()),
          top_(body_.root == noId ? std::vector<StmtId>{} : body_.stmt(body_.root).children) {}

    Gated<PersistentBlocks> plan() {
        // Without shared memory, only special functions can make a set-up worth its while.
        if (kernel_.sharedArrays.empty() &&
            StatementCosts(context_).ofSpecialFunctions() < minSetUpCost)
            return refuse("no-set-up", fmt::format("{} fills no shared memory", kernel_.name));
        classify();
        KERNELSKILL_CHECK(requireSetUp());
        KERNELSKILL_CHECK(requireOwnBlocks());
        KERNELSKILL_CHECK(requireLaunches());
        KERNELSKILL_CHECK(findReturns());
        KERNELSKILL_CHECK(requireLines());
        findBarrier();
        return std::move(found_);
    }

private:
    [[nodiscard]] std::uint32_t line(Span span) const { return lineNumber(context_, span.begin); }

    /// Whether the statement declares only shared memory and variables without value; it stays
    /// where it is.
    [[nodiscard]] bool isBareDeclaration(StmtId id) const {
        const Stmt& stmt = body_.stmt(id);
        return stmt.kind == StmtKind::Declaration &&
               std::ranges::all_of(stmt.declared, [&](VariableId variable) {
                   const Variable& declared = body_.variable(variable);
                   return declared.storage == Storage::Shared ||
                          declared.storage == Storage::DynamicShared ||
                          (declared.init == noId && !declared.type.isReference);
               });
    }

    /// Parts the outermost statements into set-up and work. Work is what depends on the block or on
    /// what work changes, and everything behind the first work that is no declaration.
    void classify() {
        for (const StmtId id : top_)
            effects_.push_back(effectsOf(context_.file, kernel_, code_, id));
        std::vector<bool> isWork(top_.size());
        std::set<VariableId> changing;
        const auto meets = [&](const std::set<VariableId>& variables) {
            return std::ranges::any_of(
                variables, [&](VariableId variable) { return changing.contains(variable); });
        };
        for (bool grows = true; grows;) {
            grows = false;
            bool hasBegun = false;
            for (std::size_t i = 0; i < top_.size(); ++i) {
                const StatementEffects& effects = effects_[i];
                if (isBareDeclaration(top_[i]))
                    continue;
                const bool isOwn = hasBegun || effects.blockAxes != 0 || effects.isOpaque ||
                                   meets(effects.reads) || meets(effects.writes);
                if (isOwn && !isWork[i]) {
                    isWork[i] = true;
                    grows = true;
                    changing.insert(effects.writes.begin(), effects.writes.end());
                }
                hasBegun = hasBegun || (isWork[i] && !effects.isDeclaration);
            }
        }
        const StatementCosts costs(context_);
        for (std::size_t i = 0; i < top_.size(); ++i) {
            if (isBareDeclaration(top_[i]))
                continue;
            if (isWork[i]) {
                found_.work.push_back(top_[i]);
            } else {
                found_.setUp.push_back(top_[i]);
                found_.moved = found_.work;
            }
            (isWork[i] ? found_.workCost : found_.setUpCost) += costs.of(top_[i]);
        }
    }

    Gated<void> requireSetUp() {
        if (found_.setUpCost < minSetUpCost || found_.work == found_.moved)
            return refuse("no-set-up",
                          fmt::format("{} begins with no work that is the same in every block",
                                      kernel_.name));
        if (found_.setUpCost < minShare * found_.workCost)
            return refuse("work-outweighs",
                          fmt::format("the work of a block of {} takes longer than what it "
                                      "begins with",
                                      kernel_.name));
        for (const StmtId id : found_.setUp)
            for (const MemoryAccess& access : kernel_.accesses)
                if (access.space == MemorySpace::Shared && access.base != noId &&
                    access.kind != AccessKind::Read && code_.holds(id, access.expression))
                    found_.array = body_.variable(access.base).name;
        return {};
    }

    /// Requires that blocks do not communicate, and ask only for blockIdx.x.
    Gated<void> requireOwnBlocks() {
        KERNELSKILL_CHECK(requireSeparateBlocks(context_));
        for (const Token& token : lex(context_.file.source->text(), kernel_.span))
            if (token.is("gridDim"))
                return refuse("uses-grid", fmt::format("line {} asks how many blocks there are",
                                                       line(token.span)));
        KERNELSKILL_CHECK(requireCalleesWithoutGrid(context_));
        KERNELSKILL_TRY(found_.blocks, editableBlockPositions(context_));
        for (const ExprId id : found_.blocks)
            if (body_.expr(id).axis != 0)
                return refuse("grid-axes",
                              fmt::format("line {} asks for another axis of the grid than x",
                                          line(body_.expr(id).span)));
        if (found_.blocks.empty())
            return refuse("no-set-up", fmt::format("all blocks of {} do the same", kernel_.name));
        return {};
    }

    Gated<void> requireLaunches() {
        KERNELSKILL_CHECK(requirePassableGrids(context_));
        for (const LaunchSite& launch : kernel_.launches) {
            const CodeMap& host = context_.shared().host(launch.host);
            const std::string place = placeOf(context_, launch);
            const KnownExtents grid = FixedValues(host).extents(launch.grid);
            if (grid[1] != 1 || grid[2] != 1)
                return refuse(
                    "grid-axes",
                    fmt::format("the grid of the launch on {} may have blocks along y", place));
            const std::string_view name =
                context_.file.source->slice({launch.span.begin, launch.configurationSpan.begin});
            if (!kernel_.templateParameters.empty() && !name.contains('<'))
                return refuse(
                    "kernel-name",
                    fmt::format("the launch on {} leaves template arguments to be deduced", place));
            KERNELSKILL_CHECK(requireManyBlocks(launch));
        }
        return {};
    }

    [[nodiscard]] Gated<void> requireManyBlocks(const LaunchSite& launch) const {
        const LaunchValues values(context_.shared(), launch);
        const auto blocks = values.grid()[0];
        std::int64_t threads = 1;
        for (const auto extent : values.block())
            threads *= extent.value_or(1);
        if (!blocks || threads <= 0)
            return {};
        const std::int64_t resident = DataCentreGpu::multiprocessors * residentBlocksOf(threads);
        if (*blocks < minRoundsOfBlocks * resident)
            return refuse(
                "few-blocks",
                fmt::format("a large GPU holds {} of the {} blocks of the launch on {} at "
                            "once",
                            std::min(resident, *blocks), *blocks, placeOf(context_, launch)));
        return {};
    }

    [[nodiscard]] bool isInWork(StmtId statement) const {
        return std::ranges::any_of(found_.work,
                                   [&](StmtId work) { return code_.encloses(work, statement); });
    }

    Gated<void> findReturns() {
        bool hasBarrier = false;
        for (const Barrier& barrier : kernel_.barriers)
            hasBarrier = hasBarrier || isInWork(code_.statement(barrier.call));
        std::optional<DependenceAnalysis> dependence;
        for (StmtId id = 0; id < body_.stmts.size(); ++id) {
            const Stmt& stmt = body_.stmt(id);
            if (stmt.kind != StmtKind::Return || !isInWork(id))
                continue;
            if (stmt.fromMacro || stmt.expr != noId)
                return refuse(
                    "early-return",
                    fmt::format("the return on line {} comes out of a macro", line(stmt.span)));
            for (StmtId at = stmt.parent; at != noId; at = body_.stmt(at).parent) {
                const Stmt& around = body_.stmt(at);
                if (isLoopOrSwitch(around.kind))
                    return refuse("return-in-loop",
                                  fmt::format("line {} leaves the kernel from within a loop",
                                              line(stmt.span)));
                if (!hasBarrier || around.kind != StmtKind::If || around.condition == noId)
                    continue;
                if (!dependence)
                    dependence.emplace(body_);
                const Dependence decides = dependence->of(around.condition);
                if (decides.onThread || decides.onData)
                    return refuse("early-return",
                                  fmt::format("threads that leave on line {} would be missing at "
                                              "barriers of the next round",
                                              line(stmt.span)));
            }
            found_.returns.push_back(id);
        }
        return {};
    }

    Gated<void> requireLines() const {
        const SourceLayout layout(*context_.file.source, kernel_);
        const auto check = [&](StmtId id) -> Gated<void> {
            if (!body_.stmt(id).fromMacro && hasOwnLines(body_, layout, id, id))
                return {};
            return refuse(
                "several-statements-a-line",
                fmt::format("line {} holds more than one statement", line(body_.stmt(id).span)));
        };
        for (const StmtId id : top_)
            KERNELSKILL_CHECK(check(id));
        if (!layout.startsLine(kernel_.bodySpan.end - 1))
            return refuse(
                "several-statements-a-line",
                fmt::format("the end of {} does not stand on a line of its own", kernel_.name));
        return {};
    }

    void findBarrier() {
        bool mayMeet = false;
        for (std::size_t i = 0; i < top_.size(); ++i) {
            if (std::ranges::find(found_.work, top_[i]) == found_.work.end())
                continue;
            mayMeet = mayMeet || effects_[i].writesShared || effects_[i].isBarrier ||
                      callsUnknown(top_[i]);
        }
        for (const Barrier& barrier : kernel_.barriers)
            mayMeet = mayMeet || isInWork(code_.statement(barrier.call));
        found_.needsBarrier = mayMeet;
        const auto last = std::ranges::find(top_, found_.setUp.back());
        if (mayMeet && effects_[static_cast<std::size_t>(last - top_.begin())].isBarrier)
            found_.barrier = *last;
    }

    /// Whether the statement calls a function that may write to shared memory.
    [[nodiscard]] bool callsUnknown(StmtId statement) const {
        return !kernel_.sharedArrays.empty() &&
               std::ranges::any_of(code_.expressionsIn(statement), [&](ExprId id) {
                   const Expr& expr = body_.expr(id);
                   return expr.kind == ExprKind::Call &&
                          !isKnownCall(context_.file, kernel_, expr) &&
                          !expr.name.contains("min") && !expr.name.contains("max");
               });
    }

    const SkillContext& context_;
    const KernelModel& kernel_;
    const CodeMap& code_;
    const FunctionBody& body_;
    std::vector<StmtId> top_;
    std::vector<StatementEffects> effects_; ///< The effects of each statement of `top_`.
    PersistentBlocks found_;
};

} // namespace

Gated<PersistentBlocks> persistentBlocks(const SkillContext& context) {
    KERNELSKILL_CHECK(requireEditable(context));
    return PersistPlanner(context).plan();
}

} // namespace kernelskill::skills
