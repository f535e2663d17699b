#include "analysis/features/scalar_tail.h"

#include <algorithm>

namespace kernelskill::analysis {

namespace {

/// Whether control never reaches the end of `stmt`.
bool leaves(const FunctionBody& body, StmtId id) {
    const Stmt& stmt = body.stmt(id);
    if (stmt.kind == StmtKind::Compound)
        return !stmt.children.empty() && leaves(body, stmt.children.back());
    return stmt.kind == StmtKind::Return || stmt.kind == StmtKind::Continue;
}

/// Whether `rest` runs only if the first branch of the `if` around `wide` does not.
bool excludes(const FunctionBody& body, const Stmt& branch, Span wide, Span rest) {
    const bool isInThen = body.stmt(branch.children[0]).span.contains(wide);
    if (branch.children.size() > 1) {
        const Span other = body.stmt(branch.children[1]).span;
        return isInThen ? other.contains(rest)
                        : other.contains(wide) && body.stmt(branch.children[0]).span.contains(rest);
    }
    return isInThen && leaves(body, branch.children[0]) && branch.parent != noId &&
           rest.begin >= branch.span.end && body.stmt(branch.parent).span.contains(rest);
}

} // namespace

std::optional<std::uint32_t> widerAlternative(const KernelModel& kernel, std::uint32_t access) {
    const FunctionBody& body = kernel.body;
    const MemoryAccess& narrow = kernel.accesses.at(access);
    if (narrow.base == noId || narrow.width == 0)
        return std::nullopt;
    const Span rest = body.expr(narrow.expression).span;
    for (std::uint32_t i = 0; i < kernel.accesses.size(); ++i) {
        const MemoryAccess& other = kernel.accesses[i];
        if (other.base != narrow.base || other.width < 2 * narrow.width)
            continue;
        const Span wide = body.expr(other.expression).span;
        const bool isAlternative = std::ranges::any_of(body.stmts, [&](const Stmt& stmt) {
            return stmt.kind == StmtKind::If && !stmt.children.empty() &&
                   excludes(body, stmt, wide, rest);
        });
        if (isAlternative)
            return i;
    }
    return std::nullopt;
}

} // namespace kernelskill::analysis
