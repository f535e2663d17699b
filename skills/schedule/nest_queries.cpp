#include "skills/schedule/nest_queries.h"

namespace kernelskill::skills {

using namespace analysis;

bool differInType(const NestArray& a, const NestArray& b) {
    const auto isPlain = [](ScalarKind kind) {
        return kind != ScalarKind::Unknown && kind != ScalarKind::Void &&
               kind != ScalarKind::Char && kind != ScalarKind::UInt8;
    };
    return isPlain(a.scalar) && isPlain(b.scalar) && a.lanes == 1 && b.lanes == 1 &&
           a.scalar != b.scalar;
}

bool differInSpace(const NestArray& a, const NestArray& b) {
    return a.space != b.space && a.space != MemorySpace::Generic && b.space != MemorySpace::Generic;
}

bool mayOverlap(const NestArray& a, const NestArray& b) {
    return !differInSpace(a, b) && !differInType(a, b) && !a.isRestrict && !b.isRestrict;
}

const NestLoop* loopOf(const Nest& nest, Symbol iterator) {
    for (const NestNode& node : nest.nodes)
        if (const NestLoop* loop = node.loop(); loop != nullptr && loop->iterator == iterator)
            return loop;
    return nullptr;
}

StmtId placeOf(const Nest& nest, const CodeMap& code, NestNodeId id) {
    const NestNode& node = nest.node(id);
    std::uint32_t frame = node.frame;
    if (frame == 0)
        return node.statement;
    while (nest.frames[frame].caller != 0 && nest.frames[frame].caller != noId)
        frame = nest.frames[frame].caller;
    const ExprId call = nest.frames[frame].call;
    return call == noId ? noId : code.statement(call);
}

} // namespace kernelskill::skills
