#include "skills/editing/grid_stride_form.h"

#include "analysis/queries/code_map.h"
#include "analysis/queries/source_layout.h"
#include "analysis/syntax/lexer.h"
#include "skills/base/gates.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <string>

namespace kernelskill::skills {

using namespace analysis;

namespace {

bool isUnsigned32(const Type& type) {
    return type.scalar == ScalarKind::UInt32 && type.pointerDepth == 0;
}

/// True if this use of a 32-bit signed index means the same, at the same cost, when the index has
/// 64 bits.
bool isWidthNeutral(const CodeMap& code, ExprId use) {
    const FunctionBody& body = code.body();
    constexpr std::array<std::string_view, 3> arithmetic = {"+", "-", "*"};
    constexpr std::array<std::string_view, 6> comparisons = {"<", "<=", ">", ">=", "==", "!="};
    const auto isOneOf = [](const auto& operators, std::string_view op) {
        return std::ranges::find(operators, op) != operators.end();
    };
    for (ExprId at = use;;) {
        const ExprId parent = code.parent(at);
        if (parent == noId) {
            const StmtId holder = code.statement(at);
            const Stmt& stmt = body.stmt(holder);
            for (const VariableId variable : stmt.declared)
                if (body.variable(variable).init == at)
                    return !body.variable(variable).type.spelling.contains("auto") &&
                           body.variable(variable).type.scalar != ScalarKind::Unknown;
            return true;
        }
        const Expr& above = body.expr(parent);
        if (above.kind == ExprKind::Subscript)
            return true;
        if (above.kind == ExprKind::Cast)
            return true;
        if (above.kind != ExprKind::Binary || above.children.size() != 2)
            return false;
        const ExprId other = above.children[0] == at ? above.children[1] : above.children[0];
        if (isUnsigned32(body.expr(other).type))
            return false;
        if (isAssignment(above.op))
            return above.children[1] == at;
        if (isOneOf(comparisons, above.op))
            return true;
        if (!isOneOf(arithmetic, above.op))
            return false;
        at = parent;
    }
}

std::string withoutConst(std::string type) {
    if (type.starts_with("const "))
        type.erase(0, 6);
    if (type.ends_with(" const"))
        type.resize(type.size() - 6);
    return type;
}

std::string limitText(const SkillContext& context, const CodeMap& code,
                      const ElementwiseKernel& found) {
    return std::string(context.file.source->slice(code.body().expr(found.limit).span));
}

/// Head of the loop over two lines, and what its body must start with.
struct LoopHead {
    std::string text;
    std::string firstStatement; ///< Empty: the loop's variable is the index itself.
};

LoopHead loopHead(const SkillContext& context, const CodeMap& code,
                  const ElementwiseKernel& found) {
    const FunctionBody& body = code.body();
    const SourceLayout layout(*context.file.source, context.kernel);
    const Variable& index = body.variable(found.index);
    const std::string type = withoutConst(index.type.spelling);
    const bool is64Bit =
        index.type.scalar == ScalarKind::Int64 || index.type.scalar == ScalarKind::UInt64;
    const bool canWiden =
        index.type.scalar == ScalarKind::Int32 &&
        std::ranges::all_of(code.uses(found.index), [&](ExprId use) {
            return code.statement(use) == found.guard || isWidthNeutral(code, use);
        });
    LoopHead head;
    std::string variable = index.name;
    if (!is64Bit && !canWiden) {
        variable = freshName(body, "index");
        head.firstStatement =
            fmt::format("const {} {} = static_cast<{}>({});", type, index.name, type, variable);
    }
    // 64 bits, so that adding the stride cannot wrap around for the largest sizes.
    const std::string loopType = is64Bit ? type : "long long";
    const Span guard = body.stmt(found.guard).span;
    head.text =
        fmt::format("for ({} {} = {}; {} < {};{}{}     {} += ({})blockDim.x * gridDim.x)", loopType,
                    variable, context.file.source->slice(body.expr(index.init).span), variable,
                    limitText(context, code, found), layout.newline(),
                    layout.indentation(guard.begin), variable, loopType);
    return head;
}

std::vector<TextEdit> removeDeclaration(const SkillContext& context,
                                        const ElementwiseKernel& found) {
    const SourceLayout layout(*context.file.source, context.kernel);
    return {{layout.statementWithLine(context.kernel.body.stmt(found.declaration).span), ""}};
}

std::vector<TextEdit> loopFromGuard(const SkillContext& context, const CodeMap& code,
                                    const ElementwiseKernel& found) {
    const FunctionBody& body = code.body();
    const SourceLayout layout(*context.file.source, context.kernel);
    const Stmt& guard = body.stmt(found.guard);
    const Stmt& inner = body.stmt(guard.children[0]);
    const std::vector<Token> tokens = lex(context.file.source->text(), guard.span);
    const std::size_t close = matchingBracket(tokens, 1);
    const Span condition{guard.span.begin, tokens[close].span.end};
    const LoopHead head = loopHead(context, code, found);
    std::vector<TextEdit> edits{{condition, head.text}};
    if (head.firstStatement.empty())
        return edits;
    const std::string indentation = layout.indentation(guard.span.begin) + layout.unit();
    if (inner.kind == StmtKind::Compound) {
        const std::uint32_t open = inner.span.begin + 1;
        edits.push_back({{open, open}, layout.newline() + indentation + head.firstStatement});
        return edits;
    }
    edits.front().newText += " {" + layout.newline() + indentation + head.firstStatement;
    const std::uint32_t end = layout.endOfLineTrivia(inner.span.end);
    edits.push_back({{end, end}, layout.newline() + layout.indentation(guard.span.begin) + "}"});
    return edits;
}

std::vector<TextEdit> loopFromReturn(const SkillContext& context, const CodeMap& code,
                                     const ElementwiseKernel& found) {
    const SourceLayout layout(*context.file.source, context.kernel);
    const Stmt& guard = code.body().stmt(found.guard);
    const LoopHead head = loopHead(context, code, found);
    const std::string indentation = layout.indentation(guard.span.begin);
    std::string opening = head.text + " {";
    if (!head.firstStatement.empty())
        opening += layout.newline() + indentation + layout.unit() + head.firstStatement;
    std::vector<TextEdit> edits{{guard.span, std::move(opening)}};
    const std::uint32_t close = layout.lineBegin(context.kernel.bodySpan.end - 1);
    const std::vector<TextEdit> indented = layout.indented({guard.span.end, close});
    edits.insert(edits.end(), indented.begin(), indented.end());
    edits.push_back({{close, close}, indentation + "}" + layout.newline()});
    return edits;
}

} // namespace

Gated<void> requireLoopLines(const SkillContext& context, const CodeMap& code,
                             const ElementwiseKernel& found) {
    if (found.form != ElementwiseForm::EarlyReturn)
        return {};
    const SourceLayout layout(*context.file.source, context.kernel);
    const Stmt& guard = code.body().stmt(found.guard);
    if (layout.startsLine(context.kernel.bodySpan.end - 1) && layout.startsLine(guard.span.begin) &&
        layout.endsLine(guard.span.end))
        return {};
    return refuse("several-statements-a-line",
                  fmt::format("line {} holds more than the bounds check",
                              lineNumber(context, guard.span.begin)));
}

std::vector<TextEdit> gridStrideEdits(const SkillContext& context, const CodeMap& code,
                                      const ElementwiseKernel& found) {
    std::vector<TextEdit> edits = removeDeclaration(context, found);
    const std::vector<TextEdit> loop = found.form == ElementwiseForm::GuardedBlock
                                           ? loopFromGuard(context, code, found)
                                           : loopFromReturn(context, code, found);
    edits.insert(edits.end(), loop.begin(), loop.end());
    return edits;
}

bool putsIntoBlock(const SkillContext& context, const CodeMap& code,
                   const ElementwiseKernel& found) {
    const FunctionBody& body = code.body();
    return found.form == ElementwiseForm::GuardedBlock &&
           body.stmt(body.stmt(found.guard).children[0]).kind != StmtKind::Compound &&
           !loopHead(context, code, found).firstStatement.empty();
}

} // namespace kernelskill::skills
