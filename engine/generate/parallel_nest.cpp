#include "engine/generate/parallel_nest.h"

#include "analysis/queries/code_map.h"
#include "analysis/queries/index_arithmetic.h"
#include "skills/base/gates.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace kernelskill::engine {

using namespace analysis;
using skills::Refusal;
using skills::refuse;

namespace {

constexpr std::size_t maxAxes = 3;
constexpr std::size_t maxFoldedLoops = 2;
using Gate = std::expected<void, Refusal>;

class NestFinder {
public:
    NestFinder(const FileModel& file, const KernelModel& function, const analysis::CodeMap& code,
               const LoopDependence& dependence, StmtId statement)
        : file_(file), function_(function), body_(function.body), code_(code),
          dependence_(dependence) {
        nest_.statement = statement;
    }

    std::expected<ParallelNest, Refusal> find() {
        auto reductions = findReductions(*file_.source, function_, code_, nest_.statement);
        if (!reductions)
            return std::unexpected(std::move(reductions.error()));
        nest_.reductions = std::move(*reductions);
        for (const Reduction& reduction : nest_.reductions)
            folded_.insert(reduction.variable);
        if (auto gate = mapLoops(); !gate)
            return std::unexpected(std::move(gate.error()));
        if (auto gate = checkAccesses(); !gate)
            return std::unexpected(std::move(gate.error()));
        chooseAxes();
        return std::move(nest_);
    }

private:
    [[nodiscard]] std::uint32_t line(std::uint32_t offset) const {
        return file_.source->lineColumn(offset).line + 1;
    }

    [[nodiscard]] std::optional<std::uint32_t> loopOf(StmtId statement) const {
        const auto found = std::ranges::find(function_.loops, statement, &Loop::statement);
        if (found == function_.loops.end())
            return std::nullopt;
        return static_cast<std::uint32_t>(found - function_.loops.begin());
    }

    /// The `for` if it is the only statement in `body`; else noId.
    [[nodiscard]] StmtId onlyLoopIn(StmtId body) const {
        while (body != noId && body_.stmt(body).kind == StmtKind::Compound)
            body = body_.stmt(body).children.size() == 1 ? body_.stmt(body).children.front() : noId;
        return body != noId && body_.stmt(body).kind == StmtKind::For ? body : noId;
    }

    /// The first other reason that keeps a loop from being mapped.
    [[nodiscard]] Gate checkLoop(std::uint32_t number) const {
        const Loop& loop = function_.loops[number];
        const Stmt& stmt = body_.stmt(loop.statement);
        const std::uint32_t at = line(stmt.span.begin);
        const LoopDecision decision = dependence_.decide(number, folded_);
        if (decision.kind != LoopClass::Parallel)
            return std::unexpected(decision.why);
        const bool declares = stmt.init != noId &&
                              body_.stmt(stmt.init).kind == StmtKind::Declaration &&
                              body_.stmt(stmt.init).declared == std::vector{loop.inductionVariable};
        if (stmt.fromMacro || !declares || loop.lowerBound == noId || loop.upperBound == noId)
            return refuse("loop-form", fmt::format("the loop of line {} does not declare its own "
                                                   "variable and nothing else",
                                                   at));
        if (*loop.step < -1 &&
            analysis::isUnsignedIndexType(body_.variable(loop.inductionVariable).type))
            return refuse(
                "counts-down",
                fmt::format("the loop of line {} counts an unsigned variable down by more "
                            "than one",
                            at));
        return {};
    }

    Gate mapLoops() {
        StmtId at = nest_.statement;
        const std::size_t most = nest_.reductions.empty() ? maxAxes : maxFoldedLoops;
        while (at != noId && nest_.loops.size() < most) {
            const auto number = loopOf(at);
            const Gate form = number ? checkLoop(*number) : refuse("no-loop", "no loop");
            std::optional<IndexExpression> distance;
            std::int64_t step = 1;
            if (form) {
                const LoopRange range = *dependence_.range(*number);
                distance = IterationSpace(outer_).largest(range.distance);
                step = range.step;
                outer_.push_back(range);
            }
            if (!form && nest_.loops.empty())
                return form;
            if (!form || !distance)
                break;
            nest_.loops.push_back({*number, 0, std::move(*distance), step});
            nest_.body = function_.loops[*number].body;
            at = onlyLoopIn(nest_.body);
        }
        if (nest_.loops.empty())
            return refuse("not-counted", "the number of rounds of the outermost loop is not known");
        return {};
    }

    /// Allows only arrays behind parameters, and variables that belong to one thread.
    [[nodiscard]] Gate checkAccesses() const {
        for (const MemoryAccess& access : function_.accesses) {
            if (!code_.holds(nest_.statement, access.expression))
                continue;
            const Span span = body_.expr(access.expression).span;
            if (access.base != noId && body_.variable(access.base).storage == Storage::Parameter) {
                if (!code_.holds(nest_.body, access.expression))
                    return refuse("memory-outside-loops",
                                  fmt::format("line {} uses '{}' outside the innermost loop",
                                              line(span.begin), file_.source->slice(span)));
                continue;
            }
            const bool isOwn = access.base != noId && code_.declarationOf(access.base) != noId &&
                               (code_.encloses(nest_.body, code_.declarationOf(access.base)) ||
                                access.kind == AccessKind::Read) &&
                               !body_.variable(access.base).type.arrayExtents.empty();
            if (!isOwn)
                return refuse("unknown-array",
                              fmt::format("'{}' on line {} is no element of an array behind a "
                                          "parameter",
                                          file_.source->slice(span), line(span.begin)));
        }
        return {};
    }

    /// Chooses x for the loop along which most accesses are contiguous, else for the innermost one;
    /// then y and z from the inside out.
    void chooseAxes() {
        const auto contiguous = [&](const MappedLoop& mapped) {
            const Symbol variable{SymbolKind::LoopVariable,
                                  function_.loops[mapped.loop].inductionVariable};
            return std::ranges::count_if(function_.accesses, [&](const MemoryAccess& access) {
                if (!code_.holds(nest_.body, access.expression))
                    return false;
                const auto stride =
                    access.index ? access.index->coefficientOf(variable) : std::nullopt;
                return stride == IndexExpression::constant(1);
            });
        };
        auto x = nest_.loops.end() - 1;
        for (auto at = nest_.loops.end(); at-- != nest_.loops.begin();)
            if (contiguous(*at) > contiguous(*x))
                x = at;
        int axis = 1;
        for (auto at = nest_.loops.end(); at-- != nest_.loops.begin();)
            at->axis = at == x ? 0 : axis++;
    }

    const FileModel& file_;
    const KernelModel& function_;
    const FunctionBody& body_;
    const analysis::CodeMap& code_;
    const LoopDependence& dependence_;
    std::set<VariableId> folded_;
    std::vector<LoopRange> outer_;
    ParallelNest nest_;
};

} // namespace

std::expected<ParallelNest, Refusal>
findParallelNest(const FileModel& file, const KernelModel& function, const analysis::CodeMap& code,
                 const LoopDependence& dependence, StmtId statement) {
    return NestFinder(file, function, code, dependence, statement).find();
}

} // namespace kernelskill::engine
