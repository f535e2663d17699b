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
    {"extra-punctuation", "Something else is expected here"},
    {"misspelled-identifier", "No such name is declared, but a very similar one is"},
    {"missing-include", "The name is declared in a header that the file does not include"},
    {"misspelled-include", "There is no such header, but one with a very similar name"},
    {"missing-global", "Only a __global__ function can be launched with <<<...>>>"},
    {"missing-device", "Device code can call only functions that are compiled for the device"},
    {"missing-host", "Host code can call only functions that are compiled for the host"},
    {"kernel-return-type", "A kernel returns nothing: its results go through memory"},
    {"launch-syntax",
     "A kernel is launched as kernel<<<grid, block[, shared bytes[, stream]]>>>(arguments)"},
    {"missing-launch-configuration",
     "A kernel cannot be called: it is launched with a grid and a block"},
    {"missing-comma", "A comma is missing between two values"},
    {"missing-quote", "A string is not closed on its line"},
    {"missing-declaration", "The name is used here but declared nowhere"},
    {"missing-return-type", "A function declares its return type, even if it is void"},
    {"kernel-return-value", "A kernel returns nothing: its results go through memory"},
    {"missing-alias", "The short name of a namespace is not declared"},
    {"missing-argument", "The function has more parameters than arguments are passed"},
    {"surplus-argument", "More arguments are passed than the function has parameters"},
    {"argument-order", "The arguments fit the parameters in another order"},
    {"argument-kind", "A value is passed instead of an address, or an address instead of a value"},
    {"missing-mask", "The first argument of a warp operation is the mask of participating lanes"},
    {"missing-axis", "threadIdx, blockIdx, blockDim and gridDim have an x, a y and a z"},
    {"misplaced-pragma", "#pragma unroll must directly precede its loop"},
    {"half-conversion", "16-bit and 32-bit floats cannot be mixed without a conversion"},
    {"dynamic-shared-memory",
     "Dynamic shared memory is declared as extern __shared__ T name[]; its size comes with the "
     "launch"},
    {"shared-extent", "A __shared__ array has a size that is known when it is compiled"},
    {"template-arguments", "The template arguments do not fit its parameters"},
    {"not-a-pointer", "The variable is indexed or dereferenced, but declared as a value"},
    {"needless-pointer", "The variable is used as a value, but declared as a pointer"},
    {"written-const", "The variable is changed, but declared const"},
    {"missing-const", "A pointer to const cannot be converted to a pointer to writable memory"},
    {"not-constant", "Its value must be known when it is compiled"},
    {"floating-index", "An index must be an integer"},
    {"extent-type", "A variable with two extents must be a dim3"},
    {"missing-device-variable", "Device code can use only device variables and constants"},
    {"removed-warp-function", "Since CUDA 9, warp functions take the mask of participating lanes"},
    {"static-shared-size", "Static shared arrays may take 48 KB per block; more must be dynamic "
                           "and requested at the launch"},
    {"launch-block-size", "A block has at most 1,024 threads"},
    {"launch-exceeds-bounds", "A block may have at most as many threads as __launch_bounds__ says"},
    {"launch-bounds-size", "A block has at most 1,024 threads"},
    {"unsupported-atomic", "The GPU that this is compiled for has no such atomic"},
    {"index-in-host-code", "threadIdx, blockIdx, blockDim and gridDim exist only in device code"},
    {"lambda-without-device", "A function that a kernel calls must be compiled for the device"},
    {"captured-reference", "A device lambda copies its captures: it cannot refer to "
                           "variables of the host"},
    {"relaxed-constexpr-flag",
     "Device code can call host constexpr functions only with --expt-relaxed-constexpr"},
    {"dim3-comma", "Numbers in parentheses without dim3 have the value of the last one"},
    {"sized-extern-shared", "A shared array with a size is static, even if it is declared extern"},
    {"shared-name-twice", "Dynamic shared arrays with one name must have one type"},
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
