/// A host function as its text has it: the pieces that a kernel and its launcher are written from.
#pragma once

#include "engine/generate/counted_loop.h"

#include <functional>
#include <set>
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

/// What a number of `type`, or what it points to, is declared as, without const: "float".
[[nodiscard]] std::string numberType(const analysis::Type& type);

/// What the function returns, as its definition has it: "double"; empty when it is not named there.
[[nodiscard]] std::string resultType(const analysis::SourceText& source,
                                     const analysis::KernelModel& function);

/// Names in the style of a function's own that nothing in its file has, no two of them alike.
class DerivedNames {
public:
    DerivedNames(const analysis::SourceText& source, const analysis::KernelModel& function);

    /// `saxpy` and {"gpu"} give saxpy_gpu, or saxpyGpu where the function is named so itself.
    [[nodiscard]] std::string next(const std::vector<std::string>& words);
    /// Of a variable: `sum` and "parts" give sum_parts or sumParts.
    [[nodiscard]] std::string joined(std::string_view first, std::string_view second) const;
    [[nodiscard]] bool isCamel() const { return isCamel_; }

private:
    std::string function_;
    bool isCamel_ = false;
    std::set<std::string, std::less<>> taken_;
};

/// As C++: `m * n + 4`. `isWide`: products are made of size_t. Symbols of `rounds` are written out.
[[nodiscard]] std::string codeOf(const analysis::IndexExpression& value,
                                 const analysis::FunctionBody& body, bool isWide,
                                 const RoundsBySymbol& rounds = {});

/// The macro of the file that wraps a call of the runtime and looks at its status; empty when there
/// is none before `offset`.
[[nodiscard]] std::string checkMacro(const analysis::SourceText& source, std::uint32_t offset);

} // namespace kernelskill::engine
