#include "skills/kernel-fusion/fused_body.h"

#include "analysis/queries/code_map.h"
#include "analysis/source/try.h"
#include "analysis/syntax/lexer.h"
#include "skills/base/gates.h"
#include "skills/editing/condition_text.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace kernelskill::skills {

using namespace analysis;

namespace {

/// The statements of a branch.
std::vector<StmtId> branchOf(const FunctionBody& body, StmtId branch) {
    return body.stmt(branch).kind == StmtKind::Compound ? body.stmt(branch).children
                                                        : std::vector<StmtId>{branch};
}

/// An `if` without `else`, written out.
bool isPlainIf(const FunctionBody& body, StmtId id) {
    const Stmt& stmt = body.stmt(id);
    return stmt.kind == StmtKind::If && stmt.children.size() == 1 && stmt.condition != noId &&
           stmt.init == noId && !stmt.fromMacro;
}

/// `if (...) return;`
bool isEarlyReturn(const FunctionBody& body, StmtId id) {
    if (!isPlainIf(body, id))
        return false;
    const auto branch = branchOf(body, body.stmt(id).children.front());
    return branch.size() == 1 && body.stmt(branch.front()).kind == StmtKind::Return;
}

/// Tokens of a text, in the names of the fused kernel if it is the consumer's.
std::string fusedWords(std::string_view text, const FusedNames* names) {
    std::string words;
    for (const Token& token : lex(text)) {
        std::string word(token.text);
        if (names != nullptr && token.isIdentifier())
            if (const auto renamed = names->renamed.find(word); renamed != names->renamed.end())
                word = renamed->second;
        words += word + " ";
    }
    return words;
}

/// The condition's value is the same in all of the kernel.
bool isFixed(const CodeMap& code, ExprId condition) {
    return std::ranges::all_of(code.expressionsBelow(condition), [&](ExprId id) {
        const Expr& expr = code.body().expr(id);
        switch (expr.kind) {
        case ExprKind::Variable:
            return expr.variable == noId || !code.isEverWritten(expr.variable);
        case ExprKind::Integer:
        case ExprKind::BuiltinIndex:
        case ExprKind::Cast:
            return true;
        case ExprKind::Unary:
            return expr.op == "-" || expr.op == "!" || expr.op == "~";
        case ExprKind::Binary:
            return !isAssignment(expr.op);
        default:
            return false;
        }
    });
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
    [[nodiscard]] std::string textOf(const KernelModel& kernel, ExprId id) const {
        return std::string(context_.file.source->slice(kernel.body.expr(id).span));
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
        if (!isFixed(firstCode_, own) || !isFixed(secondCode_, other))
            return;
        const std::string wanted = fusedWords(textOf(second_, other), &names_);
        if (isEarlyReturn(second_.body, rest.front()) &&
            fusedWords(textOf(first_, own), nullptr) == wanted) {
            found_.joint = BodyJoint::SharedReturn;
            found_.repeatedGuard = rest.front();
        } else if (rest.size() == 1 &&
                   fusedWords(negated(context_, firstCode_, own), nullptr) == wanted) {
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
        if (!isFixed(firstCode_, own) || !isFixed(secondCode_, other) ||
            fusedWords(textOf(first_, own), nullptr) != fusedWords(textOf(second_, other), &names_))
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
        return refuse("scopes-differ", fmt::format("{} and {} are in other namespaces",
                                                   first.qualifiedName, second.qualifiedName));
    const auto wordsBefore = [&](const KernelModel& kernel) {
        return fusedWords(context.file.source->slice({kernel.span.begin, kernel.nameSpan.begin}),
                          nullptr);
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
