#include "skills/gates/contended_updates.h"

#include "analysis/model/known_functions.h"
#include "analysis/source/try.h"
#include "skills/gates/update_gates.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>

namespace kernelskill::skills {

using namespace analysis;

namespace {

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
    return std::ranges::any_of(kernel.atomics, [&](const Atomic& atomic) {
        return (atomic.access < kernel.accesses.size() ? kernel.accesses[atomic.access].base
                                                       : noId) == base &&
               context.isCursorAt(kernel.body.expr(atomic.call).span);
    });
}

Gated<ContendedUpdates> updatesOf(const SkillContext& context, VariableId base) {
    return Collector(context, base).collect();
}

} // namespace kernelskill::skills
