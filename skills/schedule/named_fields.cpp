#include "skills/schedule/named_fields.h"

#include "analysis/queries/index_arithmetic.h"
#include "analysis/queries/value_spelling.h"
#include "skills/editing/fresh_names.h"
#include "skills/schedule/draft.h"
#include "skills/schedule/fold_text.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>

namespace kernelskill::skills {

using namespace analysis;

namespace {

bool isFieldOfParameter(const CodeMap& code, const Expr& expr) {
    const FunctionBody& body = code.body();
    if (expr.kind != ExprKind::Member || expr.isArrow || expr.isMethod || expr.fromMacro ||
        expr.children.size() != 1 || !isIndexType(expr.type) || expr.type.isDependent ||
        expr.type.isVolatile)
        return false;
    const Expr& object = body.expr(expr.children[0]);
    if (object.kind != ExprKind::Variable || object.variable == noId)
        return false;
    const Variable& parameter = body.variable(object.variable);
    return parameter.storage == Storage::Parameter &&
           parameter.type.scalar == ScalarKind::Unknown && !parameter.type.isReference &&
           parameter.type.pointerDepth == 0 && !parameter.type.isVolatile &&
           !code.isEverWritten(object.variable) &&
           std::ranges::all_of(code.uses(object.variable), [&](ExprId use) {
               const ExprId above = code.parent(use);
               return above != noId && body.expr(above).kind == ExprKind::Member &&
                      !body.expr(above).isMethod;
           });
}

} // namespace

std::vector<TextEdit> namedFields(const SkillContext& context) {
    const CodeMap& code = context.code();
    const FunctionBody& body = code.body();
    const SourceText& source = *context.file.source;
    using Field = std::pair<VariableId, std::string>;
    std::map<Field, std::vector<ExprId>> uses;
    std::map<Field, bool> isInLoop;
    std::vector<Field> order;
    for (ExprId id = 0; id < body.exprs.size(); ++id) {
        const Expr& expr = body.expr(id);
        if (!isFieldOfParameter(code, expr))
            continue;
        const Field field{body.expr(expr.children[0]).variable, expr.name};
        if (!uses.contains(field))
            order.push_back(field);
        uses[field].push_back(id);
        isInLoop[field] |= std::ranges::any_of(
            context.kernel.loops, [&](const Loop& loop) { return code.holds(loop.statement, id); });
    }
    FreshNames names(body);
    Draft draft(context);
    std::vector<std::string> lines;
    for (const Field& field : order) {
        if (!isInLoop[field])
            continue;
        const Expr& first = body.expr(uses[field].front());
        const std::string name = names.add(field.second);
        lines.push_back(fmt::format("const {} {} = {};", valueSpelling(first.type), name,
                                    source.slice(first.span)));
        for (const ExprId use : uses[field])
            draft.replace(body.expr(use).span, name);
    }
    if (!lines.empty())
        writeHead(draft, context, lines);
    return draft.edits();
}

} // namespace kernelskill::skills
