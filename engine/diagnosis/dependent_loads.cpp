#include "engine/diagnosis/dependent_loads.h"

#include <algorithm>
#include <set>
#include <utility>

namespace kernelskill::engine {
namespace {

using analysis::Expr;
using analysis::ExprId;
using analysis::ExprKind;
using analysis::KernelModel;
using analysis::noId;
using analysis::Stmt;
using analysis::StmtId;
using analysis::VariableId;

/// `target` gets a value that depends on `source`, either through the load `access` or directly.
struct Flow {
    VariableId target = noId;
    VariableId source = noId;
    ExprId access = noId;
};

/// The flows from variable to variable in one iteration of a loop, in any order.
class LoopFlows {
public:
    LoopFlows(const KernelModel& kernel, StmtId body) : kernel_(kernel) { walk(body, {}); }

    /// Whether a value of `from` can reach `to` within the loop.
    [[nodiscard]] bool reaches(VariableId from, VariableId to) const {
        std::vector<VariableId> open{from};
        std::set<VariableId> seen;
        while (!open.empty()) {
            const VariableId variable = open.back();
            open.pop_back();
            if (variable == to)
                return true;
            if (!seen.insert(variable).second)
                continue;
            for (const Flow& flow : flows_)
                if (flow.source == variable)
                    open.push_back(flow.target);
        }
        return false;
    }

    [[nodiscard]] const std::vector<Flow>& flows() const { return flows_; }

private:
    using Sources = std::set<std::pair<VariableId, ExprId>>;

    [[nodiscard]] const Expr& expr(ExprId id) const { return kernel_.body.expr(id); }

    [[nodiscard]] bool isGlobalLoad(ExprId id) const {
        return std::ranges::any_of(kernel_.accesses, [&](const analysis::MemoryAccess& access) {
            return access.expression == id && access.space == analysis::MemorySpace::Global &&
                   access.kind != analysis::AccessKind::Write;
        });
    }

    /// Collects the variables that the value of `id` depends on, each with the load in between, if
    /// any.
    void collect(ExprId id, ExprId load, Sources& sources) const {
        if (id == noId)
            return;
        if (load == noId && isGlobalLoad(id))
            load = id;
        if (expr(id).kind == ExprKind::Variable && expr(id).variable != noId)
            sources.emplace(expr(id).variable, load);
        for (const ExprId child : expr(id).children)
            collect(child, load, sources);
    }

    void assign(VariableId target, const Sources& sources) {
        for (const auto& [source, load] : sources)
            flows_.push_back({target, source, load});
    }

    /// Visits the assignments inside the expression `id`.
    void visit(ExprId id, const Sources& conditions) {
        if (id == noId)
            return;
        const Expr& node = expr(id);
        const bool isComparison =
            node.op == "==" || node.op == "!=" || node.op == "<=" || node.op == ">=";
        if (node.kind == ExprKind::Binary && node.op.ends_with('=') && !isComparison &&
            node.children.size() == 2) {
            const Expr& target = expr(node.children[0]);
            if (target.kind == ExprKind::Variable && target.variable != noId) {
                Sources sources = conditions;
                collect(node.children[1], noId, sources);
                if (node.op != "=")
                    sources.emplace(target.variable, noId);
                assign(target.variable, sources);
            }
        }
        for (const ExprId child : node.children)
            visit(child, conditions);
    }

    void walk(StmtId id, const Sources& conditions) {
        if (id == noId)
            return;
        const Stmt& stmt = kernel_.body.stmt(id);
        for (const VariableId variable : stmt.declared) {
            const ExprId init = kernel_.body.variable(variable).init;
            Sources sources = conditions;
            collect(init, noId, sources);
            assign(variable, sources);
            visit(init, conditions);
        }
        visit(stmt.expr, conditions);
        visit(stmt.condition, conditions);
        visit(stmt.increment, conditions);
        walk(stmt.init, conditions);
        // A variable that an `if` sets depends on the condition as well. A loop's condition does
        // not count: it is a branch, not data.
        Sources inner = conditions;
        if (stmt.kind == analysis::StmtKind::If)
            collect(stmt.condition, noId, inner);
        for (const StmtId child : stmt.children)
            walk(child, inner);
    }

    const KernelModel& kernel_;
    std::vector<Flow> flows_;
};

} // namespace

std::vector<DependentLoad> dependentLoads(const KernelModel& kernel) {
    std::vector<DependentLoad> found;
    for (std::uint32_t index = 0; index < kernel.loops.size(); ++index) {
        const StmtId body = kernel.loops[index].body;
        if (body == noId)
            continue;
        const LoopFlows flows(kernel, body);
        for (const Flow& flow : flows.flows()) {
            if (flow.access == noId || !flows.reaches(flow.target, flow.source))
                continue;
            const auto known = std::ranges::find(found, flow.access, &DependentLoad::access);
            if (known == found.end())
                found.push_back({flow.access, flow.source, index});
            else if (kernel.loops[known->loop].depth < kernel.loops[index].depth)
                *known = {flow.access, flow.source, index};
        }
    }
    return found;
}

} // namespace kernelskill::engine
