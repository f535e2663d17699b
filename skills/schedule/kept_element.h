/// Elements of arrays that loops keep to.
#pragma once

#include "analysis/nest/nest.h"
#include "analysis/queries/code_map.h"
#include "skills/base/skill.h"

#include <cstdint>
#include <string>
#include <vector>

namespace kernelskill::skills {

/// An element that each round of a loop uses, with statements beside the loop that use it as well.
/// In all of them nothing else reads or writes the element, neither the thread by another name nor
/// another thread.
struct KeptElement {
    analysis::NestArrayId array = analysis::noId;
    std::string text; ///< As the program writes it; it means the element throughout `region`.
    std::string type;
    std::string reduction; ///< The operator, where the loop does nothing but fold into it.
    analysis::StmtId loop = analysis::noId; ///< The outermost one that keeps to the element.
    /// Neighbours in one block of the program, in order, the loop among them.
    std::vector<analysis::StmtId> region;
    std::vector<analysis::ExprId> uses; ///< In the order of the source.
    /// The statement `element = value;` that the region begins with; noId: none, the element has to
    /// be read before.
    analysis::StmtId initialisation = analysis::noId;
    bool isWritten = false; ///< It has to be written behind the region.
    /// Without a round of the loop the region does not use it: it may be read and written only
    /// where there is one. Of KeptElements::OfRounds alone.
    bool needsRound = false;
    int roundUses = 0; ///< Loads and stores of it in a round of the innermost loop.
};

/// Which elements are looked for.
enum class KeptElements : std::uint8_t {
    Reloaded, ///< Those that the compiler has to load or store each time, since other pointers may
              ///< lead there as far as it knows.
    All,
    /// As All, also those that need a round, and whatever stands on the lines of the loop.
    OfRounds,
};

/// The elements that the loops of the kernel keep to, in the order of their loops. Refuses with the
/// reason of the first that has to stay in memory: `may-alias`, `may-not-run`, `ordered-memory`,
/// `unknown-effects`, `leaves-loop`, `several-statements-a-line`; or with `no-kept-element`.
[[nodiscard]] Gated<std::vector<KeptElement>> keptElements(const SkillContext& context,
                                                           KeptElements which);

} // namespace kernelskill::skills
