#include "skills/schedule/subscripted_places.h"

#include "analysis/model/scalar_kinds.h"
#include "analysis/queries/source_layout.h"
#include "skills/gates/fixed_value.h"
#include "skills/schedule/draft.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <optional>
#include <string>

namespace kernelskill::skills {

using namespace analysis;

namespace {

/// `p + i`
struct PointerSum {
    ExprId pointer = noId; ///< A name.
    ExprId index = noId;
};

class PlaceWriter {
public:
    explicit PlaceWriter(const SkillContext& context)
        : code_(context.code()), body_(code_.body()), source_(*context.file.source),
          layout_(source_, context.kernel) {}

    std::vector<TextEdit> edits() {
        for (VariableId id = 0; id < body_.variables.size(); ++id)
            writeOut(id);
        if (edits_.empty()) // Both may be about one expression.
            for (ExprId id = 0; id < body_.exprs.size(); ++id)
                writePlace(id);
        return std::move(edits_);
    }

private:
    [[nodiscard]] std::optional<PointerSum> sumOf(ExprId id) const {
        const Expr& expr = body_.expr(id);
        if (expr.kind != ExprKind::Binary || expr.op != "+" || expr.fromMacro)
            return std::nullopt;
        for (const int side : {0, 1}) {
            const PointerSum sum{expr.children[side], expr.children[1 - side]};
            const Expr& pointer = body_.expr(sum.pointer);
            const Expr& index = body_.expr(sum.index);
            if (pointer.kind == ExprKind::Variable && pointer.variable != noId &&
                (pointer.type.pointerDepth == 1 || pointer.type.arrayExtents.size() == 1) &&
                !pointer.fromMacro && isInteger(index.type) && !index.fromMacro)
                return sum;
        }
        return std::nullopt;
    }
    [[nodiscard]] static bool isInteger(const Type& type) {
        return type.pointerDepth == 0 && type.arrayExtents.empty() && isIntegerScalar(type.scalar);
    }
    [[nodiscard]] std::string element(const PointerSum& sum) const {
        return fmt::format("{}[{}]", source_.slice(body_.expr(sum.pointer).span),
                           source_.slice(body_.expr(sum.index).span));
    }

    void writePlace(ExprId id) {
        const Expr& expr = body_.expr(id);
        const bool isLoad = expr.kind == ExprKind::Call && expr.name == "__ldg";
        const bool isStar = expr.kind == ExprKind::Unary && expr.op == "*";
        if ((!isLoad && !isStar) || expr.fromMacro || expr.children.size() != 1)
            return;
        const auto sum = sumOf(expr.children[0]);
        if (!sum)
            return;
        if (isStar)
            edits_.push_back({expr.span, element(*sum)});
        else
            edits_.push_back({body_.expr(expr.children[0]).span, "&" + element(*sum)});
    }

    /// Replaces a pointer to one element by that element.
    void writeOut(VariableId id) {
        const Variable& variable = body_.variable(id);
        const StmtId declaration = code_.declarationOf(id);
        if (variable.storage != Storage::Local || variable.type.pointerDepth != 1 ||
            !variable.type.arrayExtents.empty() || variable.type.isReference ||
            variable.type.isVolatile || variable.fromMacro || variable.init == noId ||
            declaration == noId || code_.isEverWritten(id) || code_.uses(id).empty() ||
            body_.stmt(declaration).kind != StmtKind::Declaration ||
            body_.stmt(declaration).declared.size() != 1 ||
            !hasOwnLines(body_, layout_, declaration, declaration))
            return;
        const auto sum = sumOf(code_.withoutCasts(variable.init));
        if (!sum || !isSameEverywhere(variable.init) || !pointsToSameType(variable.type, *sum))
            return;
        const auto isWritable = [&](ExprId use) {
            const ExprId above = code_.parent(use);
            if (above == noId || body_.expr(use).fromMacro || body_.expr(above).fromMacro)
                return false;
            const Expr& holder = body_.expr(above);
            return (holder.kind == ExprKind::Unary && holder.op == "*") ||
                   holder.kind == ExprKind::Call;
        };
        if (!std::ranges::all_of(code_.uses(id), isWritable))
            return;
        for (const ExprId use : code_.uses(id)) {
            const Expr& holder = body_.expr(code_.parent(use));
            const bool isStar = holder.kind == ExprKind::Unary;
            edits_.push_back({isStar ? holder.span : body_.expr(use).span,
                              isStar ? element(*sum) : "&" + element(*sum)});
        }
        edits_.push_back({layout_.statementWithLine(body_.stmt(declaration).span), ""});
    }

    /// Whether the text of the value has one meaning everywhere in the kernel.
    [[nodiscard]] bool isSameEverywhere(ExprId value) const {
        return isFixedValue(code_, value) &&
               std::ranges::all_of(code_.expressionsBelow(value), [&](ExprId id) {
                   const VariableId named = body_.expr(id).variable;
                   return named == noId ||
                          std::ranges::count(body_.variables, body_.variable(named).name,
                                             &Variable::name) == 1;
               });
    }
    /// Whether a pointer of this type points to the same type of element as the sum's pointer,
    /// which is not volatile.
    [[nodiscard]] bool pointsToSameType(const Type& type, const PointerSum& sum) const {
        const Type& pointer = body_.expr(sum.pointer).type;
        return type.scalar == pointer.scalar && type.lanes == pointer.lanes &&
               type.elementSize == pointer.elementSize &&
               (type.scalar != ScalarKind::Unknown || type.canonical == pointer.canonical) &&
               !pointer.isVolatile;
    }

    const CodeMap& code_;
    const FunctionBody& body_;
    const SourceText& source_;
    SourceLayout layout_;
    std::vector<TextEdit> edits_;
};

} // namespace

std::vector<TextEdit> subscriptedPlaces(const SkillContext& context) {
    return PlaceWriter(context).edits();
}

} // namespace kernelskill::skills
