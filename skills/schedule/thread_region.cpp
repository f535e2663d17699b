#include "skills/schedule/thread_region.h"

#include "analysis/queries/source_layout.h"
#include "analysis/source/try.h"
#include "skills/base/gates.h"
#include "skills/schedule/draft.h"
#include "skills/schedule/nest_queries.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <utility>

namespace kernelskill::skills {

using namespace analysis;

namespace {

class RegionReader {
public:
    RegionReader(const SkillContext& context, StmtId region, const SharedLoops& shared)
        : context_(context), kernel_(context.kernel), code_(context.code()), body_(code_.body()),
          nest_(context.shared().nest()), layout_(*context.file.source, context.kernel),
          region_(region), shared_(shared) {}

    Gated<std::vector<StmtId>> read() {
        for (NestNodeId id = 0; id < nest_.nodes.size(); ++id)
            KERNELSKILL_CHECK(takeStores(id));
        KERNELSKILL_CHECK(requireSameForLanes());
        return std::move(stores_);
    }

private:
    [[nodiscard]] std::uint32_t line(Span span) const { return lineNumber(context_, span.begin); }
    [[nodiscard]] const LaneLoop* loopAround(NestNodeId node) const {
        return sharedLoopAround(nest_, shared_, node);
    }
    [[nodiscard]] bool isScanned(const NestAccess& access) const {
        const LaneLoop* loop = loopAround(access.node);
        return loop != nullptr && loop->scan;
    }
    [[nodiscard]] bool isInside(NestNodeId id) const {
        return isInRegion(nest_, code_, region_, id);
    }

    /// Takes the node's statement if it stores outside of the shared loops.
    Gated<void> takeStores(NestNodeId id) {
        const NestNode& node = nest_.node(id);
        if (!isInside(id) || loopAround(id) != nullptr)
            return {};
        const std::uint32_t at = line(body_.stmt(placeOf(nest_, code_, id)).span);
        if (node.barrier() != nullptr)
            return refuse("barrier", fmt::format("threads wait for each other on line {}", at));
        const NestStatement* statement = node.computation();
        if (statement == nullptr)
            return {};
        if (!statement->opaque.empty() || !statement->exchange.empty())
            return refuse("unknown-effects",
                          fmt::format("line {}: {}{}", at, statement->opaque, statement->exchange));
        for (const NestAccessId accessId : statement->accesses) {
            const NestAccess& access = nest_.accesses[accessId];
            if (access.kind == AccessKind::Read || isThreadsOwn(nest_, access) ||
                keptWith(shared_.kept, access) != nullptr)
                continue;
            const StmtId place = placeOf(nest_, code_, id);
            const Stmt& stmt = body_.stmt(place);
            const bool isWhole = stmt.kind == StmtKind::Expression && stmt.parent != noId &&
                                 body_.stmt(stmt.parent).kind == StmtKind::Compound &&
                                 hasOwnLines(body_, layout_, place, place);
            if (!isWhole || access.array == noId || changesLocals(place))
                return refuse(
                    "row-memory",
                    fmt::format("the store on line {} is part of a larger statement", at));
            if (std::ranges::find(stores_, place) == stores_.end())
                stores_.push_back(place);
        }
        return {};
    }
    [[nodiscard]] bool changesLocals(StmtId statement) const {
        for (const ExprId id : code_.expressionsIn(statement)) {
            const Expr& expr = body_.expr(id);
            if (expr.kind == ExprKind::Variable && expr.variable != noId && code_.isWrite(id) &&
                body_.variable(expr.variable).storage != Storage::Shared &&
                body_.variable(expr.variable).storage != Storage::DeviceGlobal)
                return true;
        }
        return false;
    }
    [[nodiscard]] bool isOfStore(StmtId place) const {
        return place != noId && std::ranges::any_of(stores_, [&](StmtId store) {
                   return code_.encloses(store, place);
               });
    }

    /// Requires that every lane of the warp sees in the region the values that its one thread saw.
    [[nodiscard]] Gated<void> requireSameForLanes() const {
        for (const NestAccess& access : nest_.accesses) {
            const StmtId place = placeOf(nest_, code_, access.node);
            if (access.kind == AccessKind::Read || !isOfStore(place) || isThreadsOwn(nest_, access))
                continue;
            for (const NestAccess& use : nest_.accesses)
                if (use.array == access.array && isInside(use.node) && !isScanned(use) &&
                    !isOfStore(placeOf(nest_, code_, use.node)))
                    return refuse("row-memory",
                                  fmt::format("the store on line {} goes to an array that other "
                                              "lanes use beside it",
                                              line(body_.stmt(place).span)));
        }
        for (const NestFrame& frame : nest_.frames)
            if (frame.caller == 0 && code_.holds(region_, frame.call) &&
                !isOfStore(code_.statement(frame.call)) &&
                std::ranges::any_of(functionOf(context_.file, kernel_, frame).body.exprs,
                                    isThreadNumber))
                return differs(frame.call);
        for (const ExprId id : code_.expressionsIn(region_)) {
            const Expr& expr = body_.expr(id);
            const StmtId statement = code_.statement(id);
            if (statement == region_ || isOfStore(statement))
                continue;
            if (isThreadNumber(expr))
                return differs(id);
            if (expr.kind == ExprKind::Variable && expr.variable != noId)
                KERNELSKILL_CHECK(requireSame(id));
        }
        return {};
    }
    [[nodiscard]] static bool isThreadNumber(const Expr& expr) {
        return expr.kind == ExprKind::BuiltinIndex && expr.name == "threadIdx";
    }
    [[nodiscard]] std::unexpected<Refusal> differs(ExprId id) const {
        return refuse("lanes-differ",
                      fmt::format("{} on line {} may differ between the lanes of the warp",
                                  context_.file.source->slice(body_.expr(id).span),
                                  line(body_.expr(id).span)));
    }
    [[nodiscard]] Gated<void> requireSame(ExprId id) const {
        const VariableId variable = body_.expr(id).variable;
        const Storage storage = body_.variable(variable).storage;
        if (storage != Storage::Local && storage != Storage::Parameter)
            return {};
        const StmtId declaration = code_.declarationOf(variable);
        if (declaration != noId && code_.encloses(region_, declaration))
            return {};
        const bool isOfRegion = std::ranges::all_of(
            code_.uses(variable), [&](ExprId use) { return code_.holds(region_, use); });
        if (!isOfRegion && code_.isEverWritten(variable))
            return refuse("used-after",
                          fmt::format("{} on line {} changes, and is used elsewhere",
                                      body_.variable(variable).name, line(body_.expr(id).span)));
        return storage == Storage::Parameter || isSame(body_.variable(variable).init)
                   ? Gated<void>{}
                   : differs(id);
    }
    /// Whether the initialiser has one value for all threads of a block.
    [[nodiscard]] bool isSame(ExprId init) const {
        if (init == noId)
            return true;
        const std::vector<ExprId> below = code_.expressionsBelow(init);
        return std::ranges::all_of(below, [&](ExprId id) {
            const Expr& expr = body_.expr(id);
            if (expr.kind != ExprKind::Variable)
                return !isThreadNumber(expr) && expr.kind != ExprKind::Call;
            if (expr.variable == noId)
                return false;
            const Variable& variable = body_.variable(expr.variable);
            return !code_.isEverWritten(expr.variable) &&
                   (variable.storage != Storage::Local || isSame(variable.init));
        });
    }

    const SkillContext& context_;
    const KernelModel& kernel_;
    const CodeMap& code_;
    const FunctionBody& body_;
    const Nest& nest_;
    SourceLayout layout_;
    StmtId region_;
    const SharedLoops& shared_;
    std::vector<StmtId> stores_;
};

} // namespace

bool isInRegion(const Nest& nest, const CodeMap& code, StmtId region, NestNodeId node) {
    if (region == noId)
        return true;
    const StmtId place = placeOf(nest, code, node);
    return place != noId && place != region && code.encloses(region, place);
}

Gated<std::vector<StmtId>> storesOfRegion(const SkillContext& context, StmtId region,
                                          const SharedLoops& shared) {
    return RegionReader(context, region, shared).read();
}

} // namespace kernelskill::skills
