#include "engine/repair/compile_diagnoser.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

namespace kernelskill::engine {
namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 53> explanations{{
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
    {"removed-warp-function",
     "Warp functions take the mask of the lanes that take part since CUDA 9"},
    {"static-shared-size",
     "Static shared arrays may take 48 KB a block; more is dynamic, and asked for"},
    {"launch-block-size", "A block has at most 1,024 threads"},
    {"launch-exceeds-bounds", "A block has no more threads than __launch_bounds__ says"},
    {"launch-bounds-size", "A block has at most 1,024 threads"},
    {"unsupported-atomic", "The GPU that this is compiled for has no such atomic"},
    {"index-in-host-code", "threadIdx, blockIdx, blockDim and gridDim are the device's"},
    {"lambda-without-device", "What a kernel calls is compiled for the device"},
    {"captured-reference", "What a device lambda captures is copied: the host's variables stay "
                           "behind"},
    {"relaxed-constexpr-flag",
     "Device code calls constexpr functions of the host with --expt-relaxed-constexpr alone"},
    {"dim3-comma", "Numbers in plain parentheses are one number, the last"},
    {"sized-extern-shared", "A shared array with a size is static, whatever stands in front"},
    {"shared-name-twice", "Dynamic shared arrays of one name have one type"},
}};

/// The parser's errors come first: the device's rules cannot see all of a file with errors.
template <typename Predicate>
std::vector<analysis::Diagnostic> selected(const std::vector<analysis::Diagnostic>& diagnostics,
                                           const Predicate& isWanted) {
    std::vector<analysis::Diagnostic> found;
    std::ranges::copy_if(diagnostics, std::back_inserter(found), isWanted);
    std::ranges::stable_sort(found, {}, [](const analysis::Diagnostic& one) {
        return std::pair(one.origin == analysis::DiagnosticOrigin::Device, one.span.begin);
    });
    return found;
}

} // namespace

std::vector<analysis::Diagnostic>
compileErrors(const std::vector<analysis::Diagnostic>& diagnostics) {
    return selected(diagnostics, &analysis::isCompileError);
}

std::vector<analysis::Diagnostic>
repairTargets(const std::vector<analysis::Diagnostic>& diagnostics) {
    return selected(diagnostics, [](const analysis::Diagnostic& diagnostic) {
        return analysis::isCompileError(diagnostic) ||
               diagnostic.origin == analysis::DiagnosticOrigin::Device;
    });
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
