#include "skills/kernel-fusion/fused_body.h"

#include "analysis/queries/code_map.h"
#include "analysis/source/try.h"
#include "skills/base/gates.h"
#include "skills/editing/condition_text.h"
#include "skills/gates/fixed_value.h"
#include "skills/kernel-fusion/compared_code.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace kernelskill::skills {

using namespace analysis;

namespace {

/// The statements of a branch, with or without braces.
std::vector<StmtId> branchOf(const FunctionBody& body, StmtId branch) {
    return body.stmt(branch).kind == StmtKind::Compound ? body.stmt(branch).children
                                                        : std::vector<StmtId>{branch};
}

/// Whether the statement is an `if` without `else` that does not come out of a macro.
bool isPlainIf(const FunctionBody& body, StmtId id) {
    const Stmt& stmt = body.stmt(id);
    return stmt.kind == StmtKind::If && stmt.children.size() == 1 && stmt.condition != noId &&
           stmt.init == noId && !stmt.fromMacro;
}

/// Whether the statement is `if (...) return;`.
bool isEarlyReturn(const FunctionBody& body, StmtId id) {
    if (!isPlainIf(body, id))
        return false;
    const auto branch = branchOf(body, body.stmt(id).children.front());
    return branch.size() == 1 && body.stmt(branch.front()).kind == StmtKind::Return;
}

class BodyReader {
public:
    BodyReader(const SkillContext& context, const LaunchPair& pair, const FusedNames& names)
        : context_(context), names_(names), first_(*pair.producer), second_(*pair.consumer),
          firstCode_(first_.body), secondCode_(second_.body) {}

    Gated<FusedBody> read() {
        KERNELSKILL_CHECK(readReturns());
        std::vector<StmtId> rest;
        for (const StmtId id : second_.body.stmt(second_.body.root).children)
            if (!names_.repeated.contains(id))
                rest.push_back(id);
        if (!found_.returns.empty())
            joinReturns(rest);
        else
            joinGuards(rest);
        if (found_.joint == BodyJoint::Guarded &&
            (!first_.barriers.empty() || !first_.warpOperations.empty()))
            return refuse("early-exit",
                          fmt::format("threads that leave {} early do not take part in what waits "
                                      "for others in it, and would not have left the fused kernel",
                                      first_.name));
        return found_;
    }

private:
    [[nodiscard]] std::string_view textOf(const KernelModel& kernel, ExprId id) const {
        return context_.file.source->slice(kernel.body.expr(id).span);
    }

    Gated<void> readReturns() {
        const std::vector<StmtId>& children = first_.body.stmt(first_.body.root).children;
        for (const StmtId id : children)
            if (isEarlyReturn(first_.body, id))
                found_.returns.push_back(id);
        for (StmtId id = 0; id < first_.body.stmts.size(); ++id) {
            const Stmt& stmt = first_.body.stmt(id);
            if (stmt.kind == StmtKind::Goto || stmt.kind == StmtKind::Asm)
                return refuse("early-exit",
                              fmt::format("line {} of {} may leave it by goto or "
                                          "assembly",
                                          lineNumber(context_, stmt.span.begin), first_.name));
            if (stmt.kind != StmtKind::Return)
                continue;
            const bool isKnown = std::ranges::any_of(
                found_.returns, [&](StmtId early) { return firstCode_.encloses(early, id); });
            if (!isKnown)
                return refuse("early-exit",
                              fmt::format("line {} of {} leaves it from within other code",
                                          lineNumber(context_, stmt.span.begin), first_.name));
        }
        return {};
    }

    void joinReturns(const std::vector<StmtId>& rest) {
        found_.joint = BodyJoint::Guarded;
        if (found_.returns.size() != 1 || rest.empty() || !isPlainIf(second_.body, rest.front()))
            return;
        const ExprId own = first_.body.stmt(found_.returns.front()).condition;
        const ExprId other = second_.body.stmt(rest.front()).condition;
        if (!isFixedValue(firstCode_, own) || !isFixedValue(secondCode_, other))
            return;
        const std::string wanted = tokensOf(textOf(second_, other), names_.renamed);
        if (isEarlyReturn(second_.body, rest.front()) && tokensOf(textOf(first_, own)) == wanted) {
            found_.joint = BodyJoint::SharedReturn;
            found_.repeatedGuard = rest.front();
        } else if (rest.size() == 1 && tokensOf(negated(context_, firstCode_, own)) == wanted) {
            found_.joint = BodyJoint::SharedReturn; // Within its own guard, which holds by then.
        }
    }

    void joinGuards(const std::vector<StmtId>& rest) {
        const std::vector<StmtId>& children = first_.body.stmt(first_.body.root).children;
        if (children.empty() || rest.size() != 1 || !isPlainIf(first_.body, children.back()) ||
            !isPlainIf(second_.body, rest.front()) || isEarlyReturn(second_.body, rest.front()))
            return;
        const ExprId own = first_.body.stmt(children.back()).condition;
        const ExprId other = second_.body.stmt(rest.front()).condition;
        if (!isFixedValue(firstCode_, own) || !isFixedValue(secondCode_, other) ||
            tokensOf(textOf(first_, own)) != tokensOf(textOf(second_, other), names_.renamed))
            return;
        found_.joint = BodyJoint::SharedGuard;
        found_.guard = children.back();
        found_.repeatedGuard = rest.front();
    }

    const SkillContext& context_;
    const FusedNames& names_;
    const KernelModel& first_;
    const KernelModel& second_;
    CodeMap firstCode_;
    CodeMap secondCode_;
    FusedBody found_;
};

std::string_view scopeOf(const KernelModel& kernel) {
    return std::string_view(kernel.qualifiedName)
        .substr(0, kernel.qualifiedName.size() - kernel.name.size());
}

} // namespace

Gated<FusedBody> fusedBody(const SkillContext& context, const LaunchPair& pair,
                           const FusedNames& names) {
    return BodyReader(context, pair, names).read();
}

Gated<const KernelModel*> headOf(const SkillContext& context, const LaunchPair& pair) {
    const KernelModel& first = *pair.producer;
    const KernelModel& second = *pair.consumer;
    if (scopeOf(first) != scopeOf(second))
        return refuse("scopes-differ", fmt::format("{} and {} are in different namespaces",
                                                   first.qualifiedName, second.qualifiedName));
    const auto wordsBefore = [&](const KernelModel& kernel) {
        return tokensOf(context.file.source->slice({kernel.span.begin, kernel.nameSpan.begin}));
    };
    const std::string one = wordsBefore(first);
    const std::string other = wordsBefore(second);
    const std::string_view plain = "__global__ void ";
    const bool serves =
        one == other && pair.first->templateArguments == pair.second->templateArguments;
    if (serves || other == plain)
        return &first;
    if (one == plain)
        return &second;
    return refuse("heads-differ",
                  fmt::format("{} and {} are declared in different ways, or for other template "
                              "arguments",
                              first.name, second.name));
}

} // namespace kernelskill::skills
