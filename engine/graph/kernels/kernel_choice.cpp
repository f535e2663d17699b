#include "engine/graph/kernels/kernel_choice.h"

#include "engine/graph/kernels/contraction_kernel.h"
#include "engine/graph/kernels/element_kernel.h"
#include "engine/graph/kernels/row_kernel.h"
#include "engine/graph/kernels/row_program.h"
#include "engine/graph/kernels/scan_kernel.h"

#include <map>
#include <optional>
#include <utility>

namespace kernelskill::engine::graph {

namespace {

using analysis::raise::Computation;
using analysis::raise::LibraryCall;
using analysis::raise::Program;

Kernel kernelOf(const Program& program, const Computation& computation,
                const KernelOptions& options) {
    if (computation.scanned)
        return scanKernel(program, computation);
    if (formOf(computation) == analysis::raise::Form::Contraction)
        if (auto kernel = contractionKernel(program, computation, options.multiply))
            return std::move(*kernel);
    return elementKernel(program, computation);
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
    std::vector<bool> done(program.steps.size());
    std::map<std::size_t, RowProgram> rowsAt; // By the step that they begin with.
    for (std::size_t i = 0; i < program.steps.size(); ++i) {
        if (done[i])
            continue;
        auto rows = rowProgramAt(program, i, done);
        if (!rows || isShort(*rows))
            continue;
        for (const std::size_t step : rows->steps)
            done[step] = true;
        rowsAt.emplace(i, std::move(*rows));
    }
    std::vector<std::variant<Kernel, LibraryCall>> kernels;
    for (std::size_t i = 0; i < program.steps.size(); ++i) {
        if (const auto rows = rowsAt.find(i); rows != rowsAt.end()) {
            kernels.emplace_back(
                rowKernel(program, rows->second, rowScheduleOf(program, rows->second)));
        } else if (!done[i]) {
            if (const auto* call = std::get_if<LibraryCall>(&program.steps[i]))
                kernels.emplace_back(*call);
            else
                kernels.emplace_back(
                    kernelOf(program, std::get<Computation>(program.steps[i]), options));
        }
    }
    return kernels;
}

} // namespace kernelskill::engine::graph
