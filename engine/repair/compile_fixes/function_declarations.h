/// Finds declarations of functions from tokens alone, because the text around an error has no
/// syntax tree.
#pragma once

#include "engine/repair/compile_fixes/fix_candidate.h"

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace kernelskill::engine {

/// The token indices of `template <class T> __global__ void f(int n)`.
struct DeclarationTokens {
    std::size_t begin = 0; ///< First token after a template header.
    std::size_t name = 0;
};

/// The declaration whose name is the token at `name`. Without a return type, its `begin` is `name`.
[[nodiscard]] DeclarationTokens declarationAround(const RepairContext& context, std::size_t name);

/// Every declaration and definition of a function called `name`.
[[nodiscard]] std::vector<DeclarationTokens> declarationsOf(const RepairContext& context,
                                                            std::string_view name);

/// Adds `attribute` before every declaration of `name`, because they must agree; nothing if there
/// is none.
[[nodiscard]] std::vector<FixCandidate> marked(const RepairContext& context,
                                               const std::string& name,
                                               const std::string& attribute, std::string cause,
                                               Ladder ladder = Ladder::None);

/// Names declared with __global__.
[[nodiscard]] std::set<std::string> kernelNames(const RepairContext& context);

} // namespace kernelskill::engine
