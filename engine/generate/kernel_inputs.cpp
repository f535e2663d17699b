#include "engine/generate/kernel_inputs.h"

#include "analysis/queries/code_map.h"
#include "analysis/queries/index_arithmetic.h"
#include "engine/generate/written_function.h"

#include <algorithm>
#include <set>

namespace kernelskill::engine {

using namespace analysis;

namespace {

class InputFinder {
public:
    InputFinder(const KernelModel& function, const analysis::CodeMap& code,
                const ParallelNest& nest)
        : body_(function.body), code_(code), nest_(nest) {}

    KernelInputs find() {
        for (const ExprId expr : code_.expressionsIn(nest_.statement))
            take(expr);
        KernelInputs inputs;
        inputs.variables.assign(variables_.begin(), variables_.end());
        for (const StmtId statement : declarations_)
            inputs.declarations.push_back(statement);
        std::ranges::sort(inputs.declarations, {},
                          [&](StmtId statement) { return body_.stmt(statement).span.begin; });
        return inputs;
    }

private:
    void take(ExprId expr) {
        const VariableId variable = body_.expr(expr).variable;
        if (body_.expr(expr).kind != ExprKind::Variable || variable == noId)
            return;
        const Storage storage = body_.variable(variable).storage;
        const StmtId declaration = code_.declarationOf(variable);
        const bool isFolded = std::ranges::find(nest_.reductions, variable, &Reduction::variable) !=
                              nest_.reductions.end();
        if ((storage != Storage::Local && storage != Storage::Parameter) || isFolded ||
            (declaration != noId && code_.encloses(nest_.statement, declaration)))
            return;
        if (declaration == noId || !isDerived(declaration)) {
            variables_.insert(variable);
            return;
        }
        if (!declarations_.insert(declaration).second)
            return;
        for (const ExprId inner : code_.expressionsIn(declaration))
            take(inner);
    }

    /// Sizes computed from the function's parameters: they bound loops and indices.
    [[nodiscard]] bool isDerived(StmtId declaration) const {
        return std::ranges::all_of(body_.stmt(declaration).declared, [&](VariableId variable) {
            const ExprId init = body_.variable(variable).init;
            if (init == noId || code_.isEverWritten(variable) ||
                !analysis::isIndexType(body_.variable(variable).type))
                return false;
            const auto value = analysis::polynomialOf(code_, init);
            return value && !value->hasOpaque();
        });
    }

    const FunctionBody& body_;
    const analysis::CodeMap& code_;
    const ParallelNest& nest_;
    std::set<VariableId> variables_;
    std::set<StmtId> declarations_;
};

} // namespace

KernelInputs inputsOf(const KernelModel& function, const analysis::CodeMap& code,
                      const ParallelFunction& parallel, const ParallelNest& nest) {
    if (!parallel.isOneKernel)
        return InputFinder(function, code, nest).find();
    KernelInputs inputs;
    for (const Parameter& parameter : function.parameters)
        inputs.variables.push_back(parameter.variable);
    for (const StmtId statement : parallel.statements)
        if (parallel.nestAt(statement) == nullptr)
            inputs.declarations.push_back(statement);
    return inputs;
}

bool isOfKernelsAlone(const KernelModel& function, const analysis::CodeMap& code,
                      const ParallelFunction& parallel, StmtId statement) {
    const bool isPart = std::ranges::any_of(parallel.nests, [&](const ParallelNest& nest) {
        const KernelInputs inputs = inputsOf(function, code, parallel, nest);
        return std::ranges::find(inputs.declarations, statement) != inputs.declarations.end();
    });
    const auto isInKernel = [&](ExprId use) {
        return std::ranges::any_of(parallel.statements, [&](StmtId other) {
            return code.holds(other, use) && (parallel.nestAt(other) != nullptr ||
                                              isOfKernelsAlone(function, code, parallel, other));
        });
    };
    return isPart &&
           std::ranges::all_of(function.body.stmt(statement).declared, [&](VariableId variable) {
               return std::ranges::all_of(code.uses(variable), isInKernel);
           });
}

std::string inputText(const SourceText& source, const KernelModel& function, VariableId variable) {
    const auto parameter = std::ranges::find(function.parameters, variable, &Parameter::variable);
    if (parameter != function.parameters.end())
        return parameterText(source, *parameter);
    const Variable& local = function.body.variable(variable);
    return numberType(local.type) + " " + local.name;
}

const ArrayUse* arrayOf(const KernelModel& function, const std::vector<ArrayUse>& arrays,
                        VariableId variable) {
    const auto found = std::ranges::find_if(arrays, [&](const ArrayUse& use) {
        return function.parameters[use.parameter].variable == variable;
    });
    return found == arrays.end() ? nullptr : &*found;
}

} // namespace kernelskill::engine
