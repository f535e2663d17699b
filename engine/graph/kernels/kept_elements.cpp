#include "engine/graph/kernels/kept_elements.h"

#include "analysis/raise/cost.h"
#include "analysis/raise/merged_axes.h"
#include "analysis/syntax/scalar_bytes.h"
#include "engine/graph/kernels/vector_accesses.h"

#include <algorithm>
#include <map>
#include <utility>

namespace kernelskill::engine::graph {

namespace {

using analysis::raise::BufferId;
using analysis::raise::Index;
using analysis::raise::Program;
using analysis::raise::ScalarNode;

std::set<BufferId> writtenByMaps(const RowProgram& rows) {
    std::set<BufferId> written;
    for (const RowPass& pass : rows.passes)
        if (pass.kind == RowPass::Kind::Map)
            for (const auto& store : pass.computation.stores)
                written.insert(store.buffer);
    return written;
}

/// How many neighbouring elements an instruction takes: as many as fit 16 bytes, if all accesses to
/// neighbours along the row are aligned to them; else 1.
std::size_t widthOf(const Program& program, const RowProgram& rows) {
    std::uint32_t widest = 1;
    std::vector<std::pair<Index, analysis::raise::Axis>> accesses;
    const auto look = [&](const RowPass& pass, BufferId buffer,
                          const std::vector<Index>& position) {
        const analysis::raise::Buffer& array = program.buffers.at(buffer);
        const Index at = flattened(position, array.shape);
        if (!at.mentions(pass.elements->id) ||
            (at - Index::of(*pass.elements)).mentions(pass.elements->id))
            return;
        widest = std::max(widest, analysis::scalarBytes(array.element));
        accesses.emplace_back(at, *pass.elements);
    };
    for (const RowPass& pass : rows.passes) {
        if (!pass.elements)
            continue;
        for (const ScalarNode* load : eagerLoads(pass.computation))
            look(pass, load->buffer, load->position);
        if (pass.kind == RowPass::Kind::Map)
            for (const auto& store : pass.computation.stores)
                look(pass, store.buffer, store.position);
    }
    const auto width = static_cast<std::int64_t>(16 / widest);
    const bool isAligned = std::ranges::all_of(accesses, [&](const auto& access) {
        return isAlignedAlong(access.first, access.second, width);
    });
    const bool isMultiple = std::ranges::all_of(rows.passes, [&](const RowPass& pass) {
        return !pass.elements || remainder(*pass.elements->extent, width).isZero();
    });
    return isAligned && isMultiple && !accesses.empty() && width > 1
               ? static_cast<std::size_t>(width)
               : 1;
}

} // namespace

KeptElements keptElementsOf(const Program& program, const RowProgram& rows) {
    KeptElements kept;
    const std::set<BufferId> written = writtenByMaps(rows);
    std::map<std::pair<BufferId, std::string>, std::size_t> passesThatRead;
    std::map<std::pair<BufferId, std::string>, Index> positions;
    for (const RowPass& pass : rows.passes) {
        if (!pass.elements)
            continue;
        if (!kept.elements)
            kept.elements = pass.elements;
        if (pass.elements->id != kept.elements->id)
            continue;
        std::set<std::pair<BufferId, std::string>> reads;
        for (const ScalarNode* load : eagerLoads(pass.computation)) {
            const Index at = flattened(load->position, program.buffers.at(load->buffer).shape);
            if (!at.mentions(pass.elements->id))
                continue;
            if (written.contains(load->buffer)) {
                kept.results.insert(load->buffer);
                continue;
            }
            const std::pair key(load->buffer, at.text());
            positions.emplace(key, at);
            reads.insert(key);
        }
        // Reads in the branches of selects of what a map wrote.
        forEachNode(pass.computation, [&](const ScalarNode& node) {
            if (node.kind == ScalarNode::Kind::Load && written.contains(node.buffer))
                kept.results.insert(node.buffer);
        });
        for (const auto& key : reads)
            ++passesThatRead[key];
    }
    if (!kept.elements)
        return kept;
    kept.width = widthOf(program, rows);
    for (const auto& [key, passes] : passesThatRead)
        if (passes > 1)
            kept.loads.push_back({key.first, positions.at(key),
                                  isAlignedAlong(positions.at(key), *kept.elements,
                                                 static_cast<std::int64_t>(kept.width))});
    return kept;
}

} // namespace kernelskill::engine::graph
