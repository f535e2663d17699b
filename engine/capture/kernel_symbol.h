/// The names that compilers give to kernels, taken apart.
#pragma once

#include "analysis/model/kernel_model.h"

#include <optional>
#include <string>
#include <vector>

namespace kernelskill::engine {

/// `_Z` names demangled: "ns::copy" and {"float", "256"}. Unnamed namespaces are left out, as in
/// KernelModel.
struct KernelSymbol {
    std::string qualifiedName;
    std::vector<std::string> templateArguments;
};

/// A symbol that is not mangled is its own name.
[[nodiscard]] KernelSymbol kernelSymbol(const std::string& symbol);

/// Whether it names `kernel`: by the qualified name, which every overload shares.
[[nodiscard]] bool names(const KernelSymbol& symbol, const analysis::KernelModel& kernel);

} // namespace kernelskill::engine
