#include "engine/agents/compile_diagnoser.h"

#include <algorithm>
#include <array>
#include <utility>

namespace kernelskill::engine {
namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 40> explanations{{
    {"missing-semicolon", "A statement or declaration does not end in ';'"},
    {"missing-brace", "A block is opened or closed without its other brace"},
    {"extra-brace", "A '}' closes nothing"},
    {"missing-parenthesis", "A parenthesis has no counterpart"},
    {"missing-bracket", "A '[' is not closed"},
    {"extra-punctuation", "Something is expected where this stands"},
    {"misspelled-identifier", "No such name is declared, but one very like it is"},
    {"missing-include", "The name is declared in a header that the file does not include"},
    {"misspelled-include", "There is no such header, but one with a name very like it"},
    {"missing-global", "Only a __global__ function can be launched with <<<...>>>"},
    {"missing-device", "Device code can call only functions that are compiled for the device"},
    {"missing-host", "Host code can call only functions that are compiled for the host"},
    {"kernel-return-type", "A kernel returns nothing: its results go through memory"},
    {"launch-syntax",
     "A kernel is launched as kernel<<<grid, block[, shared bytes[, stream]]>>>(arguments)"},
    {"missing-launch-configuration",
     "A kernel cannot be called: it is launched with a grid and a block"},
    {"missing-comma", "Two values follow one another without a comma"},
    {"missing-quote", "A text is not closed on its line"},
    {"missing-declaration", "The name is used here and nowhere declared"},
    {"missing-return-type", "A function says what it returns, be it void"},
    {"kernel-return-value", "A kernel returns nothing: its results go through memory"},
    {"missing-alias", "The short name of a namespace is not declared"},
    {"missing-argument", "The function has a parameter more than is passed"},
    {"surplus-argument", "More is passed than the function has parameters"},
    {"argument-order", "What is passed fits the parameters in another order"},
    {"argument-kind", "A value is passed for an address, or an address for a value"},
    {"missing-mask", "Warp operations take the mask of the lanes that take part first"},
    {"missing-axis", "threadIdx, blockIdx, blockDim and gridDim have an x, a y and a z"},
    {"misplaced-pragma", "#pragma unroll stands right in front of its loop"},
    {"half-conversion", "16-bit and 32-bit floats do not mix without a conversion"},
    {"dynamic-shared-memory",
     "Dynamic shared memory is declared as extern __shared__ T name[]; its size comes with the "
     "launch"},
    {"shared-extent", "A __shared__ array has a size that is known when it is compiled"},
    {"template-arguments", "The template arguments do not fit its parameters"},
    {"not-a-pointer", "What is indexed or followed is declared as a value"},
    {"needless-pointer", "What is used as a value is declared as a pointer"},
    {"written-const", "What is changed is declared const"},
    {"missing-const", "A pointer to const does not become one that may be written through"},
    {"not-constant", "Its value must be known when it is compiled"},
    {"floating-index", "Only integers can be an index"},
    {"extent-type", "What has two extents is a dim3"},
    {"missing-device-variable", "Device code sees variables of the device and constants only"},
}};

} // namespace

std::vector<analysis::Diagnostic>
compileErrors(const std::vector<analysis::Diagnostic>& diagnostics) {
    std::vector<analysis::Diagnostic> errors;
    for (const analysis::Diagnostic& diagnostic : diagnostics) {
        bool isError = diagnostic.severity == analysis::Severity::Error &&
                       diagnostic.origin == analysis::DiagnosticOrigin::Compiler;
        if (isError)
            errors.push_back(diagnostic);
    }
    std::ranges::stable_sort(errors, {},
                             [](const analysis::Diagnostic& error) { return error.span.begin; });
    return errors;
}

std::vector<analysis::Diagnostic> compileErrors(const analysis::FileModel& model) {
    return compileErrors(model.diagnostics);
}

std::string explainCause(std::string_view cause, const analysis::Diagnostic& error) {
    for (const auto& [name, sentence] : explanations) {
        if (name == cause)
            return std::string(sentence);
    }
    return error.message;
}

std::optional<CompileFailure> diagnoseFailure(const analysis::FileModel& model) {
    auto errors = compileErrors(model);
    if (errors.empty())
        return std::nullopt;
    const analysis::Diagnostic& root = errors.front();
    return CompileFailure{root, root.code, root.message};
}

} // namespace kernelskill::engine
