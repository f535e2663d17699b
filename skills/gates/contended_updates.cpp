#include "skills/gates/contended_updates.h"

#include "analysis/model/known_functions.h"
#include "analysis/queries/index_arithmetic.h"
#include "analysis/queries/launch_extents.h"
#include "analysis/queries/source_layout.h"
#include "analysis/source/try.h"
#include "skills/gates/launch_sites.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>

namespace kernelskill::skills {

using namespace analysis;

namespace {

/// Longer chains of names than people write; also ends a variable that stands for itself.
constexpr int maximumDepth = 16;

std::optional<FoldKind> foldOfAtomic(std::string_view function) {
    constexpr std::array<std::pair<std::string_view, FoldKind>, 6> known = {
        {{"atomicAdd", FoldKind::Sum},
         {"atomicMin", FoldKind::Minimum},
         {"atomicMax", FoldKind::Maximum},
         {"atomicAnd", FoldKind::BitAnd},
         {"atomicOr", FoldKind::BitOr},
         {"atomicXor", FoldKind::BitXor}}};
    const auto found = std::ranges::find(known, unqualified(function),
                                         &std::pair<std::string_view, FoldKind>::first);
    return found == known.end() ? std::nullopt : std::optional(found->second);
}

bool isPlainNumber(const Type& type) {
    constexpr std::array plain = {ScalarKind::Int32,  ScalarKind::UInt32, ScalarKind::Int64,
                                  ScalarKind::UInt64, ScalarKind::Float,  ScalarKind::Double};
    return type.lanes == 1 && type.pointerDepth <= 1 && !type.isDependent &&
           std::ranges::find(plain, type.scalar) != plain.end();
}

class Collector {
public:
    Collector(const SkillContext& context, VariableId base)
        : context_(context), kernel_(context.kernel), code_(context.code()), body_(code_.body()),
          base_(base) {}

    Gated<ContendedUpdates> collect() const {
        ContendedUpdates updates;
        updates.base = base_;
        for (const Atomic& atomic : kernel_.atomics) {
            if (atomic.access >= kernel_.accesses.size()
                    ? base_ != noId
                    : kernel_.accesses[atomic.access].base != base_)
                continue;
            KERNELSKILL_TRY(auto site, read(atomic));
            updates.space = kernel_.accesses[atomic.access].space;
            updates.isRepeated |= !kernel_.accesses[atomic.access].loops.empty();
            updates.sites.push_back(std::move(site));
        }
        const Type& type = updatedType(body_, base_, updates.sites.front().address);
        updates.element = pointeeSpelling(type);
        updates.scalar = type.scalar;
        if (!isPlainNumber(type))
            return refuse("element-type", fmt::format("{} does not hold plain 4- or 8-byte numbers",
                                                      body_.variable(base_).name));
        return updates;
    }

private:
    [[nodiscard]] std::uint32_t line(ExprId expr) const {
        return lineNumber(context_, body_.expr(expr).span.begin);
    }

    [[nodiscard]] Gated<UpdateSite> read(const Atomic& atomic) const {
        const Expr& call = body_.expr(atomic.call);
        const std::uint32_t at = line(atomic.call);
        const bool isKnown = base_ != noId && atomic.access < kernel_.accesses.size();
        const MemorySpace space =
            isKnown ? kernel_.accesses[atomic.access].space : MemorySpace::Generic;
        if (space != MemorySpace::Global && space != MemorySpace::Shared)
            return refuse("not-global", fmt::format("the atomic on line {} is not known to be on "
                                                    "global or shared memory",
                                                    at));
        const auto fold = foldOfAtomic(call.name);
        if (!fold || call.children.size() != 2)
            return refuse(
                "no-reduction",
                fmt::format("{} on line {} does not fold a value into another", call.name, at));
        const StmtId statement = code_.statement(atomic.call);
        if (code_.parent(atomic.call) != noId || statement == noId ||
            body_.stmt(statement).kind != StmtKind::Expression)
            return refuse("result-used",
                          fmt::format("line {} uses what {} returns", at, call.name));
        if (call.fromMacro || body_.stmt(statement).fromMacro)
            return refuse("from-macro",
                          fmt::format("the atomic on line {} comes out of a macro", at));
        KERNELSKILL_CHECK(requireManyThreads(context_, atomic.call));
        return UpdateSite{atomic.call, call.children[0], call.children[1], outermost(statement),
                          *fold,       call.name};
    }

    /// Returns the statement of the kernel's outermost block that holds `inner`.
    [[nodiscard]] StmtId outermost(StmtId inner) const {
        while (body_.stmt(inner).parent != body_.root && body_.stmt(inner).parent != noId)
            inner = body_.stmt(inner).parent;
        return inner;
    }

    const SkillContext& context_;
    const KernelModel& kernel_;
    const CodeMap& code_;
    const FunctionBody& body_;
    VariableId base_;
};

/// Finds conditions that hold for few threads of a block.
class ThreadChoice {
public:
    explicit ThreadChoice(const CodeMap& code) : code_(code), body_(code.body()) {}

    [[nodiscard]] bool choosesFew(ExprId condition) const {
        const Expr& expr = body_.expr(condition);
        if (expr.kind == ExprKind::Unary && expr.op == "!")
            return isIndexOfThread(expr.children[0], 0);
        if (expr.kind != ExprKind::Binary || expr.children.size() != 2)
            return false;
        if (expr.op == "&&")
            return choosesFew(expr.children[0]) || choosesFew(expr.children[1]);
        return expr.op == "==" &&
               (isIndexOfThread(expr.children[0], 0) || isIndexOfThread(expr.children[1], 0));
    }

private:
    /// Whether the value is computed from the thread's index alone: `threadIdx.x`, `tid % 32`,
    /// `warp.thread_rank()`.
    [[nodiscard]] bool isIndexOfThread(ExprId expr, int depth) const {
        bool namesThread = false;
        for (const ExprId id : code_.expressionsBelow(expr)) {
            const Expr& at = body_.expr(id);
            if (at.kind == ExprKind::Call && unqualified(at.name) == "thread_rank") {
                namesThread = true;
                continue;
            }
            if (at.kind == ExprKind::Subscript || at.kind == ExprKind::Call ||
                (at.kind == ExprKind::Unary && at.op == "*"))
                return false;
            namesThread |= at.kind == ExprKind::BuiltinIndex && at.name == "threadIdx";
            if (at.kind == ExprKind::Variable && at.variable != noId && depth < maximumDepth &&
                body_.variable(at.variable).storage == Storage::Local &&
                body_.variable(at.variable).init != noId)
                namesThread |= isIndexOfThread(body_.variable(at.variable).init, depth + 1);
        }
        return namesThread;
    }

    const CodeMap& code_;
    const FunctionBody& body_;
};

/// Whether a device function that the kernel may call names the global variable.
bool isNamedInCalls(const SkillContext& context, const Variable& variable) {
    if (variable.storage != Storage::DeviceGlobal || context.kernel.calls.empty())
        return false;
    return std::ranges::any_of(context.file.deviceFunctions, [&](const KernelModel& function) {
        return std::ranges::any_of(function.body.variables, [&](const Variable& named) {
            return named.storage == Storage::DeviceGlobal && named.name == variable.name;
        });
    });
}

/// Whether the use is of another member of the object: `p->total` if the updates are of `p->count`.
bool isOtherMember(const CodeMap& code, const ContendedUpdates& updates, ExprId use) {
    const FunctionBody& body = code.body();
    const auto memberAround = [&](ExprId name) -> const Expr* {
        const ExprId parent = code.parent(name);
        return parent != noId && body.expr(parent).kind == ExprKind::Member ? &body.expr(parent)
                                                                            : nullptr;
    };
    const Expr* other = memberAround(use);
    if (other == nullptr)
        return false;
    return std::ranges::all_of(updates.sites, [&](const UpdateSite& site) {
        return std::ranges::all_of(code.expressionsBelow(site.address), [&](ExprId below) {
            const Expr& expr = body.expr(below);
            if (expr.kind != ExprKind::Variable || expr.variable != updates.base)
                return true;
            const Expr* own = memberAround(below);
            return own != nullptr && own->name != other->name;
        });
    });
}

/// Checks whether an address has one value for a block, for isSameForBlock().
class AddressReader {
public:
    AddressReader(const SkillContext& context, VariableId base, StmtId guard)
        : code_(context.code()), body_(code_.body()), base_(base), guard_(guard) {}

    [[nodiscard]] bool isSame(ExprId expr, int depth = 0) const {
        return std::ranges::all_of(code_.expressionsBelow(expr), [&](ExprId id) {
            const Expr& at = body_.expr(id);
            switch (at.kind) {
            case ExprKind::Integer:
            case ExprKind::Cast:
            case ExprKind::Subscript: // of the base alone: other arrays end the walk at their name
            case ExprKind::Member:
                return true;
            case ExprKind::Unary:
                return at.op == "&" || at.op == "-";
            case ExprKind::Binary:
                return !isAssignment(at.op);
            case ExprKind::BuiltinIndex:
                return at.name != "threadIdx";
            case ExprKind::Variable:
                return at.variable == base_ || (at.variable != noId && isSame(at, depth));
            default:
                return false;
            }
        });
    }

private:
    [[nodiscard]] bool isSame(const Expr& name, int depth) const {
        const Variable& variable = body_.variable(name.variable);
        if (variable.constantValue)
            return true;
        if (code_.isEverWritten(name.variable) || variable.type.pointerDepth > 0 ||
            !variable.type.arrayExtents.empty())
            return false;
        if (variable.storage == Storage::Parameter)
            return true;
        const StmtId declaration = code_.declarationOf(name.variable);
        const bool isDeclaredBefore =
            declaration != noId && body_.stmt(declaration).parent == body_.root &&
            (guard_ == noId || body_.stmt(declaration).span.begin < body_.stmt(guard_).span.begin);
        return isDeclaredBefore && variable.init != noId && depth < maximumDepth &&
               isSame(variable.init, depth + 1);
    }

    const CodeMap& code_;
    const FunctionBody& body_;
    VariableId base_;
    StmtId guard_;
};

} // namespace

std::string pointeeSpelling(const Type& type) {
    std::string text = type.spelling.substr(0, type.spelling.find_first_of("*["));
    for (const std::string_view word : {"const ", "volatile "})
        if (text.starts_with(word))
            text.erase(0, word.size());
    while (text.ends_with(' '))
        text.pop_back();
    return text;
}

const Type& updatedType(const FunctionBody& body, VariableId base, ExprId address) {
    const Expr& expr = body.expr(address);
    if (expr.kind == ExprKind::Unary && expr.op == "&" &&
        body.expr(expr.children[0]).kind == ExprKind::Member)
        return body.expr(expr.children[0]).type;
    return body.variable(base).type;
}

std::vector<VariableId> updatedVariables(const SkillContext& context) {
    const KernelModel& kernel = context.kernel;
    std::vector<VariableId> bases;
    for (const Atomic& atomic : kernel.atomics) {
        const VariableId base =
            atomic.access < kernel.accesses.size() ? kernel.accesses[atomic.access].base : noId;
        if (std::ranges::find(bases, base) == bases.end())
            bases.push_back(base);
    }
    return bases;
}

bool isCursorAtUpdate(const SkillContext& context, VariableId base) {
    const KernelModel& kernel = context.kernel;
    return !context.range.contains(kernel.bodySpan) &&
           std::ranges::any_of(kernel.atomics, [&](const Atomic& atomic) {
               return (atomic.access < kernel.accesses.size() ? kernel.accesses[atomic.access].base
                                                              : noId) == base &&
                      touches(context.range, kernel.body.expr(atomic.call).span);
           });
}

Gated<ContendedUpdates> updatesOf(const SkillContext& context, VariableId base) {
    return Collector(context, base).collect();
}

Gated<void> requireManyThreads(const SkillContext& context, ExprId call) {
    const CodeMap& code = context.code();
    const FunctionBody& body = code.body();
    const ThreadChoice choice(code);
    for (StmtId at = code.statement(call); at != noId; at = body.stmt(at).parent) {
        const Stmt& stmt = body.stmt(at);
        if (stmt.kind == StmtKind::If && stmt.condition != noId &&
            choice.choosesFew(stmt.condition))
            return refuse("one-thread-updates",
                          fmt::format("the condition on line {} already leaves the atomic on "
                                      "line {} to few threads",
                                      lineNumber(context, stmt.span.begin),
                                      lineNumber(context, body.expr(call).span.begin)));
    }
    return {};
}

Gated<void> requireUnseen(const SkillContext& context, const ContendedUpdates& updates) {
    const CodeMap& code = context.code();
    const FunctionBody& body = code.body();
    const Variable& base = body.variable(updates.base);
    const auto isInAddress = [&](ExprId use) {
        return std::ranges::any_of(updates.sites, [&](const UpdateSite& site) {
            return body.expr(site.address).span.contains(body.expr(use).span);
        });
    };
    std::size_t inAddresses = 0;
    for (const ExprId use : code.uses(updates.base)) {
        if (isInAddress(use))
            ++inAddresses;
        else if (!isOtherMember(code, updates, use))
            return refuse("used-beside",
                          fmt::format("{} is also used on line {}", base.name,
                                      lineNumber(context, body.expr(use).span.begin)));
    }
    if (inAddresses != updates.sites.size() || isNamedInCalls(context, base))
        return refuse(
            "used-beside",
            fmt::format("{} is also used on line {}", base.name,
                        lineNumber(context, body.expr(updates.sites.front().call).span.begin)));
    return requireNoOrder(context);
}

Gated<void> requireNoOrder(const SkillContext& context) {
    for (const Barrier& barrier : context.kernel.barriers)
        if (barrier.kind == BarrierKind::Fence || barrier.kind == BarrierKind::GridSync)
            return refuse(
                "orders-memory",
                fmt::format(
                    "line {} orders memory between blocks, which may wait for the updates",
                    lineNumber(context, context.kernel.body.expr(barrier.call).span.begin)));
    return {};
}

bool isSameForBlock(const SkillContext& context, VariableId base, StmtId guard, ExprId expr) {
    return AddressReader(context, base, guard).isSame(expr);
}

LaunchedThreads launchedThreads(const SkillContext& context) {
    const KernelModel& kernel = context.kernel;
    LaunchedThreads launched{!kernel.launches.empty(), 0};
    for (const LaunchSite& launch : kernel.launches) {
        const bool isFlat = launch.constantBlock.size() == 3 && launch.constantBlock[1] == 1 &&
                            launch.constantBlock[2] == 1;
        const bool isNumber =
            launch.host < context.file.hostFunctions.size() && launch.block != noId &&
            isIndexType(context.file.hostFunctions[launch.host].body.expr(launch.block).type);
        launched.isFlat &= isFlat || isNumber;
    }
    if (const auto blocks = launchedBlocks(context))
        for (const Extents& block : *blocks)
            launched.most = std::max(launched.most, block[0] * block[1] * block[2]);
    return launched;
}

Gated<void> requireOwnLinesOf(const SkillContext& context, const std::vector<UpdateSite>& sites) {
    const KernelModel& kernel = context.kernel;
    const SourceLayout layout(*context.file.source, kernel);
    if (!layout.endsLine(kernel.bodySpan.begin + 1) || !layout.startsLine(kernel.bodySpan.end - 1))
        return refuse("several-statements-a-line",
                      fmt::format("{} has statements on the lines of its brackets", kernel.name));
    for (const UpdateSite& site : sites) {
        const Span outermost = kernel.body.stmt(site.outermost).span;
        if (!layout.startsLine(outermost.begin) || !layout.endsLine(outermost.end))
            return refuse("several-statements-a-line",
                          fmt::format("line {} holds more than one statement",
                                      lineNumber(context, kernel.body.expr(site.call).span.begin)));
    }
    return {};
}

} // namespace kernelskill::skills
