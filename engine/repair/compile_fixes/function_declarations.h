/// Declarations of functions found from tokens alone: the text around an error has no syntax tree
/// to ask.
#pragma once

#include "engine/repair/compile_fixes/fix_candidate.h"

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace kernelskill::engine {

/// `template <class T> __global__ void f(int n)`: token indices.
struct DeclarationTokens {
    std::size_t begin = 0; ///< First token behind a template header.
    std::size_t name = 0;
};

/// The declaration that the token at `name` names; its `begin` is `name` itself for one without a
/// return type.
[[nodiscard]] DeclarationTokens declarationAround(const RepairContext& context, std::size_t name);

/// Every declaration and definition of a function called `name`.
[[nodiscard]] std::vector<DeclarationTokens> declarationsOf(const RepairContext& context,
                                                            std::string_view name);

/// `attribute` in front of every declaration of `name`, which must agree; nothing when there is
/// none.
[[nodiscard]] std::vector<FixCandidate> marked(const RepairContext& context,
                                               const std::string& name,
                                               const std::string& attribute, std::string cause,
                                               Ladder ladder = Ladder::None);

/// Names declared with __global__.
[[nodiscard]] std::set<std::string> kernelNames(const RepairContext& context);

} // namespace kernelskill::engine
