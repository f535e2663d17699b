#include "analysis/compile/data_centre_gpu.h"
#include "analysis/raise/cost.h"
#include "analysis/raise/merged_axes.h"
#include "analysis/syntax/scalar_bytes.h"
#include "engine/graph/kernels/kept_elements.h"
#include "engine/graph/kernels/row_kernel.h"
#include "engine/graph/kernels/vector_accesses.h"

#include <algorithm>

namespace kernelskill::engine::graph {

namespace {

using analysis::raise::Axis;
using analysis::raise::Index;
using analysis::raise::Program;
using analysis::raise::ScalarNode;

constexpr std::size_t warpThreads = 32;
constexpr std::size_t maxBlockThreads = 1024;
/// Registers of a thread that may hold elements of the row.
constexpr std::int64_t maxKeptElements = 64;
/// The max for blocks of 1024 threads, which have 64 registers each.
constexpr std::int64_t maxKeptInLargestBlock = 40;
/// Elements that a thread should have at least before more threads share a row.
constexpr std::int64_t wantedKeptElements = 32;

struct Votes {
    std::size_t along = 0;  ///< Accesses that read neighbours along the elements of a row.
    std::size_t across = 0; ///< Accesses that read neighbours along the last axis of the rows.
};

Votes votesOf(const Program& program, const RowProgram& rows) {
    Votes votes;
    const auto last =
        std::ranges::find_if(rows.rows.rbegin(), rows.rows.rend(),
                             [](const Axis& axis) { return axis.extent->constant() != 1; });
    const auto look = [&](const RowPass& pass, analysis::raise::BufferId buffer,
                          const std::vector<Index>& position) {
        if (!pass.elements)
            return;
        const Index at = flattened(position, program.buffers.at(buffer).shape);
        if (!at.mentions(pass.elements->id))
            return;
        if (goesAlong(at, *pass.elements))
            ++votes.along;
        else if (last != rows.rows.rend() && goesAlong(at, *last))
            ++votes.across;
    };
    for (const RowPass& pass : rows.passes) {
        forEachNode(pass.computation, [&](const ScalarNode& node) {
            if (node.kind == ScalarNode::Kind::Load)
                look(pass, node.buffer, node.position);
        });
        if (pass.kind == RowPass::Kind::Map)
            for (const auto& store : pass.computation.stores)
                look(pass, store.buffer, store.position);
    }
    return votes;
}

/// Whether what passes read again of the rows stays in the L2 cache if each multiprocessor works on
/// one row, but not if it works on two.
bool fitsL2Alone(const Program& program, const KeptElements& kept, std::int64_t elements) {
    std::int64_t bytes = 0;
    for (const KeptLoad& load : kept.loads)
        bytes += elements * static_cast<std::int64_t>(
                                analysis::scalarBytes(program.buffers.at(load.buffer).element));
    const std::int64_t inFlight = bytes * analysis::DataCentreGpu::multiprocessors;
    const std::int64_t cache = analysis::DataCentreGpu::l2Bytes * 4 / 5;
    return inFlight <= cache && 2 * inFlight > cache;
}

} // namespace

RowSchedule rowScheduleOf(const Program& program, const RowProgram& rows) {
    const KeptElements kept = keptElementsOf(program, rows);
    const auto elements = kept.elements ? kept.elements->extent->constant() : std::nullopt;
    const auto perElement = static_cast<std::int64_t>(kept.count());
    const Votes votes = votesOf(program, rows);
    constexpr std::int64_t shortest = 32; // Elements that are worth a warp.
    RowSchedule schedule;
    const bool isShort = elements && *elements < shortest;
    if (votes.along == 0 || votes.across > votes.along || isShort) {
        if (elements && perElement > 0 && *elements * perElement <= maxKeptElements)
            schedule.keptVectors = static_cast<std::size_t>(*elements);
        return schedule;
    }
    schedule.width = kept.width;
    schedule.threads = maxBlockThreads;
    if (!elements)
        return schedule;
    const auto width = static_cast<std::int64_t>(schedule.width);
    for (std::size_t threads = warpThreads; threads <= maxBlockThreads; threads *= 2) {
        const auto share = static_cast<std::int64_t>(threads) * width;
        const std::int64_t vectors = (*elements + share - 1) / share;
        const std::int64_t registers = vectors * width * std::max<std::int64_t>(perElement, 1);
        const bool isEnough = registers <= wantedKeptElements ||
                              (threads == maxBlockThreads && registers <= maxKeptInLargestBlock);
        if (!isEnough || (threads > warpThreads && threads < 128))
            continue;
        schedule.threads = threads;
        schedule.keptVectors = perElement > 0 ? static_cast<std::size_t>(vectors) : 0;
        return schedule;
    }
    schedule.threads = *elements >= 65536 ? maxBlockThreads : maxBlockThreads / 2;
    schedule.isAloneOnMultiprocessor = fitsL2Alone(program, kept, *elements);
    if (schedule.isAloneOnMultiprocessor)
        schedule.threads = maxBlockThreads;
    return schedule;
}

} // namespace kernelskill::engine::graph
