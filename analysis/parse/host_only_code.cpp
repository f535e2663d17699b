#include "analysis/parse/host_only_code.h"

#include "analysis/model/known_functions.h"
#include "analysis/parse/function_lowering.h"
#include "analysis/syntax/lexer.h"

#include <algorithm>
#include <array>
#include <string>

namespace kernelskill::analysis {
namespace {

bool mentionsIndex(std::string_view text) {
    return std::ranges::any_of(builtinIndices(),
                               [&](std::string_view name) { return text.contains(name); });
}

bool isOfCuda(CXCursor variable, std::string_view prelude) {
    const CXSourceLocation location = clang_getCursorLocation(variable);
    if (clang_Location_isInSystemHeader(location) != 0)
        return true;
    const ClangPlace place = fileLocation(location);
    return place.file != nullptr && takeString(clang_getFileName(place.file)).starts_with(prelude);
}

/// Collects references to CUDA's own variables. Skips lambdas, which may be for the device.
void collectIndexUses(CXCursor function, const HostFunctionText& where, std::vector<Span>& uses) {
    std::vector<CXCursor> pending = childrenOf(function);
    std::ranges::reverse(pending);
    while (!pending.empty()) {
        const CXCursor cursor = pending.back();
        pending.pop_back();
        const CXCursorKind kind = clang_getCursorKind(cursor);
        if (kind == CXCursor_LambdaExpr)
            continue;
        if (kind == CXCursor_DeclRefExpr) {
            const std::string name = spellingOf(cursor);
            const std::uint32_t begin = fileLocation(clang_getCursorLocation(cursor)).offset;
            const bool isCuda =
                isBuiltinIndex(name) && isOfCuda(clang_getCursorReferenced(cursor), where.prelude);
            const Span span{begin, begin + static_cast<std::uint32_t>(name.size())};
            const bool isWritten = isCuda && span.end <= where.file.size() &&
                                   where.file.substr(span.begin, span.size()) == name;
            if (isWritten && std::ranges::find(uses, span) == uses.end())
                uses.push_back(span);
        }
        const std::vector<CXCursor> children = childrenOf(cursor);
        pending.insert(pending.end(), children.rbegin(), children.rend());
    }
}

/// Whether the text before the function's name contains constexpr.
bool isConstexpr(CXCursor function, const HostFunctionText& where) {
    const std::uint32_t name = fileLocation(clang_getCursorLocation(function)).offset;
    if (name < where.span.begin || name > where.file.size())
        return false;
    const std::vector<Token> head = lex(where.file, {where.span.begin, name});
    return std::ranges::find(head, "constexpr", &Token::text) != head.end();
}

} // namespace

void collectHostOnly(CXCursor function, const HostFunctionText& where, HostOnlyCode& found) {
    if (where.span.end > where.file.size() || where.span.empty())
        return;
    const CXCursorKind kind = clang_getCursorKind(function);
    const bool isFree = kind == CXCursor_FunctionDecl || kind == CXCursor_FunctionTemplate;
    if (isFree && isConstexpr(function, where)) {
        found.constexprFunctions.push_back(qualifiedNameOf(function));
        return;
    }
    const std::string_view text = where.file.substr(where.span.begin, where.span.size());
    // Code that is only for the device is not compiled for the host.
    if (where.isInMainFile && mentionsIndex(text) && !text.contains("__CUDA_ARCH__"))
        collectIndexUses(function, where, found.indexUses);
}

} // namespace kernelskill::analysis
