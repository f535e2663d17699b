/// Reads parts of a host function's text, from which a kernel and its host function are written.
#pragma once

#include "engine/generate/counted_loop.h"

#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace kernelskill::engine {

/// A function call anywhere in the file.
struct CallInText {
    std::uint32_t offset = 0;
    /// The first name in each argument, in order: `x` for `x + 1`, `m.x` for `&m.x[1]`; empty if
    /// there is none.
    std::vector<std::string> roots;
};
[[nodiscard]] std::vector<CallInText> callsOf(const analysis::SourceText& source,
                                              const analysis::KernelModel& function);

/// Whether a pragma says how to run a loop on the CPU, or how to unroll it.
[[nodiscard]] bool isLoopPragma(std::string_view directive);

/// `const float* x`, without a default argument.
[[nodiscard]] std::string parameterText(const analysis::SourceText& source,
                                        const analysis::Parameter& parameter);

/// The type of a number of `type`, or of the numbers that it points to, without const: "float".
[[nodiscard]] std::string numberType(const analysis::Type& type);

/// The return type in the function's definition: "double"; empty if it is not named there.
[[nodiscard]] std::string resultType(const analysis::SourceText& source,
                                     const analysis::KernelModel& function);

/// Makes new names in the function's own style that do not occur in its file.
class DerivedNames {
public:
    DerivedNames(const analysis::SourceText& source, const analysis::KernelModel& function);

    /// `saxpy` and {"gpu"} give saxpy_gpu, or saxpyGpu if the function has that style.
    [[nodiscard]] std::string next(const std::vector<std::string>& words);
    /// A variable's name: `sum` and "parts" give sum_parts or sumParts.
    [[nodiscard]] std::string joined(std::string_view first, std::string_view second) const;
    [[nodiscard]] bool isCamel() const { return isCamel_; }

private:
    std::string function_;
    bool isCamel_ = false;
    std::set<std::string, std::less<>> taken_;
};

/// The expression as C++: `m * n + 4`. `isWide`: products use size_t. Symbols in `rounds` are
/// replaced by their meaning.
[[nodiscard]] std::string codeOf(const analysis::IndexExpression& value,
                                 const analysis::FunctionBody& body, bool isWide,
                                 const RoundsBySymbol& rounds = {});

/// The file's macro that checks the status of a CUDA runtime call; empty if there is none before
/// `offset`.
[[nodiscard]] std::string checkMacro(const analysis::SourceText& source, std::uint32_t offset);

} // namespace kernelskill::engine
