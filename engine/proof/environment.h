/// Compares what surrounds a kernel before and after an edit: the declarations that give its names
/// their meaning, and the launches.
#pragma once

#include "analysis/syntax/lexer.h"
#include "engine/execution/kernel_ref.h"
#include "engine/proof/proof.h"

#include <expected>
#include <string>
#include <vector>

namespace kernelskill::engine {

/// How the edit's surroundings differ.
struct Surroundings {
    /// Whether grid, block, shared bytes or stream of a launch of the kernel are written otherwise.
    bool changesLaunches = false;
};

/// Requires every token outside of the kernel's definition to be the same, so that each name means
/// the same inside of it. Left aside are the configurations of the kernel's launches, and
/// qualifiers in forward declarations of the kernel.
[[nodiscard]] std::expected<Surroundings, Unproved> compareSurroundings(KernelRef original,
                                                                        KernelRef candidate);

/// Requires the heads of both definitions (template parameters, result, parameters) to differ in
/// qualifiers and launch bounds alone.
[[nodiscard]] std::expected<void, Unproved> compareHeads(KernelRef original, KernelRef candidate);

/// True for `#pragma unroll` in any form: it changes no result.
[[nodiscard]] bool isUnrollPragma(const analysis::Token& token);

/// Whether the bodies are the same token by token, pragmas that unroll left aside.
[[nodiscard]] bool haveSameBody(KernelRef original, KernelRef candidate);

/// The conditions that the candidate's qualifiers and launch bounds add.
[[nodiscard]] std::vector<std::string> conditionsOfHead(KernelRef original, KernelRef candidate);

/// Requires that no call or operator can mean another function because a parameter has become
/// const. The bodies are the same token by token.
[[nodiscard]] std::expected<void, Unproved> requireSameOverloads(KernelRef original,
                                                                 KernelRef candidate);

} // namespace kernelskill::engine
