#include "analysis/parse/function_lowering.h"

#include "analysis/syntax/lexer.h"

#include <algorithm>
#include <cctype>
#include <utility>

namespace kernelskill::analysis {

namespace {

/// The end of the macro use that begins at `offset`: its name and, if present, its arguments.
std::uint32_t macroUseEnd(std::string_view text, std::uint32_t offset) {
    std::uint32_t end = offset;
    while (end < text.size() &&
           (std::isalnum(static_cast<unsigned char>(text[end])) != 0 || text[end] == '_'))
        ++end;
    const std::uint32_t open = skipTrivia(text, end);
    if (open >= text.size() || text[open] != '(')
        return end;
    // Most uses are short, and each expression that a macro makes asks for its end.
    constexpr std::uint32_t maxUseLength = 4096;
    for (std::uint32_t length = 64; length <= maxUseLength; length *= 8) {
        const std::vector<Token> tokens = lex(text, {open, open + length});
        const std::size_t close = matchingBracket(tokens, 0);
        if (close < tokens.size())
            return tokens[close].span.end;
    }
    return open + maxUseLength;
}

bool startsIdentifier(std::string_view text, std::uint32_t offset) {
    const auto isPart = [&](std::uint32_t at) {
        return std::isalnum(static_cast<unsigned char>(text[at])) != 0 || text[at] == '_';
    };
    return offset < text.size() && isPart(offset) && (offset == 0 || !isPart(offset - 1));
}

Storage storageOf(CXCursor declaration, const Type& type) {
    const CXCursorKind parentKind = clang_getCursorKind(clang_getCursorSemanticParent(declaration));
    const bool isLocal = parentKind == CXCursor_FunctionDecl || parentKind == CXCursor_CXXMethod ||
                         parentKind == CXCursor_FunctionTemplate ||
                         parentKind == CXCursor_Constructor || parentKind == CXCursor_Destructor ||
                         parentKind == CXCursor_ConversionFunction ||
                         parentKind == CXCursor_LambdaExpr;
    bool shared = false;
    bool constant = false;
    bool device = false;
    forEachChild(declaration, [&](CXCursor child) {
        const CXCursorKind kind = clang_getCursorKind(child);
        shared = shared || kind == CXCursor_CUDASharedAttr;
        constant = constant || kind == CXCursor_CUDAConstantAttr;
        device = device || kind == CXCursor_CUDADeviceAttr;
    });
    if (shared) {
        const bool isExtern = clang_Cursor_getStorageClass(declaration) == CX_SC_Extern;
        const bool unsized =
            !type.arrayExtents.empty() && type.arrayExtents.front() < 0 && !type.isDependent;
        return isExtern || (unsized && isExtern) ? Storage::DynamicShared : Storage::Shared;
    }
    if (constant)
        return Storage::Constant;
    if (device)
        return Storage::DeviceGlobal;
    return isLocal ? Storage::Local : Storage::HostGlobal;
}

bool isIntegral(const Type& type) {
    return type.pointerDepth == 0 && type.arrayExtents.empty() && type.lanes == 1 &&
           type.scalar >= ScalarKind::Bool && type.scalar <= ScalarKind::UInt64;
}

} // namespace

std::string qualifiedNameOf(CXCursor declaration) {
    std::string name = spellingOf(declaration);
    CXCursor parent = clang_getCursorSemanticParent(declaration);
    while (clang_isInvalid(clang_getCursorKind(parent)) == 0 &&
           clang_isTranslationUnit(clang_getCursorKind(parent)) == 0) {
        const CXCursorKind kind = clang_getCursorKind(parent);
        const bool named = kind == CXCursor_Namespace || kind == CXCursor_StructDecl ||
                           kind == CXCursor_ClassDecl || kind == CXCursor_ClassTemplate ||
                           kind == CXCursor_UnionDecl;
        if (named && clang_Cursor_isAnonymous(parent) == 0)
            name = spellingOf(parent) + "::" + name;
        parent = clang_getCursorSemanticParent(parent);
    }
    return name;
}

LoweredFunction FunctionLowering::lower(CXCursor function) {
    result_ = {};
    variables_.clear();
    globals_.clear();
    depth_ = 0;
    const CXSourceLocation location = clang_getCursorLocation(function);
    const ClangPlace name = expansionLocation(location);
    result_.file = name.file;
    std::size_t size = 0;
    const char* contents =
        name.file != nullptr ? clang_getFileContents(unit_, name.file, &size) : nullptr;
    text_ = contents != nullptr ? std::string_view(contents, size) : std::string_view{};

    const ClangPlace spelled = spellingLocation(location);
    result_.fromMacro = spelled.offset != name.offset || spelled.file != name.file;
    result_.span = placeOf(function).span;
    result_.nameSpan = {name.offset,
                        name.offset + static_cast<std::uint32_t>(spellingOf(function).size())};

    lowerParameters(function);
    CXCursor body = clang_getNullCursor();
    forEachChild(function, [&](CXCursor child) {
        if (clang_getCursorKind(child) == CXCursor_CompoundStmt)
            body = child;
    });
    if (clang_Cursor_isNull(body) == 0) {
        result_.bodySpan = placeOf(body).span;
        result_.body.root = lowerStatement(body, noId);
    }
    return std::exchange(result_, {});
}

void FunctionLowering::lowerParameters(CXCursor function) {
    const CXType canonical = clang_getCanonicalType(clang_getCursorType(function));
    forEachChild(function, [&](CXCursor child) {
        const CXCursorKind kind = clang_getCursorKind(child);
        if (kind == CXCursor_TemplateTypeParameter || kind == CXCursor_NonTypeTemplateParameter)
            lowerTemplateParameter(child);
        if (kind != CXCursor_ParmDecl)
            return;
        const Place place = placeOf(child);
        const auto id = static_cast<VariableId>(result_.body.variables.size());
        Variable variable = describeVariable(child);
        variable.storage = Storage::Parameter;
        variable.declarationSpan = place.span;
        variable.constantValue.reset();
        // `float x[]` is a pointer, but libclang shows that only in the function's type.
        if (!variable.type.arrayExtents.empty())
            variable.type = types_.lower(
                clang_getArgType(canonical, static_cast<unsigned>(result_.parameters.size())));
        variables_.emplace(child, id);
        result_.body.variables.push_back(std::move(variable));
        result_.parameters.push_back(id);
        result_.parameterSpans.push_back(place.span);
    });
}

void FunctionLowering::lowerTemplateParameter(CXCursor parameter) {
    TemplateParameter lowered;
    lowered.name = spellingOf(parameter);
    lowered.isType = clang_getCursorKind(parameter) == CXCursor_TemplateTypeParameter;
    if (!lowered.isType)
        lowered.type = types_.lower(clang_getCursorType(parameter));
    const std::string_view written = slice(placeOf(parameter).span);
    if (const auto equals = written.find('='); equals != std::string_view::npos) {
        const auto first = skipTrivia(written, static_cast<std::uint32_t>(equals + 1));
        lowered.defaultArgument = std::string(written.substr(first));
    }
    result_.templateParameters.push_back(std::move(lowered));
}

Variable FunctionLowering::describeVariable(CXCursor declaration) {
    Variable variable;
    variable.name = spellingOf(declaration);
    variable.type = types_.lower(clang_getCursorType(declaration));
    const CXCursorKind kind = clang_getCursorKind(declaration);
    if (kind == CXCursor_VarDecl)
        variable.storage = storageOf(declaration, variable.type);
    else
        variable.storage = Storage::HostGlobal;
    const Place place = placeOf(declaration);
    const ClangPlace name = expansionLocation(clang_getCursorLocation(declaration));
    if (name.file != nullptr && clang_File_isEqual(name.file, result_.file) != 0)
        variable.span = {std::clamp(name.offset, place.span.begin, place.span.end), place.span.end};
    variable.declarationSpan = place.span;
    variable.fromMacro = place.fromMacro;
    if (kind == CXCursor_VarDecl && variable.type.isConst && isIntegral(variable.type)) {
        const CXCursor init = clang_Cursor_getVarDeclInitializer(declaration);
        if (clang_Cursor_isNull(init) == 0) {
            const ClangEvaluation value(clang_Cursor_Evaluate(init));
            if (value && clang_EvalResult_getKind(value.get()) == CXEval_Int)
                variable.constantValue = clang_EvalResult_getAsLongLong(value.get());
        }
    }
    return variable;
}

VariableId FunctionLowering::variableFor(CXCursor declaration) {
    const CXCursorKind kind = clang_getCursorKind(declaration);
    if (kind != CXCursor_VarDecl && kind != CXCursor_ParmDecl &&
        kind != CXCursor_NonTypeTemplateParameter)
        return noId;
    if (const auto known = variables_.find(declaration); known != variables_.end())
        return known->second;
    // A namespace-scope variable may have several declarations, each of which identifies it.
    const CXCursor canonical = clang_getCanonicalCursor(declaration);
    if (const auto known = variables_.find(canonical); known != variables_.end())
        return known->second;
    const auto id = static_cast<VariableId>(result_.body.variables.size());
    Variable variable = describeVariable(declaration);
    variables_.emplace(canonical, id);
    result_.body.variables.push_back(std::move(variable));
    return id;
}

VariableId FunctionLowering::addLocal(CXCursor declaration, Span declarationSpan) {
    const auto id = static_cast<VariableId>(result_.body.variables.size());
    result_.body.variables.push_back(describeVariable(declaration));
    result_.body.variables[id].declarationSpan = declarationSpan;
    variables_.emplace(declaration, id);
    const CXCursor init = clang_Cursor_getVarDeclInitializer(declaration);
    if (clang_Cursor_isNull(init) == 0 && clang_isExpression(clang_getCursorKind(init)) != 0) {
        // A default-constructed class object has a call that is not in the text.
        const Place place = placeOf(init);
        const bool implicit = clang_getCursorKind(init) == CXCursor_CallExpr &&
                              slice(place.span) == result_.body.variables[id].name;
        if (!implicit) {
            const ExprId lowered = lowerExpression(init);
            result_.body.variables[id].init = lowered;
        }
    }
    return id;
}

FunctionLowering::Place FunctionLowering::placeOf(CXCursor cursor) const {
    const CXSourceRange range = clang_getCursorExtent(cursor);
    const CXSourceLocation start = clang_getRangeStart(range);
    ClangPlace begin = fileLocation(start);
    ClangPlace end = fileLocation(clang_getRangeEnd(range));
    const ClangPlace expanded = expansionLocation(start);
    const ClangPlace spelled = spellingLocation(start);
    if (begin.file == nullptr || clang_File_isEqual(begin.file, result_.file) == 0)
        begin = expanded;
    if (begin.file == nullptr || clang_File_isEqual(begin.file, result_.file) == 0)
        return {{}, true};
    // A macro whose text is an argument of another ends where its use begins, clang says.
    const ClangPlace expandedEnd = expansionLocation(clang_getRangeEnd(range));
    if (expandedEnd.offset != spellingLocation(clang_getRangeEnd(range)).offset &&
        startsIdentifier(text_, end.offset))
        end.offset = macroUseEnd(text_, end.offset);
    const bool startsInMacro =
        expanded.offset != spelled.offset || clang_File_isEqual(expanded.file, spelled.file) == 0;
    Place place{{begin.offset, std::max(begin.offset, end.offset)}, false};
    if (startsInMacro) {
        const std::uint32_t useEnd = macroUseEnd(text_, expanded.offset);
        place.fromMacro = place.span.end <= useEnd;
        if (!place.fromMacro)
            place.span.begin = expanded.offset;
    }
    return place;
}

Span FunctionLowering::withSemicolon(Span span) const {
    const std::uint32_t next = skipTrivia(text_, span.end);
    if (next < text_.size() && text_[next] == ';')
        span.end = next + 1;
    return span;
}

std::string_view FunctionLowering::slice(Span span) const {
    const auto begin = std::min<std::size_t>(span.begin, text_.size());
    return text_.substr(begin, std::max(span.end, span.begin) - span.begin);
}

std::string_view FunctionLowering::textAt(ClangPlace place) const {
    if (place.file == nullptr)
        return {};
    std::size_t size = 0;
    const char* contents = clang_getFileContents(unit_, place.file, &size);
    if (contents == nullptr || place.offset > size)
        return {};
    return std::string_view(contents, size).substr(place.offset);
}

} // namespace kernelskill::analysis
