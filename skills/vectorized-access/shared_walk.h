/// Loops that threads walk together over neighbouring elements, which each of them may take in
/// groups.
#pragma once

#include "analysis/nest/nest.h"
#include "skills/base/skill.h"
#include "skills/gates/counted_loop.h"
#include "skills/schedule/lane_loop.h"
#include "skills/vectorized-access/thread_values.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace kernelskill::skills {

/// Elements that the rounds of a loop go through one by one: `p[base + i]`.
struct WalkedElements {
    analysis::VariableId array = analysis::noId;
    std::string name;    ///< The name of the pointer or array.
    std::string address; ///< The address of element 0: "p + base".
    std::string type;    ///< float4
    std::string vector;  ///< The name of the local that holds one vector.
    std::uint32_t bytes = 0;
    bool isRead = false;
    bool isWritten = false;
    std::uint32_t lastWrite = 0;           ///< Offset of the last store, for the order of stores.
    std::vector<analysis::ExprId> reached; ///< The parts of the address.
    /// Whether the address is read from memory, which only threads with a round may do.
    bool isReadFromMemory = false;
};

/// One `p[base + i]` of the source.
struct WalkedAccess {
    analysis::ExprId replaced = analysis::noId; ///< The subscript, or the __ldg around it.
    std::size_t elements = 0;                   ///< Index into SharedWalk::elements.
};

/// `for (i = first + thread; i < limit; i += threads)`
struct SharedWalk {
    AdvancingLoop form;
    analysis::StmtId statement = analysis::noId;
    analysis::NestNodeId node = analysis::noId;
    LoopSharers sharers;
    LaneLoop effects;
    std::vector<analysis::StmtId> work;
    std::vector<WalkedElements> elements;
    std::vector<WalkedAccess> accesses;
    int group = 4;      ///< Elements of a vector.
    std::string first;  ///< As text; empty: 0.
    std::string thread; ///< The thread's number among the sharers, as text.
    /// Its first index is 1, and what it folds into begins with element 0, which may be folded
    /// into it again: the walk may begin there.
    bool takesFirstAgain = false;
    bool syncsBefore = false; ///< Other lanes have stored what it uses.
    bool syncsAfter = false;  ///< It and other code of the kernel meet in memory.
};

/// Walks of one block of the source that have the same first index, limit, step and threads, so
/// that one condition on addresses decides for all and each element falls to one thread in all.
using WalksOfOneGuard = std::vector<SharedWalk>;

/// All such loops of the kernel, in the order of the source. Refuses with the first gate that does
/// not hold if there is none: `already-vectorized`, `no-shared-loop`,
/// `partial-warps`, `divergent-branch`, `early-exit`, `no-unit-stride-access`, `strided-access`,
/// `conditional-store`, `atomic`, `call-in-loop`, `work-too-large`, `from-macro`, `short-rows`,
/// `first-element`, `depends-on-thread`, `kept-by-thread`, `kept-by-block`, `order-of-equals`,
/// `carries-over`, `columns-overlap`, `meets-elsewhere`, `may-alias`, and what readAdvancingLoop()
/// and requireOwnLines() refuse with.
[[nodiscard]] Gated<std::vector<WalksOfOneGuard>> sharedWalks(const SkillContext& context);

} // namespace kernelskill::skills
