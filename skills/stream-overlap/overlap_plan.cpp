#include "skills/stream-overlap/overlap_plan.h"

#include "skills/rewriting/gates.h"
#include "skills/rewriting/host_launches.h"
#include "skills/rewriting/shared_analysis.h"
#include "skills/rewriting/source_layout.h"
#include "skills/stream-overlap/launch_load.h"
#include "skills/stream-overlap/launch_memory.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <optional>

namespace kernelskill::skills {

using namespace analysis;

namespace {

constexpr std::size_t mostStreams = 4;
constexpr double mostOfTheGpu = 0.5;
/// To make a stream and two events and to destroy them takes the host some 50 microseconds; as many
/// accesses, at some 100 nanoseconds each where four are under way, take twice that.
constexpr double fewestSteps = 1000;
constexpr double smallestGain = 1.2;

class OverlapPlanner {
public:
    explicit OverlapPlanner(const SkillContext& context) : context_(context) {}

    std::expected<OverlapPlan, Refusal> plan() {
        return planForLaunch(context_,
                             [&](const LaunchSite& launch) { return planAround(launch); });
    }

private:
    struct Member {
        const LaunchSite* launch = nullptr;
        StmtId statement = noId;
    };

    std::expected<OverlapPlan, Refusal> planAround(const LaunchSite& launch) {
        if (auto editable = requireEditableLaunch(context_, launch); !editable)
            return std::unexpected(editable.error());
        plan_ = {};
        plan_.host = launch.host;
        host_ = &context_.shared().host(launch.host);
        if (auto plain = requireNoStreams(); !plain)
            return std::unexpected(plain.error());
        auto run = runAround(launch);
        if (!run)
            return std::unexpected(run.error());
        if (auto grouped = takeGroup(*run, launch); !grouped)
            return std::unexpected(grouped.error());
        if (auto placed = requirePlace(); !placed)
            return std::unexpected(placed.error());
        if (auto wins = requireGain(); !wins)
            return std::unexpected(wins.error());
        return plan_;
    }

    [[nodiscard]] const FunctionBody& body() const { return host_->body(); }
    [[nodiscard]] std::uint32_t line(const LaunchSite& launch) const {
        return lineNumber(context_, launch.span.begin);
    }

    /// Who makes streams or graphs here has decided what runs beside what.
    std::expected<void, Refusal> requireNoStreams() const {
        for (const Expr& expr : body().exprs)
            if (expr.kind == ExprKind::Call &&
                (expr.name.contains("cudaStreamCreate") || expr.name.contains("BeginCapture") ||
                 expr.name.contains("cudaGraph")))
                return refuse("has-streams", fmt::format("line {} makes streams or graphs already",
                                                         lineNumber(context_, expr.span.begin)));
        return {};
    }

    /// The launches that follow each other around this one, with error checks at most in between.
    std::expected<std::vector<Member>, Refusal> runAround(const LaunchSite& launch) {
        StmtId own = noId;
        for (StmtId id = 0; id < body().stmts.size(); ++id) {
            const Stmt& stmt = body().stmt(id);
            if (stmt.kind == StmtKind::Expression && stmt.expr != noId && !stmt.fromMacro &&
                launchAt(context_, plan_.host, stmt.expr) == &launch)
                own = id;
        }
        const StmtId block = own == noId ? noId : body().stmt(own).parent;
        if (block == noId || body().stmt(block).kind != StmtKind::Compound)
            return refuse("no-neighbour",
                          fmt::format("the launch on line {} stands alone", line(launch)));
        if (auto plain = requirePlainStream(launch); !plain)
            return std::unexpected(plain.error());
        std::vector<Member> run;
        bool holdsOwn = false;
        for (const StmtId id : body().stmt(block).children) {
            const Stmt& stmt = body().stmt(id);
            if (stmt.kind == StmtKind::Null || isErrorCheck(context_, stmt))
                continue;
            const LaunchSite* next = stmt.kind == StmtKind::Expression && !stmt.fromMacro
                                         ? launchAt(context_, plan_.host, stmt.expr)
                                         : nullptr;
            if (next != nullptr && isInSameStream(*next) && hasPlainArguments(*next)) {
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
        return run;
    }

    /// The default stream, or a variable that names one.
    std::expected<void, Refusal> requirePlainStream(const LaunchSite& launch) {
        plan_.stream = noId;
        if (launch.stream == noId || host_->constantValue(launch.stream) == 0)
            return {};
        const VariableId named = host_->namedVariable(launch.stream);
        const bool isPlain = named != noId && !body().expr(launch.stream).fromMacro &&
                             (body().variable(named).storage == Storage::Local ||
                              body().variable(named).storage == Storage::Parameter) &&
                             !body().variable(named).type.isReference;
        if (!isPlain)
            return refuse("stream-not-plain",
                          fmt::format("which stream the launch on line {} is in is not told by a "
                                      "variable of the function",
                                      line(launch)));
        plan_.stream = launch.stream;
        return {};
    }

    [[nodiscard]] bool isInSameStream(const LaunchSite& launch) const {
        const bool isDefault = launch.stream == noId || host_->constantValue(launch.stream) == 0;
        if (isDefault || plan_.stream == noId)
            return isDefault && plan_.stream == noId;
        return host_->sameExpression(launch.stream, plan_.stream);
    }

    /// Nothing happens when they are evaluated.
    [[nodiscard]] bool hasPlainArguments(const LaunchSite& launch) const {
        std::vector<ExprId> values = launch.arguments;
        for (const ExprId id : {launch.grid, launch.block, launch.sharedBytes})
            if (id != noId)
                values.push_back(id);
        return std::ranges::all_of(values, [&](ExprId value) {
            return std::ranges::all_of(host_->expressionsBelow(value), [&](ExprId id) {
                const Expr& expr = body().expr(id);
                const bool changes = (expr.kind == ExprKind::Binary && isAssignment(expr.op)) ||
                                     (expr.kind == ExprKind::Unary &&
                                      (expr.op.contains("++") || expr.op.contains("--")));
                return expr.kind != ExprKind::Call && expr.kind != ExprKind::Other && !changes;
            });
        });
    }

    /// Of the run, in turns, as many launches as share nothing; the group that holds `launch`.
    std::expected<void, Refusal> takeGroup(const std::vector<Member>& run,
                                           const LaunchSite& launch) {
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
            if (obstacle || group.size() == mostStreams) {
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
                                                      line(launch), mostStreams));
        }
        for (const Member& member : group) {
            plan_.launches.push_back(member.launch);
            plan_.statements.push_back(member.statement);
        }
        return {};
    }

    /// Streams are made before, and destroyed after, the outermost loop around the launches.
    std::expected<void, Refusal> requirePlace() {
        const LaunchSite& first = *plan_.launches.front();
        for (StmtId id = body().stmt(plan_.statements.front()).parent; id != noId;
             id = body().stmt(id).parent) {
            const Stmt& stmt = body().stmt(id);
            const bool isLoop = stmt.kind == StmtKind::For || stmt.kind == StmtKind::While ||
                                stmt.kind == StmtKind::Do;
            if (stmt.fromMacro ||
                (!isLoop && stmt.kind != StmtKind::Compound && stmt.kind != StmtKind::If))
                return refuse("not-followed", fmt::format("how often the launch on line {} is made "
                                                          "is not followed",
                                                          line(first)));
            if (isLoop)
                plan_.loop = id;
        }
        const SourceLayout layout(*context_.file.source, context_.kernel);
        const auto ownsItsLines = [&](StmtId id) {
            const Span span = body().stmt(id).span;
            return layout.startsLine(span.begin) && layout.endsLine(span.end);
        };
        bool isAlone = std::ranges::all_of(plan_.statements, ownsItsLines);
        if (plan_.loop != noId) {
            const StmtId parent = body().stmt(plan_.loop).parent;
            isAlone = isAlone && ownsItsLines(plan_.loop) && parent != noId &&
                      body().stmt(parent).kind == StmtKind::Compound;
            for (const StmtId id : host_->statementsIn(plan_.loop)) {
                const StmtKind kind = body().stmt(id).kind;
                if (kind == StmtKind::Return || kind == StmtKind::Goto)
                    return refuse("leaves-the-loop",
                                  fmt::format("line {} leaves the loop, past where its streams "
                                              "would be destroyed",
                                              lineNumber(context_, body().stmt(id).span.begin)));
            }
            const VariableId stream =
                plan_.stream == noId ? noId : host_->namedVariable(plan_.stream);
            if (stream != noId && host_->isEverWritten(stream))
                return refuse("stream-not-plain", "the loop's stream may be another in each round");
        }
        if (!isAlone)
            return refuse("shares-line", fmt::format("the launch on line {}, or the loop around "
                                                     "it, shares a line with other code",
                                                     line(first)));
        return {};
    }

    std::expected<void, Refusal> requireGain() {
        std::vector<LaunchLoad> loads;
        for (const LaunchSite* launch : plan_.launches) {
            auto load = loadOf(context_, *launch);
            if (!load)
                return std::unexpected(load.error());
            if (load->share > mostOfTheGpu)
                return refuse("fills-the-gpu",
                              fmt::format("the {} blocks on line {} take {:.0f} % of the room of "
                                          "{} multiprocessors: little runs beside them",
                                          load->blocks, line(*launch), load->share * 100,
                                          multiprocessors));
            if (load->steps && *load->steps < fewestSteps)
                return refuse("too-short",
                              fmt::format("a thread of the launch on line {} makes at most {:.0f} "
                                          "accesses to memory: it is over before a stream is made",
                                          line(*launch), *load->steps));
            plan_.share += load->share;
            loads.push_back(*load);
        }
        plan_.gain = overlapGain(loads);
        if (plan_.gain < smallestGain)
            return refuse("one-takes-longest",
                          fmt::format("side by side they would be at most {:.2f} times as fast: "
                                      "one of them takes nearly all of the time",
                                      plan_.gain));
        return {};
    }

    const SkillContext& context_;
    const CodeMap* host_ = nullptr;
    OverlapPlan plan_;
};

} // namespace

std::expected<OverlapPlan, Refusal> planOverlap(const SkillContext& context) {
    return OverlapPlanner(context).plan();
}

} // namespace kernelskill::skills
