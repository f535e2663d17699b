#include "skills/stream-overlap/chunk_loop.h"

#include "analysis/queries/code_map.h"
#include "analysis/queries/host_statements.h"
#include "analysis/queries/loop_effects.h"
#include "analysis/source/try.h"
#include "skills/base/gates.h"
#include "skills/stream-overlap/stream_place.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <optional>

namespace kernelskill::skills {

using namespace analysis;

namespace {

/// The max number of rounds; each of them is looked at.
constexpr std::int64_t maxRounds = 64;
constexpr std::int64_t maxNumber = std::int64_t{1} << 40; ///< The max of limit and step.

class ChunkReader {
public:
    ChunkReader(const SkillContext& context, const LaunchSite& launch)
        : context_(context), code_(context.shared().host(launch.host)), body_(code_.body()),
          launch_(launch) {
        found_.host = launch.host;
    }

    Gated<ChunkLoop> read() {
        found_.loop = loopAround();
        if (found_.loop == noId)
            return refuse("no-chunk-loop",
                          fmt::format("no for loop around the launch on line {} holds copies that "
                                      "are not waited for",
                                      line(launch_.span)));
        if (!readHead())
            return refuse("rounds-unknown",
                          fmt::format("the loop on line {} has not 2 to {} rounds that are known "
                                      "from `for (int c = number; c < number; ++c)`",
                                      line(body_.stmt(found_.loop).span), maxRounds));
        KERNELSKILL_CHECK(readBody());
        return found_;
    }

private:
    [[nodiscard]] std::uint32_t line(Span span) const { return lineNumber(context_, span.begin); }

    /// The innermost `for` with a block, if copies stand on its own level.
    [[nodiscard]] StmtId loopAround() const {
        StmtId found = noId;
        for (StmtId id = 0; id < body_.stmts.size(); ++id) {
            const Stmt& stmt = body_.stmt(id);
            if (stmt.kind == StmtKind::For && !stmt.fromMacro && stmt.span.contains(launch_.span) &&
                (found == noId || body_.stmt(found).span.contains(stmt.span)))
                found = id;
        }
        if (found == noId ||
            body_.stmt(body_.stmt(found).children.back()).kind != StmtKind::Compound)
            return noId;
        const auto statements = code_.statementsOf(body_.stmt(found).children.back());
        const bool copies = std::ranges::any_of(
            statements, [&](StmtId id) { return copyAt(context_, launch_.host, id).has_value(); });
        const StmtId parent = body_.stmt(found).parent;
        const bool isInBlock = parent != noId && body_.stmt(parent).kind == StmtKind::Compound;
        return copies && isInBlock ? found : noId;
    }

    bool readHead() {
        const Stmt& stmt = body_.stmt(found_.loop);
        if (stmt.init == noId || stmt.condition == noId || stmt.increment == noId ||
            body_.stmt(stmt.init).declared.size() != 1)
            return false;
        found_.counter = body_.stmt(stmt.init).declared.front();
        const Variable& counter = body_.variable(found_.counter);
        const Expr& condition = body_.expr(stmt.condition);
        if (counter.init == noId || condition.kind != ExprKind::Binary ||
            (condition.op != "<" && condition.op != "<=") ||
            code_.namedVariable(condition.children[0]) != found_.counter || !readStep())
            return false;
        const auto first = code_.constantValue(counter.init);
        const auto limit = code_.constantValue(condition.children[1]);
        if (!first || !limit || *first < 0 || *limit > maxNumber)
            return false;
        const std::int64_t end = *limit + (condition.op == "<=" ? 1 : 0);
        found_.first = *first;
        found_.rounds = end > *first ? (end - *first + found_.step - 1) / found_.step : 0;
        const bool isLeftAlone = std::ranges::none_of(code_.uses(found_.counter), [&](ExprId use) {
            return code_.holds(stmt.children.back(), use) && code_.isWrite(use);
        });
        return isLeftAlone && found_.rounds >= 2 && found_.rounds <= maxRounds;
    }

    /// `++c` or `c += number`
    bool readStep() {
        const Expr& increment = body_.expr(body_.stmt(found_.loop).increment);
        if (code_.namedVariable(increment.children.front()) != found_.counter)
            return false;
        if (increment.kind == ExprKind::Unary)
            return increment.op.contains("++");
        if (increment.kind != ExprKind::Binary || increment.op != "+=")
            return false;
        found_.stepText = increment.children[1];
        found_.step = code_.constantValue(found_.stepText).value_or(0);
        return found_.step > 0 && found_.step <= maxNumber &&
               !body_.expr(found_.stepText).fromMacro;
    }

    Gated<void> readBody() {
        bool isFirst = true;
        const auto take = [&](ExprId stream, Span span) -> Gated<void> {
            KERNELSKILL_TRY(const auto plain, plainStream(code_, stream, line(span)));
            if (!isFirst && !isSameStream(code_, plain, found_.stream))
                return refuse("several-streams",
                              fmt::format("the work on line {} is in another stream", line(span)));
            isFirst = false;
            found_.stream = plain;
            return {};
        };
        for (const StmtId id : code_.statementsOf(body_.stmt(found_.loop).children.back())) {
            const Stmt& stmt = body_.stmt(id);
            if (stmt.kind == StmtKind::Null || isErrorCheck(*context_.file.source, stmt) ||
                isPlainLocal(stmt))
                continue;
            std::vector<ExprId> values;
            Gated<void> taken;
            const LaunchSite* launch = stmt.kind == StmtKind::Expression && !stmt.fromMacro
                                           ? launchAt(context_.file, found_.host, stmt.expr)
                                           : nullptr;
            if (launch != nullptr) {
                values = launch->arguments;
                values.insert(values.end(), {launch->grid, launch->block, launch->sharedBytes});
                found_.launches.push_back(launch);
                taken = take(launch->stream, stmt.span);
            } else if (auto copy = copyAt(context_, found_.host, id)) {
                values = {copy->to, copy->from, copy->bytes};
                taken = take(copy->stream, stmt.span);
                found_.copies.push_back(*copy);
            } else {
                return refuse("host-work-in-loop",
                              fmt::format("line {} is neither a launch nor a copy that is not "
                                          "waited for",
                                          line(stmt.span)));
            }
            if (!taken)
                return taken;
            for (const ExprId value : values)
                if (value != noId && !isPlain(value))
                    return refuse("argument-acts",
                                  fmt::format("{} on line {} does more than to tell a value",
                                              context_.file.source->slice(body_.expr(value).span),
                                              line(stmt.span)));
        }
        return {};
    }

    /// Also min(), of the last part that is smaller.
    [[nodiscard]] bool isPlain(ExprId value) const {
        const Expr& expr = body_.expr(code_.withoutCasts(value));
        if (expr.kind == ExprKind::Call && (expr.name == "std::min" || expr.name == "min"))
            return std::ranges::all_of(expr.children, [&](ExprId child) { return isPlain(child); });
        return hasNoEffect(code_, value);
    }

    /// `int offset = c * size;`
    [[nodiscard]] bool isPlainLocal(const Stmt& stmt) const {
        return stmt.kind == StmtKind::Declaration && !stmt.fromMacro &&
               std::ranges::all_of(stmt.declared, [&](VariableId id) {
                   const Variable& variable = body_.variable(id);
                   return variable.init != noId && !variable.type.isReference &&
                          !code_.isEverWritten(id) && isPlain(variable.init);
               });
    }

    const SkillContext& context_;
    const CodeMap& code_;
    const FunctionBody& body_;
    const LaunchSite& launch_;
    ChunkLoop found_;
};

} // namespace

Gated<ChunkLoop> readChunkLoop(const SkillContext& context, const LaunchSite& launch) {
    return ChunkReader(context, launch).read();
}

} // namespace kernelskill::skills
