/// A host function as its text has it: the pieces that a kernel and its launcher are written from.
#pragma once

#include "engine/agents/generate/counted_loop.h"

#include <string>
#include <string_view>
#include <vector>

namespace kernelskill::engine {

/// A call of a function somewhere in its file.
struct CallInText {
    std::uint32_t offset = 0;
    /// The first name of each argument, in order: `x` of `x + 1`, `m.x` of `&m.x[1]`; empty where
    /// there is none.
    std::vector<std::string> roots;
};
[[nodiscard]] std::vector<CallInText> callsOf(const analysis::SourceText& source,
                                              const analysis::KernelModel& function);

/// A pragma that speaks of how a loop is to be run on the CPU, or unrolled.
[[nodiscard]] bool isLoopPragma(std::string_view directive);

/// `const float* x`, a default argument left out.
[[nodiscard]] std::string parameterText(const analysis::SourceText& source,
                                        const analysis::Parameter& parameter);

/// What `parameter` points to, without const: "float".
[[nodiscard]] std::string elementType(const analysis::Parameter& parameter);

/// A name that nothing in the file has: `saxpy` and "gpu" give saxpy_gpu, or saxpyGpu where the
/// function is named so itself.
[[nodiscard]] std::string derivedName(const analysis::SourceText& source, std::string_view name,
                                      std::string_view suffix);

/// As C++: `m * n + 4`. `isWide`: products are made of size_t. Symbols of `rounds` are written out.
[[nodiscard]] std::string codeOf(const analysis::IndexExpression& value,
                                 const analysis::FunctionBody& body, bool isWide,
                                 const RoundsBySymbol& rounds = {});

/// The macro of the file that wraps a call of the runtime and looks at its status; empty when there
/// is none before `offset`.
[[nodiscard]] std::string checkMacro(const analysis::SourceText& source, std::uint32_t offset);

} // namespace kernelskill::engine
