#include "skills/stream-overlap/launch_memory.h"

#include "skills/rewriting/gates.h"
#include "skills/rewriting/host_launches.h"
#include "skills/rewriting/kernel_footprint.h"
#include "skills/rewriting/shared_analysis.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <string_view>

namespace kernelskill::skills {

using namespace analysis;

namespace {

enum class Origin : std::uint8_t { Unknown, Allocation, Parameter, RestrictParameter };

class HostPointers {
public:
    explicit HostPointers(const CodeMap& code) : code_(code) {}

    /// The variable that a pointer argument is made of; noId where that is not one alone.
    [[nodiscard]] VariableId rootOf(ExprId id) const {
        const ExprId plain = code_.withoutCasts(id);
        const Expr& expr = code_.body().expr(plain);
        if (expr.kind == ExprKind::Variable)
            return expr.variable;
        if (expr.kind != ExprKind::Binary || (expr.op != "+" && expr.op != "-"))
            return noId;
        VariableId root = noId;
        for (const ExprId child : expr.children) {
            if (code_.body().expr(code_.withoutCasts(child)).type.pointerDepth == 0)
                continue;
            if (root != noId)
                return noId;
            root = rootOf(child);
        }
        return root;
    }

    [[nodiscard]] Origin originOf(VariableId id) const {
        const Variable& variable = code_.body().variable(id);
        if (variable.type.pointerDepth != 1 || variable.type.isReference)
            return Origin::Unknown;
        if (variable.storage == Storage::Parameter) {
            if (code_.isEverWritten(id))
                return Origin::Unknown;
            return variable.type.isRestrict ? Origin::RestrictParameter : Origin::Parameter;
        }
        return variable.storage == Storage::Local && isAllocatedOnce(id) ? Origin::Allocation
                                                                         : Origin::Unknown;
    }

private:
    /// `cudaMalloc(&v, bytes)` is all that ever gives it a value.
    [[nodiscard]] bool isAllocatedOnce(VariableId id) const {
        const Variable& variable = code_.body().variable(id);
        if (variable.init != noId && code_.constantValue(variable.init) != 0 &&
            code_.body().expr(code_.withoutCasts(variable.init)).name != "nullptr")
            return false;
        int allocations = 0;
        for (const ExprId use : code_.uses(id)) {
            if (!code_.isWrite(use))
                continue;
            if (!isAllocated(use))
                return false;
            ++allocations;
        }
        return allocations == 1;
    }

    [[nodiscard]] bool isAllocated(ExprId use) const {
        const FunctionBody& body = code_.body();
        ExprId inner = use;
        for (ExprId outer = code_.parent(inner); outer != noId; outer = code_.parent(inner)) {
            const Expr& expr = body.expr(outer);
            const bool isAddress = expr.kind == ExprKind::Unary && expr.op == "&";
            if (expr.kind == ExprKind::Call)
                return expr.name.starts_with("cudaMalloc") && expr.children.front() == inner;
            if (!isAddress && expr.kind != ExprKind::Cast)
                return false;
            inner = outer;
        }
        return false;
    }

    const CodeMap& code_;
};

} // namespace

std::expected<void, Refusal> requireApart(const SkillContext& context, const LaunchSite& first,
                                          const LaunchSite& second) {
    const CodeMap& code = context.shared().host(first.host);
    const HostPointers pointers(code);
    const KernelFootprint before = footprintOf(context.file, *kernelOf(context.file, first));
    const KernelFootprint after = footprintOf(context.file, *kernelOf(context.file, second));
    for (const KernelFootprint* footprint : {&before, &after})
        if (!footprint->unknown.empty())
            return refuse("unknown-memory", footprint->unknown);
    const auto text = [&](ExprId id) {
        return std::string(context.file.source->slice(code.body().expr(id).span));
    };
    const std::uint32_t lines[] = {lineNumber(context, first.span.begin),
                                   lineNumber(context, second.span.begin)};
    for (std::size_t i = 0; i < before.parameters.size(); ++i)
        for (std::size_t j = 0; j < after.parameters.size(); ++j) {
            const PointerUse& one = before.parameters[i];
            const PointerUse& other = after.parameters[j];
            const bool areUsed = (one.isRead || one.isWritten) && (other.isRead || other.isWritten);
            if (!areUsed || (!one.isWritten && !other.isWritten))
                continue;
            if (i >= first.arguments.size() || j >= second.arguments.size())
                return refuse("unknown-memory", "a kernel has a pointer as its default argument");
            const ExprId a = first.arguments[i];
            const ExprId b = second.arguments[j];
            const VariableId rootA = pointers.rootOf(a);
            const VariableId rootB = pointers.rootOf(b);
            if (rootA != noId && rootA == rootB)
                return refuse("shares-memory",
                              fmt::format("the launches on lines {} and {} both use {}, and one "
                                          "writes it",
                                          lines[0], lines[1], code.body().variable(rootA).name));
            const Origin x = rootA == noId ? Origin::Unknown : pointers.originOf(rootA);
            const Origin y = rootB == noId ? Origin::Unknown : pointers.originOf(rootB);
            const bool isOwn = (x == Origin::Allocation && y != Origin::Unknown) ||
                               (y == Origin::Allocation && x != Origin::Unknown);
            if (!isOwn && (x != Origin::RestrictParameter || y != Origin::RestrictParameter))
                return refuse("may-alias",
                              fmt::format("{} and {} of the launches on lines {} and {} may be the "
                                          "same memory: they are neither allocations of this "
                                          "function nor __restrict__ parameters of it",
                                          text(a), text(b), lines[0], lines[1]));
        }
    return {};
}

} // namespace kernelskill::skills
