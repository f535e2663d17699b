// Fixes shared memory that threads only add to and that is never set to zero.
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

/// Whether zero is the natural start value of the update.
bool addsUp(const HazardCode& code, const MemoryAccess& access) {
    const ExprId place = access.expression;
    for (ExprId at = code.map().parent(place); at != noId; at = code.map().parent(at)) {
        const Expr& around = code.expr(at);
        if (around.kind == ExprKind::Call)
            return around.name == "atomicAdd" || around.name == "atomicSub" ||
                   around.name == "atomicOr" || around.name == "atomicXor";
        if (isIncrement(around))
            return true;
        if (isAssignment(around))
            return around.op == "+=" || around.op == "-=" || around.op == "|=" || around.op == "^=";
    }
    return false;
}

VariableId sharedNamed(const HazardCode& code, std::string_view name) {
    for (const SharedArray& array : code.kernel().sharedArrays) {
        if (!array.isDynamic && code.body().variable(array.variable).name == name)
            return array.variable;
    }
    return noId;
}

/// Whether every change of the variable adds to it, and there is at least one.
bool isAccumulator(const HazardCode& code, VariableId variable) {
    bool isChanged = false;
    for (const MemoryAccess& access : code.kernel().accesses) {
        if (access.base != variable || access.kind == AccessKind::Read)
            continue;
        if (access.kind == AccessKind::Write || !addsUp(code, access))
            return false;
        isChanged = true;
    }
    return isChanged;
}

/// `16` for `bins[16]`, as the source spells it; empty for a plain variable, nullopt for several
/// dimensions.
std::optional<std::string> extentText(const HazardCode& code, VariableId variable) {
    const Variable& declared = code.body().variable(variable);
    if (declared.type.arrayExtents.empty())
        return "";
    const std::string text = code.text(declared.span);
    const auto open = text.find('[');
    const auto close = text.rfind(']');
    if (declared.type.arrayExtents.size() != 1 || open == std::string::npos ||
        close == std::string::npos || text.find('[', open + 1) != std::string::npos)
        return std::nullopt;
    return text.substr(open + 1, close - open - 1);
}

bool isFlat(const std::vector<LaunchSpec>& launches) {
    return std::ranges::all_of(launches, [](const LaunchSpec& launch) {
        return launch.block.y == 1 && launch.block.z == 1;
    });
}

} // namespace

std::vector<HazardFixDraft> zeroedAccumulators(const HazardInCode& given) {
    const HazardCode& code = given.code;
    if (given.hazard.kind != HazardKind::UninitializedRead || !isFlat(given.launches))
        return {};
    const VariableId variable = sharedNamed(code, given.hazard.details.object);
    if (variable == noId || !isAccumulator(code, variable))
        return {};
    const Variable& declared = code.body().variable(variable);
    const auto extent = extentText(code, variable);
    const StmtId declaration = code.map().declarationOf(variable);
    if (!extent || declaration == noId || declared.fromMacro ||
        declared.type.scalar == ScalarKind::Unknown || !code.isReachedByBlock(declaration))
        return {};
    // Insert after the last declaration of this group.
    StmtId last = declaration;
    const auto& siblings = code.stmt(code.stmt(declaration).parent).children;
    for (auto at = std::ranges::find(siblings, declaration);
         at != siblings.end() && code.stmt(*at).kind == StmtKind::Declaration; ++at)
        last = *at;
    const std::string newline =
        code.layout().newline() + code.layout().indentation(code.stmt(declaration).span.begin);
    std::string text;
    if (extent->empty()) {
        text = "if (threadIdx.x == 0)" + newline + code.layout().unit() + declared.name + " = 0;";
    } else {
        const std::string index = analysis::freshName(code.body(), "i");
        text = fmt::format("for (int {0} = threadIdx.x; {0} < {1}; {0} += blockDim.x)", index,
                           *extent) +
               newline + code.layout().unit() + fmt::format("{}[{}] = 0;", declared.name, index);
    }
    auto edits = insertedAfter(code, last, text + newline + "__syncthreads();");
    if (!edits)
        return {};
    return {{fmt::format("set '{}' to zero first", declared.name), std::move(*edits),
             FixEffect::Initialises}};
}

} // namespace kernelskill::engine
