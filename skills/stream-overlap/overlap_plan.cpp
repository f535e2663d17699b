#include "skills/stream-overlap/overlap_plan.h"

#include "analysis/queries/code_map.h"
#include "analysis/queries/host_statements.h"
#include "analysis/queries/loop_effects.h"
#include "analysis/source/try.h"
#include "skills/base/gates.h"
#include "skills/gates/host_launches.h"
#include "skills/stream-overlap/launch_load.h"
#include "skills/stream-overlap/launch_memory.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <map>
#include <optional>

namespace kernelskill::skills {

using namespace analysis;

namespace {

/// Each launch of a run is compared with those before it, for each kernel.
constexpr std::size_t maxRun = 64;
constexpr double maxShareOfGpu = 0.5;
/// To make a stream and two events and to destroy them takes the host some 50 microseconds; as many
/// accesses, at some 100 nanoseconds each where four are under way, take twice that.
constexpr double minSteps = 1000;

class OverlapPlanner {
public:
    explicit OverlapPlanner(const SkillContext& context) : context_(context) {}

    Gated<OverlapPlan> plan() {
        return planForLaunch(context_,
                             [&](const LaunchSite& launch) { return planAround(launch); });
    }

private:
    struct Member {
        const LaunchSite* launch = nullptr;
        StmtId statement = noId;
    };

    Gated<OverlapPlan> planAround(const LaunchSite& launch) {
        KERNELSKILL_CHECK(requireEditableLaunch(context_, launch));
        plan_ = {};
        host_ = &context_.shared().host(launch.host);
        KERNELSKILL_CHECK(requireNoStreams(context_, launch.host));
        KERNELSKILL_TRY(auto run, runAround(launch));
        KERNELSKILL_TRY(auto statements, takeGroup(run, launch));
        KERNELSKILL_TRY(auto place, placeOf(context_, launch.host, stream_, statements));
        plan_.place = place;
        KERNELSKILL_CHECK(requireGain());
        return plan_;
    }

    [[nodiscard]] const FunctionBody& body() const { return host_->body(); }
    [[nodiscard]] std::uint32_t line(const LaunchSite& launch) const {
        return lineNumber(context_, launch.span.begin);
    }

    /// The launches that follow each other around this one, with error checks at most in between.
    Gated<std::vector<Member>> runAround(const LaunchSite& launch) {
        StmtId own = noId;
        for (StmtId id = 0; id < body().stmts.size(); ++id) {
            const Stmt& stmt = body().stmt(id);
            if (stmt.kind == StmtKind::Expression && stmt.expr != noId && !stmt.fromMacro &&
                body().expr(stmt.expr).span == launch.span &&
                launchAt(context_.file, launch.host, stmt.expr) == &launch)
                own = id;
        }
        const StmtId block = own == noId ? noId : body().stmt(own).parent;
        if (block == noId || body().stmt(block).kind != StmtKind::Compound)
            return refuse("no-neighbour",
                          fmt::format("the launch on line {} stands alone", line(launch)));
        KERNELSKILL_TRY(const auto stream, plainStream(*host_, launch.stream, line(launch)));
        stream_ = stream;
        std::vector<Member> run;
        bool holdsOwn = false;
        const std::map<Span, const LaunchSite*> launches = launchesOf(launch.host);
        for (const StmtId id : body().stmt(block).children) {
            const Stmt& stmt = body().stmt(id);
            if (stmt.kind == StmtKind::Null || isErrorCheck(*context_.file.source, stmt))
                continue;
            const bool mayLaunch =
                stmt.kind == StmtKind::Expression && !stmt.fromMacro && stmt.expr != noId;
            const auto found =
                mayLaunch ? launches.find(body().expr(stmt.expr).span) : launches.end();
            const LaunchSite* next = found != launches.end() ? found->second : nullptr;
            if (next != nullptr && isSameStream(*host_, next->stream, stream_) &&
                hasPlainArguments(*next)) {
                run.push_back({next, id});
                holdsOwn = holdsOwn || next == &launch;
                continue;
            }
            if (holdsOwn)
                break;
            run.clear();
        }
        if (!holdsOwn || run.size() < 2)
            return refuse("no-neighbour",
                          fmt::format("no other launch in the same stream, with plain arguments, "
                                      "comes right before or after the one on line {}",
                                      line(launch)));
        if (run.size() > maxRun)
            return refuse("long-run", fmt::format("{} launches follow each other around the one on "
                                                  "line {}, more than {}",
                                                  run.size(), line(launch), maxRun));
        return run;
    }

    /// What launchAt() finds in the host function, by the places of the expressions.
    [[nodiscard]] std::map<Span, const LaunchSite*> launchesOf(std::uint32_t host) const {
        std::map<Span, const LaunchSite*> launches;
        for (const KernelModel& kernel : context_.file.kernels)
            for (const LaunchSite& site : kernel.launches)
                if (site.host == host && !site.fromMacro &&
                    context_.file.source->slice(site.configurationSpan).ends_with(">>>"))
                    launches.emplace(site.span, &site);
        return launches;
    }

    /// Whether evaluating the arguments and the configuration of the launch has no effect.
    [[nodiscard]] bool hasPlainArguments(const LaunchSite& launch) const {
        std::vector<ExprId> values = launch.arguments;
        for (const ExprId id : {launch.grid, launch.block, launch.sharedBytes})
            if (id != noId)
                values.push_back(id);
        return std::ranges::all_of(values,
                                   [&](ExprId value) { return hasNoEffect(*host_, value); });
    }

    /// Takes from the run, in turns, as many launches as share nothing; the group that holds
    /// `launch`, by its statements.
    Gated<std::vector<StmtId>> takeGroup(const std::vector<Member>& run, const LaunchSite& launch) {
        std::vector<Member> group;
        std::optional<Refusal> between; // this launch and its neighbours
        const auto holds = [&] {
            return std::ranges::find(group, &launch, &Member::launch) != group.end();
        };
        for (const Member& next : run) {
            std::optional<Refusal> obstacle;
            for (const Member& member : group)
                if (auto apart = requireApart(context_, *member.launch, *next.launch);
                    !apart && !obstacle)
                    obstacle = std::move(apart.error());
            if (obstacle || group.size() == maxStreams) {
                if (!between && (holds() || next.launch == &launch))
                    between = std::move(obstacle);
                if (holds() && group.size() > 1)
                    break;
                group.clear();
            }
            group.push_back(next);
        }
        if (!holds() || group.size() < 2) {
            if (between)
                return std::unexpected(std::move(*between));
            return refuse("no-neighbour", fmt::format("the launch on line {} is left over from "
                                                      "{} streams",
                                                      line(launch), maxStreams));
        }
        std::vector<StmtId> statements;
        for (const Member& member : group) {
            plan_.launches.push_back(member.launch);
            statements.push_back(member.statement);
        }
        return statements;
    }

    Gated<void> requireGain() {
        std::vector<LaunchLoad> loads;
        for (const LaunchSite* launch : plan_.launches) {
            KERNELSKILL_TRY(auto load, loadOf(context_, *launch));
            if (load.share > maxShareOfGpu)
                return refuse("fills-the-gpu",
                              fmt::format("the {} blocks on line {} take {:.0f} % of the room of "
                                          "{} multiprocessors: little runs beside them",
                                          load.blocks, line(*launch), load.share * 100,
                                          multiprocessors));
            if (load.steps && *load.steps < minSteps)
                return refuse("too-short",
                              fmt::format("a thread of the launch on line {} makes at most {:.0f} "
                                          "accesses to memory: it is over before a stream is made",
                                          line(*launch), *load.steps));
            plan_.share += load.share;
            loads.push_back(load);
        }
        plan_.gain = overlapGain(loads);
        if (plan_.gain < minGain)
            return refuse("one-takes-longest",
                          fmt::format("side by side they would be at most {:.2f} times as fast: "
                                      "one of them takes nearly all of the time",
                                      plan_.gain));
        return {};
    }

    const SkillContext& context_;
    const CodeMap* host_ = nullptr;
    ExprId stream_ = noId; ///< The stream of the launches; noId: the default one.
    OverlapPlan plan_;
};

} // namespace

Gated<OverlapPlan> planOverlap(const SkillContext& context) {
    return OverlapPlanner(context).plan();
}

} // namespace kernelskill::skills
