#include "engine/agents/compile_diagnoser.h"

#include <algorithm>
#include <array>
#include <utility>

namespace kernelskill::engine {
namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 15> explanations{{
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
