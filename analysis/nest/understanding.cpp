#include "analysis/nest/understanding.h"

#include <algorithm>

namespace kernelskill::analysis {

namespace {

std::size_t loopsAround(const Nest& nest, NestNodeId node) {
    return static_cast<std::size_t>(std::ranges::count_if(
        around(nest, node), [&](NestNodeId id) { return nest.node(id).loop() != nullptr; }));
}

} // namespace

std::vector<NestNodeId> hotStatements(const Nest& nest) {
    std::vector<NestNodeId> hot;
    std::size_t deepest = 0;
    for (NestNodeId id = 0; id < nest.nodes.size(); ++id) {
        if (nest.nodes[id].computation() == nullptr)
            continue;
        const std::size_t depth = loopsAround(nest, id);
        if (depth > deepest)
            hot.clear();
        deepest = std::max(deepest, depth);
        if (depth == deepest)
            hot.push_back(id);
    }
    return hot;
}

std::string opaqueReason(const Nest& nest, NestNodeId statement) {
    const NestStatement& content = *nest.node(statement).computation();
    if (!content.opaque.empty())
        return content.opaque;
    for (const NestAccessId id : content.accesses)
        if (nest.accesses[id].form == NestAccessForm::Opaque)
            return nest.accesses[id].reason;
    return {};
}

NestUnderstanding understandingOf(const Nest& nest) {
    NestUnderstanding result;
    for (NestNodeId id = 0; id < nest.nodes.size(); ++id) {
        if (nest.nodes[id].computation() == nullptr)
            continue;
        ++result.statements;
        if (std::string reason = opaqueReason(nest, id); !reason.empty()) {
            ++result.opaque;
            result.reasons.push_back(std::move(reason));
        }
    }
    for (const NestNodeId id : hotStatements(nest)) {
        ++result.hot;
        if (!opaqueReason(nest, id).empty())
            ++result.hotOpaque;
        else if (std::ranges::any_of(
                     nest.nodes[id].computation()->accesses, [&](NestAccessId access) {
                         return nest.accesses[access].form == NestAccessForm::Indirect;
                     }))
            ++result.hotIndirect;
    }
    return result;
}

} // namespace kernelskill::analysis
