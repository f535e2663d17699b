/// Places in memory that are side by side for threads of neighbouring elements, and the types in
/// which a thread may move a group of them.
#pragma once

#include "analysis/model/kernel_model.h"
#include "skills/base/skill.h"
#include "skills/vectorized-access/element_steps.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace kernelskill::skills {

/// A place in memory that goes on to the next element from one thread to the next.
struct NeighbourPlace {
    /// `p[y * width + x]`, or its address where that is what the text says.
    analysis::ExprId place = analysis::noId;
    std::string type;        ///< float4
    std::string vector;      ///< The name of the local that holds the elements.
    std::uint32_t bytes = 0; ///< Of one access.
    /// The type of an element that is a class. Its local is an array of the elements, which the
    /// accesses copy.
    std::string record;
    std::uint32_t accesses = 1;
    bool isRead = false;
    bool isWritten = false;
    std::uint32_t lastWrite = 0; ///< Offset of the last store, for the order of stores.
};

/// One access of the source to a place.
struct NeighbourAccess {
    analysis::ExprId replaced = analysis::noId; ///< The place, or the __ldg around it.
    std::size_t place = 0;                      ///< Index into NeighbourPlaces::places.
};

struct NeighbourPlaces {
    std::vector<NeighbourPlace> places;
    std::vector<NeighbourAccess> accesses;
    int lanes = 4;
};

/// Whether the expression of a place is its address, as in `__ldg(p + i)`.
[[nodiscard]] bool givesAddress(const analysis::Expr& place);

/// Whether the access is one of the work to memory that it shares with other code.
[[nodiscard]] bool accessesMemory(const analysis::CodeMap& code,
                                  const std::vector<analysis::StmtId>& work,
                                  const analysis::MemoryAccess& access);

/// The places that the work moves in vectors. Refuses with `strided-access`, `conditional-store`
/// and `no-unit-stride-access`.
[[nodiscard]] Gated<NeighbourPlaces> neighbourPlaces(const SkillContext& context,
                                                     const ElementSteps& steps,
                                                     const std::vector<analysis::StmtId>& work);

} // namespace kernelskill::skills
