/// Which accesses of an elementwise kernel can be moved as vectors.
#pragma once

#include "skills/rewriting/code_map.h"
#include "skills/rewriting/elementwise_kernel.h"
#include "skills/skill.h"

#include <cstdint>
#include <expected>
#include <string>
#include <vector>

namespace kernelskill::skills {

/// A pointer whose elements are moved as vectors.
struct Stream {
    analysis::VariableId base = analysis::noId;
    std::string name;   ///< Of the parameter.
    std::string vector; ///< Of the local that holds one vector.
    std::string type;   ///< float4
    std::uint32_t bytes = 0;
    bool isRead = false;
    bool isWritten = false;
    std::uint32_t lastWrite = 0; ///< Offset of the last store, for the order of stores.
};

/// One `p[i]` of the source and the stream it belongs to.
struct ElementAccess {
    analysis::ExprId expression =
        analysis::noId; ///< What is replaced: the subscript, or the __ldg around it.
    std::size_t stream = 0;
};

/// Everything the rewrite needs to know.
struct VectorPlan {
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
[[nodiscard]] std::expected<VectorPlan, Refusal> planVectorAccess(const SkillContext& context,
                                                                  const CodeMap& code);

} // namespace kernelskill::skills
