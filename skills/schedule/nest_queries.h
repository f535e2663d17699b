/// Questions about a nest that several primitives ask.
#pragma once

#include "analysis/nest/nest.h"
#include "analysis/queries/code_map.h"

namespace kernelskill::skills {

/// Memory that no other thread reaches.
[[nodiscard]] inline bool isThreadsOwn(const analysis::NestArray& array) {
    return array.isVariable || array.space == analysis::MemorySpace::Local;
}
/// False where the array is not known.
[[nodiscard]] inline bool isThreadsOwn(const analysis::Nest& nest,
                                       const analysis::NestAccess& access) {
    return access.array != analysis::noId && isThreadsOwn(nest.arrays[access.array]);
}

/// The language says that an lvalue of one type is none of the other.
[[nodiscard]] bool differInType(const analysis::NestArray& a, const analysis::NestArray& b);
[[nodiscard]] bool differInSpace(const analysis::NestArray& a, const analysis::NestArray& b);

/// Whether the compiler has to take an element of one array for one of the other: both are in one
/// space, the language does not keep their types apart, and neither is `__restrict__`.
[[nodiscard]] bool mayOverlap(const analysis::NestArray& a, const analysis::NestArray& b);

/// Both accesses have the same array, field and index expression.
[[nodiscard]] inline bool isSamePlace(const analysis::NestAccess& a,
                                      const analysis::NestAccess& b) {
    return a.array == b.array && a.field == b.field && a.index == b.index;
}

/// `node` is `outer` or below it.
[[nodiscard]] inline bool isInside(const analysis::Nest& nest, analysis::NestNodeId outer,
                                   analysis::NestNodeId node) {
    while (node != analysis::noId && node != outer)
        node = nest.node(node).parent;
    return node == outer;
}

/// The loop that an iterator counts; nullptr if there is none.
[[nodiscard]] const analysis::NestLoop* loopOf(const analysis::Nest& nest,
                                               analysis::Symbol iterator);

/// The statement of the kernel's own text that a node belongs to: its own, or that of the call
/// which leads to it; noId if there is none.
[[nodiscard]] analysis::StmtId placeOf(const analysis::Nest& nest, const analysis::CodeMap& code,
                                       analysis::NestNodeId id);

} // namespace kernelskill::skills
