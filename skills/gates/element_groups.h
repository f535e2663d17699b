/// Elementwise kernels in groups: which accesses can be moved as vectors, and the kernel rewritten
/// so that a thread works on a group of neighbouring elements.
#pragma once

#include "analysis/queries/code_map.h"
#include "skills/base/skill.h"
#include "skills/gates/elementwise_kernel.h"

#include <cstdint>
#include <expected>
#include <string>
#include <vector>

namespace kernelskill::skills {

/// The elements of a kernel: numbers, or at least for one pointer vectors of two of 4
/// bytes, e.g. float2.
enum class GroupedElements : std::uint8_t { Numbers, Pairs };

/// How many elements a group has.
enum class Lanes : int {};

/// A pointer whose elements are moved as vectors.
struct Stream {
    analysis::VariableId base = analysis::noId;
    std::string name;   ///< The name of the parameter.
    std::string vector; ///< The name of the local that holds one vector.
    std::string type;   ///< float4
    std::uint32_t bytes = 0;
    /// Type and locals of the two elements, where each is a pair of the vector's components; empty
    /// where an element is a component.
    std::string pairType;
    std::vector<std::string> pairs;
    bool isRead = false;
    bool isWritten = false;
    std::uint32_t lastWrite = 0; ///< Offset of the last store, for the order of stores.
};

/// One `p[i]` of the source and the stream it belongs to.
struct ElementAccess {
    analysis::ExprId expression =
        analysis::noId; ///< The replaced one: the subscript, or the __ldg around it.
    std::size_t stream = 0;
};

/// Everything the rewrite needs to know.
struct ElementGroups {
    bool isGridStride = false;
    ElementwiseKernel guarded;              ///< When not a grid-stride loop.
    analysis::StmtId loop = analysis::noId; ///< When one.
    analysis::VariableId index = analysis::noId;
    analysis::ExprId limit = analysis::noId;
    std::vector<analysis::StmtId> work;
    std::vector<Stream> streams;
    std::vector<ElementAccess> accesses;
    int lanes = 4;
};

/// Refuses with the first gate that does not hold; see the gates of recogniseElementwise() too.
[[nodiscard]] Gated<ElementGroups>
planElementGroups(const SkillContext& context, const analysis::CodeMap& code,
                  GroupedElements elements = GroupedElements::Numbers);

/// The loop or the bounds check that the groups are about.
[[nodiscard]] analysis::Span groupedSpan(const analysis::CodeMap& code,
                                         const ElementGroups& groups);
/// The effect of the edit on the launches, as a clause: "the grid may stay as it is".
[[nodiscard]] std::string launchConsequence(const SkillContext& context,
                                            const ElementGroups& groups);

} // namespace kernelskill::skills
