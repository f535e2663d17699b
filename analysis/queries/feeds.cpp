#include "analysis/queries/feeds.h"

#include <algorithm>

namespace kernelskill::analysis {
namespace {

bool feeds(const CodeMap& code, ExprId use, VariableId variable, int depth) {
    constexpr int maxDepth = 4;
    const FunctionBody& body = code.body();
    const auto isIn = [&](const Variable& local) {
        return local.init != noId && body.expr(local.init).span.contains(body.expr(use).span);
    };
    if (isIn(body.variable(variable)))
        return true;
    const StmtId holder = code.statement(use);
    if (holder == noId)
        return true;
    for (const VariableId local : body.stmt(holder).declared) {
        if (!isIn(body.variable(local)))
            continue;
        return depth < maxDepth && !code.isEverWritten(local) &&
               std::ranges::all_of(
                   code.uses(local),
                   [&](ExprId further) { return feeds(code, further, variable, depth + 1); });
    }
    return false;
}

} // namespace

bool onlyFeeds(const CodeMap& code, ExprId use, VariableId variable) {
    return feeds(code, use, variable, 0);
}

} // namespace kernelskill::analysis
