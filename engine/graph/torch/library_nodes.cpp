#include "engine/graph/torch/library_nodes.h"

#include "analysis/raise/channels_last.h"
#include "engine/graph/separate_bias.h"
#include "engine/graph/torch/device_streams.h"
#include "engine/graph/torch/failures.h"
#include "engine/graph/torch/torch_names.h"

#include <algorithm>
#include <c10/core/StreamGuard.h>
#include <utility>

namespace kernelskill::engine::graph {

LibraryNodes::LibraryNodes(const PreparedProgram& program, const Candidate& candidate,
                           Symbols symbols)
    : program_(program), candidate_(candidate), nodes_(withSeparateBias(program.program())),
      symbols_(std::move(symbols)), numbers_(numbersAt(program.program(), symbols_)) {}

int LibraryNodes::runNode(void* context, const char* node, const void* const* inputs,
                          void** outputs, void* stream) {
    auto& self = *static_cast<LibraryNodes*>(context);
    const std::string name(node);
    self.used_.insert(name);
    auto done = withoutExceptions("the library failed", "node " + name,
                                  [&] { return self.run(name, inputs, outputs, stream); });
    if (done)
        return 0;
    if (done.error().where.empty())
        done.error().where = "node " + name;
    if (!self.failure_)
        self.failure_ = std::move(done.error());
    return 1;
}

Result<at::Tensor> LibraryNodes::tensorAt(const std::string& value, void* memory,
                                          bool isChannelsLast) const {
    const TensorType& type = nodes_.values.at(value);
    const auto element = scalarType(type.element);
    if (!element)
        return std::unexpected(element.error());
    const auto sizes = sizesAt(type, symbols_);
    if (!sizes)
        return std::unexpected(sizes.error());
    const auto options = at::TensorOptions().dtype(*element).device(program_.place().device);
    if (!isChannelsLast || !analysis::raise::hasChannelsLast(sizes->size()))
        return at::from_blob(memory, *sizes, options);
    return at::from_blob(memory, analysis::raise::inChannelsLast(*sizes), options).movedim(-1, 1);
}

Result<void> LibraryNodes::run(const std::string& name, const void* const* inputs, void** outputs,
                               void* stream) {
    const Program& program = nodes_;
    const auto node = std::ranges::find(program.nodes, name, &Node::name);
    if (node == program.nodes.end())
        return std::unexpected(
            Error{ErrorKind::InvalidInput, "the program has no such node", {}, {}});
    const c10::StreamGuard onItsStream(streamOf(stream, program_.place().device));
    const bool isChannelsLast = candidate_.isChannelsLast(name.c_str());
    Values values = numbers_;
    std::size_t position = 0;
    for (const NamedArgument& argument : node->arguments)
        for (const std::string& value : valuesIn(argument.value)) {
            if (!program.values.contains(value))
                continue;
            auto tensor = tensorAt(value, const_cast<void*>(inputs[position++]), isChannelsLast);
            if (!tensor)
                return std::unexpected(tensor.error());
            values.insert_or_assign(value, std::move(*tensor));
        }
    {
        const Tf32Limit limit(candidate_.needsFloat32(name.c_str()));
        if (auto done = program_.runNode(*node, values); !done)
            return done;
    }
    position = 0;
    for (const auto& names : node->results)
        for (const std::string& result : names) {
            if (result.empty() || !program.values.contains(result))
                continue;
            const auto found = values.find(result);
            void*& memory = outputs[position++];
            if (found == values.end() || !found->second.isTensor())
                continue; // No one reads it.
            const auto tensor = found->second.toTensor();
            if (memory == nullptr) {
                const bool isTurned = isChannelsLast && analysis::raise::hasChannelsLast(
                                                            static_cast<std::size_t>(tensor.dim()));
                const at::Tensor own = isTurned ? tensor.movedim(1, -1).contiguous()
                                                : tensor.resolve_conj().contiguous();
                given_.insert_or_assign(result, own);
                memory = own.data_ptr();
                continue;
            }
            auto output = tensorAt(result, memory, isChannelsLast);
            if (!output)
                return std::unexpected(output.error());
            // Nor an output that is empty on the CPU, where programs are exported.
            if (output->numel() == 0)
                continue;
            output->copy_(tensor.reshape(output->sizes()), true);
        }
    return {};
}

} // namespace kernelskill::engine::graph
