#include "analysis/parse/function_lowering.h"
#include "analysis/syntax/lexer.h"

#include <algorithm>

namespace kernelskill::analysis {

namespace {

bool isLaunchConfiguration(CXCursor cursor) {
    if (clang_getCursorKind(cursor) != CXCursor_CallExpr)
        return false;
    const std::string name = spellingOf(cursor);
    return name == "__cudaPushCallConfiguration" || name == "cudaConfigureCall";
}

/// "+" for "operator+"; empty for any other name, including conversion operators.
std::string operatorOf(const std::string& name) {
    constexpr std::string_view keyword = "operator";
    if (!name.starts_with(keyword) || name.size() == keyword.size())
        return {};
    const std::string op = name.substr(keyword.size());
    const bool isWord = op[0] == '_' || op[0] == ' ' || op[0] == '"' ||
                        (op[0] >= 'A' && op[0] <= 'Z') || (op[0] >= 'a' && op[0] <= 'z');
    return isWord ? std::string{} : op;
}

/// The set of functions that an unresolved name may refer to; a null cursor if there is none.
CXCursor overloadSetOf(CXCursor cursor) {
    CXCursor found = clang_getNullCursor();
    forEachChild(cursor, [&](CXCursor child) {
        if (clang_getCursorKind(child) == CXCursor_OverloadedDeclRef)
            found = child;
    });
    return found;
}

/// True for `int&`, but not for `const int&`.
bool takesOutput(CXCursor function, std::size_t position) {
    const CXType type =
        clang_getArgType(clang_getCursorType(function), static_cast<unsigned>(position));
    return type.kind == CXType_LValueReference &&
           clang_isConstQualifiedType(clang_getPointeeType(type)) == 0;
}

/// If a template does not determine the function, any candidate may be called.
bool mayWriteTo(CXCursor function, CXCursor callee, std::size_t position) {
    const CXCursor set = overloadSetOf(callee);
    if (clang_Cursor_isNull(set) != 0)
        return clang_Cursor_isNull(function) == 0 && takesOutput(function, position);
    const unsigned overloads = clang_getNumOverloadedDecls(set);
    for (unsigned i = 0; i < overloads; ++i) {
        if (takesOutput(clang_getOverloadedDecl(set, i), position))
            return true;
    }
    return false;
}

/// The name without its template arguments, e.g. "cg::tiled_partition".
std::string_view withoutTemplateArguments(std::string_view name) {
    const auto open = name.find('<');
    name = name.substr(0, open);
    const auto end = name.find_last_not_of(" \t\r\n");
    return name.substr(0, end == std::string_view::npos ? 0 : end + 1);
}

bool isPlainName(std::string_view name) {
    const std::vector<Token> tokens = lex(name);
    return !tokens.empty() && std::ranges::all_of(tokens, [](const Token& token) {
        return token.kind == TokenKind::Identifier || token.text == "::";
    });
}

} // namespace

std::vector<std::string> writtenTemplateArguments(std::string_view nameText) {
    const std::vector<Token> tokens = lex(nameText);
    const auto open = std::ranges::find(tokens, "<", &Token::text);
    std::vector<std::string> arguments;
    if (open == tokens.end())
        return arguments;
    std::uint32_t begin = open->span.end;
    int angle = 1;
    int bracket = 0;
    const auto finish = [&](std::uint32_t end) {
        const auto first = skipTrivia(nameText, begin);
        if (first >= end)
            return;
        std::string_view text = nameText.substr(first, end - first);
        text = text.substr(0, text.find_last_not_of(" \t\r\n") + 1);
        arguments.emplace_back(text);
    };
    for (auto token = open + 1; token != tokens.end(); ++token) {
        if (token->text == "(" || token->text == "[" || token->text == "{")
            ++bracket;
        else if (token->text == ")" || token->text == "]" || token->text == "}")
            --bracket;
        else if (bracket == 0 && token->text == "<")
            ++angle;
        else if (bracket == 0 && token->text == ">" && --angle == 0) {
            finish(token->span.begin);
            return arguments;
        } else if (bracket == 0 && angle == 1 && token->text == ",") {
            finish(token->span.begin);
            begin = token->span.end;
        }
    }
    return arguments;
}

ExprId FunctionLowering::lowerCall(CXCursor cursor) {
    const std::vector<CXCursor> children = childrenOf(cursor);
    const std::string spelled = spellingOf(cursor);
    const CXCursor referenced = clang_getCursorReferenced(cursor);
    if (clang_getCursorKind(referenced) == CXCursor_Constructor ||
        (!children.empty() && clang_getCursorKind(children.front()) == CXCursor_TypeRef))
        return lowerConstruction(cursor, children);

    std::vector<CXCursor> arguments;
    const int count = clang_Cursor_getNumArguments(cursor);
    for (int i = 0; i < count; ++i) {
        const CXCursor argument = clang_Cursor_getArgument(cursor, static_cast<unsigned>(i));
        if (isWritten(argument))
            arguments.push_back(argument);
    }
    std::string op = operatorOf(spelled);
    if (op.empty() && spelled.empty()) {
        for (const CXCursor child : children) {
            const CXCursor set = overloadSetOf(child);
            if (clang_Cursor_isNull(set) == 0)
                op = operatorOf(spellingOf(set));
            if (!op.empty())
                break;
        }
    }
    if (!op.empty() && op != "()")
        return lowerOperatorCall(cursor, op, arguments);
    if (clang_getCursorKind(referenced) == CXCursor_ConversionFunction && !children.empty()) {
        const std::vector<CXCursor> object = expressionChildren(unwrapped(children.front()));
        if (!object.empty())
            return lowerExpression(object.front());
    }
    if (children.empty())
        return add(startExpression(cursor, ExprKind::Other));

    Expr call = startExpression(cursor, ExprKind::Call);
    if (op == "()") { // A functor: the object is the first argument.
        call.name = "operator()";
        call.isMethod = true;
    } else {
        describeCallee(children.front(), call);
    }
    const std::size_t objects = op == "()" ? 1 : 0;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        const ExprId lowered = lowerExpression(arguments[i]);
        call.children.push_back(lowered);
        if (i >= objects)
            result_.body.exprs[lowered].isOutput =
                mayWriteTo(referenced, unwrapped(children.front()), i - objects);
    }
    std::vector<Callee> callees = calleesOf(cursor, children.front());
    const auto configuration = std::ranges::find_if(children, isLaunchConfiguration);
    if (configuration != children.end())
        recordLaunch(cursor, children.front(), *configuration, call);
    const ExprId id = add(std::move(call));
    if (!callees.empty())
        result_.callees.emplace(id, std::move(callees));
    return id;
}

ExprId FunctionLowering::lowerOperatorCall(CXCursor cursor, const std::string& op,
                                           const std::vector<CXCursor>& arguments) {
    Expr expr = startExpression(cursor, ExprKind::Binary);
    expr.op = op;
    for (const CXCursor argument : arguments) {
        const ExprId lowered = lowerExpression(argument);
        expr.children.push_back(lowered);
    }
    const bool incremental = op == "++" || op == "--";
    if (op == "[]" && expr.children.size() == 2)
        expr.kind = ExprKind::Subscript;
    else if (incremental && !expr.children.empty()) {
        const std::string_view text = slice(expr.span);
        expr.op = text.ends_with(op) ? "p" + op : op;
        expr.kind = ExprKind::Unary;
        expr.children.resize(1);
    } else if (expr.children.size() == 1 && op != "->")
        expr.kind = ExprKind::Unary;
    else if (expr.children.size() == 1)
        return expr.children.front();
    else if (expr.children.size() != 2)
        expr.kind = ExprKind::Other;
    return add(std::move(expr));
}

ExprId FunctionLowering::lowerConstruction(CXCursor cursor, const std::vector<CXCursor>& children) {
    std::vector<CXCursor> arguments;
    for (const CXCursor child : children)
        if (clang_isExpression(clang_getCursorKind(child)) != 0 && isWritten(child))
            arguments.push_back(child);
    const Span span = placeOf(cursor).span;
    // A copy or an implicit conversion has the same text as its only argument.
    if (arguments.size() == 1 && placeOf(arguments.front()).span == span)
        return lowerExpression(arguments.front());
    Expr expr = startExpression(cursor, ExprKind::InitList);
    expr.name = spellingOf(cursor);
    if (expr.name.empty())
        expr.name = expr.type.spelling;
    for (const CXCursor argument : arguments) {
        const ExprId lowered = lowerExpression(argument);
        expr.children.push_back(lowered);
    }
    return add(std::move(expr));
}

void FunctionLowering::describeCallee(CXCursor callee, Expr& call) {
    const CXCursor target = unwrapped(callee);
    const Place place = placeOf(target);
    const std::string_view written = slice(place.span);
    if (clang_getCursorKind(target) == CXCursor_MemberRefExpr) {
        call.isMethod = true;
        const ExprId member = lowerMember(target);
        const Expr& lowered = result_.body.exprs[member];
        call.name = lowered.name;
        call.isArrow = lowered.isArrow;
        const auto last = written.rfind(call.name);
        if (last != std::string_view::npos)
            call.templateArguments = writtenTemplateArguments(written.substr(last));
        if (lowered.children.empty()) { // An implicit `this`.
            Expr self;
            self.name = "this";
            self.span = {place.span.begin, place.span.begin};
            const ExprId object = add(std::move(self));
            call.children.push_back(object);
        } else {
            call.children.push_back(lowered.children.front());
        }
        return;
    }
    const std::string_view name = withoutTemplateArguments(written);
    call.name = !place.fromMacro && isPlainName(name) ? std::string(name) : spellingOf(target);
    if (call.name.empty()) {
        const CXCursor set = overloadSetOf(target);
        call.name = clang_Cursor_isNull(set) == 0 ? spellingOf(set) : std::string(name);
    }
    call.templateArguments = writtenTemplateArguments(written);
}

std::vector<Callee> FunctionLowering::calleesOf(CXCursor call, CXCursor callee) {
    std::vector<Callee> callees;
    const auto consider = [&](CXCursor declaration) {
        const CXCursorKind kind = clang_getCursorKind(declaration);
        if (kind == CXCursor_FunctionDecl || kind == CXCursor_CXXMethod ||
            kind == CXCursor_FunctionTemplate)
            callees.push_back(
                {qualifiedNameOf(declaration),
                 clang_Location_isInSystemHeader(clang_getCursorLocation(declaration)) != 0});
    };
    const CXCursor target = unwrapped(callee);
    const CXCursor set = overloadSetOf(target);
    if (clang_Cursor_isNull(set) == 0) {
        const unsigned count = clang_getNumOverloadedDecls(set);
        for (unsigned i = 0; i < count; ++i)
            consider(clang_getOverloadedDecl(set, i));
        return callees;
    }
    CXCursor referenced = clang_getCursorReferenced(call);
    if (clang_getCursorKind(referenced) == CXCursor_VarDecl) {
        // For a launch through a variable: `auto kernel = scale<float>;`.
        const CXCursor init = clang_Cursor_getVarDeclInitializer(referenced);
        if (clang_Cursor_isNull(init) == 0) {
            CXCursor value = unwrapped(init);
            if (clang_getCursorKind(value) == CXCursor_UnaryOperator)
                for (const CXCursor operand : expressionChildren(value))
                    value = unwrapped(operand);
            const CXCursor overloads = overloadSetOf(value);
            referenced = clang_Cursor_isNull(overloads) == 0 ? clang_getOverloadedDecl(overloads, 0)
                                                             : clang_getCursorReferenced(value);
        }
    }
    consider(referenced);
    return callees;
}

void FunctionLowering::recordLaunch(CXCursor call, CXCursor callee, CXCursor configuration,
                                    const Expr& lowered) {
    const std::vector<Callee> callees = calleesOf(call, callee);
    LaunchSite site;
    site.kernelName = callees.empty() ? lowered.name : callees.front().qualifiedName;
    site.span = lowered.span;
    site.fromMacro = lowered.fromMacro;
    site.templateArguments = lowered.templateArguments;
    const CXCursor specialization = clang_getCursorReferenced(call);
    const int deduced = clang_Cursor_getNumTemplateArguments(specialization);
    if (deduced > static_cast<int>(site.templateArguments.size())) {
        site.templateArguments.clear();
        for (int i = 0; i < deduced; ++i) {
            const auto index = static_cast<unsigned>(i);
            const CXTemplateArgumentKind kind =
                clang_Cursor_getTemplateArgumentKind(specialization, index);
            if (kind == CXTemplateArgumentKind_Type)
                site.templateArguments.push_back(takeString(clang_getTypeSpelling(
                    clang_Cursor_getTemplateArgumentType(specialization, index))));
            else if (kind == CXTemplateArgumentKind_Integral)
                site.templateArguments.push_back(
                    std::to_string(clang_Cursor_getTemplateArgumentValue(specialization, index)));
            else
                site.templateArguments.emplace_back();
        }
    }
    const std::vector<Token> tokens = lex(text_, site.span);
    const auto open = std::ranges::find(tokens, "<<<", &Token::text);
    const auto close = std::ranges::find(open, tokens.end(), ">>>", &Token::text);
    if (close != tokens.end())
        site.configurationSpan = {open->span.begin, close->span.end};
    const int count = clang_Cursor_getNumArguments(configuration);
    ExprId* const slots[] = {&site.grid, &site.block, &site.sharedBytes, &site.stream};
    for (int i = 0; i < std::min(count, 4); ++i) {
        const CXCursor argument = clang_Cursor_getArgument(configuration, static_cast<unsigned>(i));
        if (isWritten(argument))
            *slots[i] = lowerExpression(argument);
    }
    site.arguments = lowered.children;
    for (const ExprId argument : site.arguments)
        site.argumentSpans.push_back(result_.body.exprs[argument].span);
    result_.launches.push_back(std::move(site));
}

} // namespace kernelskill::analysis
