#include "engine/graph/torch/candidate_memory.h"

#include "engine/graph/torch/agreement.h"
#include "engine/graph/torch/device_streams.h"

namespace kernelskill::engine::graph {
CallBuffers::CallBuffers(const TrialTensors& model, c10::Device device) {
    const auto add = [&](const TrialTensor& tensor, const char* role) -> const GuardedBuffer& {
        names_.push_back(role + tensor.name);
        return buffers_.emplace_back(tensor.bytes(), device);
    };
    for (const TrialTensor& input : model.inputs) {
        const GuardedBuffer& buffer = add(input, "input ");
        inputs_.push_back(buffer.as(input.sizes, input.type));
        inputPointers_.push_back(buffer.data());
        inputs_.back().zero_();
    }
    for (const TrialTensor& output : model.outputs) {
        const GuardedBuffer& buffer = add(output, "output ");
        outputs_.push_back(buffer.as(output.sizes, output.type));
        outputPointers_.push_back(buffer.data());
    }
    ownOutputs_ = outputs_;
}

void CallBuffers::fillOutputs(int pattern) const {
    for (std::size_t i = inputs_.size(); i < buffers_.size(); ++i)
        buffers_[i].bytes().fill_(pattern);
}

std::string CallBuffers::overrun() const {
    for (std::size_t i = 0; i < buffers_.size(); ++i)
        if (!buffers_[i].areMarginsIntact())
            return names_[i];
    return {};
}

CandidateMemory::CandidateMemory(const Candidate& candidate, const TrialTensors& model,
                                 const PreparedProgram& eager)
    : candidate_(candidate), model_(model), library_(eager, candidate, model.symbols),
      prepared_(static_cast<std::int64_t>(candidate.preparedBytes()), eager.place().device),
      workspace_(static_cast<std::int64_t>(candidate.workspaceBytes(model.sizes)),
                 eager.place().device) {
    for (const TrialTensor& weight : model.weights) {
        const GuardedBuffer& buffer = buffers_.emplace_back(weight.bytes(), eager.place().device);
        weights_.push_back(buffer.as(weight.sizes, weight.type));
        weightPointers_.push_back(buffer.data());
    }
}

Result<void> CandidateMemory::prepare(std::uint64_t seed, const c10::Stream& stream) {
    for (std::size_t i = 0; i < weights_.size(); ++i)
        drawWeight(weights_[i], model_.weights[i], seed);
    prepared_.bytes().fill_(poison);
    sums_ = checksums(weights_);
    if (auto done = successOf(
            candidate_.prepare(weightPointers_, prepared_.data(), handleOf(stream)), "prepare");
        !done)
        return done;
    synchronize(stream);
    return {};
}

void CandidateMemory::fillWorkspace(int pattern) const {
    workspace_.bytes().fill_(pattern);
}

Result<void> CandidateMemory::forward(CallBuffers& buffers, const c10::Stream& stream) {
    std::vector<void*> outputs = buffers.outputPointers();
    for (std::size_t i = 0; i < outputs.size(); ++i)
        if (candidate_.isLibraryOutput(i))
            outputs[i] = nullptr;
    const int status =
        candidate_.forward(weightPointers_, prepared_.data(), buffers.inputPointers(), outputs,
                           workspace_.data(), model_.sizes, library_.table(), handleOf(stream));
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        const TrialTensor& output = model_.outputs[i];
        const auto given = outputs[i] == nullptr ? library_.given(output.name) : std::nullopt;
        if (status == 0 && outputs[i] == nullptr && !given) {
            library_.release();
            return std::unexpected(Error{ErrorKind::Failed,
                                         "no node of a library computes the output " + output.name,
                                         {},
                                         {}});
        }
        buffers.setOutput(i, given ? std::optional(given->reshape(output.sizes)) : std::nullopt);
    }
    library_.release();
    if (status != 0 && library_.failure())
        return std::unexpected(*library_.failure());
    return successOf(status, "forward");
}

void CandidateMemory::releaseWorkspace() {
    workspace_ = GuardedBuffer(0, workspace_.bytes().device());
}

std::string CandidateMemory::damage() const {
    for (std::size_t i = 0; i < buffers_.size(); ++i)
        if (!buffers_[i].areMarginsIntact())
            return "writes beside its weight " + model_.weights[i].name;
    if (!prepared_.areMarginsIntact())
        return "writes beside the memory for what it prepares";
    if (!workspace_.areMarginsIntact())
        return "writes beside its workspace";
    for (std::size_t i = 0; i < weights_.size(); ++i)
        if (checksum(weights_[i]) != sums_[i])
            return "changes its weight " + model_.weights[i].name;
    return {};
}

} // namespace kernelskill::engine::graph
