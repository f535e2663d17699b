#include "analysis/parse/diagnostic_reader.h"

#include "analysis/command/cuda_headers.h"
#include "analysis/parse/diagnostic_code.h"
#include "analysis/syntax/lexer.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

namespace kernelskill::analysis {

namespace {

/// More than anyone reads. A file that is not C++ has one error per token.
constexpr std::size_t maximumDiagnostics = 300;

std::string pathOf(CXFile file) {
    return takeString(clang_getFileName(file));
}

struct RawDiagnostic {
    CXFile file = nullptr; ///< nullptr if it is about the command line.
    bool inMainFile = false;
    bool inSystemHeader = false;
    CXDiagnosticSeverity severity = CXDiagnostic_Ignored;
    Diagnostic diagnostic;
};

std::optional<Severity> severityOf(CXDiagnosticSeverity severity) {
    switch (severity) {
    case CXDiagnostic_Error:
    case CXDiagnostic_Fatal:
        return Severity::Error;
    case CXDiagnostic_Warning:
        return Severity::Warning;
    default:
        return std::nullopt;
    }
}

/// clang refuses a `__shared__` object whose class has a constructor; nvcc only warns (#20054-D).
bool isSharedInitialization(std::string_view message) {
    return message.starts_with("initialization is not supported for __shared__") ||
           message.starts_with("dynamic initialization is not supported for __device__");
}

/// A template that a header only declares has no linkage if a lambda is among its arguments, and
/// clang requires its body. The prelude's headers have no bodies, and g++ only warns.
bool isDeclaredOnlyInstantiation(std::string_view message) {
    return message.find(
               "is used but not defined in this translation unit, and cannot be defined") !=
           std::string_view::npos;
}

/// Returns the rest of the sentence if an error names a template that CUDA's headers no longer
/// have, else "".
std::string_view removalOf(std::string_view message) {
    if (message == "no template named 'texture'")
        return "; texture references were removed in CUDA 12: pass a cudaTextureObject_t to the "
               "kernel instead";
    if (message == "no template named 'surface'")
        return "; surface references were removed in CUDA 12: pass a cudaSurfaceObject_t to the "
               "kernel instead";
    return "";
}

/// It is about the parser itself, which goes on with another stack.
bool isAboutTheStack(std::string_view message) {
    return message.starts_with("stack nearly exhausted");
}

/// The token at `offset`, so that an editor can underline something.
Span tokenAt(std::string_view text, std::uint32_t offset) {
    const auto size = static_cast<std::uint32_t>(text.size());
    offset = std::min(offset, size);
    const std::vector<Token> tokens = lex(text, {offset, std::min(size, offset + 256)});
    if (!tokens.empty() && tokens.front().span.begin == offset &&
        tokens.front().kind != TokenKind::Directive)
        return tokens.front().span;
    return {offset, std::min(size, offset + 1)};
}

class Reader {
public:
    Reader(CXTranslationUnit unit, const DiagnosticContext& context)
        : unit_(unit), context_(context), mainFile_(clang_getFile(unit, context.file.c_str())) {}

    std::vector<Diagnostic> read() {
        std::vector<RawDiagnostic> raw;
        const unsigned count = clang_getNumDiagnostics(unit_);
        for (unsigned i = 0; i < count && raw.size() < maximumDiagnostics; ++i) {
            const ClangDiagnostic diagnostic(clang_getDiagnostic(unit_, i));
            if (std::optional<RawDiagnostic> one = readOne(diagnostic.get()))
                raw.push_back(std::move(*one));
        }
        findMissingHeaders(raw);
        std::vector<Diagnostic> result;
        for (RawDiagnostic& one : raw)
            if (std::optional<Diagnostic> placed = place(std::move(one)))
                if (!repeats(result, *placed))
                    result.push_back(std::move(*placed));
        withholdUnseen(result, context_.source,
                       {headerMissing_,
                        context_.mode == ParseMode::Prelude ? context_.namesInPrelude : nullptr});
        return result;
    }

private:
    std::optional<RawDiagnostic> readOne(CXDiagnostic diagnostic) {
        RawDiagnostic raw;
        raw.severity = clang_getDiagnosticSeverity(diagnostic);
        const std::optional<Severity> severity = severityOf(raw.severity);
        if (!severity)
            return std::nullopt;
        const CXSourceLocation location = clang_getDiagnosticLocation(diagnostic);
        const ClangPlace at = fileLocation(location);
        raw.file = at.file;
        raw.inMainFile = at.file != nullptr && clang_File_isEqual(at.file, mainFile_) != 0;
        raw.inSystemHeader = clang_Location_isInSystemHeader(location) != 0;
        if (!raw.inMainFile && *severity != Severity::Error)
            return std::nullopt;
        Diagnostic& result = raw.diagnostic;
        result.severity = *severity;
        result.message = takeString(clang_getDiagnosticSpelling(diagnostic));
        if (isAboutTheStack(result.message))
            return std::nullopt;
        result.message += removalOf(result.message);
        if (isSharedInitialization(result.message)) {
            raw.severity = CXDiagnostic_Warning;
            result.severity = Severity::Warning;
        }
        result.code = diagnosticCode(result.message,
                                     takeString(clang_getDiagnosticOption(diagnostic, nullptr)),
                                     takeString(clang_getDiagnosticCategoryText(diagnostic)));
        result.file = raw.inMainFile ? context_.file : at.file != nullptr ? pathOf(at.file) : "";
        result.span =
            raw.inMainFile ? mainSpan(diagnostic, at.offset) : Span{at.offset, at.offset + 1};
        readNotes(diagnostic, result);
        if (result.code == "no-matching-function")
            result.code = codeOfMismatch(result);
        if (raw.inMainFile)
            readFixIts(diagnostic, result);
        return raw;
    }

    Span mainSpan(CXDiagnostic diagnostic, std::uint32_t offset) {
        const Span token = tokenAt(context_.source.text(), offset);
        const unsigned ranges = clang_getDiagnosticNumRanges(diagnostic);
        for (unsigned i = 0; i < ranges; ++i) {
            const CXSourceRange range = clang_getDiagnosticRange(diagnostic, i);
            const ClangPlace begin = fileLocation(clang_getRangeStart(range));
            const ClangPlace end = fileLocation(clang_getRangeEnd(range));
            if (begin.file != nullptr && end.file != nullptr && begin.offset == offset &&
                end.offset > offset && clang_File_isEqual(begin.file, mainFile_) != 0)
                return {begin.offset, std::max(token.end, end.offset)};
        }
        return token;
    }

    /// Only its note distinguishes a call between host and device from other mismatches.
    static std::string codeOfMismatch(const Diagnostic& diagnostic) {
        for (const RelatedPlace& note : diagnostic.related) {
            if (note.message.find("call to __host__ function from") != std::string::npos)
                return "host-call-in-device-code";
            if (note.message.find("call to __device__ function from") != std::string::npos)
                return "device-call-in-host-code";
        }
        return diagnostic.code;
    }

    void readNotes(CXDiagnostic diagnostic, Diagnostic& result) {
        CXDiagnosticSet notes = clang_getChildDiagnostics(diagnostic);
        const unsigned count = std::min(clang_getNumDiagnosticsInSet(notes), 8U);
        for (unsigned i = 0; i < count; ++i) {
            const ClangDiagnostic note(clang_getDiagnosticInSet(notes, i));
            const ClangPlace at = fileLocation(clang_getDiagnosticLocation(note.get()));
            if (at.file == nullptr)
                continue;
            const bool inMain = clang_File_isEqual(at.file, mainFile_) != 0;
            result.related.push_back({inMain ? context_.file : pathOf(at.file),
                                      inMain ? tokenAt(context_.source.text(), at.offset)
                                             : Span{at.offset, at.offset + 1},
                                      takeString(clang_getDiagnosticSpelling(note.get()))});
        }
    }

    void readFixIts(CXDiagnostic diagnostic, Diagnostic& result) {
        FixIt fix;
        const unsigned count = clang_getDiagnosticNumFixIts(diagnostic);
        for (unsigned i = 0; i < count; ++i) {
            CXSourceRange range;
            std::string text = takeString(clang_getDiagnosticFixIt(diagnostic, i, &range));
            const ClangPlace begin = fileLocation(clang_getRangeStart(range));
            const ClangPlace end = fileLocation(clang_getRangeEnd(range));
            if (begin.file == nullptr || clang_File_isEqual(begin.file, mainFile_) == 0 ||
                end.offset < begin.offset)
                return;
            fix.edits.push_back({{begin.offset, end.offset}, std::move(text)});
        }
        if (!fix.edits.empty())
            result.fixIts.push_back(std::move(fix));
    }

    void findMissingHeaders(std::vector<RawDiagnostic>& raw) {
        for (RawDiagnostic& one : raw) {
            Diagnostic& diagnostic = one.diagnostic;
            if (diagnostic.code != "include-not-found")
                continue;
            headerMissing_ = true;
            const auto open = diagnostic.message.find('\'');
            const auto close = diagnostic.message.find('\'', open + 1);
            if (open == std::string::npos || close == std::string::npos)
                continue;
            const std::string name = diagnostic.message.substr(open + 1, close - open - 1);
            if (!isCudaLibraryHeader(name))
                continue;
            diagnostic.severity = Severity::Information;
            diagnostic.origin = DiagnosticOrigin::Notice;
            diagnostic.code = "cuda-header-not-found";
            diagnostic.message = context_.mode == ParseMode::Prelude
                                     ? "The CUDA header '" + name +
                                           "' comes with the CUDA toolkit, which was not found; "
                                           "names from it are not checked"
                                     : "The CUDA library header '" + name +
                                           "' was not found; names from it are not checked";
        }
    }

    /// The diagnostic at the place where the main file's reader sees it; nullopt if it does not
    /// concern them.
    std::optional<Diagnostic> place(RawDiagnostic raw) {
        Diagnostic& diagnostic = raw.diagnostic;
        if (raw.inMainFile)
            return std::move(diagnostic);
        if (isDeclaredOnlyInstantiation(diagnostic.message))
            return std::nullopt;
        if (raw.file ==
            nullptr) { // It is about the command line: clang's flags are not the user's.
            return std::nullopt;
        }
        const auto inMain =
            std::ranges::find(diagnostic.related, context_.file, &RelatedPlace::file);
        if (raw.inSystemHeader) {
            // A system header that nvcc compiles is not at fault, but an instantiation by the user
            // may be.
            if (inMain == diagnostic.related.end())
                return std::nullopt;
            diagnostic.related.insert(diagnostic.related.begin(),
                                      {diagnostic.file, diagnostic.span, diagnostic.message});
            diagnostic.span =
                std::ranges::find(diagnostic.related, context_.file, &RelatedPlace::file)->span;
            diagnostic.file = context_.file;
            return std::move(diagnostic);
        }
        const std::string path = pathOf(raw.file);
        std::size_t directive = context_.includes.size();
        for (const ReachedFile& reached : context_.userFiles)
            if (sameFile(reached.path, path))
                directive = reached.directive;
        if (directive == context_.includes.size() && context_.elsewhere != nullptr) {
            if (diagnostic.origin == DiagnosticOrigin::Compiler)
                context_.elsewhere->push_back(std::move(diagnostic.message));
            return std::nullopt;
        }
        Span at{0, 0};
        if (directive < context_.includes.size())
            at = context_.includes[directive].span;
        if (diagnostic.origin == DiagnosticOrigin::Compiler) {
            diagnostic.related.insert(diagnostic.related.begin(),
                                      {path, diagnostic.span, diagnostic.message});
            diagnostic.message = "in included file: " + diagnostic.message;
        }
        diagnostic.fixIts.clear();
        diagnostic.file = context_.file;
        diagnostic.span = at;
        return std::move(diagnostic);
    }

    bool sameFile(const std::string& reached, const std::string& path) {
        if (reached == path)
            return true;
        CXFile file = clang_getFile(unit_, reached.c_str());
        CXFile other = clang_getFile(unit_, path.c_str());
        return file != nullptr && other != nullptr && clang_File_isEqual(file, other) != 0;
    }

    static bool repeats(const std::vector<Diagnostic>& known, const Diagnostic& one) {
        const bool oncePerFile = one.code == "invalid-utf8";
        return std::ranges::any_of(known, [&](const Diagnostic& other) {
            return other.code == one.code &&
                   ((oncePerFile && other.file == one.file) ||
                    (other.span == one.span && other.message == one.message));
        });
    }

    CXTranslationUnit unit_;
    const DiagnosticContext& context_;
    CXFile mainFile_;
    bool headerMissing_ = false;
};

} // namespace

std::vector<Diagnostic> readDiagnostics(CXTranslationUnit unit, const DiagnosticContext& context) {
    return Reader(unit, context).read();
}

} // namespace kernelskill::analysis
