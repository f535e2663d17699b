/// Finds kernels that a change has given another name.
#pragma once

#include "analysis/model/kernel_model.h"

#include <string>
#include <string_view>
#include <vector>

namespace kernelskill::engine {

struct KernelRename {
    const analysis::KernelModel* before = nullptr;
    const analysis::KernelModel* after = nullptr;
};

/// The pairs of a kernel that only `before` has and one that only `after` has which are the same
/// kernel: their texts agree but for the name, or no other pair has their parameters. Both stand in
/// one namespace, and the new name means nothing in the old text.
[[nodiscard]] std::vector<KernelRename> renamedKernels(const analysis::FileModel& before,
                                                       const analysis::FileModel& after);

/// `text` with each identifier `from` spelled `to`, also in directives and in comments, which may
/// pin launches.
[[nodiscard]] std::string withIdentifier(std::string_view text, std::string_view from,
                                         std::string_view to);

} // namespace kernelskill::engine
