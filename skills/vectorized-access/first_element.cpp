#include "skills/vectorized-access/first_element.h"

#include <algorithm>

namespace kernelskill::skills {

using namespace analysis;

namespace {

class FirstElement {
public:
    FirstElement(const SkillContext& context, const SharedWalk& walk)
        : code_(context.code()), body_(code_.body()), nest_(context.shared().nest()), walk_(walk) {}

    [[nodiscard]] bool isFoldedAgain() const {
        if (walk_.elements.size() != 1 || walk_.elements.front().isWritten)
            return false;
        for (VariableId id = 0; id < body_.variables.size(); ++id) {
            const StmtId declaration = code_.declarationOf(id);
            const bool isOuter =
                declaration == noId || !code_.encloses(walk_.statement, declaration);
            const auto write = std::ranges::find_if(code_.uses(id), [&](ExprId use) {
                return code_.holds(walk_.statement, use) && code_.isWrite(use);
            });
            if (!isOuter || id == walk_.form.index || write == code_.uses(id).end())
                continue;
            const ExprId before = valueBefore(id);
            if (before == noId || !isExtreme(id, *write, before))
                return false;
        }
        return true;
    }

private:
    /// The last value that the variable gets before the walk, in the same block.
    [[nodiscard]] ExprId valueBefore(VariableId id) const {
        const Stmt& loop = body_.stmt(walk_.statement);
        ExprId value = body_.variable(id).init;
        StmtId place = code_.declarationOf(id);
        for (const ExprId use : code_.uses(id)) {
            if (body_.expr(use).span.begin >= loop.span.begin)
                break;
            if (!code_.isWrite(use))
                continue;
            const ExprId parent = code_.parent(use);
            const bool isSet = parent != noId && body_.expr(parent).op == "=" &&
                               body_.expr(parent).children[0] == use;
            value = isSet ? body_.expr(parent).children[1] : noId;
            place = code_.statement(use);
        }
        return place != noId && body_.stmt(place).parent == loop.parent ? value : noId;
    }

    [[nodiscard]] bool isExtreme(VariableId id, ExprId write, ExprId before) const {
        for (const ExtremeFold& fold : walk_.effects.extremes) {
            if (fold.place == id)
                return body_.expr(code_.withoutCasts(before)).kind == ExprKind::Integer &&
                       body_.expr(code_.withoutCasts(before)).integer == 0;
            if (fold.best == id)
                return isElement(foundValue(body_.expr(code_.parent(write)).children[1])) &&
                       isFirst(before);
        }
        const ExprId parent = code_.parent(write);
        if (parent == noId || body_.expr(parent).op != "=" || !isFirst(before))
            return false;
        const Expr& call = body_.expr(code_.withoutCasts(body_.expr(parent).children[1]));
        const auto fold =
            std::ranges::find(walk_.effects.folds, body_.variable(id).name, &LaneFold::name);
        if (fold == walk_.effects.folds.end() || (fold->op != "min" && fold->op != "max") ||
            call.kind != ExprKind::Call || call.children.size() != 2)
            return false;
        const bool isSecond = code_.namedVariable(call.children[0]) == id;
        const bool isOnly = std::ranges::count_if(code_.uses(id), [&](ExprId use) {
                                return code_.holds(walk_.statement, use);
                            }) == 2;
        return isOnly && (isSecond || code_.namedVariable(call.children[1]) == id) &&
               isElement(call.children[isSecond ? 1 : 0]);
    }

    /// Returns the value that becomes the best one: `value` of `value > best ? value : best`.
    [[nodiscard]] ExprId foundValue(ExprId set) const {
        const Expr& expr = body_.expr(code_.withoutCasts(set));
        return expr.kind == ExprKind::Conditional ? expr.children[1] : set;
    }

    /// The walk's element itself, also by the name of a local.
    [[nodiscard]] bool isElement(ExprId expr) const {
        const VariableId named = code_.namedVariable(expr);
        if (named != noId) {
            const StmtId declaration = code_.declarationOf(named);
            return declaration != noId && code_.encloses(walk_.statement, declaration) &&
                   !code_.isEverWritten(named) && body_.variable(named).init != noId &&
                   isElement(body_.variable(named).init);
        }
        return std::ranges::find(walk_.accesses, expr, &WalkedAccess::replaced) !=
               walk_.accesses.end();
    }

    /// The walk's element of index 0.
    [[nodiscard]] bool isFirst(ExprId expr) const {
        const NestAccess* first = accessOf(expr);
        const NestAccess* any = accessOf(walk_.accesses.front().replaced);
        const IndexExpression index =
            IndexExpression::symbol(nest_.node(walk_.node).loop()->iterator);
        return first != nullptr && any != nullptr && first->index && any->index &&
               first->array == any->array && first->array != noId && first->unit == any->unit &&
               *any->index - index == *first->index;
    }

    [[nodiscard]] const NestAccess* accessOf(ExprId expr) const {
        const auto found = std::ranges::find_if(nest_.accesses, [&](const NestAccess& access) {
            return access.frame == 0 && access.expression == expr;
        });
        return found == nest_.accesses.end() ? nullptr : &*found;
    }

    const CodeMap& code_;
    const FunctionBody& body_;
    const Nest& nest_;
    const SharedWalk& walk_;
};

} // namespace

bool foldsFirstAgain(const SkillContext& context, const SharedWalk& walk) {
    return FirstElement(context, walk).isFoldedAgain();
}

} // namespace kernelskill::skills
