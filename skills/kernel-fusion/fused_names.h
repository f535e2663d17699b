/// The names that a consumer's variables get in the body of a fused kernel.
#pragma once

#include "skills/base/skill.h"
#include "skills/kernel-fusion/launch_pair.h"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace kernelskill::skills {

/// A parameter of the fused kernel that is the consumer's alone.
struct AddedParameter {
    std::size_t place = 0; ///< Its index among the consumer's parameters.
    std::string name;
};

struct FusedNames {
    std::string kernel; ///< The name of the fused kernel.
    /// The new names of the consumer's variables; those that keep their names are left out.
    std::map<std::string, std::string> renamed;
    std::vector<AddedParameter> added;
    /// Parameters that both have as pointers to const in the producer and not in the consumer: the
    /// consumer's declaration is taken. From the producer's index to the consumer's.
    std::map<std::size_t, std::size_t> widened;
    /// The consumer's top-level declarations that repeat one of the producer's.
    std::set<analysis::StmtId> repeated;
};

/// Chooses the names. Refuses with `default-argument`, `pointer-not-merged`, `name-clash` or
/// `name-in-macro`.
[[nodiscard]] Gated<FusedNames> fusedNames(const SkillContext& context, const LaunchPair& pair);

} // namespace kernelskill::skills
