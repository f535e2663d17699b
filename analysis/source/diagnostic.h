/// What the parser and the checks have to say about a place in a file.
#pragma once

#include "analysis/source/text_edit.h"

#include <cstdint>
#include <string>
#include <vector>

namespace kernelskill::analysis {

enum class Severity : std::uint8_t { Error, Warning, Information, Hint };

/// Who found it; the `source` of the protocol is always "kernelskill", this is the prefix of the
/// code.
enum class DiagnosticOrigin : std::uint8_t {
    Compiler, ///< libclang. `code` is `clang-<category or option>`.
    Device,   ///< A rule of nvcc, ptxas or a launch that libclang does not know:
              ///< `static-shared-size`.
    Hazard,   ///< A kernel is wrong: `race`, `out-of-bounds`, ...
    Waste,    ///< Provably wasteful: the name of the bottleneck.
    Notice,   ///< About the analysis itself, e.g. toolkit headers missing.
};

struct RelatedPlace {
    std::string file;
    Span span;
    std::string message;
};

/// A fix that the compiler itself proposes.
struct FixIt {
    std::vector<TextEdit> edits; ///< In the diagnostic's file.
};

struct Diagnostic {
    std::string file;
    Span span;
    Severity severity = Severity::Error;
    DiagnosticOrigin origin = DiagnosticOrigin::Compiler;
    std::string code;    ///< Stable, e.g. "undeclared-identifier", "race".
    std::string message; ///< As the compiler words it, or one plain sentence.
    std::vector<RelatedPlace> related;
    std::vector<FixIt> fixIts;
};

/// Whether it keeps the file from compiling.
[[nodiscard]] inline bool isCompileError(const Diagnostic& diagnostic) {
    return diagnostic.severity == Severity::Error &&
           (diagnostic.origin == DiagnosticOrigin::Compiler ||
            diagnostic.origin == DiagnosticOrigin::Device);
}

} // namespace kernelskill::analysis
