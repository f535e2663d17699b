#include "skills/async-copy/copied_tiles.h"

#include "analysis/queries/loop_effects.h"
#include "analysis/source/try.h"
#include "skills/base/gates.h"
#include "skills/gates/block_collective.h"
#include "skills/gates/counted_loop.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace kernelskill::skills {

using namespace analysis;

namespace {

/// Types whose objects are aligned to their size, of the sizes that the hardware copies.
constexpr std::array copiedTypes = {
    "float",
    "int",
    "unsigned int",
    "unsigned",
    "char4",
    "uchar4",
    "short2",
    "ushort2",
    "__half2",
    "half2",
    "__nv_bfloat162",
    "nv_bfloat162",
    "double",
    "long",
    "unsigned long",
    "long long",
    "unsigned long long",
    "float2",
    "int2",
    "uint2",
    "short4",
    "ushort4",
    "float4",
    "int4",
    "uint4",
    "double2",
    "longlong2",
    "ulonglong2",
};

bool isCopiedType(std::string_view type) {
    return std::ranges::find(copiedTypes, type) != copiedTypes.end();
}

std::string_view withoutConst(std::string_view type) {
    constexpr std::string_view prefix = "const ";
    if (type.starts_with(prefix))
        type.remove_prefix(prefix.size());
    return type;
}

class Finder {
public:
    Finder(const SkillContext& context, const CodeMap& code)
        : context_(context), kernel_(context.kernel), code_(code), body_(code.body()) {}

    [[nodiscard]] Gated<CopiedTiles> study(std::uint32_t index) const {
        KERNELSKILL_TRY(auto staged, readStagedLoop(context_, code_, index));
        CopiedTiles tiles;
        tiles.staged = std::move(staged);
        const Loop& loop = kernel_.loops[index];
        KERNELSKILL_CHECK(requireOrder(loop, tiles.staged));
        for (const StagedElement& element : tiles.staged.elements) {
            KERNELSKILL_TRY(auto copied, readElement(loop, element));
            tiles.elements.push_back(std::move(copied));
        }
        KERNELSKILL_CHECK(readArrays(loop, tiles));
        return tiles;
    }

private:
    [[nodiscard]] std::uint32_t line(Span span) const { return lineNumber(context_, span.begin); }
    [[nodiscard]] std::uint32_t lineOf(ExprId id) const { return line(body_.expr(id).span); }

    /// Requires that all threads run the same rounds, and that a round ends with a barrier before a
    /// loop around this one starts it anew.
    Gated<void> requireOrder(const Loop& loop, const StagedLoop& staged) const {
        for (const Barrier& barrier : kernel_.barriers)
            if (barrier.inDivergentBranch && code_.holds(loop.statement, barrier.call))
                return refuse("divergent-barrier",
                              fmt::format("not all threads need come to the barrier on line {}",
                                          lineOf(barrier.call)));
        for (const StmtId id : code_.statementsIn(loop.body)) {
            const bool isInner = std::ranges::any_of(kernel_.loops, [&](const Loop& inner) {
                return inner.statement != loop.statement &&
                       code_.encloses(loop.body, inner.statement) && code_.encloses(inner.body, id);
            });
            if (body_.stmt(id).kind == StmtKind::Continue && !isInner)
                return refuse("early-exit", fmt::format("line {} leaves the round before its end",
                                                        line(body_.stmt(id).span)));
        }
        if (body_.stmt(loop.body).kind != StmtKind::Compound)
            return refuse("not-a-block", fmt::format("the loop on line {} has no braces",
                                                     line(body_.stmt(loop.statement).span)));
        if (loop.parent != noId && !isBlockBarrier(kernel_, staged.use.back()))
            return refuse("no-barrier-behind",
                          fmt::format("the loop on line {} runs again without a barrier between "
                                      "its last use of a tile and the next copy",
                                      line(body_.stmt(loop.statement).span)));
        for (const StmtId id : code_.statementsOf(loop.body)) {
            if (id == staged.barrier)
                break;
            const bool isElement =
                std::ranges::find(staged.elements, id, &StagedElement::statement) !=
                staged.elements.end();
            if (body_.stmt(id).kind == StmtKind::Expression && !isElement &&
                !isBlockBarrier(kernel_, id))
                return refuse("stores-other-values",
                              fmt::format("line {} stores what is not copied from global memory",
                                          line(body_.stmt(id).span)));
        }
        return {};
    }

    [[nodiscard]] Gated<CopiedElement> readElement(const Loop& loop,
                                                   const StagedElement& element) const {
        CopiedElement copied;
        copied.statement = element.statement;
        copied.target = body_.expr(body_.stmt(element.statement).expr).children[0];
        copied.type = element.type;
        if (!isCopiedType(copied.type) &&
            !isCopiedType(withoutConst(body_.expr(copied.target).type.canonical)))
            return refuse("element-size",
                          fmt::format("an element of {} is a {}, not one of 4, 8 or 16 bytes that "
                                      "is aligned to them",
                                      element.array, element.type));
        KERNELSKILL_CHECK(requireSamePlace(loop, copied.target));
        ExprId value = element.value;
        if (body_.expr(value).kind == ExprKind::Conditional) {
            const std::vector<ExprId>& parts = body_.expr(value).children;
            if (!isZero(parts[2]))
                return refuse("not-a-copy", fmt::format("line {} fills the rest of the tile with "
                                                        "something else than zeros",
                                                        lineOf(parts[2])));
            copied.condition = parts[0];
            value = parts[1];
        }
        KERNELSKILL_CHECK(readSource(value, copied));
        if (copied.condition != noId)
            KERNELSKILL_CHECK(requireHarmlessAddress(copied.source));
        return copied;
    }

    /// Requires that each round writes the same elements of the tile, so that none stays from the
    /// round before.
    Gated<void> requireSamePlace(const Loop& loop, ExprId target) const {
        for (ExprId at = target; body_.expr(at).kind == ExprKind::Subscript;
             at = body_.expr(at).children[0]) {
            const ExprId index = body_.expr(at).children[1];
            const bool followsLoop =
                std::ranges::any_of(code_.expressionsBelow(index), [&](ExprId id) {
                    return body_.expr(id).kind == ExprKind::Variable &&
                           body_.expr(id).variable == loop.inductionVariable;
                });
            if (followsLoop || !isFixedOutside(code_, loop, index))
                return refuse("place-follows-the-round",
                              fmt::format("line {} need not write the same element each round",
                                          lineOf(target)));
        }
        return {};
    }

    /// Reads `in[i]`, or `__ldg(&in[i])`.
    Gated<void> readSource(ExprId value, CopiedElement& copied) const {
        const Expr& expr = body_.expr(value);
        const auto no = [&] {
            return refuse("not-a-copy",
                          fmt::format("line {} does more than copy an element of global memory, or "
                                      "changes its type",
                                      line(expr.span)));
        };
        const Expr& base = expr.children.empty() ? expr : body_.expr(expr.children[0]);
        const bool isLoad = expr.kind == ExprKind::Call && expr.name == "__ldg";
        if ((expr.kind != ExprKind::Subscript && !isLoad) || expr.children.empty() ||
            base.fromMacro || !expr.span.contains(base.span))
            return no();
        copied.isPointer = isLoad;
        copied.source = isLoad ? expr.children[0] : value;
        const auto access = std::ranges::find_if(kernel_.accesses, [&](const MemoryAccess& read) {
            return read.kind == AccessKind::Read && read.space == MemorySpace::Global &&
                   (read.expression == value || read.expression == copied.source ||
                    (isLoad && code_.withoutCasts(copied.source) == read.expression) ||
                    (isLoad && isAddressOf(copied.source, read.expression)));
        });
        const std::string_view type = withoutConst(expr.type.canonical);
        const std::string_view target = withoutConst(body_.expr(copied.target).type.canonical);
        const bool isSameType = type == target || type == copied.type;
        return access == kernel_.accesses.end() || !isSameType ? no() : Gated<void>{};
    }

    [[nodiscard]] bool isAddressOf(ExprId pointer, ExprId element) const {
        const Expr& expr = body_.expr(code_.withoutCasts(pointer));
        return expr.kind == ExprKind::Unary && expr.op == "&" && expr.children[0] == element;
    }

    [[nodiscard]] bool isZero(ExprId id) const {
        const Expr& expr = body_.expr(code_.withoutCasts(id));
        if (expr.fromMacro)
            return false;
        if (expr.kind == ExprKind::Integer)
            return expr.integer == 0;
        if (expr.kind == ExprKind::Floating) // its sign is an operator
            return expr.floating == 0;
        const bool isVector =
            expr.kind == ExprKind::Call && expr.name.starts_with("make_") && !expr.isMethod;
        return isVector && std::ranges::all_of(expr.children,
                                               [&](ExprId component) { return isZero(component); });
    }

    /// Requires an address that neither reads nor traps: it is computed outside of the matrix, too.
    Gated<void> requireHarmlessAddress(ExprId source) const {
        for (const ExprId id : code_.expressionsBelow(source)) {
            const Expr& expr = body_.expr(id);
            const bool reads =
                (expr.kind == ExprKind::Subscript && id != source && !isAddressOf(source, id)) ||
                (expr.kind == ExprKind::Unary && expr.op == "*");
            const bool divides = expr.kind == ExprKind::Binary &&
                                 (expr.op == "/" || expr.op == "%") &&
                                 code_.constantValue(expr.children[1]).value_or(0) == 0;
            if (reads || divides || expr.kind == ExprKind::Call)
                return refuse("guarded-address",
                              fmt::format("where an element on line {} lies may only be worked out "
                                          "if it is there",
                                          line(expr.span)));
        }
        return {};
    }

    /// Reads the arrays. Requires that nothing but the copies writes to them and nothing but the
    /// loop reads them.
    Gated<void> readArrays(const Loop& loop, CopiedTiles& tiles) const {
        tiles.bytes = 0;
        for (const CopiedElement& element : tiles.elements) {
            const VariableId array =
                std::ranges::find(kernel_.accesses, element.target, &MemoryAccess::expression)
                    ->base;
            if (std::ranges::find(tiles.arrays, array) != tiles.arrays.end())
                continue;
            tiles.arrays.push_back(array);
            KERNELSKILL_CHECK(requireDoubleable(loop, array));
            KERNELSKILL_CHECK(requireOwnUses(tiles, array));
            const auto shared =
                std::ranges::find(kernel_.sharedArrays, array, &SharedArray::variable);
            const std::uint64_t bytes = shared == kernel_.sharedArrays.end() ? 0 : shared->bytes;
            if (bytes == 0)
                tiles.bytes.reset();
            else if (tiles.bytes)
                *tiles.bytes += bytes;
        }
        return {};
    }

    Gated<void> requireDoubleable(const Loop& loop, VariableId array) const {
        const Variable& variable = body_.variable(array);
        if (variable.storage != Storage::Shared)
            return refuse(
                "dynamic-shared",
                fmt::format("{} has what the launch gives it, not two buffers", variable.name));
        const StmtId declaration = code_.declarationOf(array);
        const std::string_view text = context_.file.source->slice(variable.span);
        if (declaration == noId || code_.encloses(loop.statement, declaration) ||
            variable.fromMacro || variable.type.arrayExtents.empty() ||
            !text.starts_with(variable.name + "["))
            return refuse("unusual-declaration",
                          fmt::format("{} on line {} is not declared as a plain array ahead of the "
                                      "loop",
                                      variable.name, line(variable.span)));
        return {};
    }

    /// Returns the element that a use of its array is a part of, or a member of it: `a[i]`,
    /// `a[i].x`.
    [[nodiscard]] ExprId elementOf(ExprId use) const {
        ExprId whole = use;
        for (ExprId above = code_.parent(use);
             above != noId && !isAccess(whole) && !body_.expr(above).children.empty() &&
             body_.expr(above).children[0] == whole &&
             (body_.expr(above).kind == ExprKind::Subscript ||
              (body_.expr(above).kind == ExprKind::Member && !body_.expr(above).isArrow));
             above = code_.parent(whole))
            whole = above;
        return whole;
    }

    [[nodiscard]] bool isAccess(ExprId id) const {
        return std::ranges::find(kernel_.accesses, id, &MemoryAccess::expression) !=
               kernel_.accesses.end();
    }

    Gated<void> requireOwnUses(const CopiedTiles& tiles, VariableId array) const {
        const std::string& name = body_.variable(array).name;
        for (const ExprId use : code_.uses(array)) {
            const ExprId whole = elementOf(use);
            if (std::ranges::find(tiles.elements, whole, &CopiedElement::target) !=
                    tiles.elements.end() &&
                !body_.expr(use).fromMacro)
                continue;
            const bool isInRound = std::ranges::any_of(
                tiles.staged.use, [&](StmtId statement) { return code_.holds(statement, use); });
            if (!isInRound)
                return refuse("tile-used-outside",
                              fmt::format("line {} uses {} outside of what follows the barrier",
                                          lineOf(use), name));
            const auto access =
                std::ranges::find(kernel_.accesses, whole, &MemoryAccess::expression);
            if (body_.expr(use).fromMacro || access == kernel_.accesses.end())
                return refuse("tile-escapes", fmt::format("line {} does more with {} than read an "
                                                          "element",
                                                          lineOf(use), name));
            if (access->kind != AccessKind::Read)
                return refuse("tile-is-written",
                              fmt::format("line {} writes to {}, which the next round may read",
                                          lineOf(use), name));
        }
        return {};
    }

    const SkillContext& context_;
    const KernelModel& kernel_;
    const CodeMap& code_;
    const FunctionBody& body_;
};

} // namespace

Gated<CopiedTiles> findCopiedTiles(const SkillContext& context, const CodeMap& code) {
    KERNELSKILL_CHECK(requireEditable(context));
    const Finder finder(context, code);
    return chooseLoop(context, code, [&](std::uint32_t loop) { return finder.study(loop); });
}

} // namespace kernelskill::skills
