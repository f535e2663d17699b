#include "skills/schedule/lane_scan.h"

#include "analysis/source/try.h"
#include "skills/base/gates.h"
#include "skills/schedule/draft.h"
#include "skills/schedule/fold_statement.h"
#include "skills/schedule/nest_queries.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <optional>

namespace kernelskill::skills {

using namespace analysis;

namespace {

class ScanReader {
public:
    ScanReader(const SkillContext& context, NestNodeId node, std::uint32_t index)
        : context_(context), code_(context.code()), body_(code_.body()),
          nest_(context.shared().nest()), node_(node), loop_(context.kernel.loops.at(index)),
          statements_(code_.statementsOf(loop_.body)),
          layout_(*context.file.source, context.kernel) {
        std::erase_if(statements_,
                      [&](StmtId id) { return body_.stmt(id).kind == StmtKind::Null; });
    }

    Gated<LaneScan> read() {
        if (!findVariable() && !findElement())
            return refuse("no-scan", fmt::format("the loop on line {} stores no running value",
                                                 line(loop_.statement)));
        KERNELSKILL_CHECK(requireFixedLimit());
        KERNELSKILL_CHECK(requireLines());
        KERNELSKILL_CHECK(divide());
        KERNELSKILL_CHECK(requireCrossing());
        return std::move(scan_);
    }

private:
    [[nodiscard]] std::uint32_t line(StmtId id) const {
        return lineNumber(context_, body_.stmt(id).span.begin);
    }
    [[nodiscard]] std::string text(ExprId id) const {
        return std::string(context_.file.source->slice(body_.expr(id).span));
    }
    /// Returns the index into `statements_` of the one that holds the use.
    [[nodiscard]] std::size_t placeOfUse(ExprId use) const {
        const auto found =
            std::ranges::find_if(statements_, [&](StmtId each) { return code_.holds(each, use); });
        return static_cast<std::size_t>(found - statements_.begin());
    }

    /// Looks for a variable that rounds fold into by one operator, and use.
    bool findVariable() {
        for (VariableId id = 0; id < body_.variables.size(); ++id) {
            const Variable& variable = body_.variable(id);
            const StmtId declaration = code_.declarationOf(id);
            if (variable.storage != Storage::Local || variable.type.pointerDepth > 0 ||
                variable.type.isReference || !variable.type.arrayExtents.empty() ||
                variable.type.lanes != 1 || !isFoldable(variable.type.scalar) ||
                id == loop_.inductionVariable || declaration == noId ||
                code_.encloses(loop_.statement, declaration))
                continue;
            folds_.clear();
            uses_.clear();
            std::string op;
            bool isFolded = true;
            for (const ExprId use : code_.uses(id)) {
                if (!code_.holds(loop_.statement, use))
                    continue;
                const std::size_t place = placeOfUse(use);
                const std::string folded = foldOperatorAt(code_, use, id);
                isFolded &= place < statements_.size() &&
                            (folded.empty() ? !code_.isWrite(use) : op.empty() || op == folded);
                op = folded.empty() ? op : folded;
                (folded.empty() ? uses_ : folds_).push_back(place);
            }
            if (!isFolded || folds_.empty() || uses_.empty())
                continue;
            scan_.variable = id;
            scan_.fold = {.name = variable.name,
                          .type = variable.type.spelling,
                          .op = op,
                          .scalar = variable.type.scalar,
                          .startsNeutral = false};
            return true;
        }
        return false;
    }

    /// Looks for an element that is made from the one that the round before made.
    bool findElement() {
        for (NestNodeId id = 0; id < nest_.nodes.size(); ++id) {
            const NestNode& node = nest_.node(id);
            if (node.computation() == nullptr || node.frame != 0 || !isInside(nest_, node_, id) ||
                std::ranges::find(statements_, node.statement) == statements_.end() ||
                body_.stmt(node.statement).kind != StmtKind::Expression)
                continue;
            const Expr& expr = body_.expr(body_.stmt(node.statement).expr);
            if (expr.kind == ExprKind::Binary && isAssignment(expr.op) && readElement(id, expr))
                return true;
        }
        return false;
    }
    bool readElement(NestNodeId id, const Expr& assignment) {
        const NestAccess* written = nullptr;
        for (const NestAccessId at : nest_.node(id).computation()->accesses)
            if (nest_.accesses[at].kind != AccessKind::Read &&
                nest_.accesses[at].expression == assignment.children[0])
                written = &nest_.accesses[at];
        const auto slope = written != nullptr && written->array != noId && written->index
                               ? written->index->coefficientOf(nest_.node(node_).loop()->iterator)
                               : std::nullopt;
        if (!slope || !loop_.step || isThreadsOwn(nest_, *written) || !written->field.empty())
            return false;
        const IndexExpression behind =
            *written->index - *slope * IndexExpression::constant(*loop_.step);
        ExprId previous = noId;
        for (const NestAccess& access : nest_.accesses) {
            if (access.array != written->array || !isInside(nest_, node_, access.node) ||
                access.expression == written->expression)
                continue;
            if (access.node != id || access.kind != AccessKind::Read || previous != noId ||
                access.index != behind || access.unit != written->unit)
                return false;
            previous = access.expression;
        }
        const NestArray& array = nest_.arrays[written->array];
        if (previous == noId || !isFoldable(array.scalar) || array.lanes != 1)
            return false;
        const auto folded =
            assignment.op == "="
                ? operandsWithout(code_, *context_.file.source, assignment.children[1], previous)
                : RemainingOperands{assignment.op.substr(0, assignment.op.size() - 1),
                                    text(written->expression)};
        const bool isWhole =
            assignment.op == "=" || code_.withoutCasts(assignment.children[1]) == previous;
        if (!folded || !isWhole || folded->text.empty() || !isFoldOperator(folded->op))
            return false;
        scan_.form = ScanForm::Element;
        scan_.array = written->array;
        scan_.statement = nest_.node(id).statement;
        scan_.element = written->expression;
        scan_.previous = previous;
        scan_.value = folded->text;
        scan_.fold = {.name = freshName(body_, folded->op == "+" ? "sum" : "running"),
                      .type = array.element,
                      .op = folded->op,
                      .scalar = array.scalar,
                      .startsNeutral = false};
        return true;
    }

    /// Requires a comparison with a limit that stays: lanes evaluate it in rounds of their own.
    [[nodiscard]] Gated<void> requireFixedLimit() const {
        const auto no = [&](std::string_view why) {
            return refuse("not-counted-up", fmt::format("the head of the loop on line {} {}",
                                                        line(loop_.statement), why));
        };
        const ExprId condition = body_.stmt(loop_.statement).condition;
        const std::string& counter = body_.variable(loop_.inductionVariable).name;
        if (body_.expr(condition).kind != ExprKind::Binary || loop_.upperBound == noId)
            return no("is more than a comparison");
        for (const ExprId id : code_.expressionsBelow(condition)) {
            const Expr& expr = body_.expr(id);
            if (expr.kind == ExprKind::Call || expr.kind == ExprKind::Other ||
                (expr.kind == ExprKind::Unary && expr.op != "-"))
                return no("calls a function");
            if (expr.kind != ExprKind::Variable || expr.variable == noId)
                continue;
            if (expr.variable == loop_.inductionVariable && text(id) != counter)
                return no("comes out of a macro");
            if (changes(expr.variable))
                return no(fmt::format("needs {}, which a round changes", expr.name));
        }
        return {};
    }
    /// Whether a round sets the variable, or elements of the array.
    [[nodiscard]] bool changes(VariableId variable) const {
        return std::ranges::any_of(code_.uses(variable),
                                   [&](ExprId use) {
                                       return code_.holds(loop_.body, use) && code_.isWrite(use);
                                   }) ||
               std::ranges::any_of(nest_.accesses, [&](const NestAccess& access) {
                   return access.kind != AccessKind::Read && access.array != noId &&
                          isInside(nest_, node_, access.node) && access.frame == 0 &&
                          nest_.arrays[access.array].variable == variable &&
                          variable != loop_.inductionVariable;
               });
    }

    [[nodiscard]] Gated<void> requireLines() const {
        for (const StmtId id : statements_)
            if (!hasOwnLines(body_, layout_, id, id) || body_.stmt(id).fromMacro)
                return refuse("scan-body",
                              fmt::format("line {} holds more than one statement", line(id)));
        for (const StmtId id : code_.statementsIn(loop_.body))
            if (body_.stmt(id).kind == StmtKind::Continue)
                return refuse("scan-body", fmt::format("line {} may end a round early", line(id)));
        for (const ExprId id : code_.expressionsIn(loop_.statement))
            if (body_.expr(id).kind == ExprKind::BuiltinIndex &&
                (body_.expr(id).name == "threadIdx" || body_.expr(id).name == "blockDim"))
                return refuse("scan-body",
                              fmt::format("line {} asks which thread it is in the scanned loop",
                                          lineNumber(context_, body_.expr(id).span.begin)));
        return {};
    }

    [[nodiscard]] Gated<void> divide() {
        if (scan_.form == ScanForm::Element) {
            const auto at = std::ranges::find(statements_, scan_.statement);
            scan_.before.assign(statements_.begin(), at);
            scan_.after.assign(at + 1, statements_.end());
            return {};
        }
        const std::size_t lastFold = std::ranges::max(folds_);
        const std::size_t firstUse = std::ranges::min(uses_);
        if (lastFold < firstUse) {
            const auto split = statements_.begin() + static_cast<std::ptrdiff_t>(lastFold) + 1;
            scan_.before.assign(statements_.begin(), split);
            scan_.after.assign(split, statements_.end());
            return {};
        }
        if (std::ranges::max(uses_) >= std::ranges::min(folds_))
            return refuse("scan-order",
                          fmt::format("{} is used before and behind what line {} folds into it",
                                      scan_.fold.name, line(statements_[lastFold])));
        scan_.form = ScanForm::Exclusive;
        for (std::size_t at = 0; at < statements_.size(); ++at) {
            const bool isFold = std::ranges::find(folds_, at) != folds_.end();
            (isFold          ? scan_.folds
             : at < firstUse ? scan_.before
                             : scan_.after)
                .push_back(statements_[at]);
        }
        return requireMovable();
    }

    /// Requires that the folds mean the same in front of the statements that they move ahead of.
    [[nodiscard]] Gated<void> requireMovable() const {
        const auto no = [&](std::string_view what) {
            return refuse("scan-order",
                          fmt::format("the fold on line {} needs {}, which the round changes after "
                                      "it uses {}",
                                      line(scan_.folds.front()), what, scan_.fold.name));
        };
        const auto isIn = [&](const std::vector<StmtId>& statements, StmtId place) {
            return place != noId && std::ranges::any_of(statements, [&](StmtId each) {
                       return code_.encloses(each, place);
                   });
        };
        for (VariableId id = 0; id < body_.variables.size(); ++id) {
            if (id == scan_.variable)
                continue;
            const auto& uses = code_.uses(id);
            const bool isNeeded = std::ranges::any_of(
                uses, [&](ExprId use) { return isIn(scan_.folds, code_.statement(use)); });
            const bool isChanged =
                isIn(scan_.after, code_.declarationOf(id)) ||
                std::ranges::any_of(uses, [&](ExprId use) {
                    return code_.isWrite(use) && isIn(scan_.after, code_.statement(use));
                });
            if (isNeeded && isChanged)
                return no(body_.variable(id).name);
        }
        for (const NestAccess& changed : nest_.accesses) {
            if (changed.kind == AccessKind::Read ||
                !isIn(scan_.after, skills::placeOf(nest_, code_, changed.node)))
                continue;
            for (const NestAccess& needed : nest_.accesses)
                if (needed.array == changed.array &&
                    isIn(scan_.folds, skills::placeOf(nest_, code_, needed.node)) &&
                    (needed.array == noId || !nest_.arrays[needed.array].isVariable))
                    return no(needed.array == noId ? "memory" : nest_.arrays[needed.array].name);
        }
        return {};
    }

    /// Requires that variables which are declared before the scan and used behind it can be
    /// declared for lanes without a round as well.
    [[nodiscard]] Gated<void> requireCrossing() {
        std::vector<StmtId> later = scan_.after;
        later.insert(later.end(), scan_.folds.begin(), scan_.folds.end());
        if (scan_.statement != noId)
            later.push_back(scan_.statement);
        bool isCrossed = false;
        std::vector<VariableId> declared;
        for (const StmtId id : scan_.before) {
            const Stmt& stmt = body_.stmt(id);
            for (const VariableId variable : stmt.declared) {
                declared.push_back(variable);
                isCrossed |= std::ranges::any_of(code_.uses(variable), [&](ExprId use) {
                    return std::ranges::any_of(later,
                                               [&](StmtId each) { return code_.holds(each, use); });
                });
            }
        }
        if (!isCrossed)
            return {};
        for (const VariableId id : declared) {
            const Variable& variable = body_.variable(id);
            const StmtId declaration = code_.declarationOf(id);
            const bool isNumber = variable.type.scalar >= ScalarKind::Bool &&
                                  variable.type.scalar != ScalarKind::Half &&
                                  variable.type.scalar != ScalarKind::BFloat16 &&
                                  variable.type.lanes == 1 && variable.type.pointerDepth == 0 &&
                                  !variable.type.isReference && variable.type.arrayExtents.empty();
            if (!isNumber || body_.stmt(declaration).declared.size() != 1 || variable.fromMacro)
                return refuse("scan-body",
                              fmt::format("{} of line {} cannot be declared in front of the scan",
                                          variable.name, line(declaration)));
        }
        scan_.crossing = std::move(declared);
        return {};
    }

    const SkillContext& context_;
    const CodeMap& code_;
    const FunctionBody& body_;
    const Nest& nest_;
    NestNodeId node_;
    const Loop& loop_;
    std::vector<StmtId> statements_;
    SourceLayout layout_;
    /// Indices into `statements_` of those that fold into the variable, and of those that use it.
    std::vector<std::size_t> folds_;
    std::vector<std::size_t> uses_;
    LaneScan scan_;
};

} // namespace

Gated<LaneScan> laneScan(const SkillContext& context, NestNodeId node, std::uint32_t loop) {
    return ScanReader(context, node, loop).read();
}

} // namespace kernelskill::skills
