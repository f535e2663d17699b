// Fixes races within one statement that reads elements which other threads write in it.
#include "analysis/queries/code_map.h"
#include "engine/repair/hazard_fixes/fix_draft.h"
#include "engine/repair/hazard_fixes/statement_insertion.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace kernelskill::engine {

using namespace analysis;

namespace {

/// `target op value;`
struct Store {
    StmtId statement = noId;
    ExprId target = noId;
    ExprId value = noId;
    std::string op;
};

std::optional<Store> storeOf(const HazardCode& code, StmtId statement) {
    const Stmt& stmt = code.stmt(statement);
    if (stmt.kind != StmtKind::Expression || stmt.fromMacro)
        return std::nullopt;
    const Expr& expr = code.expr(stmt.expr);
    if (expr.kind != ExprKind::Binary || !isAssignment(expr) || expr.children.size() != 2)
        return std::nullopt;
    return Store{statement, expr.children[0], expr.children[1], expr.op};
}

/// The type of the stored value, spelled as the source can use it.
std::string valueType(const HazardCode& code, const Store& store) {
    const Type& type = code.expr(store.target).type;
    if (type.isDependent || type.spelling.empty() || type.isReference || type.pointerDepth > 0)
        return "auto";
    std::string spelling = type.spelling;
    for (const std::string_view qualifier : {"const ", "volatile "}) {
        if (const auto at = spelling.find(qualifier); at != std::string::npos)
            spelling.erase(at, qualifier.size());
    }
    return spelling;
}

/// The `if` that contains only `statement`; noId if there is none.
StmtId soleGuardOf(const HazardCode& code, StmtId statement) {
    StmtId branch = statement;
    StmtId parent = code.stmt(branch).parent;
    if (parent != noId && code.stmt(parent).kind == StmtKind::Compound &&
        code.stmt(parent).children.size() == 1) {
        branch = parent;
        parent = code.stmt(branch).parent;
    }
    const bool isIt = parent != noId && code.stmt(parent).kind == StmtKind::If &&
                      !code.stmt(parent).fromMacro && code.stmt(parent).children.size() == 1 &&
                      code.stmt(parent).init == noId;
    return isIt ? parent : noId;
}

} // namespace

std::vector<HazardFixDraft> separatedReads(const HazardInCode& given) {
    const Hazard& hazard = given.hazard;
    const HazardCode& code = given.code;
    if (hazard.kind != HazardKind::Race || hazard.details.scope == RaceScope::Grid ||
        hazard.line != hazard.otherLine || hazard.otherFile != hazard.file)
        return {};
    const bool isWarp = hazard.details.scope == RaceScope::Warp;
    const std::string barrier = isWarp ? "__syncwarp();" : "__syncthreads();";
    const auto isReached = [&](StmtId statement) {
        return isWarp ? code.isReachedByWarps(statement, given.launches.front())
                      : code.isReachedByBlock(statement);
    };
    std::vector<HazardFixDraft> drafts;
    for (const StmtId statement : code.statementsOn(hazard.line, hazard.details.object)) {
        const auto store = storeOf(code, statement);
        if (!store)
            continue;
        const StmtId guard = soleGuardOf(code, statement);
        const bool isGuarded = !isReached(statement);
        const StmtId whole = isGuarded ? guard : statement;
        const StmtId parent = whole == noId ? noId : code.stmt(whole).parent;
        if (parent == noId || code.stmt(parent).kind != StmtKind::Compound || !isReached(whole) ||
            !code.layout().startsLine(code.stmt(whole).span.begin))
            continue;
        const std::string name = analysis::freshName(code.body(), "value");
        const std::string type = valueType(code, *store);
        const std::string newline =
            code.layout().newline() + code.layout().indentation(code.stmt(whole).span.begin);
        const std::string write =
            fmt::format("{} {} {};", code.text(store->target), store->op, name);
        std::string text;
        if (!isGuarded) {
            text = fmt::format("const {} {} = {};", type, name, code.text(store->value)) + newline +
                   barrier + newline + write;
        } else {
            const ExprId condition = code.stmt(guard).condition;
            if (type == "auto" || !code.isRepeatable(condition, guard))
                continue;
            const std::string head =
                "if (" + code.text(condition) + ")" + newline + code.layout().unit();
            text = fmt::format("{} {}{{}};", type, name) + newline + head +
                   fmt::format("{} = {};", name, code.text(store->value)) + newline + barrier +
                   newline + head + write;
        }
        const Span span = code.stmt(whole).span;
        const std::string title =
            fmt::format("read into '{}', then '{}', then write", name, barrier);
        drafts.push_back({title, {{span, text}}, FixEffect::Orders});
        drafts.push_back({title + " and '" + barrier + "' after it",
                          {{span, text + newline + barrier}},
                          FixEffect::Orders});
    }
    return drafts;
}

} // namespace kernelskill::engine
