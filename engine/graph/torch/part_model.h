/// A generated model that does the work of a part of a program which LibTorch runs.
#pragma once

#include "analysis/source/error.h"
#include "engine/graph/program.h"
#include "engine/graph/reference/mix.h"
#include "engine/graph/torch/candidate.h"
#include "engine/graph/torch/library_nodes.h"
#include "engine/graph/torch/prepared_program.h"
#include "engine/graph/torch/trial_tensors.h"
#include "engine/graph/torch/values.h"

#include <c10/core/Stream.h>
#include <memory>
#include <string>
#include <vector>

namespace kernelskill::engine::graph {

/// Values are those of the whole program, by its names. Throws c10::Error where LibTorch does.
class PartModel {
public:
    /// `subject` says on which device, and whether library nodes may use TF32. Errors are those of
    /// programPart(), Candidate and PreparedProgram.
    [[nodiscard]] static Result<std::unique_ptr<PartModel>>
    load(const std::shared_ptr<const Program>& whole, const PartLibrary& library,
         const TorchSubject& subject);

    /// The values that a run reads, beside weights, and those that it makes.
    [[nodiscard]] const std::vector<std::string>& reads() const { return reads_; }
    [[nodiscard]] const std::vector<std::string>& makes() const { return makes_; }

    /// Prepares the model for these weights, on the stream, which is the current one.
    [[nodiscard]] Result<void> prepare(const Values& values, const c10::Stream& stream);

    /// Computes what the part makes, on the stream; does not wait for it.
    [[nodiscard]] Result<void> run(Values& values, const c10::Stream& stream);

private:
    PartModel(Candidate candidate, PreparedProgram program, TrialTensors tensors)
        : candidate_(candidate), program_(std::move(program)), tensors_(std::move(tensors)),
          library_(program_, candidate_, tensors_.symbols) {}

    Candidate candidate_;
    PreparedProgram program_; ///< The part: its library nodes are run by it.
    TrialTensors tensors_;
    LibraryNodes library_;
    std::vector<std::string> weights_, reads_, makes_;
    std::vector<at::Tensor> weightTensors_; ///< The weights that the model is prepared for.
    at::Tensor prepared_;
};

} // namespace kernelskill::engine::graph
