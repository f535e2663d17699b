#include "engine/graph/torch/program_run.h"

#include "engine/graph/torch/failures.h"
#include "engine/graph/torch/tensors.h"

#include <utility>

namespace kernelskill::engine::graph {
namespace {

/// nullopt for values that no tensor holds.
Result<std::optional<TensorData>> readValue(const Values& values, const std::string& name) {
    const auto found = values.find(name);
    if (found == values.end())
        return std::nullopt;
    at::Tensor tensor;
    if (found->second.isTensor())
        tensor = found->second.toTensor();
    else if (found->second.isInt())
        tensor = at::scalar_tensor(found->second.toInt(), at::TensorOptions().dtype(at::kLong));
    else
        return std::nullopt;
    auto data = dataOf(tensor);
    if (!data)
        return std::unexpected(data.error());
    return std::move(*data);
}

Result<void> readKept(const Program& program, const Values& values, const KeptValues& kept,
                      TorchRun& run) {
    const auto read = [&](const std::string& name) -> Result<void> {
        auto tensor = readValue(values, name);
        if (!tensor)
            return std::unexpected(tensor.error());
        if (*tensor)
            run.values.emplace(name, std::move(**tensor));
        return {};
    };
    for (const std::string& name : kept.names) {
        if (!values.contains(name))
            return std::unexpected(
                Error{ErrorKind::InvalidInput, "the program has no value " + name, {}, {}});
        if (auto done = read(name); !done)
            return done;
    }
    if (!kept.keepsAll)
        return {};
    for (const Node& node : program.nodes)
        for (const auto& names : node.results)
            for (const std::string& name : names)
                if (auto done = read(name); !done)
                    return done;
    return {};
}

} // namespace

Result<TorchRun> runProgram(const PreparedProgram& program, const KeptValues& kept) {
    const auto values = program.run(program.begin(), kept);
    if (!values)
        return std::unexpected(values.error());
    // A GPU's errors come when its results are read.
    return withoutExceptions("the results cannot be read", "", [&]() -> Result<TorchRun> {
        TorchRun run;
        for (const Output& output : program.program().outputs) {
            auto tensor = readValue(*values, output.value);
            if (!tensor)
                return std::unexpected(tensor.error());
            run.outputs.push_back(std::move(*tensor));
        }
        if (auto done = readKept(program.program(), *values, kept, run); !done)
            return std::unexpected(done.error());
        return run;
    });
}

} // namespace kernelskill::engine::graph
