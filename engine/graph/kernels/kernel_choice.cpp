#include "engine/graph/kernels/kernel_choice.h"

#include "engine/graph/kernels/element_kernel.h"
#include "engine/graph/kernels/scan_kernel.h"

#include <utility>

namespace kernelskill::engine::graph {

namespace {

using analysis::raise::Computation;
using analysis::raise::LibraryCall;
using analysis::raise::Program;

Kernel kernelOf(const Program& program, const Computation& computation) {
    return computation.scanned ? scanKernel(program, computation)
                               : elementKernel(program, computation);
}

} // namespace

std::vector<std::variant<Kernel, LibraryCall>> kernelsOf(const Program& program) {
    std::vector<std::variant<Kernel, LibraryCall>> kernels;
    for (const analysis::raise::Step& step : program.steps) {
        if (const auto* call = std::get_if<LibraryCall>(&step))
            kernels.emplace_back(*call);
        else
            kernels.emplace_back(kernelOf(program, std::get<Computation>(step)));
    }
    return kernels;
}

} // namespace kernelskill::engine::graph
