#include "engine/graph/kernels/kernel.h"

#include <spdlog/fmt/fmt.h>

namespace kernelskill::engine::graph {

std::string parameterList(const analysis::raise::Program& program, const Kernel& kernel) {
    std::string list;
    for (const KernelParameter& parameter : kernel.parameters) {
        const analysis::raise::Buffer& buffer = program.buffers.at(parameter.buffer);
        list += fmt::format("{}{}{}* __restrict__ {}", list.empty() ? "" : ", ",
                            parameter.isWritten ? "" : "const ",
                            analysis::raise::spelling(buffer.element), buffer.name);
    }
    for (const std::string& symbol : kernel.symbols)
        list += fmt::format("{}long long {}", list.empty() ? "" : ", ", symbol);
    return list;
}

std::string argumentList(const analysis::raise::Program& program, const Kernel& kernel) {
    std::string list;
    for (const KernelParameter& parameter : kernel.parameters)
        list += (list.empty() ? "" : ", ") + program.buffers.at(parameter.buffer).name;
    for (const std::string& symbol : kernel.symbols)
        list += (list.empty() ? "" : ", ") + symbol;
    return list;
}

} // namespace kernelskill::engine::graph
