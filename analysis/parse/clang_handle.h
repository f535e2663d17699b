/// Owns libclang's objects, and converts its strings and places to values.
#pragma once

#include "analysis/source/source_text.h"

#include <clang-c/Index.h>

#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

namespace kernelskill::analysis {

struct ClangDeleter {
    void operator()(CXIndex index) const { clang_disposeIndex(index); }
    void operator()(CXTranslationUnit unit) const { clang_disposeTranslationUnit(unit); }
};
using ClangIndex = std::unique_ptr<std::remove_pointer_t<CXIndex>, ClangDeleter>;
using ClangUnit = std::unique_ptr<std::remove_pointer_t<CXTranslationUnit>, ClangDeleter>;

struct DiagnosticDeleter {
    void operator()(void* diagnostic) const { clang_disposeDiagnostic(diagnostic); }
};
using ClangDiagnostic = std::unique_ptr<void, DiagnosticDeleter>;

struct EvaluationDeleter {
    void operator()(void* result) const { clang_EvalResult_dispose(result); }
};
using ClangEvaluation = std::unique_ptr<void, EvaluationDeleter>;

/// Copies the string and frees it.
[[nodiscard]] inline std::string takeString(CXString string) {
    const char* text = clang_getCString(string);
    std::string result = text != nullptr ? text : "";
    clang_disposeString(string);
    return result;
}

/// A byte offset in a file.
struct ClangPlace {
    CXFile file = nullptr;
    std::uint32_t offset = 0;
};

[[nodiscard]] inline ClangPlace fileLocation(CXSourceLocation location) {
    ClangPlace place;
    clang_getFileLocation(location, &place.file, nullptr, nullptr, &place.offset);
    return place;
}

[[nodiscard]] inline ClangPlace expansionLocation(CXSourceLocation location) {
    ClangPlace place;
    clang_getExpansionLocation(location, &place.file, nullptr, nullptr, &place.offset);
    return place;
}

[[nodiscard]] inline ClangPlace spellingLocation(CXSourceLocation location) {
    ClangPlace place;
    clang_getSpellingLocation(location, &place.file, nullptr, nullptr, &place.offset);
    return place;
}

[[nodiscard]] inline std::string spellingOf(CXCursor cursor) {
    return takeString(clang_getCursorSpelling(cursor));
}

/// Calls `visit(child)` for each direct child.
template <typename Visit>
void forEachChild(CXCursor cursor, Visit visit) {
    clang_visitChildren(
        cursor,
        [](CXCursor child, CXCursor, CXClientData data) {
            (*static_cast<Visit*>(data))(child);
            return CXChildVisit_Continue;
        },
        &visit);
}

[[nodiscard]] inline std::vector<CXCursor> childrenOf(CXCursor cursor) {
    std::vector<CXCursor> children;
    forEachChild(cursor, [&](CXCursor child) { children.push_back(child); });
    return children;
}

struct CursorHash {
    std::size_t operator()(const CXCursor& cursor) const { return clang_hashCursor(cursor); }
};
struct CursorEqual {
    bool operator()(const CXCursor& a, const CXCursor& b) const {
        return clang_equalCursors(a, b) != 0;
    }
};

} // namespace kernelskill::analysis
