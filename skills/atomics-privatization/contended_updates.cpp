#include "skills/atomics-privatization/contended_updates.h"

#include "analysis/model/known_functions.h"
#include "analysis/queries/grid_stride_loops.h"
#include "analysis/queries/index_arithmetic.h"
#include "analysis/queries/launch_extents.h"
#include "analysis/queries/source_layout.h"
#include "analysis/source/gpu_constants.h"
#include "analysis/source/try.h"
#include "skills/atomics-privatization/private_table.h"
#include "skills/base/gates.h"
#include "skills/editing/grid_stride_form.h"
#include "skills/gates/launch_sites.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>

namespace kernelskill::skills {

using namespace analysis;

namespace {

std::optional<UpdateOperation> operationOf(std::string_view function) {
    constexpr std::array<std::pair<std::string_view, UpdateOperation>, 6> known = {
        {{"atomicAdd", UpdateOperation::Sum},
         {"atomicMin", UpdateOperation::Minimum},
         {"atomicMax", UpdateOperation::Maximum},
         {"atomicAnd", UpdateOperation::BitAnd},
         {"atomicOr", UpdateOperation::BitOr},
         {"atomicXor", UpdateOperation::BitXor}}};
    const auto found = std::ranges::find(known, unqualified(function),
                                         &std::pair<std::string_view, UpdateOperation>::first);
    return found == known.end() ? std::nullopt : std::optional(found->second);
}

bool canShuffle(ScalarKind scalar) {
    return scalar == ScalarKind::Int32 || scalar == ScalarKind::UInt32 ||
           scalar == ScalarKind::Int64 || scalar == ScalarKind::UInt64 ||
           scalar == ScalarKind::Float || scalar == ScalarKind::Double;
}

/// `unsigned int` of `const unsigned int *__restrict`.
std::string elementSpelling(const Type& type) {
    std::string text = type.spelling.substr(0, type.spelling.find_first_of("*["));
    for (const std::string_view word : {"const ", "volatile "})
        if (text.starts_with(word))
            text.erase(0, word.size());
    while (text.ends_with(' '))
        text.pop_back();
    return text;
}

class Finder {
public:
    Finder(const SkillContext& context, const CodeMap& code)
        : context_(context), kernel_(context.kernel), code_(code), body_(code.body()),
          layout_(*context.file.source, context.kernel) {}

    Gated<ContendedUpdates> find() const {
        KERNELSKILL_CHECK(requireEditable(context_));
        if (kernel_.atomics.empty())
            return refuse("no-atomic", fmt::format("{} has no atomic", kernel_.name));
        std::vector<VariableId> bases;
        for (const Atomic& atomic : kernel_.atomics)
            if (const VariableId base = baseOf(atomic);
                base == noId || std::ranges::find(bases, base) == bases.end())
                bases.push_back(base);
        std::optional<Refusal> first;
        std::optional<ContendedUpdates> found;
        for (const VariableId base : bases) {
            auto updates = study(base);
            const bool isAtCursor = isCursorAt(base);
            if (updates && (!found || isAtCursor))
                found = std::move(*updates);
            else if (!updates && isAtCursor)
                return std::unexpected(updates.error());
            else if (!updates && !first)
                first = updates.error();
        }
        if (found)
            return *found;
        return std::unexpected(*first);
    }

private:
    [[nodiscard]] std::uint32_t line(ExprId expr) const {
        return lineNumber(context_, body_.expr(expr).span.begin);
    }
    [[nodiscard]] VariableId baseOf(const Atomic& atomic) const {
        return atomic.access < kernel_.accesses.size() ? kernel_.accesses[atomic.access].base
                                                       : noId;
    }
    [[nodiscard]] bool isCursorAt(VariableId base) const {
        return !context_.range.contains(kernel_.bodySpan) &&
               std::ranges::any_of(kernel_.atomics, [&](const Atomic& atomic) {
                   return baseOf(atomic) == base &&
                          touches(context_.range, body_.expr(atomic.call).span);
               });
    }

    [[nodiscard]] Gated<ContendedUpdates> study(VariableId base) const {
        auto updates = collect(base);
        if (!updates)
            return updates;
        KERNELSKILL_CHECK(requireNothingElse(*updates));
        KERNELSKILL_TRY(auto exit, findEarlyReturn(context_, code_));
        updates->earlyReturn = exit;
        KERNELSKILL_CHECK(readLaunches(*updates));
        auto same = requireSameAddress(*updates);
        if (same) {
            KERNELSKILL_CHECK(requireWholeWarps());
            return updates;
        }
        if (same.error().gate != "addresses-differ")
            return std::unexpected(same.error());
        updates->elementwise = severalElements(*updates);
        KERNELSKILL_TRY(auto table, findPrivateTable(context_, code_, *updates));
        updates->table = table;
        return updates;
    }

    /// The atomics on `base`, each a statement, all of one kind.
    [[nodiscard]] Gated<ContendedUpdates> collect(VariableId base) const {
        ContendedUpdates updates;
        updates.base = base;
        for (const Atomic& atomic : kernel_.atomics) {
            if (baseOf(atomic) != base)
                continue;
            const Expr& call = body_.expr(atomic.call);
            const std::uint32_t at = line(atomic.call);
            if (base == noId || kernel_.accesses[atomic.access].space != MemorySpace::Global)
                return refuse("not-global",
                              fmt::format("the atomic on line {} is not known to be on global "
                                          "memory",
                                          at));
            const auto operation = operationOf(call.name);
            if (!operation || call.children.size() != 2)
                return refuse(
                    "no-reduction",
                    fmt::format("{} on line {} does not fold a value into another", call.name, at));
            if (updates.function.empty()) {
                updates.function = call.name;
                updates.operation = *operation;
            } else if (updates.function != call.name) {
                return refuse("mixed-operations",
                              fmt::format("{} is updated by {} and, on line {}, by {}",
                                          body_.variable(base).name, updates.function, at,
                                          call.name));
            }
            const StmtId statement = code_.statement(atomic.call);
            if (code_.parent(atomic.call) != noId || statement == noId ||
                body_.stmt(statement).kind != StmtKind::Expression)
                return refuse("result-used",
                              fmt::format("line {} uses what {} returns", at, call.name));
            if (call.fromMacro || body_.stmt(statement).fromMacro)
                return refuse("from-macro",
                              fmt::format("the atomic on line {} comes out of a macro", at));
            const UpdateSite site{atomic.call, call.children[0], call.children[1],
                                  outermost(statement)};
            KERNELSKILL_CHECK(requireManyThreads(site));
            updates.isRepeated |= !kernel_.accesses[atomic.access].loops.empty();
            updates.sites.push_back(site);
        }
        const Variable& variable = body_.variable(base);
        updates.element = elementSpelling(variable.type);
        updates.scalar = variable.type.scalar;
        if (!canShuffle(updates.scalar) || variable.type.lanes != 1 ||
            variable.type.pointerDepth > 1 || variable.type.isDependent)
            return refuse("element-type", fmt::format("{} does not hold plain 4- or 8-byte numbers",
                                                      variable.name));
        return updates;
    }

    /// The statement of the kernel's own block that holds `inner`.
    [[nodiscard]] StmtId outermost(StmtId inner) const {
        while (body_.stmt(inner).parent != body_.root && body_.stmt(inner).parent != noId)
            inner = body_.stmt(inner).parent;
        return inner;
    }

    /// `threadIdx.x`, `tid % 32`, `i`: computed from the thread's place alone.
    [[nodiscard]] bool isThreadPlace(ExprId expr, int depth = 0) const {
        constexpr int maximumDepth = 16;
        bool isPlace = false;
        for (const ExprId id : code_.expressionsBelow(expr)) {
            const Expr& at = body_.expr(id);
            if (at.kind == ExprKind::Subscript || at.kind == ExprKind::Call ||
                (at.kind == ExprKind::Unary && at.op == "*"))
                return false;
            isPlace |= at.kind == ExprKind::BuiltinIndex && at.name == "threadIdx";
            if (at.kind == ExprKind::Variable && at.variable != noId && depth < maximumDepth &&
                body_.variable(at.variable).storage == Storage::Local &&
                body_.variable(at.variable).init != noId)
                isPlace |= isThreadPlace(body_.variable(at.variable).init, depth + 1);
        }
        return isPlace;
    }

    [[nodiscard]] bool choosesOneThread(ExprId condition) const {
        const Expr& expr = body_.expr(condition);
        if (expr.kind == ExprKind::Unary && expr.op == "!")
            return isThreadPlace(expr.children[0]);
        if (expr.kind != ExprKind::Binary || expr.children.size() != 2)
            return false;
        if (expr.op == "&&")
            return choosesOneThread(expr.children[0]) || choosesOneThread(expr.children[1]);
        return expr.op == "==" &&
               (isThreadPlace(expr.children[0]) || isThreadPlace(expr.children[1]));
    }

    [[nodiscard]] Gated<void> requireManyThreads(const UpdateSite& site) const {
        for (StmtId at = code_.statement(site.call); at != noId; at = body_.stmt(at).parent) {
            const Stmt& stmt = body_.stmt(at);
            if (stmt.kind == StmtKind::If && stmt.condition != noId &&
                choosesOneThread(stmt.condition))
                return refuse("one-thread-updates",
                              fmt::format("the condition on line {} already leaves the atomic on "
                                          "line {} to few threads",
                                          lineNumber(context_, stmt.span.begin), line(site.call)));
        }
        return {};
    }

    /// Nothing in the kernel may see the updates before its end.
    [[nodiscard]] Gated<void> requireNothingElse(const ContendedUpdates& updates) const {
        const std::string& name = body_.variable(updates.base).name;
        std::size_t inAddresses = 0;
        for (const UpdateSite& site : updates.sites)
            for (const ExprId below : code_.expressionsBelow(site.address))
                inAddresses += body_.expr(below).kind == ExprKind::Variable &&
                               body_.expr(below).variable == updates.base;
        if (inAddresses != updates.sites.size() || code_.uses(updates.base).size() != inAddresses) {
            const auto other = std::ranges::find_if(code_.uses(updates.base), [&](ExprId use) {
                return std::ranges::none_of(updates.sites, [&](const UpdateSite& site) {
                    return body_.expr(site.address).span.contains(body_.expr(use).span);
                });
            });
            return refuse("used-beside", fmt::format("{} is also used on line {}", name,
                                                     other == code_.uses(updates.base).end()
                                                         ? line(updates.sites.front().call)
                                                         : line(*other)));
        }
        for (const Barrier& barrier : kernel_.barriers)
            if (barrier.kind == BarrierKind::Fence || barrier.kind == BarrierKind::GridSync)
                return refuse("orders-memory",
                              fmt::format("line {} orders memory between blocks, which may wait "
                                          "for the updates",
                                          line(barrier.call)));
        return {};
    }

    [[nodiscard]] Gated<void> readLaunches(ContendedUpdates& updates) const {
        updates.isFlatBlock = !kernel_.launches.empty();
        for (const LaunchSite& launch : kernel_.launches) {
            const bool isFlat = launch.constantBlock.size() == 3 && launch.constantBlock[1] == 1 &&
                                launch.constantBlock[2] == 1;
            const bool isNumber =
                launch.host < context_.file.hostFunctions.size() && launch.block != noId &&
                isIndexType(context_.file.hostFunctions[launch.host].body.expr(launch.block).type);
            updates.isFlatBlock &= isFlat || isNumber;
        }
        if (const auto blocks = launchedBlocks(context_))
            for (const Extents& block : *blocks)
                updates.threads = std::max(updates.threads, block[0] * block[1] * block[2]);
        if (!layout_.endsLine(kernel_.bodySpan.begin + 1) ||
            !layout_.startsLine(kernel_.bodySpan.end - 1))
            return refuse(
                "several-statements-a-line",
                fmt::format("{} has statements on the lines of its brackets", kernel_.name));
        for (const UpdateSite& site : updates.sites)
            if (!layout_.startsLine(body_.stmt(site.outermost).span.begin) ||
                !layout_.endsLine(body_.stmt(site.outermost).span.end))
                return refuse(
                    "several-statements-a-line",
                    fmt::format("line {} holds more than one statement", line(site.call)));
        return {};
    }

    /// The value of this part of an address is the same for all threads of a block, and can be
    /// asked for at the end of the kernel.
    [[nodiscard]] bool isSameForBlock(const ContendedUpdates& updates, ExprId expr,
                                      int depth = 0) const {
        constexpr int maximumDepth = 16;
        return std::ranges::all_of(code_.expressionsBelow(expr), [&](ExprId id) {
            const Expr& at = body_.expr(id);
            switch (at.kind) {
            case ExprKind::Integer:
            case ExprKind::Cast:
            case ExprKind::Subscript: // of the base alone, see requireNothingElse()
                return true;
            case ExprKind::Unary:
                return at.op == "&" || at.op == "-";
            case ExprKind::Binary:
                return !isAssignment(at.op);
            case ExprKind::BuiltinIndex:
                return at.name != "threadIdx";
            case ExprKind::Variable: {
                if (at.variable == updates.base)
                    return true;
                if (at.variable == noId)
                    return false;
                const Variable& variable = body_.variable(at.variable);
                if (variable.constantValue)
                    return true;
                if (code_.isEverWritten(at.variable) || variable.type.pointerDepth > 0)
                    return false;
                if (variable.storage == Storage::Parameter)
                    return true;
                const StmtId declaration = code_.declarationOf(at.variable);
                const bool isInReach =
                    declaration != noId && body_.stmt(declaration).parent == body_.root &&
                    (!updates.earlyReturn || body_.stmt(declaration).span.begin <
                                                 body_.stmt(updates.earlyReturn->guard).span.begin);
                return isInReach && variable.init != noId && depth < maximumDepth &&
                       isSameForBlock(updates, variable.init, depth + 1);
            }
            default:
                return false;
            }
        });
    }

    /// The kernel's one element a thread, where a loop over several can take its place.
    [[nodiscard]] std::optional<ElementwiseKernel>
    severalElements(const ContendedUpdates& updates) const {
        if (updates.isRepeated || !findGridStrideLoops(kernel_, code_).empty() ||
            !requireResizableGrids(context_) ||
            !std::ranges::all_of(kernel_.launches, [&](const LaunchSite& launch) {
                return isRoundedUp(context_.shared().host(launch.host), launch.grid);
            }))
            return std::nullopt;
        auto found = recogniseElementwise(context_, code_);
        if (!found || !requireLoopLines(context_, code_, *found))
            return std::nullopt;
        return *found;
    }

    /// `(n + 255) / 256`: a grid rounded down leaves out elements that a loop would reach.
    [[nodiscard]] bool isRoundedUp(const CodeMap& host, ExprId grid, int depth = 0) const {
        constexpr int maximumDepth = 8;
        const ExprId inner = host.withoutCasts(grid);
        if (inner == noId || depth > maximumDepth)
            return false;
        const Expr& expr = host.body().expr(inner);
        if (expr.kind == ExprKind::Variable && expr.variable != noId &&
            !host.isEverWritten(expr.variable))
            return isRoundedUp(host, host.body().variable(expr.variable).init, depth + 1);
        if (expr.kind == ExprKind::InitList && !expr.children.empty())
            return isRoundedUp(host, expr.children[0], depth + 1);
        if (expr.kind != ExprKind::Binary || expr.op != "/")
            return false;
        const Expr& sum = host.body().expr(host.withoutCasts(expr.children[0]));
        return sum.kind == ExprKind::Binary && (sum.op == "+" || sum.op == "-");
    }

    /// `addresses-differ` when a table may do instead.
    [[nodiscard]] Gated<void> requireSameAddress(ContendedUpdates& updates) const {
        const UpdateSite& first = updates.sites.front();
        for (const UpdateSite& site : updates.sites)
            if (!code_.sameExpression(first.address, site.address) ||
                !isSameForBlock(updates, site.address))
                return refuse("addresses-differ",
                              fmt::format("line {} updates several places", line(site.call)));
        const auto names = code_.expressionsBelow(first.address);
        updates.mayTouchNothing = std::ranges::any_of(names, [&](ExprId id) {
            return body_.expr(id).kind == ExprKind::BuiltinIndex ||
                   (body_.expr(id).kind == ExprKind::Variable &&
                    body_.expr(id).variable != updates.base);
        });
        return {};
    }

    [[nodiscard]] Gated<void> requireWholeWarps() const {
        KERNELSKILL_TRY(const auto blocks, launchedBlocks(context_));
        KERNELSKILL_CHECK(requireKnownLaunches(context_));
        for (std::size_t i = 0; i < blocks.size(); ++i)
            if (blocks[i][0] % analysis::warpLanes != 0)
                return refuse("partial-warps",
                              fmt::format("the launch on {} has blocks of {} threads along x; "
                                          "shuffles need a multiple of {}",
                                          placeOf(context_, kernel_.launches[i]), blocks[i][0],
                                          analysis::warpLanes));
        return {};
    }

    const SkillContext& context_;
    const KernelModel& kernel_;
    const CodeMap& code_;
    const FunctionBody& body_;
    SourceLayout layout_;
};

} // namespace

std::int64_t updatesOfBlock(const ContendedUpdates& updates) {
    return updates.threads * static_cast<std::int64_t>(updates.sites.size()) *
           (updates.elementwise ? elementsPerThread : 1);
}

Gated<ContendedUpdates> findContendedUpdates(const SkillContext& context, const CodeMap& code) {
    return Finder(context, code).find();
}

} // namespace kernelskill::skills
