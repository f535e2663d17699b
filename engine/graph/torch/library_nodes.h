/// The nodes that a generated model leaves to a library, run by ATen on the model's memory.
#pragma once

#include "analysis/source/error.h"
#include "engine/graph/torch/candidate.h"
#include "engine/graph/torch/prepared_program.h"
#include "engine/graph/torch/program_shapes.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace kernelskill::engine::graph {

/// Serves models of one set of extents. It is not moved while a model may call it.
class LibraryNodes {
public:
    /// `program`, and the candidate that they are for, outlive it.
    LibraryNodes(const PreparedProgram& program, const Candidate& candidate, Symbols symbols);
    LibraryNodes(const LibraryNodes&) = delete;
    LibraryNodes& operator=(const LibraryNodes&) = delete;

    /// The table that a model is given.
    [[nodiscard]] KernelskillLibrary table() { return {this, &LibraryNodes::runNode}; }

    /// Frees what nodes gave memory for: their model has returned, and what the stream still does
    /// comes before the next use of the memory.
    void release() { given_.clear(); }

    /// The results of this name that a node gave memory for since release(); nullopt: none did.
    [[nodiscard]] std::optional<at::Tensor> given(const std::string& value) const {
        const auto found = given_.find(value);
        return found != given_.end() ? std::optional(found->second) : std::nullopt;
    }

    /// The nodes that were run.
    [[nodiscard]] const std::set<std::string>& used() const { return used_; }
    /// The first error of a node that failed.
    [[nodiscard]] const std::optional<Error>& failure() const { return failure_; }

private:
    static int runNode(void* context, const char* node, const void* const* inputs, void** outputs,
                       void* stream);
    [[nodiscard]] Result<void> run(const std::string& name, const void* const* inputs,
                                   void** outputs, void* stream);
    /// The memory as the tensor of that value, contiguous or in channels-last order.
    [[nodiscard]] Result<at::Tensor> tensorAt(const std::string& value, void* memory,
                                              bool isChannelsLast) const;

    const PreparedProgram& program_;
    const Candidate& candidate_;
    Program nodes_; ///< The graph that models are generated from.
    Symbols symbols_;
    Values numbers_;
    std::set<std::string> used_;
    std::map<std::string, at::Tensor> given_; ///< Results in memory of their own, by their names.
    std::optional<Error> failure_;
};

} // namespace kernelskill::engine::graph
