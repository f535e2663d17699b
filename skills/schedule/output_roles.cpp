#include "skills/schedule/output_roles.h"

#include "analysis/source/try.h"
#include "skills/base/gates.h"
#include "skills/gates/aliasing.h"
#include "skills/schedule/nest_queries.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <optional>
#include <set>
#include <tuple>

namespace kernelskill::skills {

using namespace analysis;

namespace {

using Kind = ContractionPart::Kind;

class RoleFinder {
public:
    RoleFinder(const SkillContext& context, const AxisDependence& dependence, Contraction& found)
        : context_(context), dependence_(dependence), code_(context.code()), body_(code_.body()),
          nest_(context.shared().nest()), found_(found) {
        std::size_t section = 0;
        for (const ContractionPart& part : found_.parts) {
            sections_.push_back(section);
            section += part.kind == Kind::Loop ? 1 : 0;
        }
        for (const NestAccess& access : nest_.accesses)
            if (access.kind != AccessKind::Read && access.array != noId &&
                !isThreadsOwn(nest_, access))
                stores_.push_back(&access);
    }

    Gated<void> find() {
        KERNELSKILL_CHECK(requireNoPositions());
        KERNELSKILL_CHECK(requirePlainWork());
        KERNELSKILL_CHECK(requireStoresApart());
        bool isGuarded = false;
        for (const ContractionPart& part : found_.parts) {
            isGuarded |= part.kind == Kind::Guard;
            if (part.kind == Kind::Declaration)
                for (const VariableId id : body_.stmt(part.statement).declared)
                    KERNELSKILL_CHECK(takeVariable(id, isGuarded));
        }
        for (const ContractionPart& part : found_.parts)
            for (const GuardClause& clause : part.clauses)
                KERNELSKILL_CHECK(requireKnownGuard(clause.condition));
        for (const TermLoop& loop : found_.loops)
            for (const TileOperand& operand : loop.operands)
                for (const ExprId use : operand.uses)
                    KERNELSKILL_CHECK(requireDerived(loop, use));
        for (std::size_t at = 0; at < found_.kept.size(); ++at)
            if (found_.kept[at].isWritten && found_.keptAxes[at] != outputAxesSet)
                return refuse("shared-output",
                              fmt::format("several outputs add to {}", found_.kept[at].text));
        return {};
    }

private:
    [[nodiscard]] std::uint32_t line(Span span) const { return lineNumber(context_, span.begin); }
    [[nodiscard]] std::uint32_t lineOf(ExprId expr) const { return line(body_.expr(expr).span); }

    /// The part that holds a statement; nullptr: none, e.g. the condition of a guard.
    [[nodiscard]] const ContractionPart* partOf(StmtId statement) const {
        for (const ContractionPart& part : found_.parts)
            if (part.kind != Kind::Guard && code_.encloses(part.statement, statement))
                return &part;
        return nullptr;
    }
    [[nodiscard]] std::size_t sectionOf(const ContractionPart& part) const {
        return sections_[static_cast<std::size_t>(&part - found_.parts.data())];
    }

    /// No code asks which thread it is, other than to find the positions.
    [[nodiscard]] Gated<void> requireNoPositions() const {
        const OutputAxes& axes = found_.axes;
        const auto isPosition = [&](VariableId id) {
            return id == axes.slow.variable || id == axes.fast.variable ||
                   (axes.flat && id == axes.flat->index) ||
                   std::ranges::find(axes.positions, id) != axes.positions.end();
        };
        std::vector<bool> isAllowed(body_.exprs.size());
        for (VariableId id = 0; id < body_.variables.size(); ++id)
            if (body_.variable(id).init != noId && isPosition(id))
                for (const ExprId expr : code_.expressionsBelow(body_.variable(id).init))
                    isAllowed[expr] = true;
        for (ExprId id = 0; id < body_.exprs.size(); ++id) {
            const Expr& expr = body_.expr(id);
            const bool isTiled = expr.axis == axes.slow.gridAxis || expr.axis == axes.fast.gridAxis;
            const bool asks = expr.kind == ExprKind::BuiltinIndex &&
                              (expr.name == "threadIdx" ||
                               ((expr.name == "blockIdx" || expr.name == "gridDim") && isTiled));
            const bool isUse =
                expr.kind == ExprKind::Variable &&
                std::ranges::find(axes.positions, expr.variable) != axes.positions.end();
            if ((asks || isUse) && !isAllowed[id])
                return refuse("uses-thread-position",
                              fmt::format("line {} uses {} beside {} and {}", line(expr.span),
                                          context_.file.source->slice(expr.span),
                                          body_.variable(axes.slow.variable).name,
                                          body_.variable(axes.fast.variable).name));
        }
        return {};
    }

    [[nodiscard]] Gated<void> requirePlainWork() const {
        for (const ContractionPart& part : found_.parts) {
            if (part.kind == Kind::Once && found_.axes.flat)
                return refuse("moves-parameter",
                              fmt::format("line {} changes what all outputs share",
                                          line(body_.stmt(part.statement).span)));
            if (part.kind == Kind::Guard)
                continue;
            for (const StmtId id : code_.statementsIn(part.statement)) {
                const Stmt& stmt = body_.stmt(id);
                if (stmt.kind == StmtKind::Return || stmt.kind == StmtKind::Goto)
                    return refuse("early-exit",
                                  fmt::format("line {} leaves the work early", line(stmt.span)));
                if (stmt.kind == StmtKind::Asm || stmt.kind == StmtKind::Other)
                    return refuse("unknown-effects",
                                  fmt::format("what line {} does is not known", line(stmt.span)));
                if (stmt.fromMacro)
                    return refuse("from-macro",
                                  fmt::format("line {} comes out of a macro", line(stmt.span)));
            }
        }
        for (VariableId id = 0; id < body_.variables.size(); ++id) {
            if (body_.variable(id).storage == Storage::Local)
                continue;
            for (const ExprId use : code_.uses(id)) {
                const ContractionPart* part =
                    code_.isWrite(use) ? partOf(code_.statement(use)) : nullptr;
                if (part != nullptr && part->kind != Kind::Once &&
                    body_.variable(id).storage == Storage::Parameter)
                    return refuse("moves-parameter",
                                  fmt::format("line {} changes {}, which outputs share",
                                              lineOf(use), body_.variable(id).name));
            }
        }
        return {};
    }

    /// What is stored before a loop, or in it, is none of what the loop reads.
    [[nodiscard]] Gated<void> requireStoresApart() const {
        std::set<
            std::tuple<NestArrayId, const ContractionPart*, NestArrayId, const ContractionPart*>>
            checked;
        for (const NestAccess* store : stores_) {
            const StmtId at = placeOf(nest_, code_, store->node);
            const ContractionPart* storing = at == noId ? nullptr : partOf(at);
            if (storing == nullptr)
                return refuse("unknown-effects", fmt::format("where line {} stores is not known",
                                                             line(nest_.node(store->node).span)));
            for (const NestAccess& read : nest_.accesses) {
                if (read.kind != AccessKind::Read || read.array == noId ||
                    isThreadsOwn(nest_, read) || isKept(read))
                    continue;
                const StmtId where = placeOf(nest_, code_, read.node);
                const ContractionPart* reading = where == noId ? nullptr : partOf(where);
                if (reading == nullptr || reading->kind != Kind::Loop ||
                    !checked.emplace(store->array, storing, read.array, reading).second)
                    continue;
                const NestArray& stored = nest_.arrays[store->array];
                const NestArray& operand = nest_.arrays[read.array];
                if (read.array == store->array)
                    return refuse("operand-stored",
                                  fmt::format("line {} stores to {}, which the loop on line {} "
                                              "reads",
                                              line(nest_.node(store->node).span), stored.name,
                                              line(body_.stmt(reading->statement).span)));
                if (sectionOf(*storing) <= sectionOf(*reading))
                    KERNELSKILL_CHECK(
                        requireDistinctMemory(context_, stored.variable, operand.variable));
            }
        }
        return {};
    }
    [[nodiscard]] bool isKept(const NestAccess& access) const {
        return access.frame == 0 &&
               std::ranges::any_of(found_.kept, [&](const KeptElement& element) {
                   return std::ranges::find(element.uses, access.expression) != element.uses.end();
               });
    }

    Gated<void> takeVariable(VariableId id, bool isGuarded) {
        const Variable& variable = body_.variable(id);
        const OutputAxes& axes = found_.axes;
        OutputRole& role = found_.roles[id];
        if (id == axes.slow.variable || id == axes.fast.variable) {
            role = OutputRole::Axis;
            return {};
        }
        if (axes.flat && id == axes.flat->index) {
            role = OutputRole::Derived;
            found_.dependsOn[id] = outputAxesSet;
            return {};
        }
        if (std::ranges::find(axes.positions, id) != axes.positions.end()) {
            role = isNamedByAxes(variable.name) ? OutputRole::Block : OutputRole::Dropped;
            return {};
        }
        const bool isTerm = std::ranges::any_of(found_.loops, [&](const TermLoop& loop) {
            return context_.kernel.loops[loop.loop].inductionVariable == id;
        });
        if (isTerm)
            return takeTermVariable(id, role);
        const AxisSet set = dependence_.ofVariable(id) & outputAxesSet;
        found_.dependsOn[id] = set;
        if (!isWrittenInLoop(id) && isRecomputable(id)) {
            const bool reads = readsMemory(code_, variable.init);
            if (set == 0 && !(reads && isGuarded)) {
                role = OutputRole::Block;
                return {};
            }
            if (!reads || (!isUsedByTerms(id) && readsWhatIsNotStored(variable.init))) {
                role = OutputRole::Derived;
                return {};
            }
        } else if (set == 0 && isMovedForAll(id)) {
            role = OutputRole::Block;
            return {};
        }
        role = isOfOneSection(id) ? OutputRole::Part : OutputRole::Carried;
        if (role == OutputRole::Part)
            return {};
        if (!variable.type.arrayExtents.empty() || variable.type.isReference ||
            variable.type.isVolatile ||
            (variable.type.scalar == ScalarKind::Unknown && !variable.type.isPlainClass &&
             !variable.type.isDependent))
            return refuse("carried-array",
                          fmt::format("{} (line {}) is no plain number that could be kept for "
                                      "several outputs",
                                      variable.name, line(variable.span)));
        if (code_.isEverWritten(id))
            found_.dependsOn[id] = outputAxesSet;
        return requireEditableUses(id);
    }

    [[nodiscard]] bool isNamedByAxes(const std::string& name) const {
        return found_.axes.slow.local == name || found_.axes.fast.local == name;
    }

    /// Declared outside of the loop that counts by it.
    Gated<void> takeTermVariable(VariableId id, OutputRole& role) const {
        role = OutputRole::Dropped;
        for (const ExprId use : code_.uses(id)) {
            const ContractionPart* part = partOf(code_.statement(use));
            if (part != nullptr && part->kind == Kind::Loop)
                continue;
            role = OutputRole::Block;
            const bool isCounter =
                std::ranges::any_of(context_.kernel.loops, [&](const Loop& loop) {
                    return loop.inductionVariable == id && loop.lowerBound != noId &&
                           loop.kind == LoopKind::For && code_.holds(loop.statement, use);
                });
            if (!isCounter)
                return refuse("loop-variable-used-later",
                              fmt::format("line {} uses {} outside of the loop that counts by it",
                                          lineOf(use), body_.variable(id).name));
        }
        return {};
    }

    [[nodiscard]] bool isWrittenInLoop(VariableId id) const {
        return std::ranges::any_of(code_.uses(id), [&](ExprId use) {
            const ContractionPart* part =
                code_.isWrite(use) ? partOf(code_.statement(use)) : nullptr;
            return part != nullptr && part->kind == Kind::Loop;
        });
    }
    [[nodiscard]] bool isRecomputable(VariableId id) const {
        const Variable& variable = body_.variable(id);
        return variable.init != noId && !code_.isEverWritten(id) &&
               variable.type.arrayExtents.empty() && !variable.type.isReference &&
               isPure(context_, variable.init) && usesOnlyFixed(variable.init);
    }
    /// Of variables that change, a later evaluation would see another value.
    [[nodiscard]] bool usesOnlyFixed(ExprId expr) const {
        return std::ranges::all_of(code_.expressionsBelow(expr), [&](ExprId id) {
            const VariableId variable = body_.expr(id).variable;
            if (body_.expr(id).kind != ExprKind::Variable || variable == noId)
                return true;
            const auto role = found_.roles.find(variable);
            return role == found_.roles.end()
                       ? !code_.isEverWritten(variable)
                       : role->second == OutputRole::Axis || role->second == OutputRole::Derived ||
                             (role->second == OutputRole::Block && !code_.isEverWritten(variable));
        });
    }
    [[nodiscard]] bool readsWhatIsNotStored(ExprId root) const {
        const auto below = code_.expressionsBelow(root);
        for (const NestAccess& read : nest_.accesses) {
            ExprId own = read.expression;
            if (read.frame != 0) {
                std::uint32_t frame = read.frame;
                while (nest_.frames[frame].caller != 0 && nest_.frames[frame].caller != noId)
                    frame = nest_.frames[frame].caller;
                own = nest_.frames[frame].call;
            }
            if (isThreadsOwn(nest_, read) || std::ranges::find(below, own) == below.end())
                continue;
            if (read.array == noId)
                return false;
            for (const NestAccess* store : stores_)
                if (store->array == read.array ||
                    !requireDistinctMemory(context_, nest_.arrays[store->array].variable,
                                           nest_.arrays[read.array].variable))
                    return false;
        }
        return true;
    }
    [[nodiscard]] bool isWithinOperand(ExprId use) const {
        for (ExprId at = use; at != noId; at = code_.parent(at))
            for (const TermLoop& loop : found_.loops)
                for (const TileOperand& operand : loop.operands)
                    if (std::ranges::find(operand.uses, at) != operand.uses.end())
                        return true;
        return false;
    }
    [[nodiscard]] bool isUsedByTerms(VariableId id) const {
        return std::ranges::any_of(code_.uses(id), [&](ExprId use) {
            const ContractionPart* part = partOf(code_.statement(use));
            return part != nullptr && part->kind == Kind::Loop && !isWithinOperand(use);
        });
    }
    /// Each change of it is one for all outputs.
    [[nodiscard]] bool isMovedForAll(VariableId id) const {
        const Variable& variable = body_.variable(id);
        return variable.type.arrayExtents.empty() && !variable.type.isReference &&
               (variable.init == noId || isPure(context_, variable.init)) &&
               (code_.isEverWritten(id) || variable.init == noId) &&
               std::ranges::all_of(code_.uses(id), [&](ExprId use) {
                   const ContractionPart* part = partOf(code_.statement(use));
                   return !code_.isWrite(use) || (part != nullptr && part->kind == Kind::Once);
               });
    }
    [[nodiscard]] bool isOfOneSection(VariableId id) const {
        const ContractionPart* declaring = partOf(code_.declarationOf(id));
        return std::ranges::all_of(code_.uses(id), [&](ExprId use) {
            const ContractionPart* part = partOf(code_.statement(use));
            return part != nullptr && part->kind != Kind::Loop && part->kind != Kind::Once &&
                   sectionOf(*part) == sectionOf(*declaring);
        });
    }
    [[nodiscard]] Gated<void> requireEditableUses(VariableId id) const {
        for (const ExprId use : code_.uses(id))
            if (body_.expr(use).fromMacro)
                return refuse("from-macro", fmt::format("line {} uses {} in a macro", lineOf(use),
                                                        body_.variable(id).name));
        return {};
    }

    /// The condition is evaluated for every position, also for those outside.
    [[nodiscard]] Gated<void> requireKnownGuard(ExprId root) const {
        for (const ExprId id : code_.expressionsBelow(root)) {
            const VariableId variable = body_.expr(id).variable;
            const auto role = body_.expr(id).kind == ExprKind::Variable
                                  ? found_.roles.find(variable)
                                  : found_.roles.end();
            if (role == found_.roles.end() || role->second == OutputRole::Axis ||
                role->second == OutputRole::Block)
                continue;
            if (role->second != OutputRole::Derived ||
                readsMemory(code_, body_.variable(variable).init))
                return refuse("compound-guard",
                              fmt::format("the condition on line {} follows from {}, which is "
                                          "more than a position",
                                          lineOf(root), body_.variable(variable).name));
            KERNELSKILL_CHECK(requireKnownGuard(body_.variable(variable).init));
        }
        return {};
    }

    /// The value can be found for any output, from its positions and its term.
    [[nodiscard]] Gated<void> requireDerived(const TermLoop& loop, ExprId root) {
        const Loop& counted = context_.kernel.loops[loop.loop];
        for (const ExprId id : code_.expressionsBelow(root)) {
            const VariableId variable = body_.expr(id).variable;
            if (body_.expr(id).kind != ExprKind::Variable || variable == noId ||
                variable == counted.inductionVariable ||
                body_.variable(variable).storage != Storage::Local)
                continue;
            const auto role = found_.roles.find(variable);
            const StmtId declaration = code_.declarationOf(variable);
            if (role == found_.roles.end() && declaration != noId &&
                code_.encloses(counted.body, declaration) && !code_.isEverWritten(variable) &&
                body_.variable(variable).init != noId &&
                isPure(context_, body_.variable(variable).init)) {
                KERNELSKILL_CHECK(requireDerived(loop, body_.variable(variable).init));
                found_.roles[variable] = OutputRole::Derived;
                found_.dependsOn[variable] = dependence_.ofVariable(variable) | termAxis;
                continue;
            }
            if (role == found_.roles.end() ||
                (role->second != OutputRole::Axis && role->second != OutputRole::Block &&
                 role->second != OutputRole::Derived))
                return refuse("operand-carried",
                              fmt::format("where line {} loads follows from {}, which a thread has "
                                          "for its own output alone",
                                          lineOf(root), body_.variable(variable).name));
        }
        return {};
    }

    const SkillContext& context_;
    const AxisDependence& dependence_;
    const CodeMap& code_;
    const FunctionBody& body_;
    const Nest& nest_;
    Contraction& found_;
    std::vector<std::size_t> sections_; ///< Loops before a part.
    std::vector<const NestAccess*> stores_;
};

} // namespace

Gated<void> findRoles(const SkillContext& context, const AxisDependence& dependence,
                      Contraction& found) {
    return RoleFinder(context, dependence, found).find();
}

} // namespace kernelskill::skills
