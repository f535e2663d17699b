/// Parses the symbols that compilers give to kernels.
#pragma once

#include "analysis/model/kernel_model.h"

#include <optional>
#include <string>
#include <vector>

namespace kernelskill::engine {

/// A demangled `_Z` symbol: "ns::copy" and {"float", "256"}. Unnamed namespaces are left out, as in
/// KernelModel.
struct KernelSymbol {
    std::string qualifiedName;
    std::vector<std::string> templateArguments;
};

/// A symbol that is not mangled is the name itself.
[[nodiscard]] KernelSymbol kernelSymbol(const std::string& symbol);

/// Whether the symbol names `kernel`. Compares qualified names, which overloads share.
[[nodiscard]] bool names(const KernelSymbol& symbol, const analysis::KernelModel& kernel);

} // namespace kernelskill::engine
