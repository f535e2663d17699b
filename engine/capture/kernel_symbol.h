/// Parses the symbols that compilers give to kernels.
#pragma once

#include "analysis/model/kernel_model.h"

#include <optional>
#include <string>
#include <vector>

namespace kernelskill::engine {

/// A demangled `_Z` symbol: "ns::copy", {"float", "256"} and {"float const*", "int"}. Unnamed
/// namespaces are left out, as in KernelModel.
struct KernelSymbol {
    std::string qualifiedName;
    std::vector<std::string> templateArguments;
    std::vector<std::string> parameterTypes; ///< Empty if the symbol does not tell them.
};

/// A symbol that is neither mangled nor spelled out with parentheses is the name itself.
[[nodiscard]] KernelSymbol kernelSymbol(const std::string& symbol);

/// Whether the symbol names `kernel`. Compares qualified names, which overloads share.
[[nodiscard]] bool names(const KernelSymbol& symbol, const analysis::KernelModel& kernel);

} // namespace kernelskill::engine
