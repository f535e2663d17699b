#include "analysis/model/kernel_facts.h"

#include "analysis/model/fact_collector.h"
#include "analysis/model/known_functions.h"

#include <algorithm>
#include <set>

namespace kernelskill::analysis {

namespace {

class Facts {
public:
    Facts(FileModel& model, const CalleeTable& callees) : model_(model), callees_(callees) {
        for (KernelModel& function : model.deviceFunctions)
            byName_[function.qualifiedName].push_back(&function);
    }

    void run() {
        for (KernelModel& function : model_.deviceFunctions)
            complete(function);
        for (KernelModel& kernel : model_.kernels)
            complete(kernel);
        for (KernelModel& function : model_.loopFunctions)
            complete(function);
    }

private:
    using CallsOfFunction = std::map<ExprId, std::vector<std::string>>;

    void complete(KernelModel& function) {
        if (!begun_.insert(&function).second)
            return;
        const auto entry = callees_.find(functionKey(function));
        const CallsOfFunction& calls = entry != callees_.end() ? entry->second : noCalls_;
        std::set<std::string> names;
        for (const auto& [call, candidates] : calls)
            for (const std::string& name : candidates)
                if (byName_.contains(name))
                    names.insert(name);
        function.calls.assign(names.begin(), names.end());
        for (const std::string& name : names)
            for (KernelModel* callee : byName_[name])
                complete(*callee);
        FactCollector(function, [&](ExprId call) { return effectOf(function, calls, call); }).run();
        summarise(function);
    }

    /// The union over all functions that the call may refer to; nullptr if a body is missing or
    /// still being analysed (recursion).
    const CallEffect* effectOf(const KernelModel& caller, const CallsOfFunction& calls,
                               ExprId call) {
        const auto candidates = calls.find(call);
        if (candidates == calls.end())
            return nullptr;
        const Expr& expr = caller.body.expr(call);
        const std::size_t arguments = expr.children.size() - (expr.isMethod ? 1 : 0);
        merged_ = {};
        bool any = false;
        for (const std::string& name : candidates->second) {
            const auto functions = byName_.find(name);
            if (functions == byName_.end())
                return nullptr;
            for (const KernelModel* function : functions->second) {
                if (function->parameters.size() < arguments)
                    continue;
                const auto summary = summaries_.find(function);
                if (summary == summaries_.end())
                    return nullptr;
                any = true;
                merge(summary->second);
            }
        }
        return any ? &merged_ : nullptr;
    }

    void merge(const CallEffect& effect) {
        merged_.hasBarrier = merged_.hasBarrier || effect.hasBarrier;
        merged_.parameters.resize(std::max(merged_.parameters.size(), effect.parameters.size()));
        for (std::size_t i = 0; i < effect.parameters.size(); ++i) {
            ParameterEffect& merged = merged_.parameters[i];
            merged.reads = merged.reads || effect.parameters[i].reads;
            merged.writes = merged.writes || effect.parameters[i].writes;
            merged.escapes = merged.escapes || effect.parameters[i].escapes;
        }
    }

    void summarise(const KernelModel& function) {
        CallEffect effect;
        for (const Parameter& parameter : function.parameters)
            effect.parameters.push_back({parameter.isRead,
                                         parameter.isWritten && (parameter.type.pointerDepth > 0 ||
                                                                 parameter.type.isReference),
                                         parameter.escapes});
        effect.hasBarrier = std::ranges::any_of(function.barriers, [](const Barrier& barrier) {
            return barrier.kind != BarrierKind::Fence && barrier.kind != BarrierKind::SyncWarp;
        });
        summaries_.emplace(&function, std::move(effect));
    }

    FileModel& model_;
    const CalleeTable& callees_;
    const CallsOfFunction noCalls_;
    std::map<std::string, std::vector<KernelModel*>> byName_;
    std::set<const KernelModel*> begun_;
    std::map<const KernelModel*, CallEffect> summaries_;
    CallEffect merged_;
};

} // namespace

FunctionKey functionKey(const KernelModel& function) {
    return {function.file, function.qualifiedName, function.span.begin};
}

void collectFacts(FileModel& model, const CalleeTable& callees) {
    Facts(model, callees).run();
}

} // namespace kernelskill::analysis
