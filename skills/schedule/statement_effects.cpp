#include "skills/schedule/statement_effects.h"

#include "analysis/model/dependence.h"
#include "analysis/queries/loop_effects.h"
#include "skills/gates/block_collective.h"

#include <algorithm>

namespace kernelskill::skills {

using namespace analysis;

namespace {

bool isOwnOrShared(const Variable& variable) {
    return variable.storage == Storage::Local || variable.storage == Storage::Parameter ||
           isSharedStorage(variable);
}

class EffectReader {
public:
    EffectReader(const FileModel& file, const KernelModel& kernel, const CodeMap& code,
                 StmtId statement)
        : file_(file), kernel_(kernel), code_(code), body_(code.body()), statement_(statement) {}

    StatementEffects read() {
        readWhole(statement_);
        effects_.isBarrier = isBlockBarrier(kernel_, statement_);
        effects_.isDeclaration = body_.stmt(statement_).kind == StmtKind::Declaration;
        return std::move(effects_);
    }

    StatementEffects readControl() {
        const Stmt& stmt = body_.stmt(statement_);
        if (stmt.init != noId)
            readWhole(stmt.init);
        for (const ExprId part : {stmt.condition, stmt.increment})
            if (part != noId)
                readTree(part);
        return std::move(effects_);
    }

private:
    void readWhole(StmtId statement) {
        for (const StmtId id : code_.statementsIn(statement))
            readStatement(body_.stmt(id));
        if (!isBlockBarrier(kernel_, statement))
            for (const ExprId id : code_.expressionsIn(statement))
                readExpression(id);
        for (const MemoryAccess& access : kernel_.accesses)
            if (code_.holds(statement, access.expression))
                readAccess(access);
    }

    void readTree(ExprId root) {
        const std::vector<ExprId> below = code_.expressionsBelow(root);
        for (const ExprId id : below)
            readExpression(id);
        for (const MemoryAccess& access : kernel_.accesses)
            if (std::ranges::find(below, access.expression) != below.end())
                readAccess(access);
    }

    void readStatement(const Stmt& stmt) {
        for (const VariableId id : stmt.declared)
            effects_.writes.insert(id);
        switch (stmt.kind) {
        case StmtKind::Return:
        case StmtKind::Goto:
        case StmtKind::Asm:
        case StmtKind::Other:
        case StmtKind::RangeFor:
            effects_.isOpaque = true;
            break;
        default:
            break;
        }
    }

    void readExpression(ExprId id) {
        const Expr& expr = body_.expr(id);
        if (expr.kind == ExprKind::BuiltinIndex && expr.name == "blockIdx")
            effects_.blockAxes |= static_cast<std::uint8_t>(1U << expr.axis);
        effects_.asksForThread |= expr.name == "threadIdx";
        if (expr.kind == ExprKind::Other || expr.type.isVolatile)
            effects_.isOpaque = true;
        const bool isMathOrLoad =
            expr.kind != ExprKind::Call || isKnownCall(file_, kernel_, expr) || isMinOrMax(expr);
        if (!isMathOrLoad)
            effects_.isOpaque = true;
        if (expr.kind != ExprKind::Variable || expr.variable == noId ||
            !isOwnOrShared(body_.variable(expr.variable)))
            return;
        effects_.reads.insert(expr.variable);
        if (code_.isWrite(id))
            effects_.writes.insert(expr.variable);
    }

    static bool isMinOrMax(const Expr& call) {
        return call.name == "min" || call.name == "max" || call.name == "std::min" ||
               call.name == "std::max";
    }

    void readAccess(const MemoryAccess& access) {
        const bool isRead = access.kind == AccessKind::Read;
        // Whether an array of the thread or the block is accessed, and not memory behind a pointer.
        const VariableId array = rootVariable(body_, access.expression);
        const bool isArray = array != noId && isOwnOrShared(body_.variable(array)) &&
                             body_.variable(array).type.pointerDepth == 0;
        switch (access.space) {
        case MemorySpace::Shared:
            if (!isRead) {
                effects_.writesShared = true;
                if (access.base != noId)
                    effects_.writes.insert(access.base);
                if (array != noId)
                    effects_.writes.insert(array);
                if (access.base == noId && array == noId)
                    effects_.isOpaque = true;
            }
            break;
        case MemorySpace::Local:
            if (!isRead && isArray)
                effects_.writes.insert(array);
            else if (!isRead)
                effects_.isOpaque = true;
            break;
        case MemorySpace::Global:
            effects_.isOpaque = effects_.isOpaque || !isRead;
            break;
        case MemorySpace::Constant:
            break;
        case MemorySpace::Generic:
            effects_.isOpaque = true;
            effects_.writesShared = effects_.writesShared || !isRead;
            break;
        }
    }

    const FileModel& file_;
    const KernelModel& kernel_;
    const CodeMap& code_;
    const FunctionBody& body_;
    StmtId statement_;
    StatementEffects effects_;
};

} // namespace

StatementEffects effectsOf(const FileModel& file, const KernelModel& kernel, const CodeMap& code,
                           StmtId statement) {
    return EffectReader(file, kernel, code, statement).read();
}

StatementEffects controlEffectsOf(const FileModel& file, const KernelModel& kernel,
                                  const CodeMap& code, StmtId statement) {
    return EffectReader(file, kernel, code, statement).readControl();
}

} // namespace kernelskill::skills
