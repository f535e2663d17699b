#include "skills/kernel-fusion/launch_pair.h"

#include "analysis/queries/code_map.h"
#include "analysis/queries/host_statements.h"
#include "analysis/queries/launch_extents.h"
#include "analysis/source/try.h"
#include "skills/base/gates.h"
#include "skills/gates/host_launches.h"
#include "skills/kernel-fusion/compared_code.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>

namespace kernelskill::skills {

using namespace analysis;

namespace {

bool isPureCall(const Expr& call) {
    constexpr std::array names = {"ceil",      "ceilf",      "floor",    "min",     "max",
                                  "std::ceil", "std::floor", "std::min", "std::max"};
    return std::ranges::find(names, call.name) != names.end();
}

class PairReader {
public:
    PairReader(const SkillContext& context, const LaunchSite& launch)
        : context_(context), code_(context.shared().host(launch.host)), launch_(launch) {
        found_.host = launch.host;
    }

    Gated<LaunchPair> read(Neighbour neighbour) {
        const StmtId own = statementOf(launch_);
        const StmtId block = own == noId ? noId : body().stmt(own).parent;
        if (block == noId || body().stmt(block).kind != StmtKind::Compound)
            return refuse("no-neighbour",
                          fmt::format("the launch on line {} stands alone", line(launch_.span)));
        siblings_ = body().stmt(block).children;
        const auto at =
            static_cast<std::size_t>(std::ranges::find(siblings_, own) - siblings_.begin());
        if (neighbour == Neighbour::Behind)
            return pairFrom(at);
        for (std::size_t before = at; before-- > 0;)
            if (launchOf(siblings_[before]) != nullptr)
                return pairFrom(before);
            else if (!isBetween(siblings_[before]))
                break;
        return refuse("no-neighbour", fmt::format("no other launch comes right before the one on "
                                                  "line {}",
                                                  line(launch_.span)));
    }

private:
    [[nodiscard]] const FunctionBody& body() const { return code_.body(); }
    [[nodiscard]] std::uint32_t line(Span span) const { return lineNumber(context_, span.begin); }

    [[nodiscard]] const LaunchSite* launchOf(StmtId id) const {
        const Stmt& stmt = body().stmt(id);
        return stmt.kind == StmtKind::Expression && !stmt.fromMacro
                   ? launchAt(context_.file, found_.host, stmt.expr)
                   : nullptr;
    }

    [[nodiscard]] StmtId statementOf(const LaunchSite& launch) const {
        for (StmtId id = 0; id < body().stmts.size(); ++id)
            if (body().stmt(id).span.contains(launch.span) && launchOf(id) == &launch)
                return id;
        return noId;
    }

    /// Whether the statement is a wait or a check for errors.
    [[nodiscard]] bool onlyWaits(StmtId id) const {
        const Stmt& stmt = body().stmt(id);
        return isErrorCheck(*context_.file.source, stmt) || isWait(*context_.file.source, stmt);
    }

    /// Whether the statement declares only numbers and extents, as `dim3 grid(n / 256);`, and reads
    /// nothing that a launch may change.
    [[nodiscard]] bool declaresPlainly(StmtId id) const {
        const Stmt& stmt = body().stmt(id);
        return stmt.kind == StmtKind::Declaration && !stmt.fromMacro &&
               std::ranges::all_of(stmt.declared, [&](VariableId declared) {
                   const Variable& variable = body().variable(declared);
                   const bool isNumber =
                       variable.type.scalar != ScalarKind::Unknown || isDim3(variable.type);
                   return isNumber && !variable.type.isReference &&
                          (variable.init == noId || isPlain(variable.init));
               });
    }

    [[nodiscard]] bool isBetween(StmtId id) const {
        return body().stmt(id).kind == StmtKind::Null || onlyWaits(id) || declaresPlainly(id);
    }

    /// Whether the value calls only pure functions, changes nothing and reads no memory.
    [[nodiscard]] bool isPlain(ExprId value) const {
        return value == noId || std::ranges::all_of(code_.expressionsBelow(value), [&](ExprId id) {
                   const Expr& expr = body().expr(id);
                   const bool reads = expr.kind == ExprKind::Subscript ||
                                      (expr.kind == ExprKind::Unary && expr.op == "*");
                   if (expr.kind == ExprKind::Call)
                       return isPureCall(expr);
                   if (expr.kind == ExprKind::InitList)
                       return true;
                   const bool changes = (expr.kind == ExprKind::Binary && isAssignment(expr.op)) ||
                                        (expr.kind == ExprKind::Unary &&
                                         (expr.op.contains("++") || expr.op.contains("--")));
                   return expr.kind != ExprKind::Other && !reads && !changes;
               });
    }

    Gated<LaunchPair> pairFrom(std::size_t at) {
        const LaunchSite* first = launchOf(siblings_[at]);
        std::size_t next = at + 1;
        while (next < siblings_.size() && isBetween(siblings_[next]))
            ++next;
        const LaunchSite* second = next < siblings_.size() ? launchOf(siblings_[next]) : nullptr;
        if (first == nullptr || second == nullptr) {
            const bool isWork = next < siblings_.size() && hasLaunchBehind(next);
            if (isWork)
                return refuse("host-work-between",
                              fmt::format("line {} does more than wait, between the launch on "
                                          "line {} and the next one",
                                          line(body().stmt(siblings_[next]).span),
                                          line(launch_.span)));
            return refuse("no-neighbour", fmt::format("no other launch comes right behind the "
                                                      "one on line {}",
                                                      line(launch_.span)));
        }
        found_.first = first;
        found_.second = second;
        found_.firstStatement = siblings_[at];
        found_.secondStatement = siblings_[next];
        found_.producer = kernelOf(context_.file, *first);
        found_.consumer = kernelOf(context_.file, *second);
        KERNELSKILL_CHECK(requireEditableLaunch(context_, *first));
        KERNELSKILL_CHECK(requireEditableLaunch(context_, *second));
        KERNELSKILL_CHECK(requireSameLaunch());
        KERNELSKILL_CHECK(readBetween(at, next));
        return found_;
    }

    [[nodiscard]] bool hasLaunchBehind(std::size_t from) const {
        return std::any_of(siblings_.begin() + static_cast<std::ptrdiff_t>(from), siblings_.end(),
                           [&](StmtId id) { return launchOf(id) != nullptr; });
    }

    Gated<void> requireSameLaunch() const {
        const LaunchSite& first = *found_.first;
        const LaunchSite& second = *found_.second;
        for (const LaunchSite* launch : {&first, &second}) {
            std::vector<ExprId> values = launch->arguments;
            values.insert(values.end(),
                          {launch->grid, launch->block, launch->sharedBytes, launch->stream});
            for (const ExprId value : values)
                if (!isPlain(value))
                    return refuse("argument-acts",
                                  fmt::format("{} on line {} does more than give a value",
                                              context_.file.source->slice(body().expr(value).span),
                                              line(launch->span)));
        }
        const auto refuseOther = [&](std::string_view what) {
            return refuse("other-configuration",
                          fmt::format("the launches on lines {} and {} may have a different {}",
                                      line(first.span), line(second.span), what));
        };
        if (!isSameStream(code_, first.stream, second.stream))
            return refuseOther("stream");
        if (!areSameExtents(first.grid, second.grid))
            return refuseOther("grid");
        if (!areSameExtents(first.block, second.block))
            return refuseOther("block");
        const bool takesNone = isZero(first.sharedBytes) && isZero(second.sharedBytes);
        if (!takesNone && (isZero(first.sharedBytes) || isZero(second.sharedBytes) ||
                           !code_.sameExpression(first.sharedBytes, second.sharedBytes)))
            return refuse("shared-memory-size",
                          fmt::format("the launches on lines {} and {} request different sizes of "
                                      "shared memory",
                                      line(first.span), line(second.span)));
        return {};
    }

    [[nodiscard]] bool isZero(ExprId bytes) const {
        return bytes == noId || code_.constantValue(bytes) == 0;
    }

    /// Returns the initialiser of a local that never changes, for other expressions `id` itself.
    [[nodiscard]] ExprId resolved(ExprId id) const {
        const VariableId named = code_.namedVariable(id);
        if (named == noId || body().variable(named).storage != Storage::Local ||
            body().variable(named).init == noId || code_.isEverWritten(named))
            return id;
        return body().variable(named).init;
    }

    /// Whether the value names only variables that are never written.
    [[nodiscard]] bool isFixed(ExprId value) const {
        return std::ranges::all_of(code_.expressionsBelow(value), [&](ExprId id) {
            const Expr& expr = body().expr(id);
            return expr.kind != ExprKind::Variable || expr.variable == noId ||
                   !code_.isEverWritten(expr.variable);
        });
    }

    [[nodiscard]] bool areSameExtents(ExprId a, ExprId b) const {
        if (code_.sameExpression(a, b))
            return true;
        const auto known = constantExtents(code_, a);
        if (known && known == constantExtents(code_, b))
            return true;
        const ExprId first = resolved(a);
        const ExprId second = resolved(b);
        return code_.sameExpression(first, second) && isPlain(first) && isFixed(first);
    }

    Gated<void> readBetween(std::size_t at, std::size_t next) {
        std::vector<StmtId> calls; // Waits and checks.
        std::set<VariableId> declared;
        for (std::size_t i = at + 1; i < next; ++i) {
            const Stmt& stmt = body().stmt(siblings_[i]);
            if (stmt.kind == StmtKind::Declaration)
                declared.insert(stmt.declared.begin(), stmt.declared.end());
            else if (stmt.kind != StmtKind::Null)
                calls.push_back(siblings_[i]);
        }
        const auto behind = std::span(siblings_).subspan(next + 1);
        const bool followAgain =
            calls.size() <= behind.size() &&
            std::ranges::equal(calls, behind.first(calls.size()), [&](StmtId a, StmtId b) {
                return tokensOfStatement(a) == tokensOfStatement(b);
            });
        const auto wait = std::ranges::find_if(
            calls, [&](StmtId id) { return isWait(*context_.file.source, body().stmt(id)); });
        if (wait != calls.end() && !followAgain)
            return refuse(
                "waits-between",
                fmt::format("the wait on line {} is not repeated behind the second launch",
                            line(body().stmt(*wait).span)));
        found_.isAtSecond = wait != calls.end() || names(*found_.second, declared);
        found_.repeated.clear();
        for (const StmtId id : calls)
            if (followAgain && isErrorCheck(*context_.file.source, body().stmt(id)))
                found_.repeated.push_back(id);
        return {};
    }

    [[nodiscard]] std::string tokensOfStatement(StmtId id) const {
        return tokensOf(context_.file.source->slice(body().stmt(id).span));
    }

    /// Whether an argument of the launch names one of the variables.
    [[nodiscard]] bool names(const LaunchSite& launch,
                             const std::set<VariableId>& variables) const {
        return std::ranges::any_of(launch.arguments, [&](ExprId argument) {
            return std::ranges::any_of(code_.expressionsBelow(argument), [&](ExprId id) {
                return variables.contains(body().expr(id).variable);
            });
        });
    }

    const SkillContext& context_;
    const CodeMap& code_;
    const LaunchSite& launch_;
    std::vector<StmtId> siblings_;
    LaunchPair found_;
};

} // namespace

Gated<LaunchPair> pairWith(const SkillContext& context, const LaunchSite& launch,
                           Neighbour neighbour) {
    return PairReader(context, launch).read(neighbour);
}

} // namespace kernelskill::skills
