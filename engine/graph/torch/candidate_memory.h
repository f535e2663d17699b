/// The memory that a candidate works on, and calls of it.
#pragma once

#include "analysis/source/error.h"
#include "engine/graph/torch/candidate.h"
#include "engine/graph/torch/guarded_buffer.h"
#include "engine/graph/torch/library_nodes.h"
#include "engine/graph/torch/trial_tensors.h"

#include <c10/core/Stream.h>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace kernelskill::engine::graph {

/// One set of inputs and outputs.
class CallBuffers {
public:
    /// Throws c10::Error if there is no memory.
    CallBuffers(const TrialTensors& model, c10::Device device);

    [[nodiscard]] const std::vector<at::Tensor>& inputs() const { return inputs_; }
    /// The outputs of the last call: these buffers, or a library's memory.
    [[nodiscard]] const std::vector<at::Tensor>& outputs() const { return outputs_; }
    [[nodiscard]] const std::vector<const void*>& inputPointers() const { return inputPointers_; }
    [[nodiscard]] const std::vector<void*>& outputPointers() const { return outputPointers_; }

    void fillOutputs(int pattern) const;
    /// Lets an output be memory of a library; nullopt: the buffer again.
    void setOutput(std::size_t output, const std::optional<at::Tensor>& tensor) {
        outputs_[output] = tensor ? *tensor : ownOutputs_[output];
    }
    /// "output y" for the first buffer whose margins were written to; else empty.
    [[nodiscard]] std::string overrun() const;

private:
    std::vector<std::string> names_; ///< "input x", in the order of the buffers.
    std::vector<GuardedBuffer> buffers_;
    std::vector<at::Tensor> inputs_, outputs_, ownOutputs_;
    std::vector<const void*> inputPointers_;
    std::vector<void*> outputPointers_;
};

/// The memory that all calls of a candidate share, for one set of extents. It is never moved.
class CandidateMemory {
public:
    /// `candidate`, `model` and `eager`, which runs library nodes, outlive it. Throws c10::Error if
    /// there is no memory.
    CandidateMemory(const Candidate& candidate, const TrialTensors& model,
                    const PreparedProgram& eager);

    /// Draws weights and lets the candidate prepare on the stream, which is the current one. An
    /// error is the candidate's.
    [[nodiscard]] Result<void> prepare(std::uint64_t seed, const c10::Stream& stream);

    /// Fills the workspace with the pattern, on the current stream.
    void fillWorkspace(int pattern) const;

    /// Calls forward() on the stream, which is the current one; does not wait for it. Outputs that
    /// the candidate leaves to a library get the library's memory, which is not copied.
    [[nodiscard]] Result<void> forward(CallBuffers& buffers, const c10::Stream& stream);

    /// Frees the workspace; forward() is not called again.
    void releaseWorkspace();

    /// The memory that the candidate damaged since prepare(), as the rest of a sentence about it:
    /// "changes its weight w"; empty if nothing. Waits for the current stream.
    [[nodiscard]] std::string damage() const;

    [[nodiscard]] const std::vector<at::Tensor>& weights() const { return weights_; }
    [[nodiscard]] const LibraryNodes& library() const { return library_; }

private:
    const Candidate& candidate_;
    const TrialTensors& model_;
    LibraryNodes library_;
    GuardedBuffer prepared_, workspace_;
    std::vector<GuardedBuffer> buffers_;
    std::vector<at::Tensor> weights_;
    std::vector<const void*> weightPointers_;
    std::vector<std::int64_t> sums_; ///< Checksums of the weights.
};

} // namespace kernelskill::engine::graph
