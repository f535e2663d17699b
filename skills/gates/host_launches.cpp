#include "skills/gates/host_launches.h"

#include "analysis/syntax/lexer.h"
#include "skills/base/gates.h"

#include <spdlog/fmt/fmt.h>

#include <string_view>
#include <vector>

namespace kernelskill::skills {

using namespace analysis;

Gated<void> requireEditableLaunch(const SkillContext& context, const LaunchSite& launch) {
    if (launch.fromMacro)
        return refuse("launch-from-macro", fmt::format("the launch on {} comes out of a macro",
                                                       placeOf(context, launch)));
    if (!isInMainFile(context.file, launch))
        return refuse("launch-in-other-file",
                      fmt::format("{} is launched on {}, which the edit would have to change",
                                  context.kernel.name, placeOf(context, launch)));
    return {};
}

StmtId launchStatement(const SkillContext& context, const LaunchSite& launch) {
    const FunctionBody& host = context.file.hostFunctions[launch.host].body;
    for (StmtId id = 0; id < host.stmts.size(); ++id) {
        const Stmt& stmt = host.stmt(id);
        if (stmt.kind == StmtKind::Expression && !stmt.fromMacro &&
            stmt.span.begin == launch.span.begin && stmt.span.contains(launch.span))
            return stmt.parent != noId && host.stmt(stmt.parent).kind == StmtKind::Compound ? id
                                                                                            : noId;
    }
    return noId;
}

bool isDefaultStream(const CodeMap& code, ExprId stream) {
    return stream == noId || code.constantValue(stream) == 0;
}

bool isSameStream(const CodeMap& code, ExprId a, ExprId b) {
    if (isDefaultStream(code, a) || isDefaultStream(code, b))
        return isDefaultStream(code, a) && isDefaultStream(code, b);
    return code.sameExpression(a, b);
}

} // namespace kernelskill::skills
