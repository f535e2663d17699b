/// The other names by which host code launches a kernel: variables and parameters that hold it.
#pragma once

#include "engine/inputs/program_text.h"

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace kernelskill::engine {

/// `held` of `auto held = &kernel<T>;` or of `void launch(Kernel held) { held<<<...>>>(...); }`
/// with a call `launch(kernel<T>)`.
struct KernelName {
    std::string name;
    const FunctionText* function = nullptr; ///< In whose body the name is valid …
    std::size_t from = 0;                   ///< … from this token on …
    std::size_t to = 0;                     ///< … up to here.
    /// Token ranges of the function's file. Empty also where the call that passes the kernel stands
    /// in another file.
    std::vector<std::pair<std::size_t, std::size_t>> templateArguments;
    std::optional<TextPlace> call; ///< The call that passes the kernel as the parameter.
};

/// In the order of the text. A variable that is given several kernels in one block holds each up to
/// the next one.
[[nodiscard]] std::vector<KernelName> otherNamesOf(const ProgramText& program,
                                                   const std::string& kernel);

} // namespace kernelskill::engine
