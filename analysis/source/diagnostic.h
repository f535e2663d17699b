/// A message of the parser or of a check about a place in a file.
#pragma once

#include "analysis/source/text_edit.h"

#include <cstdint>
#include <string>
#include <vector>

namespace kernelskill::analysis {

enum class Severity : std::uint8_t { Error, Warning, Information, Hint };

/// The origin of a diagnostic, used as the prefix of its code. The protocol's `source` is always
/// "kernelskill".
enum class DiagnosticOrigin : std::uint8_t {
    Compiler, ///< libclang. `code` is `clang-<category or option>`.
    /// A rule of nvcc, ptxas or a launch that libclang does not check: `static-shared-size`.
    Device,
    Hazard, ///< The kernel is wrong: `race`, `out-of-bounds`, ...
    Waste,  ///< The kernel is provably wasteful: the name of the bottleneck.
    Notice, ///< About the analysis itself, e.g. toolkit headers missing.
};

struct RelatedPlace {
    std::string file;
    Span span;
    std::string message;
};

/// A fix that the compiler proposes.
struct FixIt {
    std::vector<TextEdit> edits; ///< In the diagnostic's file.
};

struct Diagnostic {
    std::string file;
    Span span;
    Severity severity = Severity::Error;
    DiagnosticOrigin origin = DiagnosticOrigin::Compiler;
    std::string code;    ///< A stable name, e.g. "undeclared-identifier", "race".
    std::string message; ///< In the compiler's words, or one plain sentence.
    std::vector<RelatedPlace> related;
    std::vector<FixIt> fixIts;
};

/// Whether the file does not compile because of it.
[[nodiscard]] inline bool isCompileError(const Diagnostic& diagnostic) {
    return diagnostic.severity == Severity::Error &&
           (diagnostic.origin == DiagnosticOrigin::Compiler ||
            diagnostic.origin == DiagnosticOrigin::Device);
}

} // namespace kernelskill::analysis
