/// Walks over a function in the order of execution and collects loops, accesses, barriers and
/// branches.
#pragma once

#include "analysis/model/dependence.h"
#include "analysis/model/index_evaluator.h"
#include "analysis/model/kernel_model.h"

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace kernelskill::analysis {

/// How a call uses the memory behind its pointer arguments, in the order of the callee's
/// parameters.
struct ParameterEffect {
    bool reads = false;
    bool writes = false;
    bool escapes = false;
};

struct CallEffect {
    std::vector<ParameterEffect> parameters;
    bool hasBarrier = false;
};

class FactCollector {
public:
    /// `effectOf(call)` is nullptr if the body of the called function is unknown.
    FactCollector(KernelModel& function, std::function<const CallEffect*(ExprId)> effectOf);

    /// Fills loops, accesses, sharedArrays, barriers, warpOperations, atomics, mathCalls, branches
    /// and the parameters' flags.
    void run();

private:
    enum class Use : std::uint8_t { Read, Write, ReadWrite };

    void walk(StmtId statement);
    void walkIf(StmtId statement);
    void walkLoop(StmtId statement);
    void walkSwitch(StmtId statement);
    void visit(ExprId expression, Use use = Use::Read);
    void visitCall(ExprId call);
    void visitAssignment(ExprId expression);
    void visitPointer(ExprId expression);
    void visitArgument(ExprId argument, const ParameterEffect& effect);
    bool visitKnownCall(ExprId call);
    std::uint32_t addAccess(ExprId expression, const Address& address, std::uint32_t width,
                            AccessKind kind);
    std::uint32_t addPointerAccess(ExprId pointer, AccessKind kind);
    void markParameter(VariableId variable, const ParameterEffect& effect);
    void addBranch(StmtId statement, ExprId condition);
    [[nodiscard]] bool isBoundsGuard(const Stmt& stmt) const;
    [[nodiscard]] bool comparesWithBound(ExprId condition) const;
    [[nodiscard]] bool isMemory(const Expr& expr) const;
    void noteSharedArrays();

    KernelModel& function_;
    const FunctionBody& body_;
    std::function<const CallEffect*(ExprId)> effectOf_;
    DependenceAnalysis dependence_;
    IndexEvaluator evaluator_;
    std::vector<std::uint32_t> loops_;
    std::vector<StmtId> conditions_;
    int divergence_ = 0;
};

} // namespace kernelskill::analysis
