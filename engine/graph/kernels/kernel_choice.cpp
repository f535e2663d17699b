#include "engine/graph/kernels/kernel_choice.h"

#include "engine/graph/kernels/contraction_kernel.h"
#include "engine/graph/kernels/element_kernel.h"
#include "engine/graph/kernels/row_kernel.h"
#include "engine/graph/kernels/row_program.h"
#include "engine/graph/kernels/scan_kernel.h"
#include "engine/graph/kernels/transposing_kernel.h"
#include "engine/graph/kernels/window_kernel.h"

#include <map>
#include <optional>
#include <utility>

namespace kernelskill::engine::graph {

namespace {

using analysis::raise::Computation;
using analysis::raise::LibraryCall;
using analysis::raise::Program;

/// The kernel of a product of matrices that tiles are worth it for; nullopt for any other
/// computation.
std::optional<Kernel> tiledKernel(const Program& program, const Computation& computation,
                                  const KernelOptions& options) {
    constexpr std::int64_t fewest = 8; // Rows or columns; with fewer, loads bound the time.
    if (computation.scanned || formOf(computation) != analysis::raise::Form::Contraction)
        return std::nullopt;
    const auto contraction = contractionOf(program, computation);
    if (!contraction)
        return std::nullopt;
    const auto areMany = [&](const std::vector<analysis::raise::Axis>& axes) {
        const auto extent = extentOf(axes).constant();
        return !extent || *extent >= fewest;
    };
    if (!areMany(contraction->rows) || !areMany(contraction->columns))
        return std::nullopt;
    return tiledContraction(program, *contraction, tileFor(*contraction, options));
}

/// Writes the kernel that keeps in registers what windows share, if the options ask for it; nullopt
/// for any other computation.
std::optional<Kernel> sharingKernel(const Program& program, const Computation& computation,
                                    const KernelOptions& options) {
    return choiceFor(computation.sources, options).tile > 0 ? windowKernel(program, computation)
                                                            : std::nullopt;
}

Kernel kernelOf(const Program& program, const Computation& computation,
                const KernelOptions& options) {
    if (computation.scanned)
        return scanKernel(program, computation);
    if (auto transposing = transposingKernel(program, computation))
        return *std::move(transposing);
    if (auto sharing = sharingKernel(program, computation, options))
        return *std::move(sharing);
    return elementKernel(program, computation, elementScheduleFor(program, computation));
}

/// Whether the reduction of a thread's element is so short that nothing is gained by more threads.
bool isShort(const RowProgram& rows) {
    constexpr std::int64_t shortest = 32;
    const auto extent = rows.passes.back().elements
                            ? rows.passes.back().elements->extent->constant()
                            : std::nullopt;
    return rows.passes.size() == 1 && extent && *extent < shortest;
}

} // namespace

std::vector<std::variant<Kernel, LibraryCall>> kernelsOf(const Program& program,
                                                         const KernelOptions& options) {
    const std::size_t count = program.steps.size();
    std::vector<std::optional<Kernel>> tiled(count);
    std::vector<bool> isTiled(count);
    for (std::size_t i = 0; i < count; ++i)
        if (const auto* computation = std::get_if<Computation>(&program.steps[i])) {
            tiled[i] = tiledKernel(program, *computation, options);
            isTiled[i] = tiled[i].has_value();
        }
    const analysis::raise::Uses uses(program);
    std::vector<bool> done(count);
    std::map<std::size_t, RowProgram> rowsAt; // The key is the step that it begins with.
    for (std::size_t i = 0; i < count; ++i) {
        if (done[i] || isTiled[i])
            continue;
        auto rows = rowProgramAt(program, uses, i, done, isTiled);
        if (!rows || isShort(*rows) ||
            (rows->steps.size() == 1 &&
             sharingKernel(program, std::get<Computation>(program.steps[i]), options)))
            continue;
        for (const std::size_t step : rows->steps)
            done[step] = true;
        rowsAt.emplace(i, std::move(*rows));
    }
    std::vector<std::variant<Kernel, LibraryCall>> kernels;
    for (std::size_t i = 0; i < count; ++i) {
        if (const auto rows = rowsAt.find(i); rows != rowsAt.end())
            kernels.emplace_back(
                rowKernel(program, rows->second, rowScheduleOf(program, rows->second)));
        else if (const auto* call = std::get_if<LibraryCall>(&program.steps[i]))
            kernels.emplace_back(*call);
        else if (tiled[i])
            kernels.emplace_back(std::move(*tiled[i]));
        else if (!done[i])
            kernels.emplace_back(
                kernelOf(program, std::get<Computation>(program.steps[i]), options));
    }
    return kernels;
}

} // namespace kernelskill::engine::graph
