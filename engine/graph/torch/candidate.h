/// The library of a generated model, behind the C interface that every generated model has.
#pragma once

#include "analysis/source/error.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

namespace kernelskill::engine::graph {

extern "C" {
/// Runs a node of the graph that the model leaves to a library. Its inputs are the node's tensor
/// arguments in the order of valuesIn(), its outputs the results that have names; all are
/// contiguous, or in channels-last order (Candidate::isChannelsLast). An output that is null gets
/// memory of the library, which stays valid until the work of this call of forward() has run.
/// Returns 0 on success.
struct KernelskillLibrary {
    void* context;
    int (*run)(void* context, const char* node, const void* const* inputs, void** outputs,
               void* stream);
};
}

/// Failed, with the function's name, for an error that a function of a candidate returned.
[[nodiscard]] Result<void> successOf(int status, const std::string& function);

/// Pointers are to memory of the device that the candidate is for. Results are 0, or a cudaError_t.
class Candidate {
public:
    /// Missing if the library cannot be loaded or lacks a function; Unsupported if its interface is
    /// of another version. What the library does while it is loaded is done.
    [[nodiscard]] static Result<Candidate> load(const std::filesystem::path& library);

    [[nodiscard]] std::size_t preparedBytes() const { return preparedBytes_(); }
    /// `sizes`: the values of the program's symbols in alphabetical order.
    [[nodiscard]] std::size_t workspaceBytes(std::span<const std::int64_t> sizes) const {
        return workspaceBytes_(sizes.data());
    }
    /// Whether a call of forward() takes null for that output: then it is a library node's result.
    /// Earlier models, which lack the function, take none.
    [[nodiscard]] bool isLibraryOutput(std::size_t output) const {
        return isLibraryOutput_ != nullptr && isLibraryOutput_(static_cast<int>(output)) != 0;
    }
    /// Whether the library has to run the node without TF32. Earlier models have no such node.
    [[nodiscard]] bool needsFloat32(const char* node) const {
        return needsFloat32_ != nullptr && needsFloat32_(node) != 0;
    }
    /// Whether the node's tensors of four and more axes are in channels-last order. Earlier models
    /// have no such node.
    [[nodiscard]] bool isChannelsLast(const char* node) const {
        return isChannelsLast_ != nullptr && isChannelsLast_(node) != 0;
    }
    [[nodiscard]] int prepare(std::span<const void* const> weights, void* prepared,
                              void* stream) const {
        return prepare_(weights.data(), prepared, stream);
    }
    [[nodiscard]] int forward(std::span<const void* const> weights, const void* prepared,
                              std::span<const void* const> inputs, std::span<void* const> outputs,
                              void* workspace, std::span<const std::int64_t> sizes,
                              const KernelskillLibrary& library, void* stream) const {
        return forward_(weights.data(), prepared, inputs.data(), outputs.data(), workspace,
                        sizes.data(), &library, stream);
    }

private:
    Candidate() = default;

    std::size_t (*preparedBytes_)() = nullptr;
    std::size_t (*workspaceBytes_)(const std::int64_t*) = nullptr;
    int (*isLibraryOutput_)(int) = nullptr;
    int (*needsFloat32_)(const char*) = nullptr;
    int (*isChannelsLast_)(const char*) = nullptr;
    int (*prepare_)(const void* const*, void*, void*) = nullptr;
    int (*forward_)(const void* const*, const void*, const void* const*, void* const*, void*,
                    const std::int64_t*, const KernelskillLibrary*, void*) = nullptr;
};

} // namespace kernelskill::engine::graph
