#include "analysis/model/leaving.h"

namespace kernelskill::analysis {

bool leaves(const FunctionBody& body, StmtId statement) {
    const Stmt& stmt = body.stmt(statement);
    switch (stmt.kind) {
    case StmtKind::Return:
    case StmtKind::Break:
    case StmtKind::Continue:
    case StmtKind::Goto:
        return true;
    case StmtKind::Compound:
        return !stmt.children.empty() && leaves(body, stmt.children.back());
    case StmtKind::If:
        return stmt.children.size() == 2 && leaves(body, stmt.children[0]) &&
               leaves(body, stmt.children[1]);
    default:
        return false;
    }
}

} // namespace kernelskill::analysis
